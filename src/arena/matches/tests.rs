use std::sync::Arc;

use super::*;
use crate::arena::openings::OpeningSource;
use crate::arena::tally::Verdict;
use crate::game::{Shape, Square6, Square8};
use crate::players::contestant::PlayerContext;
use crate::players::open::contestant;
use crate::players::player::{PlayerError, Turn};
use crate::players::spec::PlayerSpec;

fn named<G: Geometry>(spec: &str) -> Contestant<'static, G> {
    let context = PlayerContext {
        goal: Goal::Most,
        device: "cpu".into(),
        inference: crate::net::inference::Options::default(),
        cores: 1,
    };
    let spec: PlayerSpec = spec.parse().expect("a specification");
    contestant(&spec, &context).expect("a player")
}

/// Sets the stop flag of the match at its second turn.
struct StoppingPlayer {
    stop: Arc<AtomicBool>,
    turns: Arc<AtomicUsize>,
}

impl<G: Geometry> Player<G> for StoppingPlayer {
    fn name(&self) -> String {
        "stops".into()
    }

    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
        let before = self.turns.fetch_add(turns.len(), Ordering::Relaxed);
        self.stop.store(before + turns.len() >= 2, Ordering::Relaxed);
        FirstMovePlayer { fails_at: None, batch: 1 }.choose(turns)
    }

    fn end_game(&mut self, _game: u32) {}
}

#[test]
fn a_match_stops_between_two_turns_of_a_player_without_batches() {
    let (stop, turns) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let first = first::<Square6>(None, 64);
    let stops = Contestant::new("stops", |_| {
        Ok(Box::new(StoppingPlayer { stop: stop.clone(), turns: turns.clone() }))
    });
    let book = OpeningSource::Random { plies: 4 }.book::<Square6>(32, 5).expect("a book");
    let result =
        play([&first, &stops], &book.openings, &settings(64, 1), Vec::new(), &stop, &mut |_| {
            ControlFlow::Continue(())
        })
        .expect("a match");
    assert!(result.stopped && result.games.is_empty());
    assert_eq!(turns.load(Ordering::Relaxed), 2, "not all 64 games");
}

fn settings(games: u32, threads: usize) -> MatchSettings {
    MatchSettings { goal: Goal::Most, games, seed: 5, threads, sprt: None }
}

fn run<G: Geometry>(
    pair: [&Contestant<'_, G>; 2],
    openings: &OpeningSource,
    settings: &MatchSettings,
    earlier: Vec<MatchGame<G>>,
) -> MatchResult<G> {
    let book = openings.book::<G>(settings.games as usize / 2, 5).expect("a book");
    let stop = AtomicBool::new(false);
    play(pair, &book.openings, settings, earlier, &stop, &mut |_| ControlFlow::Continue(()))
        .expect("a match")
}

/// Plays the first legal move. From ply `fails_at` on it plays an illegal move.
struct FirstMovePlayer {
    fails_at: Option<u32>,
    batch: usize,
}

impl<G: Geometry> Player<G> for FirstMovePlayer {
    fn name(&self) -> String {
        "first".into()
    }

    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
        let choose = |turn: &Turn<'_, G>| match self.fails_at {
            Some(ply) if turn.ply() >= ply => Ok(Choice::plain(Square(0))),
            _ => Ok(Choice::plain(turn.position.board.legal().next().expect("a move"))),
        };
        turns.iter().map(choose).collect()
    }

    fn end_game(&mut self, _game: u32) {}

    fn batch(&self) -> usize {
        self.batch
    }
}

fn first<G: Geometry>(fails_at: Option<u32>, batch: usize) -> Contestant<'static, G> {
    let player =
        Contestant::new("first", move |_| Ok(Box::new(FirstMovePlayer { fails_at, batch })));
    Contestant { deterministic: true, ..player }
}

fn games_are_legal<G: Geometry>() {
    let (random, greedy) = (named::<G>("random"), named::<G>("greedy"));
    let result =
        run([&random, &greedy], &OpeningSource::Random { plies: 4 }, &settings(12, 2), Vec::new());
    assert_eq!(result.games.len(), 12);
    for (played, number) in result.games.iter().zip(0..) {
        assert_eq!(played.game, number);
        let mut position = played.opening.start;
        for square in played.moves() {
            position = position.play(square).expect("a legal move").pass_if_forced();
        }
        assert!(position.board.is_over());
        assert_eq!(played.score, position.black_view().difference());
    }
}

#[test]
fn games_on_every_board_are_legal() {
    for shape in Shape::ALL {
        dispatch!(shape, G => games_are_legal::<G>());
    }
}

#[test]
fn threads_batches_and_interruptions_do_not_change_the_games() {
    let random = named::<Square8>("random");
    let openings = OpeningSource::Random { plies: 6 };
    let wanted = run([&random, &first(None, 1)], &openings, &settings(40, 1), Vec::new());
    let many = run([&random, &first(None, 16)], &openings, &settings(40, 3), Vec::new());
    assert_eq!(wanted, many);
    let part: Vec<_> = wanted.games.iter().filter(|played| played.game % 3 != 0).cloned().collect();
    let resumed = run([&random, &first(None, 4)], &openings, &settings(40, 2), part);
    assert_eq!(wanted, resumed);
}

#[test]
fn beginnings_are_the_first_moves_of_the_games() {
    let (random, first) = (named::<Square8>("random"), first(None, 4));
    let book = OpeningSource::Random { plies: 3 }.book::<Square8>(20, 5).expect("a book");
    let numbers = [3, 4, 9, 17, 18];
    let stop = AtomicBool::new(false);
    for threads in 1..=3 {
        let pair = [&random, &first];
        let settings = settings(0, threads);
        let first_moves = |plies| {
            beginnings(pair, &book.openings, &settings, &numbers, plies, &stop).expect("beginnings")
        };
        let on_game = &mut |_: &MatchGame<_>| ControlFlow::Continue(());
        let whole =
            play_numbered(pair, &book.openings, &settings, &numbers, Vec::new(), &stop, on_game)
                .expect("a match");
        assert!(!whole.stopped);
        assert!(whole.games.iter().map(|played| played.game).eq(numbers));
        for (played, (line, all)) in
            whole.games.iter().zip(first_moves(5).iter().zip(first_moves(99)))
        {
            let squares: Vec<_> = played.choices.iter().map(|choice| choice.square).collect();
            assert_eq!(squares[..5], line[..]);
            assert_eq!(squares, all);
        }
    }
    stop.store(true, Ordering::Relaxed);
    let pair = [&random, &first];
    let none = beginnings(pair, &book.openings, &settings(0, 2), &numbers, 5, &stop);
    assert_eq!(none.expect("no failure"), Vec::<Vec<Square>>::new());
}

#[test]
fn both_colours_play_each_opening() {
    let random = named::<Square8>("random");
    let result =
        run([&random, &random], &OpeningSource::Random { plies: 5 }, &settings(10, 1), vec![]);
    for pair in result.games.chunks(2) {
        assert_eq!(pair[0].opening, pair[1].opening);
        assert_eq!((pair[0].first, pair[1].first), (Colour::Black, Colour::White));
    }
}

#[test]
fn repetitions_of_a_game_do_not_count() {
    let (one, two) = (first::<Square8>(None, 1), first::<Square8>(None, 1));
    let result = run([&one, &two], &OpeningSource::Start, &settings(50, 1), Vec::new());
    assert_eq!(result.games.len(), 2, "no game is played twice");
    // A player that is wrongly marked as random repeats its game in every pair.
    let hidden = Contestant { deterministic: false, ..first::<Square8>(None, 1) };
    let result = run([&hidden, &two], &OpeningSource::Start, &settings(50, 1), Vec::new());
    assert_eq!(result.games.len(), 50);
    let (tally, repeated) = tally(&result.games);
    assert_eq!((tally.games(), repeated, tally.pairs.len()), (2, 48, 1));
}

#[test]
fn an_illegal_move_forfeits_the_game_and_the_match_continues() {
    let (bad, good) = (first::<Square6>(Some(6), 1), named::<Square6>("random"));
    let result =
        run([&bad, &good], &OpeningSource::Random { plies: 2 }, &settings(6, 1), Vec::new());
    let (tally, _) = tally(&result.games);
    assert_eq!(tally.total().losses, 6);
    assert_eq!(tally.mean_discs(), None);
    for played in &result.games {
        let forfeit = played.forfeit.as_ref().expect("a forfeit");
        assert_eq!(forfeit.by, played.first);
        assert!(forfeit.reason.contains("a1"), "{}", forfeit.reason);
        assert_eq!(played.first_score(), -36);
    }
}

#[test]
fn a_sequential_test_ends_a_match_early_with_any_number_of_threads() {
    let (good, random) = (named::<Square8>("rollouts:simulations=30"), named("random"));
    let sprt = Some(Sprt { elo0: 0.0, elo1: 100.0 });
    let openings = OpeningSource::Random { plies: 6 };
    let results = [1, 2, 3].map(|threads| {
        let settings = MatchSettings { sprt, ..settings(400, threads) };
        let result = run([&good, &random], &openings, &settings, Vec::new());
        assert!(result.games.len() < 400);
        assert!(!result.stopped);
        let resumed = run([&good, &random], &openings, &settings, result.games);
        assert_eq!(resumed.sprt, result.sprt);
        result.sprt.expect("a test")
    });
    assert_eq!(results[0].verdict, Verdict::Accepted);
    assert!(results[0].ratio >= Sprt::BOUND);
    assert_eq!(results, [results[0]; 3]);
}

/// Two games that are played 25 times are no more evidence than two games.
#[test]
fn repeated_games_do_not_decide_a_sequential_test() {
    let hidden = Contestant { deterministic: false, ..first::<Square8>(None, 1) };
    let test = Sprt { elo0: 0.0, elo1: 100.0 };
    let settings = MatchSettings { sprt: Some(test), ..settings(50, 2) };
    let result = run([&hidden, &first(None, 1)], &OpeningSource::Start, &settings, Vec::new());
    assert_eq!(result.games.len(), 50);
    let (tally, repeated) = tally(&result.games);
    assert_eq!((tally.pairs.len(), repeated), (1, 48));
    assert_eq!(result.sprt, Some(test.result(&tally.pairs)));
    assert_eq!(result.sprt.map(|sprt| sprt.verdict), Some(Verdict::Undecided));
    // The same number of distinct games does decide it.
    let distinct = vec![tally.pairs[0]; 25];
    assert_ne!(test.result(&distinct).verdict, Verdict::Undecided);
}

#[test]
fn the_result_of_a_stopped_match_is_marked() {
    let random = named::<Square6>("random");
    let book = OpeningSource::Random { plies: 4 }.book::<Square6>(50, 1).expect("a book");
    let (stop, mut seen) = (AtomicBool::new(false), 0);
    let result =
        play([&random, &random], &book.openings, &settings(100, 1), Vec::new(), &stop, &mut |_| {
            seen += 1;
            if seen == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .expect("a match");
    assert!(result.stopped);
    assert_eq!(result.games.len(), 3);
}
