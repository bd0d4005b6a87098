//! Tree work in self-play, with a net that costs nothing.
//!
//! `cargo bench --bench search -- [shape] [simulations] [seconds]` plays games of self-play whose
//! net is a table, and prints what one simulation costs with the exact solver off and on. The
//! solver's share is what `solve_empties` adds; `perf record` on this program tells the rest.

use std::hint::black_box;
use std::time::Instant;

use outflank::dispatch;
use outflank::game::{Geometry, Goal, Shape, Word};
use outflank::search::endgame::Solver;
use outflank::search::mcts::{self, Answer};
use outflank::train::game::{Game, Rules, Wanted, Work};
use outflank::train::selfplay;

const ROWS: usize = 1024;

/// Answers by chance: as spread as those of a net that has learnt a little.
struct Table {
    rows: Vec<f32>,
    squares: usize,
}

impl Table {
    fn new(squares: usize) -> Table {
        let mut state = 1u64;
        let mut uniform = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) as f32 / (1u64 << 24) as f32
        };
        // Sums of uniform numbers: a bell of standard deviation 1.4.
        let mut logit =
            || 2.0 * (uniform() + uniform() + uniform() + uniform() + uniform() + uniform() - 3.0);
        Table { rows: (0..ROWS * squares).map(|_| logit()).collect(), squares }
    }

    fn answer(&self, [mine, theirs, _]: [u128; 3]) -> Answer<'_> {
        let mixed = (mine as u64 ^ (mine >> 64) as u64)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(29)
            .wrapping_add(theirs as u64 ^ (theirs >> 64) as u64)
            .wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let row = (mixed >> 32) as usize % ROWS;
        let value = (mixed as u32 as f32 / u32::MAX as f32 - 0.5) * 0.6;
        Answer {
            policy: &self.rows[row * self.squares..][..self.squares],
            value,
            score: 8.0 * value,
        }
    }
}

fn measure<G: Geometry>(rules: &Rules, seconds: f64) {
    let table = Table::new(G::SQUARES);
    let mut solver = Solver::<G>::new(rules.goal, 1 << 20);
    let count = rules.selfplay.games_per_actor as u64;
    let simulations = rules.search.simulations;
    let mut games: Vec<_> =
        (0..count).map(|id| Game::<G>::new(rules, id, 0, simulations)).collect();
    let mut inputs: Vec<[u128; 3]> = Vec::new();
    let (mut next, mut finished, mut work) = (count, 0u64, Work::default());
    let mut started = Instant::now();
    let mut warm = false;
    loop {
        inputs.clear();
        for game in &mut games {
            let (board, legal) = loop {
                match game.advance(rules, &mut solver) {
                    Wanted::Answer { board, legal } => break (board, legal),
                    Wanted::Finished => {
                        work += std::mem::take(&mut game.work);
                        black_box(game.restart(rules, next, 0, simulations));
                        next += 1;
                        finished += 1;
                    }
                }
            };
            inputs.push([board.mine.widen(), board.theirs.widen(), legal.0.widen()]);
        }
        for (game, &input) in games.iter_mut().zip(&inputs) {
            game.apply(rules, table.answer(input));
        }
        // The first games all start together; measure once they are spread over all plies.
        if !warm && finished >= 2 * count {
            (warm, finished, work) = (true, 0, Work::default());
            games.iter_mut().for_each(|game| game.work = Work::default());
            started = Instant::now();
        }
        if warm && started.elapsed().as_secs_f64() >= seconds {
            break;
        }
    }
    let elapsed = started.elapsed().as_secs_f64();
    games.iter_mut().for_each(|game| work += std::mem::take(&mut game.work));
    println!(
        "{:<10} {:?} {simulations:>4} simulations {count:>4} games, solve {:>2}: {:>7.0} ns/simulation, {:>7.0} ns/evaluation, {:>8.1} games/s, {:.3} evaluations/simulation",
        G::SHAPE.name(),
        rules.search.root,
        rules.search.solve_empties,
        elapsed * 1e9 / work.simulations as f64,
        elapsed * 1e9 / work.evaluations as f64,
        finished as f64 / elapsed,
        work.evaluations as f64 / work.simulations as f64,
    );
}

fn main() {
    // `cargo bench` passes `--bench` along.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let argument = |place: usize, default: &str| {
        arguments.get(place).map_or(default.to_owned(), String::clone)
    };
    let shape: Shape = argument(0, "8x8").parse().expect("a board shape");
    let simulations = argument(1, "32").parse().expect("a number of simulations");
    let seconds = argument(2, "2").parse().expect("seconds");
    for &root in mcts::Root::ALL {
        for (games, solve_empties) in [(64, 0), (256, 0), (64, 10), (256, 10)] {
            let search =
                mcts::Options { root, simulations, solve_empties, ..mcts::Options::default() };
            let selfplay =
                selfplay::Options { games_per_actor: games, ..selfplay::Options::default() };
            let rules = Rules { seed: 1, goal: Goal::Most, search, selfplay };
            dispatch!(shape, G => measure::<G>(&rules, seconds));
        }
    }
}
