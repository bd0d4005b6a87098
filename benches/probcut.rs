//! The parameters of Multi-ProbCut on 8x8: how they are fitted, whether they hold, and their gain.
//!
//! `cargo bench --bench probcut -- fit [POSITIONS] [DEPTH]` searches positions of random games to
//! all depths without ProbCut. For each stage it fits deep scores to shallow ones by least squares,
//! and prints the table of `src/eval/positional/regressions.rs`.
//!
//! `cargo bench --bench probcut -- gain EVAL [POSITIONS] [DEPTH] [DEVIATIONS]...` searches other
//! positions with and without ProbCut. EVAL is an evaluator as in player specifications, such as
//! `positional` or `checkpoints/patterns-8x8`. It prints nodes, processor time, and the differences
//! of moves and scores.
//!
//! `cargo bench --bench probcut -- coverage EVAL [POSITIONS] [DEPTH]` searches positions to all
//! depths without ProbCut. For each number of standard deviations it prints the share of deep
//! scores that lie so close to their prediction, beside that of the normal distribution.

use std::time::Instant;

use outflank::eval::positional::Positional;
use outflank::eval::{AnyEvaluator, Evaluator, SCALE};
use outflank::game::{Board, Geometry, Goal, Square8};
use outflank::players::spec::EvaluatorSource;
use outflank::search::alphabeta::{self, Search, SearchLimits, SearchResult};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const TABLE_BYTES: usize = 16 << 20;
const EMPTIES_PER_STAGE: u32 = 12;
/// The fewest empty squares of the fit's positions. With fewer, deep searches reach the end of the
/// game.
const FEWEST_EMPTIES: u32 = 12;
/// The shallow depths for each deep depth. Deep depths below 3 are not worth a check.
const CHECKS: &[(u32, &[u32])] = &[
    (3, &[0, 1]),
    (4, &[0, 2]),
    (5, &[0, 1]),
    (6, &[0, 2]),
    (7, &[0, 1, 3]),
    (8, &[0, 2, 4]),
    (9, &[0, 3]),
    (10, &[0, 4]),
];

/// Numbers of standard deviations, and the share of a normal distribution within them in %.
const CONFIDENCES: &[(f32, f32)] =
    &[(1.1, 73.0), (1.5, 87.0), (2.0, 95.0), (2.6, 99.0), (3.3, 99.9)];

type Engine = Box<dyn Search<Square8>>;

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let number = |place: usize, default: f32| -> f32 {
        arguments.get(place).map_or(default, |argument| argument.parse().expect("a number"))
    };
    match arguments.first().map(String::as_str) {
        Some("fit") => fit(number(1, 1800.0) as u64, number(2, 10.0) as u32),
        Some("gain") => {
            let given = (4..arguments.len()).map(|place| number(place, 0.0)).collect::<Vec<_>>();
            let deviations = if given.is_empty() { vec![1.0, 1.5, 2.0] } else { given };
            let evaluator = evaluator(&arguments[1]);
            gain(&evaluator, number(2, 48.0) as u64, number(3, 10.0) as u32, &deviations);
        }
        Some("coverage") => {
            coverage(&evaluator(&arguments[1]), number(2, 400.0) as u64, number(3, 10.0) as u32);
        }
        _ => println!(
            "fit [POSITIONS] [DEPTH], gain EVAL [POSITIONS] [DEPTH] [DEVIATIONS]..., or coverage EVAL \
             [POSITIONS] [DEPTH]"
        ),
    }
}

fn evaluator(name: &str) -> AnyEvaluator<Square8> {
    let source: EvaluatorSource = name.parse().expect("an evaluator");
    source.open(Goal::Most).expect("an evaluator").0
}

fn engine(evaluator: &AnyEvaluator<Square8>, probcut: Option<f32>) -> Engine {
    alphabeta::boxed(Goal::Most, evaluator, TABLE_BYTES, probcut).expect("measured for 8x8")
}

/// A position with a legal move. In its game the first ten moves and a quarter of the others are
/// random, and the rest look one ply ahead. So, like the nodes of a search, it follows good moves
/// and bad ones.
fn position(seed: u64, empties: u32) -> Board<Square8> {
    let evaluator = Positional::<Square8>::new(Goal::Most);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    loop {
        let mut board = Board::start();
        while board.empties() > empties && !board.is_over() {
            let legal = board.legal();
            let is_random = board.empties() > 50 || random.random_range(0..4) == 0;
            let chosen = if is_random {
                legal.into_iter().nth(random.random_range(0..legal.len().max(1)))
            } else {
                legal.min_by_key(|&square| evaluator.value(board.play_unchecked(square)))
            };
            board = chosen.map_or(board.pass(), |square| board.play_unchecked(square));
        }
        if board.empties() == empties && !board.legal().is_empty() {
            return board;
        }
    }
}

fn think(search: &mut Engine, board: Board<Square8>, depth: u32) -> SearchResult {
    search.think(board, &SearchLimits::depth(depth)).expect("a legal move")
}

/// The scores of a position in units of the evaluation, by the depth of the search; depth 0 is the
/// evaluation without search.
fn scores(
    evaluator: &AnyEvaluator<Square8>,
    search: &mut Engine,
    board: Board<Square8>,
    deepest: u32,
) -> Vec<f64> {
    search.forget();
    let deep =
        (1..=deepest.min(board.empties() - 1)).map(|depth| think(search, board, depth).score);
    let all = std::iter::once(evaluator.score(board)).chain(deep);
    all.map(|score| f64::from(score) * f64::from(SCALE)).collect()
}

/// How often deep scores lie within some deviations of the prediction.
fn coverage(evaluator: &AnyEvaluator<Square8>, positions: u64, deepest: u32) {
    let probcut = evaluator.probcut().expect("parameters of Multi-ProbCut");
    let mut search = engine(evaluator, None);
    // By deep depth: the errors of predictions in deviations.
    let mut errors = vec![Vec::new(); deepest as usize + 1];
    for number in 0..positions {
        // None is a position of the fit.
        let empties = FEWEST_EMPTIES + (number % 41) as u32;
        let board = position(1 << 33 | number, empties);
        let found = scores(evaluator, &mut search, board, deepest);
        let stage = empties / probcut.empties_per_stage;
        for fit in probcut.regressions.iter().filter(|fit| fit.stage == stage) {
            let Some(&deep) = found.get(fit.deep as usize) else { continue };
            let predicted =
                f64::from(fit.slope) * found[fit.shallow as usize] + f64::from(fit.offset);
            errors[fit.deep as usize]
                .push(((deep - predicted) / f64::from(fit.sigma)).abs() as f32);
        }
    }
    print!("depth  predictions");
    CONFIDENCES.iter().for_each(|(deviations, share)| print!("  {deviations} ({share} %)"));
    println!();
    for (depth, errors) in errors.iter().enumerate().filter(|(_, errors)| !errors.is_empty()) {
        print!("{depth:>5}  {:>11}", errors.len());
        for &(deviations, _) in CONFIDENCES {
            let within = errors.iter().filter(|&&error| error <= deviations).count();
            print!("  {:>8.1} %", 100.0 * within as f64 / errors.len() as f64);
        }
        println!();
    }
}

fn fit(positions: u64, deepest: u32) {
    let span = u64::from(Square8::SQUARES as u32 - 7 - FEWEST_EMPTIES);
    let mut stages = vec![Vec::new(); (Square8::SQUARES as u32 / EMPTIES_PER_STAGE) as usize + 1];
    let evaluator = evaluator("positional");
    let mut search = engine(&evaluator, None);
    for number in 0..positions {
        let empties = FEWEST_EMPTIES + (number % span) as u32;
        let found = scores(&evaluator, &mut search, position(number, empties), deepest);
        stages[(empties / EMPTIES_PER_STAGE) as usize].push(found);
    }
    for (stage, found) in stages.iter().enumerate().filter(|(_, found)| !found.is_empty()) {
        println!("    // {} positions.", found.len());
        for &(deep, checks) in CHECKS.iter().filter(|(deep, _)| *deep <= deepest) {
            for &shallow in checks {
                let known = found.iter().filter(|scores| scores.len() > deep as usize);
                let pairs: Vec<_> =
                    known.map(|known| (known[shallow as usize], known[deep as usize])).collect();
                let (slope, offset, sigma) = line(&pairs);
                println!(
                    "    regression({stage}, {shallow}, {deep}, {slope:.3}, {offset:.1}, {sigma:.1}),"
                );
            }
        }
    }
}

/// The least-squares line `y = slope * x + offset`, and the standard deviation of y from it.
fn line(pairs: &[(f64, f64)]) -> (f64, f64, f64) {
    let count = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let (xx, xy) = (mean(|pair| pair.0 * pair.0) - x * x, mean(|pair| pair.0 * pair.1) - x * y);
    let (slope, offset) = (xy / xx, y - x * xy / xx);
    let errors = pairs.iter().map(|pair| (pair.1 - slope * pair.0 - offset).powi(2));
    (slope, offset, (errors.sum::<f64>() / (count - 2.0)).sqrt())
}

/// The processor time of this thread in seconds if Linux provides it, else the wall-clock time.
fn seconds(since: Instant) -> f64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let used = schedstat.and_then(|line| line.split(' ').next()?.parse::<f64>().ok());
    used.map_or_else(|| since.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

/// The results of all positions, and the processor time of their searches.
fn results(mut search: Engine, boards: &[Board<Square8>], depth: u32) -> (Vec<SearchResult>, f64) {
    let start = Instant::now();
    let before = seconds(start);
    let found = boards.iter().map(|&board| {
        search.forget();
        think(&mut search, board, depth)
    });
    let found = found.collect();
    (found, seconds(start) - before)
}

fn gain(evaluator: &AnyEvaluator<Square8>, positions: u64, depth: u32, deviations: &[f32]) {
    // From the end of the opening to the beginning of the endgame; none is a position of the fit.
    let board = |number| position(1 << 32 | number, 28 + 6 * (number % 4) as u32);
    let boards: Vec<_> = (0..positions).map(board).collect();
    let (full, full_seconds) = results(engine(evaluator, None), &boards, depth);
    let nodes = |of: &[SearchResult]| of.iter().map(|result| result.nodes).sum::<u64>() as f64;
    let (count, all) = (positions as f64, nodes(&full));
    println!("depth {depth}, {positions} positions");
    println!("off: {:.0} nodes, {:.2} ms a position", all / count, 1e3 * full_seconds / count);
    for &deviations in deviations {
        let search = engine(evaluator, Some(deviations));
        let (cut, cut_seconds) = results(search, &boards, depth);
        let pairs = || cut.iter().zip(&full);
        let same = pairs().filter(|(a, b)| a.square == b.square).count();
        let off = pairs().map(|(a, b)| (a.score - b.score).abs()).sum::<f32>() / count as f32;
        let bias = pairs().map(|(a, b)| a.score - b.score).sum::<f32>() / count as f32;
        println!(
            "{deviations}: {:.0} nodes ({:.3}), {:.2} ms ({:.3}); scores differ by {off:.2} discs, \
             {bias:+.2} on average; {same} moves are the same",
            nodes(&cut) / count,
            nodes(&cut) / all,
            1e3 * cut_seconds / count,
            cut_seconds / full_seconds,
        );
    }
}
