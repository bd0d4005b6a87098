use std::sync::Arc;

use super::*;
use crate::arena::open::{Context, contestant};
use crate::arena::openings::Source;
use crate::arena::player::{PlayerError, Turn};
use crate::arena::spec::PlayerSpec;
use crate::arena::tally::Verdict;
use crate::game::{Shape, Square6, Square8};

fn named<G: Geometry>(spec: &str) -> Contestant<'static, G> {
    let context = Context {
        goal: Goal::Most,
        device: "cpu".into(),
        inference: crate::net::inference::Options::default(),
        cores: 1,
    };
    let spec: PlayerSpec = spec.parse().expect("a specification");
    contestant(&spec, &context).expect("a player")
}

/// Ends the match from outside at its second turn.
struct Stops {
    stop: Arc<AtomicBool>,
    turns: Arc<AtomicUsize>,
}

impl<G: Geometry> Player<G> for Stops {
    fn name(&self) -> String {
        "stops".into()
    }

    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
        let before = self.turns.fetch_add(turns.len(), Ordering::Relaxed);
        self.stop.store(before + turns.len() >= 2, Ordering::Relaxed);
        First { fails_at: None, batch: 1 }.choose(turns)
    }

    fn end_game(&mut self, _game: u32) {}
}

#[test]
fn a_player_of_one_turn_at_a_time_is_stopped_between_turns() {
    let (stop, turns) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    fn contestant<'a>(name: &str, open: Box<Open<'a, Square6>>) -> Contestant<'a, Square6> {
        Contestant { name: name.into(), deterministic: false, line: None, open }
    }
    let first =
        contestant("first", Box::new(|_| Ok(Box::new(First { fails_at: None, batch: 64 }))));
    let stops = contestant(
        "stops",
        Box::new(|_| Ok(Box::new(Stops { stop: stop.clone(), turns: turns.clone() }))),
    );
    let book = Source::Random { plies: 4 }.book::<Square6>(32, 5).expect("a book");
    let outcome =
        play([&first, &stops], &book.openings, &setting(64, 1), Vec::new(), &stop, &mut |_| {
            ControlFlow::Continue(())
        })
        .expect("a match");
    assert!(outcome.stopped && outcome.games.is_empty());
    assert_eq!(turns.load(Ordering::Relaxed), 2, "not all 64 tables");
}

fn setting(games: u32, threads: usize) -> MatchSettings {
    MatchSettings { goal: Goal::Most, games, seed: 5, threads, sprt: None }
}

fn run<G: Geometry>(
    pair: [&Contestant<'_, G>; 2],
    openings: &Source,
    setting: &MatchSettings,
    done: Vec<Played<G>>,
) -> MatchResult<G> {
    let book = openings.book::<G>(setting.games as usize / 2, 5).expect("a book");
    let stop = AtomicBool::new(false);
    play(pair, &book.openings, setting, done, &stop, &mut |_| ControlFlow::Continue(()))
        .expect("a match")
}

/// Plays the first legal move, or does what it should not after some moves.
struct First {
    fails_at: Option<u32>,
    batch: usize,
}

impl<G: Geometry> Player<G> for First {
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
    Contestant {
        name: "first".into(),
        deterministic: true,
        line: None,
        open: Box::new(move |_| Ok(Box::new(First { fails_at, batch }))),
    }
}

fn games_follow_the_rules<G: Geometry>() {
    let (random, greedy) = (named::<G>("random"), named::<G>("greedy"));
    let outcome =
        run([&random, &greedy], &Source::Random { plies: 4 }, &setting(12, 2), Vec::new());
    assert_eq!(outcome.games.len(), 12);
    for (played, number) in outcome.games.iter().zip(0..) {
        assert_eq!(played.game, number);
        let mut position = played.opening.start;
        for square in played.moves() {
            position = position.play(square).expect("a legal move").settled();
        }
        assert!(position.board.is_over());
        assert_eq!(played.score, position.black_view().difference());
    }
}

#[test]
fn every_shape_is_played_by_its_rules() {
    for shape in Shape::ALL {
        dispatch!(shape, G => games_follow_the_rules::<G>());
    }
}

#[test]
fn threads_batches_and_interruptions_change_nothing() {
    let random = named::<Square8>("random");
    let openings = Source::Random { plies: 6 };
    let want = run([&random, &first(None, 1)], &openings, &setting(40, 1), Vec::new());
    let many = run([&random, &first(None, 16)], &openings, &setting(40, 3), Vec::new());
    assert_eq!(want, many);
    let half: Vec<_> = want.games.iter().filter(|played| played.game % 3 != 0).cloned().collect();
    let resumed = run([&random, &first(None, 4)], &openings, &setting(40, 2), half);
    assert_eq!(want, resumed);
}

#[test]
fn beginnings_are_those_of_the_games() {
    let (random, first) = (named::<Square8>("random"), first(None, 4));
    let book = Source::Random { plies: 3 }.book::<Square8>(20, 5).expect("a book");
    let numbers = [3, 4, 9, 17, 18];
    let stop = AtomicBool::new(false);
    for threads in 1..=3 {
        let pair = [&random, &first];
        let setting = setting(0, threads);
        let begun = |plies| {
            beginnings(pair, &book.openings, &setting, &numbers, plies, &stop).expect("beginnings")
        };
        let go_on = &mut |_: &Played<_>| ControlFlow::Continue(());
        let whole =
            play_numbered(pair, &book.openings, &setting, &numbers, Vec::new(), &stop, go_on)
                .expect("a match");
        assert!(!whole.stopped);
        assert!(whole.games.iter().map(|played| played.game).eq(numbers));
        for (played, (line, all)) in whole.games.iter().zip(begun(5).iter().zip(begun(99))) {
            let squares: Vec<_> = played.choices.iter().map(|made| made.square).collect();
            assert_eq!(squares[..5], line[..]);
            assert_eq!(squares, all);
        }
    }
    stop.store(true, Ordering::Relaxed);
    let pair = [&random, &first];
    let none = beginnings(pair, &book.openings, &setting(0, 2), &numbers, 5, &stop);
    assert_eq!(none.expect("no failure"), Vec::<Vec<Square>>::new());
}

#[test]
fn both_colours_play_each_opening() {
    let random = named::<Square8>("random");
    let outcome = run([&random, &random], &Source::Random { plies: 5 }, &setting(10, 1), vec![]);
    for pair in outcome.games.chunks(2) {
        assert_eq!(pair[0].opening, pair[1].opening);
        assert_eq!((pair[0].first, pair[1].first), (Colour::Black, Colour::White));
    }
}

#[test]
fn a_deterministic_pair_is_counted_once() {
    let (one, two) = (first::<Square8>(None, 1), first::<Square8>(None, 1));
    let outcome = run([&one, &two], &Source::Start, &setting(50, 1), Vec::new());
    assert_eq!(outcome.games.len(), 2, "no game is played twice");
    // Players that only seem to be random repeat their game in every pair.
    let hidden = Contestant { deterministic: false, ..first::<Square8>(None, 1) };
    let outcome = run([&hidden, &two], &Source::Start, &setting(50, 1), Vec::new());
    assert_eq!(outcome.games.len(), 50);
    let (tally, repeated) = tally(&outcome.games);
    assert_eq!((tally.games(), repeated, tally.pairs.len()), (2, 48, 1));
}

#[test]
fn an_illegal_move_forfeits_the_game_and_the_match_goes_on() {
    let (bad, good) = (first::<Square6>(Some(6), 1), named::<Square6>("random"));
    let outcome = run([&bad, &good], &Source::Random { plies: 2 }, &setting(6, 1), Vec::new());
    let (tally, _) = tally(&outcome.games);
    assert_eq!(tally.outcomes().losses, 6);
    assert_eq!(tally.mean_discs(), None);
    for played in &outcome.games {
        let forfeit = played.forfeit.as_ref().expect("a forfeit");
        assert_eq!(forfeit.by, played.first);
        assert!(forfeit.reason.contains("a1"), "{}", forfeit.reason);
        assert_eq!(played.first_score(), -36);
    }
}

#[test]
fn a_sequential_test_ends_a_match_early_and_alike_with_any_threads() {
    let (good, random) = (named::<Square8>("rollouts:simulations=30"), named("random"));
    let sprt = Some(Sprt { elo0: 0.0, elo1: 100.0 });
    let openings = Source::Random { plies: 6 };
    let rulings = [1, 2, 3].map(|threads| {
        let setting = MatchSettings { sprt, ..setting(400, threads) };
        let outcome = run([&good, &random], &openings, &setting, Vec::new());
        assert!(outcome.games.len() < 400);
        assert!(!outcome.stopped);
        let resumed = run([&good, &random], &openings, &setting, outcome.games);
        assert_eq!(resumed.ruling, outcome.ruling);
        outcome.ruling.expect("a test")
    });
    assert_eq!(rulings[0].verdict, Verdict::Accepted);
    assert!(rulings[0].ratio >= Sprt::BOUND);
    assert_eq!(rulings, [rulings[0]; 3]);
}

/// Twenty-five times the same two games say no more than once.
#[test]
fn repeated_games_decide_no_sequential_test() {
    let hidden = Contestant { deterministic: false, ..first::<Square8>(None, 1) };
    let test = Sprt { elo0: 0.0, elo1: 100.0 };
    let setting = MatchSettings { sprt: Some(test), ..setting(50, 2) };
    let outcome = run([&hidden, &first(None, 1)], &Source::Start, &setting, Vec::new());
    assert_eq!(outcome.games.len(), 50);
    let (tally, repeated) = tally(&outcome.games);
    assert_eq!((tally.pairs.len(), repeated), (1, 48));
    assert_eq!(outcome.ruling, Some(test.ruling(&tally.pairs)));
    assert_eq!(outcome.ruling.map(|ruling| ruling.verdict), Some(Verdict::Undecided));
    // As many games that differ do decide it.
    let same = vec![tally.pairs[0]; 25];
    assert_ne!(test.ruling(&same).verdict, Verdict::Undecided);
}

#[test]
fn a_stopped_match_says_so() {
    let random = named::<Square6>("random");
    let book = Source::Random { plies: 4 }.book::<Square6>(50, 1).expect("a book");
    let (stop, mut seen) = (AtomicBool::new(false), 0);
    let outcome =
        play([&random, &random], &book.openings, &setting(100, 1), Vec::new(), &stop, &mut |_| {
            seen += 1;
            if seen == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .expect("a match");
    assert!(outcome.stopped);
    assert_eq!(outcome.games.len(), 3);
}
