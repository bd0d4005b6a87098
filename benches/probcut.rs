//! The parameters of Multi-ProbCut for the positional evaluation on 8x8, and what it gains.
//!
//! `cargo bench --bench probcut -- fit [POSITIONS] [DEPTH]` searches positions of random games to
//! every depth without ProbCut, fits deep scores to shallow ones by least squares for each stage,
//! and prints the table that stands in `src/eval/positional/forecasts.rs`.
//!
//! `cargo bench --bench probcut -- gain [POSITIONS] [DEPTH] [DEVIATIONS]...` searches other
//! positions with and without it: nodes, processor time, and how far moves and scores differ.

use std::sync::Arc;
use std::time::Instant;

use outflank::eval::positional::Positional;
use outflank::eval::{Evaluator, SCALE};
use outflank::game::{Board, Geometry, Goal, Square8};
use outflank::search::alphabeta::{AlphaBetaSearch, SearchLimits, SearchResult};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const TABLE_BYTES: usize = 16 << 20;
const EMPTIES_PER_STAGE: u32 = 12;
/// The fit's positions have no fewer: later on deep searches see the end of the game.
const FEWEST_EMPTIES: u32 = 12;
/// Which shallow depths are asked about a deep one, which is worth asking about from 3 plies on.
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

type Engine = AlphaBetaSearch<Square8, Positional<Square8>>;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let number = |place: usize, default: f32| -> f32 {
        words.get(place).map_or(default, |word| word.parse().expect("a number"))
    };
    match words.first().map(String::as_str) {
        Some("fit") => fit(number(1, 1800.0) as u64, number(2, 10.0) as u32),
        Some("gain") => {
            let some = (3..words.len()).map(|place| number(place, 0.0)).collect::<Vec<_>>();
            let deviations = if some.is_empty() { vec![1.0, 1.5, 2.0] } else { some };
            gain(number(1, 48.0) as u64, number(2, 10.0) as u32, &deviations);
        }
        _ => println!("fit [POSITIONS] [DEPTH] or gain [POSITIONS] [DEPTH] [DEVIATIONS]..."),
    }
}

fn engine() -> Engine {
    AlphaBetaSearch::new(Goal::Most, Arc::new(Positional::new(Goal::Most)), TABLE_BYTES)
}

/// A position in which the side to move can move, from a game whose first ten moves and one in
/// four of the others are random, and the others look one ply ahead: the nodes of a search, too,
/// follow good moves and bad ones.
fn position(seed: u64, empties: u32) -> Board<Square8> {
    let evaluator = Positional::<Square8>::new(Goal::Most);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    loop {
        let mut board = Board::start();
        while board.empties() > empties && !board.is_over() {
            let legal = board.legal();
            let stray = board.empties() > 50 || random.random_range(0..4) == 0;
            let chosen = if stray {
                legal.into_iter().nth(random.random_range(0..legal.len().max(1)))
            } else {
                legal.min_by_key(|&square| evaluator.evaluate(board.play_unchecked(square)))
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

/// The scores of a position by the depth of the search, 0 the evaluation alone.
fn scores(search: &mut Engine, board: Board<Square8>, deepest: u32) -> Vec<f64> {
    search.forget();
    let now = Positional::<Square8>::new(Goal::Most).evaluate(board);
    let deep = (1..=deepest.min(board.empties() - 1))
        .map(|depth| f64::from(think(search, board, depth).score) * f64::from(SCALE));
    std::iter::once(f64::from(now)).chain(deep).collect()
}

fn fit(positions: u64, deepest: u32) {
    let span = u64::from(Square8::SQUARES as u32 - 7 - FEWEST_EMPTIES);
    let mut stages = vec![Vec::new(); (Square8::SQUARES as u32 / EMPTIES_PER_STAGE) as usize + 1];
    let mut search = engine();
    for number in 0..positions {
        let empties = FEWEST_EMPTIES + (number % span) as u32;
        let found = scores(&mut search, position(number, empties), deepest);
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
                    "    of({stage}, {shallow}, {deep}, {slope:.3}, {offset:.1}, {sigma:.1}),"
                );
            }
        }
    }
}

/// The line `y = slope * x + offset` of least squares, and the deviation from it.
fn line(pairs: &[(f64, f64)]) -> (f64, f64, f64) {
    let count = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let (xx, xy) = (mean(|pair| pair.0 * pair.0) - x * x, mean(|pair| pair.0 * pair.1) - x * y);
    let (slope, offset) = (xy / xx, y - x * xy / xx);
    let errors = pairs.iter().map(|pair| (pair.1 - slope * pair.0 - offset).powi(2));
    (slope, offset, (errors.sum::<f64>() / (count - 2.0)).sqrt())
}

/// Processor time of this thread in seconds where Linux tells it, else time on the wall.
fn seconds(since: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let told = told.and_then(|line| line.split(' ').next()?.parse::<f64>().ok());
    told.map_or_else(|| since.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

/// All positions' outcomes and the processor time that they took.
fn outcomes(mut search: Engine, boards: &[Board<Square8>], depth: u32) -> (Vec<SearchResult>, f64) {
    let start = Instant::now();
    let before = seconds(start);
    let found = boards.iter().map(|&board| {
        search.forget();
        think(&mut search, board, depth)
    });
    let found = found.collect();
    (found, seconds(start) - before)
}

fn gain(positions: u64, depth: u32, deviations: &[f32]) {
    // From the end of the opening to the beginning of the endgame, and none of the fit's.
    let board = |number| position(1 << 32 | number, 28 + 6 * (number % 4) as u32);
    let boards: Vec<_> = (0..positions).map(board).collect();
    let (full, full_seconds) = outcomes(engine(), &boards, depth);
    let nodes = |of: &[SearchResult]| of.iter().map(|outcome| outcome.nodes).sum::<u64>() as f64;
    let (count, all) = (positions as f64, nodes(&full));
    println!("depth {depth}, {positions} positions");
    println!("off: {:.0} nodes, {:.2} ms a position", all / count, 1e3 * full_seconds / count);
    for &deviations in deviations {
        let search = engine().with_probcut(deviations).expect("measured for 8x8");
        let (cut, cut_seconds) = outcomes(search, &boards, depth);
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
