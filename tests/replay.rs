//! The replay window compared with a plain list of all games that were added.

use outflank::dispatch;
use outflank::game::record::{GameRecord, MoveRecord, RecordError, Source};
use outflank::game::{Bitboard, Colour, Geometry, Goal, Position, Shape, Square, Symmetry};
use outflank::train::replay::{self, Batch, Replay};
use outflank::train::seeds::{Purpose, Random, stream};
use rand::RngExt;

/// A random game. Its moves have values, most have a policy, and some an exact score.
fn random_game<G: Geometry>(id: u64, random: &mut Random) -> GameRecord {
    let start = Position::<G>::start();
    let mut record = GameRecord {
        shape: G::SHAPE,
        goal: Goal::Most,
        id,
        source: Source::SelfPlay,
        worker: None,
        net_version: 0,
        opening_moves: random.random_range(0..6),
        start_mine: start.board.mine.widen(),
        start_theirs: start.board.theirs.widen(),
        start_side: start.side,
        moves: Vec::new(),
        score: 0,
        resigned: false,
    };
    let mut position = start;
    loop {
        let legal = position.board.legal();
        let choice = random.random_range(0..legal.len().max(1));
        let Some(square) = legal.into_iter().nth(choice) else { break };
        let mut policy: Vec<u16> = legal.map(|_| random.random_range(256..=65535)).collect();
        // As self-play writes it: the greatest weight is the largest number.
        if let Some(greatest) = policy.iter_mut().max() {
            *greatest = u16::MAX;
        }
        if random.random_bool(0.3) {
            policy.clear();
        }
        let exact = random.random_bool(0.1).then(|| random.random_range(-30..30));
        let value = Some(random.random_range(-1.0..1.0));
        record.moves.push(MoveRecord { square, policy, value, exact });
        position = position.play(square).expect("a legal move").pass_if_forced();
    }
    record.score = position.black_view().final_score(Goal::Most) as i16;
    record
}

/// The expected training sample, before any symmetry.
struct Sample<G: Geometry> {
    position: Position<G>,
    policy: Vec<f32>,
    value: f32,
    score: f32,
    owner: Vec<f32>,
}

const SEARCH_SHARE: f32 = 0.25;

fn samples<G: Geometry>(record: &GameRecord) -> Vec<Sample<G>> {
    let positions = record.positions::<G>().expect("a legal game");
    let last = positions[record.moves.len()];
    let training = positions.iter().zip(&record.moves).skip(record.opening_moves as usize);
    training.map(|(&position, played)| sample(record, position, played, last)).collect()
}

fn sample<G: Geometry>(
    record: &GameRecord,
    position: Position<G>,
    played: &MoveRecord,
    last: Position<G>,
) -> Sample<G> {
    let own_score = match position.side {
        Colour::Black => record.score as f32,
        Colour::White => -record.score as f32,
    };
    let score = played.exact.map_or(own_score, |exact| exact as f32);
    let mut policy = vec![0.0; G::SQUARES];
    let total: f32 = played.policy.iter().map(|&weight| (weight >> 8) as f32).sum();
    for (square, &weight) in position.board.legal().zip(&played.policy) {
        policy[square.index()] = (weight >> 8) as f32 / total;
    }
    let end = if last.side == position.side { last } else { last.pass() };
    let owner = (0..G::SQUARES).map(|index| {
        let mask = G::mask(Square(index as u8));
        let has = |set: G::Bitboard| (!(set & mask).is_zero()) as i8 as f32;
        has(end.board.mine) - has(end.board.theirs)
    });
    let result = if score == 0.0 { 0.0 } else { score.signum() };
    let value = played.value.expect("a known value");
    Sample {
        position,
        policy,
        value: result * (1.0 - SEARCH_SHARE) + value * SEARCH_SHARE,
        score: score / G::SQUARES as f32,
        owner: owner.collect(),
    }
}

fn permuted<G: Geometry>(row: &[f32], symmetry: Symmetry) -> Vec<f32> {
    let mut image = vec![0.0; row.len()];
    for (index, &value) in row.iter().enumerate() {
        image[symmetry.square::<G>(Square(index as u8)).index()] = value;
    }
    image
}

fn matches<G: Geometry>(sample: &Sample<G>, batch: &Batch, row: usize) -> bool {
    let squares = row * G::SQUARES..(row + 1) * G::SQUARES;
    let input = batch.inputs[row];
    Symmetry::ALL.into_iter().any(|symmetry| {
        let board = symmetry.board(sample.position.board);
        let legal = board.legal().0.widen();
        let is_legal = |index: usize| legal >> G::BIT_OF[index] & 1 == 1;
        board.mine.widen() == input.mine
            && board.theirs.widen() == input.theirs
            && legal == input.legal
            && (0..G::SQUARES).all(|i| (batch.legal[squares.start + i] == 1.0) == is_legal(i))
            && permuted::<G>(&sample.policy, symmetry) == batch.policy[squares.clone()]
            && permuted::<G>(&sample.owner, symmetry) == batch.owner[squares.clone()]
            && (sample.value - batch.value[row]).abs() < 1e-3
            && sample.score == batch.score[row]
    })
}

fn every_sample_is_a_position_of_the_window<G: Geometry>() {
    let options = replay::Options { min_positions: 100, max_positions: 400, ..Default::default() };
    let mut window = Replay::<G>::new(&options);
    let mut random = stream(7, Purpose::Game, 0);
    let mut games: Vec<Vec<Sample<G>>> = Vec::new();
    let mut batch = Batch::default();
    for id in 0..30 {
        let record = random_game::<G>(id, &mut random);
        games.push(samples(&record));
        let added = window.add(&record).expect("a legal game");
        assert_eq!(added.positions, games[id as usize].len());

        // The window holds as many of the newest games as fit, all complete.
        let mut held = 0;
        let fits = |game: &&Vec<Sample<G>>| {
            held += game.len();
            held <= 400 || held == game.len()
        };
        let newest: Vec<_> = games.iter().rev().take_while(fits).collect();
        assert_eq!(window.len(), newest.iter().map(|game| game.len()).sum::<usize>());
        assert_eq!(
            window.total_positions(),
            games.iter().map(|game| game.len() as u64).sum::<u64>()
        );

        window.sample(64, true, SEARCH_SHARE, &mut random, &mut batch);
        for row in 0..batch.len() {
            let found = newest.iter().any(|game| game.iter().any(|s| matches(s, &batch, row)));
            assert!(found, "row {row} after game {id} is no position of the window");
            let policy: f32 = batch.policy[row * G::SQUARES..][..G::SQUARES].iter().sum();
            assert!((policy - batch.has_policy[row]).abs() < 1e-3);
        }
    }
}

#[test]
fn samples_are_positions_of_the_window_on_every_shape() {
    for shape in Shape::ALL {
        dispatch!(shape, G => every_sample_is_a_position_of_the_window::<G>());
    }
}

#[test]
fn two_million_positions_fit_in_two_hundred_megabytes() {
    for shape in Shape::ALL {
        let options = replay::Options { max_positions: 2_000_000, ..Default::default() };
        let bytes = dispatch!(shape, G => Replay::<G>::new(&options).bytes());
        assert!(bytes <= 200_000_000, "{shape}: {bytes} bytes");
    }
}

#[test]
fn sampling_is_uniform_over_positions_and_symmetries() {
    type G = outflank::game::Square6;
    let options = replay::Options { min_positions: 10, ..Default::default() };
    let mut window = Replay::<G>::new(&options);
    let mut random = stream(3, Purpose::Game, 0);
    let record = random_game::<G>(0, &mut random);
    let count = window.add(&record).expect("a legal game").positions;
    let mut batch = Batch::default();
    let draws = 4000 * count;
    window.sample(draws, true, 0.0, &mut random, &mut batch);
    let mut seen = std::collections::HashMap::<_, usize>::new();
    for input in &batch.inputs {
        *seen.entry((input.mine, input.theirs)).or_default() += 1;
    }
    // A board with symmetries has fewer images, and each is drawn more often.
    let expected = draws as f64 / (8 * count) as f64;
    for (board, times) in seen {
        let images = times as f64 / expected;
        let nearest = images.round().max(1.0);
        assert!((images - nearest).abs() < 0.35 * nearest, "{board:x?} was drawn {times} times");
    }
}

#[test]
fn the_window_grows_by_a_power_between_its_bounds() {
    let options = replay::Options {
        min_positions: 1_000,
        max_positions: 100_000,
        growth_start: 10_000,
        growth_exponent: 0.5,
        ..Default::default()
    };
    assert_eq!(replay::window(&options, 10), 1_000);
    assert_eq!(replay::window(&options, 10_000), 10_000);
    assert_eq!(replay::window(&options, 40_000), 20_000);
    assert_eq!(replay::window(&options, u64::MAX / 4), 100_000);
}

#[test]
fn a_game_that_breaks_the_rules_adds_nothing() {
    type G = outflank::game::Square8;
    let mut window = Replay::<G>::new(&replay::Options::default());
    let mut record = random_game::<G>(0, &mut stream(5, Purpose::Game, 0));
    record.moves.swap(0, 20);
    assert!(window.add(&record).is_err());
    record.moves.swap(0, 20);
    for value in [f32::NAN, f32::INFINITY, -2.0] {
        let valid = record.moves[3].value.replace(value);
        assert_eq!(window.add(&record), Err(RecordError::BadValue { index: 3 }));
        record.moves[3].value = valid;
    }
    assert!(window.is_empty());
}

#[test]
fn returns_are_weighted_sums_of_the_later_values() {
    type G = outflank::game::Square8;
    for lambda in [0.0f32, 0.7, 1.0] {
        let mut window =
            Replay::<G>::new(&replay::Options { value_lambda: lambda, ..Default::default() });
        let mut record = random_game::<G>(0, &mut stream(11, Purpose::Game, 0));
        record.moves.iter_mut().step_by(3).for_each(|played| played.value = None);
        window.add(&record).expect("a game by the rules");
        let history = record.positions::<G>().expect("a game by the rules");
        let black = |index: usize, value: f32| match history[index].side {
            Colour::Black => value,
            Colour::White => -value,
        };
        // From black's view: the values of the searches, and the term that ends the sum.
        let wanted = |index: usize| {
            let (mut sum, mut weight) = (0.0, 1.0);
            for (later, played) in record.moves.iter().enumerate().skip(index) {
                // An unknown value has no weight.
                if let Some(value) = played.value {
                    sum += weight * (1.0 - lambda) * black(later, value);
                    weight *= lambda;
                }
                if let Some(exact) = played.exact {
                    return sum + weight * black(later, exact.signum() as f32);
                }
            }
            sum + weight * record.score.signum() as f32
        };
        let mut batch = Batch::default();
        window.sample(300, false, 1.0, &mut stream(12, Purpose::Batch, 0), &mut batch);
        for (input, &value) in batch.inputs.iter().zip(&batch.value) {
            let board = |position: &Position<G>| {
                (position.board.mine.widen(), position.board.theirs.widen())
            };
            let found = history.iter().position(|at| board(at) == (input.mine, input.theirs));
            let index = found.expect("a position of the game");
            let error = (value - black(index, wanted(index))).abs();
            assert!(error < 1e-3, "lambda {lambda}, move {index}: {value}");
        }
    }
}

#[test]
fn without_values_and_policies_the_result_is_learnt_and_no_policy() {
    type G = outflank::game::Square8;
    let mut random = stream(11, Purpose::Game, 0);
    let mut record = random_game::<G>(0, &mut random);
    record.opening_moves = 0;
    for played in &mut record.moves {
        *played = MoveRecord::of(played.square);
    }
    assert_ne!(record.score, 0);
    for (lambda, search_share) in [(0.0, 1.0), (0.7, 0.5), (0.0, 0.0)] {
        let mut window =
            Replay::<G>::new(&replay::Options { value_lambda: lambda, ..Default::default() });
        window.add(&record).expect("a game by the rules");
        let history = record.positions::<G>().expect("a game by the rules");
        let mut batch = Batch::default();
        window.sample(300, false, search_share, &mut stream(12, Purpose::Batch, 0), &mut batch);
        assert!(batch.has_policy.iter().all(|&has| has == 0.0));
        for (input, &value) in batch.inputs.iter().zip(&batch.value) {
            let at = history.iter().find(|at| at.board.mine.widen() == input.mine);
            let result = record.score.signum() as f32;
            let is_black = at.expect("a position").side == Colour::Black;
            assert_eq!(value, if is_black { result } else { -result });
        }
    }
}

/// Weights of games from elsewhere may be small: only their shares count.
#[test]
fn small_policy_weights_teach_as_large_ones() {
    type G = outflank::game::Square8;
    let mut record = random_game::<G>(0, &mut stream(21, Purpose::Game, 0));
    record.opening_moves = 0;
    let mut learnt = |times: u16| {
        for (played, at) in record.moves.iter_mut().zip(0..) {
            let weight = |place: usize| u16::from(place != at % 3) * times;
            played.policy = (0..played.policy.len()).map(weight).collect();
        }
        let mut window = Replay::<G>::new(&replay::Options::default());
        window.add(&record).expect("a game by the rules");
        let mut batch = Batch::default();
        window.sample(300, false, 0.0, &mut stream(12, Purpose::Batch, 0), &mut batch);
        batch
    };
    let (small, large) = (learnt(1), learnt(u16::MAX));
    assert!(small.has_policy.contains(&1.0));
    assert_eq!((small.policy, small.has_policy), (large.policy, large.has_policy));
}

#[test]
fn positions_that_the_solver_plays_are_not_sampled() {
    type G = outflank::game::Square8;
    let options = replay::Options { skip_empties: 10, ..Default::default() };
    let mut window = Replay::<G>::new(&options);
    window.add(&random_game::<G>(0, &mut stream(11, Purpose::Game, 0))).expect("a game");
    let mut batch = Batch::default();
    window.sample(500, true, 0.0, &mut stream(12, Purpose::Batch, 0), &mut batch);
    let empties = |input: &outflank::predict::Input| 64 - (input.mine | input.theirs).count_ones();
    assert!(batch.inputs.iter().all(|input| empties(input) > 10));
    assert!(batch.inputs.iter().any(|input| empties(input) == 11));
}
