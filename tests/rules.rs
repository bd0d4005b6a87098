//! Tests of the rules: published numbers, a simple implementation, and properties.

use outflank::dispatch;
use outflank::game::notation::{self, NotationError};
use outflank::game::record::{GameRecord, MoveRecord, RecordError, Source};
use outflank::game::{
    Bitboard, Board, Colour, Cross92, Geometry, Goal, Octagon88, Position, ScoreRule, Shape,
    Square, Square6, Square7, Square8, SquareSet, Symmetry, perft,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

#[path = "rules/grid.rs"]
mod grid;
use grid::Grid;

/// Runs a generic function on every shape.
macro_rules! each_shape {
    ($check:ident) => {
        for shape in Shape::ALL {
            dispatch!(shape, G => $check::<G>());
        }
    };
}

/// Leaves below the 8x8 start position by depth; a pass is a ply, and a finished game one leaf.
/// Aart Bik published these counts for reversi, and other programs reproduce them.
const PERFT_8X8: [u64; 12] =
    [1, 4, 12, 56, 244, 1396, 8200, 55_092, 390_216, 3_005_288, 24_571_284, 212_258_800];

#[test]
fn perft_gives_the_published_numbers() {
    for (depth, &leaves) in (0..).zip(&PERFT_8X8) {
        assert_eq!(perft::count(Board::<Square8>::start(), depth), leaves, "depth {depth}");
    }
}

#[test]
fn perft_divides_into_the_same_number() {
    fn check<G: Geometry>() {
        let start = Board::<G>::start();
        for depth in 1..=7 {
            let parts: u64 = perft::divide(start, depth).iter().map(|&(_, leaves)| leaves).sum();
            assert_eq!(parts, perft::count(start, depth), "{} depth {depth}", G::SHAPE);
        }
    }
    each_shape!(check);
}

#[test]
fn the_command_divides_its_count_by_the_first_move() {
    let perft = |more: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_outflank"));
        let output = command.args(["perft", "--depth", "3", "--divide"]).args(more).output();
        String::from_utf8(output.expect("the program starts").stdout).expect("text")
    };
    let (text, json) = (perft(&[]), perft(&["--json"]));
    let head = "  d3 14\n  c4 14\n  f5 14\n  e6 14\n8x8 depth 3: 56 leaves";
    assert!(text.starts_with(head), "{text}");
    assert!(json.starts_with("{\"leaves\":14,\"move\":\"d3\",\"version\":1}\n"), "{json}");
}

#[test]
fn perft_agrees_with_the_grid() {
    fn check<G: Geometry>() {
        for depth in 0..=6 {
            let leaves = perft::count(Board::<G>::start(), depth);
            assert_eq!(leaves, Grid::start(G::SHAPE).perft(depth), "{} {depth}", G::SHAPE);
        }
        // In late positions passes and finished games are common.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        for _ in 0..20 {
            let game = random_game::<G>(&mut random);
            for position in game.iter().rev().step_by(3).take(4) {
                let leaves = perft::count(position.board, 4);
                assert_eq!(leaves, Grid::of(*position).perft(4), "{position:?}");
            }
        }
    }
    each_shape!(check);
}

/// The numbers of positions that differ by more than symmetry after 0 to 6 moves on 8x8, from the
/// technical notes of the program Egaroucid.
#[test]
fn unique_positions_match_the_published_numbers() {
    let mut boards = std::collections::HashSet::from([Board::<Square8>::start().canonical()]);
    for wanted in [1, 3, 14, 60, 322, 1773, 10_649] {
        boards = boards
            .into_iter()
            .flat_map(|board| board.legal().map(move |square| board.play_unchecked(square)))
            .map(Board::canonical)
            .collect();
        assert_eq!(boards.len(), wanted);
    }
}

#[test]
fn bitboards_agree_with_the_grid_through_random_games() {
    fn check<G: Geometry>() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..60 {
            let mut grid = Grid::start(G::SHAPE);
            for position in random_game::<G>(&mut random) {
                agrees(&mut grid, position);
            }
            assert!(grid.legal().is_empty());
        }
    }
    each_shape!(check);
}

/// Compares a position with the grid, after moving the grid to it.
fn agrees<G: Geometry>(grid: &mut Grid, position: Position<G>) {
    let reached = Grid::of(position);
    if reached != *grid {
        let next = grid.successors().into_iter().find(|next| *next == reached);
        *grid = next.unwrap_or_else(|| panic!("{position:?} is no successor"));
    }
    let squares: Vec<_> = position.board.legal().map(Square::index).collect();
    assert_eq!(squares, grid.legal(), "{position:?}");
    for square in (0..G::SQUARES as u8).map(Square) {
        let flips: Vec<_> = grid.flips(square.index());
        assert_eq!(position.board.play(square).is_some(), !flips.is_empty(), "{position:?}");
        if position.board.empty().contains(square) {
            let turned: Vec<_> = position.board.flips(square).map(Square::index).collect();
            assert_eq!(turned, flips, "{position:?} {square:?}");
        }
    }
    assert_eq!(position.board.is_over(), grid.is_over(), "{position:?}");
    assert_eq!(position.board.difference_by(ScoreRule::DiscsOnly), grid.difference());
}

#[test]
fn scores_give_empties_to_the_winner_and_goals_differ_in_sign() {
    fn check<G: Geometry>() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        for _ in 0..100 {
            let board = random_game::<G>(&mut random).last().expect("a position").board;
            let discs = board.difference_by(ScoreRule::DiscsOnly);
            let empties = board.empties() as i32;
            let wanted = discs + discs.signum() * empties;
            assert_eq!(board.final_score(Goal::Most), wanted);
            assert_eq!(board.final_score(Goal::Fewest), -wanted);
            assert_eq!(board.pass().final_score(Goal::Most), -wanted);
        }
    }
    each_shape!(check);
    let wiped = Board::<Square8> { mine: 1, theirs: 0 };
    assert_eq!((wiped.final_score(Goal::Most), wiped.is_over()), (64, true));
}

#[test]
fn symmetry_commutes_with_the_rules() {
    fn check<G: Geometry>() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        for position in (0..10).flat_map(|_| random_game::<G>(&mut random)) {
            let board = position.board;
            for symmetry in Symmetry::ALL {
                let image = symmetry.board(board);
                assert_eq!(image.legal(), symmetry.set(board.legal()));
                assert_eq!(symmetry.inverse().board(image), board);
                for square in board.legal() {
                    let played = symmetry.board(board.play_unchecked(square));
                    assert_eq!(image.play(symmetry.square::<G>(square)), Some(played));
                }
                assert_eq!(image.canonical(), board.canonical());
            }
        }
    }
    each_shape!(check);
}

#[test]
fn notation_round_trips() {
    fn check<G: Geometry>() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
        for square in (0..G::SQUARES as u8).map(Square) {
            let name = notation::square_name::<G>(square);
            assert_eq!(notation::parse_square::<G>(&name), Some(square));
            assert_eq!(notation::parse_square::<G>(&name.to_uppercase()), Some(square));
        }
        let mut passes = 0;
        for _ in 0..30 {
            let game = random_game::<G>(&mut random);
            let last = *game.last().expect("a position");
            let moves = moves_of(&game);
            let text = notation::transcript::<G>(moves.iter().copied());
            assert_eq!(
                notation::parse_transcript(&text, Position::<G>::start()),
                Ok((moves, last))
            );
            for &position in &game {
                let line = notation::parse_obf::<G>(&notation::obf(position)).expect("an OBF line");
                assert_eq!((line.position, line.scores.len()), (position, 0));
                let diagram = notation::diagram(position);
                let marked = diagram.matches('.').count();
                assert_eq!(marked, position.board.legal().len(), "{diagram}");
            }
            // A given position may begin with a pass, which may be written.
            let before = game.iter().flat_map(|&position| {
                position.board.legal().filter_map(move |square| position.play(square))
            });
            for given in before.filter(|given| given.pass_if_forced().side != given.side) {
                let after = notation::parse_transcript("--", given);
                assert_eq!(after, Ok((Vec::new(), given.pass_if_forced())));
                passes += 1;
            }
        }
        assert!(passes > 0, "{}", G::SHAPE);
    }
    each_shape!(check);
}

#[test]
fn obf_lines_carry_scores() {
    let start = notation::obf(Position::<Square8>::start());
    let text = format!("{start}; d3:+0; C4:-2;e6:4; --:-127; % f5 is left out");
    let line = notation::parse_obf::<Square8>(&text).expect("an OBF line");
    let named = |name| notation::parse_square::<Square8>(name);
    assert_eq!(line.scores, [(named("d3"), 0), (named("c4"), -2), (named("e6"), 4)]);
    assert_eq!(line.best(), Some(4));
}

#[test]
fn malformed_notation_gives_its_error() {
    let parse = |text: &str| notation::parse_obf::<Square6>(text).map(|_| ());
    let start = notation::obf(Position::<Square6>::start());
    let (squares, _) = start.split_at(36);
    assert_eq!(parse("---"), Err(NotationError::WrongLength { found: 3, wanted: 36 }));
    assert_eq!(parse(""), Err(NotationError::WrongLength { found: 0, wanted: 36 }));
    assert_eq!(parse(squares), Err(NotationError::NoSide { found: "".into() }));
    assert_eq!(parse(&format!("{squares} Z")), Err(NotationError::NoSide { found: "Z".into() }));
    let bad = squares.replacen('-', "é", 1);
    assert_eq!(parse(&format!("{bad} X")), Err(NotationError::NoDisc { offset: 0, found: 'é' }));
    assert_eq!(
        parse(&format!("{start}; a9:+2")),
        Err(NotationError::NoScore { text: "a9:+2".into() })
    );
    let moves = |text| notation::parse_transcript(text, Position::<Square8>::start()).map(|_| ());
    assert!(matches!(moves("f5d6z9"), Err(NotationError::NoSquare { offset: 4, .. })));
    assert!(matches!(moves("f5f5"), Err(NotationError::IllegalMove { offset: 2, .. })));
    assert!(matches!(moves("f5pa"), Err(NotationError::IllegalPass { offset: 2 })));
    // Random texts are either refused or give a valid board.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
    for _ in 0..2000 {
        let alphabet = b"XO-.; x:+a1b2 \xc3\xa9";
        let length = random.random_range(0..80);
        let noise: Vec<u8> =
            (0..length).map(|_| alphabet[random.random_range(0..alphabet.len())]).collect();
        let text = String::from_utf8_lossy(&noise);
        if let Ok(line) = notation::parse_obf::<Square6>(&text) {
            assert!(line.position.board.is_valid());
        }
        let _ = notation::parse_transcript(&text, Position::<Octagon88>::start());
    }
}

#[test]
fn large_boards_have_a_tenth_row() {
    assert_eq!(notation::parse_square::<Octagon88>("a1"), None, "a hole");
    assert_eq!(notation::parse_square::<Cross92>("e10"), None, "a hole");
    let last = notation::parse_square::<Cross92>("j10");
    assert_eq!(last, Some(Square(91)));
    assert_eq!(notation::parse_square::<Square7>("g7"), Some(Square(48)));
}

#[test]
fn records_replay_and_damaged_ones_are_refused() {
    fn check<G: Geometry>() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(13);
        for goal in [Goal::Most, Goal::Fewest] {
            let game = random_game::<G>(&mut random);
            let record = record_of(&game, goal);
            let playable = |p: &&Position<G>| !p.board.legal().is_empty() || p.board.is_over();
            let without_passes: Vec<_> = game.iter().filter(playable).copied().collect();
            assert_eq!(record.positions::<G>(), Ok(without_passes));
            refuses_damage::<G>(&record);
        }
    }
    each_shape!(check);
}

fn refuses_damage<G: Geometry>(record: &GameRecord) {
    let refused = |change: &dyn Fn(&mut GameRecord)| {
        let mut damaged = record.clone();
        change(&mut damaged);
        damaged.positions::<G>().expect_err("a damaged record")
    };
    assert_eq!(refused(&|r| r.start_mine |= r.start_theirs), RecordError::BadStart);
    assert_eq!(refused(&|r| r.start_mine |= 1 << 127), RecordError::BadStart);
    assert_eq!(
        refused(&|r| r.moves[1].square = r.moves[0].square),
        RecordError::IllegalMove { index: 1 }
    );
    assert_eq!(refused(&|r| r.moves[0].policy = vec![1]), RecordError::BadPolicy { index: 0 });
    assert_eq!(refused(&|r| r.moves.truncate(3)), RecordError::Unfinished);
    assert!(matches!(refused(&|r| r.score += 2), RecordError::WrongScore { .. }));
    let other = Shape::ALL.into_iter().find(|&shape| shape != G::SHAPE).expect("another shape");
    assert!(matches!(refused(&|r| r.shape = other), RecordError::WrongShape { .. }));
}

fn record_of<G: Geometry>(game: &[Position<G>], goal: Goal) -> GameRecord {
    let last = game.last().expect("a position").black_view();
    GameRecord {
        shape: G::SHAPE,
        goal,
        id: 1,
        source: Source::SelfPlay,
        worker: None,
        net_version: 0,
        opening_moves: 0,
        start_mine: game[0].board.mine.widen(),
        start_theirs: game[0].board.theirs.widen(),
        start_side: Colour::Black,
        moves: moves_of(game).into_iter().map(MoveRecord::of).collect(),
        score: last.final_score(goal) as i16,
        resigned: false,
    }
}

/// All positions of a game of random moves from the start, including those before a pass.
fn random_game<G: Geometry>(random: &mut Xoshiro256PlusPlus) -> Vec<Position<G>> {
    let mut positions = vec![Position::<G>::start()];
    loop {
        let position = positions[positions.len() - 1];
        let legal: Vec<_> = position.board.legal().collect();
        positions.push(match legal.len() {
            0 if position.board.is_over() => return positions,
            0 => position.pass(),
            count => position.play(legal[random.random_range(0..count)]).expect("a legal move"),
        });
    }
}

/// The moves of a game, without passes, from its positions.
fn moves_of<G: Geometry>(game: &[Position<G>]) -> Vec<Square> {
    let added = |pair: &[Position<G>]| {
        let before = pair[0].board.empty().0;
        SquareSet::<G>(before & !pair[1].board.empty().0).next()
    };
    game.windows(2).filter_map(added).collect()
}
