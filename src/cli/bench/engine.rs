//! `outflank bench solve` and `outflank bench alphabeta`: the searches without a net.

use std::time::Instant;

use rand::RngExt;

use super::Figure;
use crate::eval::positional::Positional;
use crate::eval::{AnyEvaluator, Evaluator};
use crate::game::{Board, Geometry, Goal};
use crate::search::alphabeta::{self, SearchLimits};
use crate::search::endgame::Solver;
use crate::train::seeds::{Purpose, Random, stream};

/// Size of the solver's transposition table, as in self-play.
const SOLVER_TABLE_BYTES: usize = 1 << 20;
/// Size of alpha-beta's transposition table, as in a player.
const ENGINE_TABLE_BYTES: usize = 16 << 20;

/// The mean time of an exact solve with 8, 10 and 12 empty squares, as self-play needs it.
pub(super) fn solve<G: Geometry>() -> Vec<Figure> {
    let mut figures = Vec::new();
    for (empties, count) in [(8, 10_000), (10, 2_000), (12, 400)] {
        let boards: Vec<_> = (0..count).map(|n| middle_of_game::<G>(n, empties)).collect();
        let mut solver = Solver::<G>::new(Goal::Most, SOLVER_TABLE_BYTES);
        let start = Instant::now();
        for &board in &boards {
            solver.score(board);
        }
        let seconds = start.elapsed().as_secs_f64();
        let name = |what: &str| format!("solve {} {empties} empties {what}", G::SHAPE);
        let mean = seconds / count as f64;
        figures.push(Figure::new(name("mean time"), mean * 1e6, "us"));
        figures.push(Figure::new(name("nodes"), solver.nodes as f64 / count as f64, "nodes"));
        let rate = solver.nodes as f64 / seconds / 1e6;
        figures.push(Figure::new(name("speed"), rate, "million nodes/s"));
    }
    figures
}

/// The nodes of alpha-beta with an evaluator for a search, and its nodes a second.
pub(super) fn alphabeta<G: Geometry>(depth: u32, evaluator: &AnyEvaluator<G>) -> Vec<Figure> {
    let mut search = alphabeta::plain(Goal::Most, evaluator, ENGINE_TABLE_BYTES);
    let (mut nodes, mut seconds) = (0, 0.0);
    for number in 0..24 {
        // 70, 60, 50 and 40 % of the squares are empty: from the opening to the endgame.
        let empties = G::SQUARES as u32 * (7 - number as u32 % 4) / 10;
        search.forget();
        let board = middle_of_game::<G>(number, empties);
        if let Some(found) = search.think(board, &SearchLimits::depth(depth)) {
            nodes += found.nodes;
            seconds += found.seconds;
        }
    }
    let name = format!("alphabeta {} depth {depth}", G::SHAPE);
    vec![
        Figure::new(format!("{name} nodes"), nodes as f64 / 24.0, "nodes"),
        Figure::new(format!("{name} speed"), nodes as f64 / seconds / 1e6, "million nodes/s"),
    ]
}

/// A position with this many empty squares in which the side to move has a legal move. Its game has
/// about ten random moves first; later one move in eight is random, and the others are the best at
/// one ply.
fn middle_of_game<G: Geometry>(number: u64, empties: u32) -> Board<G> {
    let evaluator = Positional::<G>::new(Goal::Most);
    let mut random = stream(1, Purpose::Game, number);
    loop {
        let mut board = Board::<G>::start();
        while board.empties() > empties && !board.is_over() {
            board = next(board, &evaluator, &mut random);
        }
        if board.empties() == empties && !board.is_over() {
            return if board.legal().is_empty() { board.pass() } else { board };
        }
    }
}

/// The position after the next move of such a game.
fn next<G: Geometry>(board: Board<G>, evaluator: &Positional<G>, random: &mut Random) -> Board<G> {
    let legal = board.legal();
    let opening = board.empties() + 14 > G::SQUARES as u32;
    let chosen = if opening || random.random_range(0..8) == 0 {
        legal.into_iter().nth(random.random_range(0..legal.len().max(1)))
    } else {
        legal.min_by_key(|&square| evaluator.value(board.play_unchecked(square)))
    };
    chosen.map_or(board.pass(), |square| board.play_unchecked(square))
}
