//! Measures what the paper on Perversi measures, on its board of 92 squares (docs/td.md):
//!
//! `cargo run --release --example perversi -- balance PLAYER GAMES` plays a player against itself and
//! prints how each colour does.
//!
//! `cargo run --release --example perversi -- search MODEL DEPTH BOARDS` searches with plain
//! alpha-beta, and prints what the order of the first moves and a hash table save.

use std::collections::HashMap;
use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use outflank::arena::matches::{self, MatchSettings};
use outflank::arena::openings::OpeningSource;
use outflank::arena::tally::WinDrawLoss;
use outflank::arena::times::Times;
use outflank::eval::{Evaluator, EvaluatorVisitor};
use outflank::game::{Board, Cross92, Goal, Square};
use outflank::players::contestant::PlayerContext;
use outflank::players::models::LoadedModel;
use outflank::players::open;
use outflank::players::spec::PlayerSpec;
use outflank::train::seeds::{Purpose, stream};
use rand::RngExt;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["balance", player, games] => balance(&player.parse()?, games.parse()?),
        ["search", model, depth, boards] => {
            let model = LoadedModel::read(Path::new(model))?;
            let evaluator = model.evaluator::<Cross92>()?;
            let (depth, boards) = (depth.parse()?, boards.parse()?);
            evaluator.visit(Comparison { depth, boards });
            Ok(())
        }
        _ => Err("usage: balance PLAYER GAMES, or search MODEL DEPTH BOARDS".into()),
    }
}

/// Plays a player against itself, each game after two other random moves.
fn balance(spec: &PlayerSpec, games: u32) -> Result<(), Box<dyn Error>> {
    let player = open::contestant::<Cross92>(spec, &PlayerContext::new(Goal::Most))?;
    let source: OpeningSource = "random:2".parse()?;
    let openings = source.book::<Cross92>(games as usize, 1)?.openings;
    let threads = std::thread::available_parallelism()?.get();
    let settings = MatchSettings { goal: Goal::Most, games, seed: 1, threads, sprt: None };
    let (stop, pair) = (AtomicBool::new(false), [&player; 2]);
    let numbers: Vec<u32> = (0..games).collect();
    let continues = &mut |_: &_| ControlFlow::Continue(());
    let played =
        matches::play_numbered(pair, &openings, &settings, &numbers, Vec::new(), &stop, continues)?;
    let mut black = WinDrawLoss::default();
    let mut discs = 0;
    for game in &played.games {
        black.add(game.score);
        discs += game.score;
    }
    let [one, other] = Times::of_match(&played.games);
    let share = |part: fn(&Times) -> f64| {
        100.0 * (part(&one) + part(&other)) / (one.total + other.total).max(1e-9)
    };
    println!(
        "{spec}: the second player wins {:.1} % of {games} games, with {:+.1} discs; {:.2} s a game at \
         most; {:.0} % of the time unfinished, {:.0} % without a better move",
        100.0 * (1.0 - black.points() / f64::from(games)),
        -f64::from(discs) / f64::from(games),
        one.longest_game.max(other.longest_game),
        share(|times| times.unfinished),
        share(|times| times.wasted),
    );
    Ok(())
}

/// Searches boards with and without the parts of Perversi's search.
struct Comparison {
    depth: u32,
    boards: u32,
}

impl EvaluatorVisitor<Cross92> for Comparison {
    type Output = ();

    fn visit<E: Evaluator<Cross92>>(self, evaluator: std::sync::Arc<E>) {
        let boards: Vec<_> = (0..self.boards).map(middle_of_game).collect();
        let mut plain = Cost::default();
        for (name, is_ordered, table_depth) in [
            ("plain alpha-beta", false, None),
            ("first moves ordered by the search before", true, None),
            ("the same, hash table from 2 plies on", true, Some(2)),
            ("the same, hash table from 3 plies on", true, Some(3)),
        ] {
            let mut cost = Cost::default();
            for &board in &boards {
                let mut search =
                    Plain { evaluator: &*evaluator, table_depth, table: HashMap::new(), nodes: 0 };
                let mut moves: Vec<Square> = board.legal().collect();
                if is_ordered {
                    search.sort(board, &mut moves, self.depth - 1);
                }
                search.nodes = 0;
                let begun = Instant::now();
                search.best(board, &moves, self.depth);
                cost.add(search.nodes, begun.elapsed());
            }
            if plain.nodes == 0 {
                plain = cost;
            }
            let saved = |part: f64, whole: f64| 100.0 * (1.0 - part / whole);
            println!(
                "{name}: {:.0} positions a search, {:+.0} % fewer; {:.2} ms, {:+.0} % less",
                cost.nodes as f64 / boards.len() as f64,
                saved(cost.nodes as f64, plain.nodes as f64),
                1e3 * cost.time.as_secs_f64() / boards.len() as f64,
                saved(cost.time.as_secs_f64(), plain.time.as_secs_f64()),
            );
        }
    }
}

/// The positions and the time of searches.
#[derive(Clone, Copy, Default)]
struct Cost {
    nodes: u64,
    time: Duration,
}

impl Cost {
    fn add(&mut self, nodes: u64, time: Duration) {
        self.nodes += nodes;
        self.time += time;
    }
}

/// A position with 20 to 70 discs after random moves.
fn middle_of_game(number: u32) -> Board<Cross92> {
    let mut random = stream(1, Purpose::Match, number.into());
    let discs = 20 + number * 10 % 60;
    loop {
        let mut board = Board::<Cross92>::start();
        while board.discs() < discs && !board.is_over() {
            let mut legal = board.legal();
            let moves = legal.len();
            board = match moves {
                0 => board.pass(),
                _ => {
                    let square = legal.nth(random.random_range(0..moves));
                    square.and_then(|square| board.play(square)).unwrap_or(board)
                }
            };
        }
        if board.legal().len() > 1 {
            return board;
        }
    }
}

/// A bound on the value of a position.
#[derive(Clone, Copy)]
enum Known {
    AtLeast(i32),
    AtMost(i32),
    Exact(i32),
}

/// Alpha-beta without what programs have learnt since: moves below the root stay in the order of
/// their squares, and the table is that of one search only.
struct Plain<'a, E> {
    evaluator: &'a E,
    /// The least depth of positions in the table.
    table_depth: Option<u32>,
    table: HashMap<(u128, u128), Known>,
    nodes: u64,
}

impl<E: Evaluator<Cross92>> Plain<'_, E> {
    /// Sorts moves by the values that a search of this depth has for them, best first.
    fn sort(&mut self, board: Board<Cross92>, moves: &mut [Square], depth: u32) {
        moves.sort_by_cached_key(|&square| {
            self.table.clear();
            self.value(board.play_unchecked(square), depth - 1, -i32::MAX, i32::MAX)
        });
        self.table.clear();
    }

    /// The value of the best of the moves.
    fn best(&mut self, board: Board<Cross92>, moves: &[Square], depth: u32) -> i32 {
        let mut best = -i32::MAX;
        for &square in moves {
            let next = board.play_unchecked(square);
            best = best.max(-self.value(next, depth - 1, -i32::MAX, -best));
        }
        best
    }

    fn value(&mut self, board: Board<Cross92>, depth: u32, alpha: i32, beta: i32) -> i32 {
        self.nodes += 1;
        if depth == 0 || board.is_over() {
            return self.evaluator.value(board);
        }
        let legal = board.legal();
        if legal.is_empty() {
            return -self.value(board.pass(), depth, -beta, -alpha);
        }
        let is_stored = self.table_depth.is_some_and(|least| depth >= least);
        let key = (board.mine, board.theirs);
        match self.table.get(&key).filter(|_| is_stored) {
            Some(&Known::Exact(value)) => return value,
            Some(&Known::AtLeast(value)) if value >= beta => return value,
            Some(&Known::AtMost(value)) if value <= alpha => return value,
            _ => {}
        }
        let mut best = -i32::MAX;
        for square in legal {
            let next = board.play_unchecked(square);
            best = best.max(-self.value(next, depth - 1, -beta, -alpha.max(best)));
            if best >= beta {
                break;
            }
        }
        if is_stored {
            let known = match best {
                best if best >= beta => Known::AtLeast(best),
                best if best <= alpha => Known::AtMost(best),
                best => Known::Exact(best),
            };
            self.table.insert(key, known);
        }
        best
    }
}
