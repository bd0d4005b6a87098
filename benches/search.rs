//! The cost of tree search in self-play, with a table in place of a net.
//!
//! `cargo bench --bench search -- [SHAPE] [SIMULATIONS] [SECONDS] [GAMES] [SOLVE_EMPTIES]
//! [SOLVE_LEAVES]` plays self-play games and prints the processor time of one simulation, with the
//! exact solver off and on. The time includes the encoding of the leaves. It is given over the
//! whole run and for the fastest of ten slices. The difference between off and on is the cost of
//! the solver. `perf record` on this program shows the rest.

use std::hint::black_box;
use std::time::Instant;

use outflank::dispatch;
use outflank::game::{Bitboard, Geometry, Goal, Shape};
use outflank::predict::Prediction;
use outflank::search::endgame::Solver;
use outflank::search::mcts::{self};
use outflank::train::game::{GameStatus, SelfPlayGame, SelfPlaySettings, Work};
use outflank::train::selfplay;

const ROWS: usize = 256;
const SLICES: usize = 10;

/// Random predictions, with the spread of those of a net after a little training.
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
        // Sums of uniform numbers: close to a normal distribution with standard deviation 1.4.
        let mut logit = || 2.0 * ((0..6).map(|_| uniform()).sum::<f32>() - 3.0);
        Table { rows: (0..ROWS * squares).map(|_| logit()).collect(), squares }
    }

    fn predict(&self, [mine, theirs, _]: [u128; 3]) -> Prediction<'_> {
        let mixed = (mine as u64 ^ (mine >> 64) as u64)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(29)
            .wrapping_add(theirs as u64 ^ (theirs >> 64) as u64)
            .wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let row = (mixed >> 32) as usize % ROWS;
        let value = (mixed as u32 as f32 / u32::MAX as f32 - 0.5) * 0.6;
        let policy = &self.rows[row * self.squares..][..self.squares];
        Prediction { policy, value, score: 8.0 * value }
    }
}

/// The processor time of this thread in nanoseconds if Linux provides it, else the wall-clock time.
/// Processor time depends less on other programs of the machine.
fn nanoseconds(since: Instant) -> f64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let used = schedstat.and_then(|line| line.split(' ').next()?.parse().ok());
    used.unwrap_or_else(|| since.elapsed().as_nanos() as f64)
}

/// Concurrent games, and the table that gives their predictions.
struct Bench<'a, G: Geometry> {
    settings: &'a SelfPlaySettings,
    table: Table,
    solver: Solver<G>,
    games: Vec<SelfPlayGame<G>>,
    inputs: Vec<[u128; 3]>,
    next: u64,
    finished: u64,
    work: Work,
}

impl<'a, G: Geometry> Bench<'a, G> {
    fn new(settings: &'a SelfPlaySettings) -> Bench<'a, G> {
        let count = settings.selfplay.games_per_actor as u64;
        let game = |id| SelfPlayGame::new(settings, id, 0, settings.search.simulations);
        Bench {
            settings,
            table: Table::new(G::SQUARES),
            solver: Solver::new(settings.goal, 1 << 20),
            games: (0..count).map(game).collect(),
            inputs: Vec::new(),
            next: count,
            finished: 0,
            work: Work::default(),
        }
    }

    /// One prediction for each of the first `active` games.
    fn step(&mut self, active: usize) {
        self.inputs.clear();
        for game in &mut self.games[..active] {
            let (board, legal) = loop {
                match game.advance(self.settings, &mut self.solver) {
                    GameStatus::NeedsPrediction { board, legal } => break (board, legal),
                    GameStatus::Finished => {
                        self.work += std::mem::take(&mut game.work);
                        let simulations = self.settings.search.simulations;
                        black_box(game.restart(self.settings, self.next, 0, simulations));
                        self.next += 1;
                        self.finished += 1;
                    }
                }
            };
            self.inputs.push([board.mine.widen(), board.theirs.widen(), legal.0.widen()]);
        }
        for (game, &input) in self.games.iter_mut().zip(black_box(&self.inputs)) {
            game.apply(self.table.predict(input));
        }
    }

    fn take_work(&mut self) -> Work {
        for game in &mut self.games {
            self.work += std::mem::take(&mut game.work);
        }
        std::mem::take(&mut self.work)
    }
}

fn measure<G: Geometry>(settings: &SelfPlaySettings, seconds: f64) {
    let mut bench = Bench::<G>::new(settings);
    let start = Instant::now();
    // Games that start together would reach the solver together. So they start one after the
    // other, over about the length of a game.
    let count = bench.games.len();
    let length = 45 * settings.search.simulations as usize;
    for step in 0..length {
        bench.step((1 + step * count / length).min(count));
    }
    bench.take_work();
    bench.finished = 0;
    let (mut total, mut time, mut slices) = (Work::default(), 0.0, Vec::new());
    for _ in 0..SLICES {
        let before = nanoseconds(start);
        while nanoseconds(start) - before < seconds * 1e9 / SLICES as f64 {
            for _ in 0..32 {
                bench.step(count);
            }
        }
        let (spent, work) = (nanoseconds(start) - before, bench.take_work());
        slices.push(spent / work.simulations as f64);
        time += spent;
        total += work;
    }
    println!(
        "{:<9} {:<6} {:>3} games, solve {:>2} {:>2}: {:>6.0} ns/simulation (least {:>6.0}), {:>6.1} games/s, {:.2} simulations/search, {:.3} evaluations/simulation",
        G::SHAPE.name(),
        settings.search.root.name(),
        settings.selfplay.games_per_actor,
        settings.search.solve_empties,
        settings.search.solve_leaves,
        time / total.simulations as f64,
        slices.iter().copied().fold(f64::INFINITY, f64::min),
        bench.finished as f64 / time * 1e9,
        total.simulations as f64 / total.searches as f64,
        total.evaluations as f64 / total.simulations as f64,
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
    let seconds = argument(2, "2").parse().expect("a number of seconds");
    let mut cases = vec![(64, 0, 0), (256, 0, 0), (64, 12, 8), (256, 12, 8)];
    if arguments.len() > 3 {
        let number = |place, default: &str| argument(place, default).parse().expect("a number");
        cases = vec![(number(3, ""), number(4, "12"), number(5, "8"))];
    }
    for &root in mcts::Root::ALL {
        for &(games, solve_empties, solve_leaves) in &cases {
            let search = mcts::Options {
                root,
                simulations,
                solve_empties,
                solve_leaves,
                ..mcts::Options::default()
            };
            let selfplay =
                selfplay::Options { games_per_actor: games, ..selfplay::Options::default() };
            let settings = SelfPlaySettings { seed: 1, goal: Goal::Most, search, selfplay };
            dispatch!(shape, G => measure::<G>(&settings, seconds));
        }
    }
}
