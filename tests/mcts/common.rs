//! Functions in place of nets, random positions, and a loop that runs one search.

use outflank::game::{Bitboard, Board, Geometry, Goal};
use outflank::predict::Prediction;
use outflank::search::endgame::Solver;
use outflank::search::mcts::{Gathered, Mode, Options, TreeSearch};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub type Random = Xoshiro256PlusPlus;

pub fn random(seed: u64) -> Random {
    Random::seed_from_u64(seed)
}

pub fn solver<G: Geometry>(goal: Goal) -> Solver<G> {
    Solver::new(goal, 1 << 20)
}

/// The prediction for a position.
pub struct Estimate {
    pub policy: Vec<f32>,
    pub value: f32,
    pub score: f32,
}

impl Estimate {
    pub fn prediction(&self) -> Prediction<'_> {
        Prediction { policy: &self.policy, value: self.value, score: self.score }
    }
}

/// A function in place of a net.
pub type Net<G> = fn(Board<G>) -> Estimate;

/// The same logit for all moves, and a draw for every position.
pub fn uniform<G: Geometry>(_: Board<G>) -> Estimate {
    Estimate { policy: vec![0.0; G::SQUARES], value: 0.0, score: 0.0 }
}

/// Logits from -2 to 2 and values from -0.7 to 0.7 that depend only on the position, by a hash.
pub fn hashed<G: Geometry>(board: Board<G>) -> Estimate {
    let fold = |word: G::Bitboard| {
        let wide = word.widen();
        (wide ^ wide >> 64).wrapping_mul(0x9E37_79B9_7F4A_7C15) as u64
    };
    let mut state = fold(board.mine) ^ fold(board.theirs).rotate_left(21);
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ mixed >> 31) >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    let policy = (0..G::SQUARES).map(|_| 2.0 * next()).collect();
    Estimate { policy, value: 0.7 * next(), score: 10.0 * next() }
}

/// A position after random moves, with this many empties and a legal move.
pub fn random_board<G: Geometry>(random: &mut Random, empties: u32) -> Board<G> {
    loop {
        let mut board = Board::<G>::start();
        while board.empties() > empties && !board.is_over() {
            let legal: Vec<_> = board.legal().collect();
            board = match legal.len() {
                0 => board.pass(),
                count => board.play_unchecked(legal[random.random_range(0..count)]),
            };
        }
        if board.empties() == empties && !board.legal().is_empty() {
            return board;
        }
    }
}

/// Runs the present search to its end, one leaf at a time. Returns the number of leaves.
pub fn run<G: Geometry>(
    search: &mut TreeSearch<G>,
    solver: &mut Solver<G>,
    net: Net<G>,
    random: &mut Random,
) -> u32 {
    let mut leaves = 0;
    while let Some(gathered) = search.gather(solver, random) {
        let Gathered::Leaf { ticket, board, legal } = gathered else {
            panic!("waiting although nothing is in flight");
        };
        assert_eq!(board.legal(), legal);
        assert!(!legal.is_empty());
        search.apply(ticket, net(board).prediction());
        leaves += 1;
    }
    leaves
}

/// A finished search of one position.
pub fn searched<G: Geometry>(
    board: Board<G>,
    goal: Goal,
    options: &Options,
    mode: Mode,
    net: Net<G>,
) -> TreeSearch<G> {
    let mut search = TreeSearch::new(goal, options);
    search.begin(board, options.simulations, mode);
    run(&mut search, &mut solver(goal), net, &mut random(7));
    search
}

/// Options without exact solving, so that all proofs come from finished games. `c_puct` and
/// `fpu_reduction` are set here, so that new defaults do not change the golden trees.
pub fn without_solver(simulations: u32) -> Options {
    Options { simulations, c_puct: 1.5, fpu_reduction: 0.2, solve_empties: 0, ..Options::default() }
}
