//! Default search settings of net players. Some depend on their simulations, time limit and threads.

use super::{NetPlayerSpec, Time};
use crate::search::mcts;

/// Solving a leaf with this many empty squares takes about as long as a prediction of an 8x64 net.
const SOLVE_LEAVES: u32 = 12;
/// With a time limit a solve costs simulations, so it must take less time than a prediction of a
/// 4x64 net.
const SOLVE_LEAVES_TIMED: u32 = 10;

impl NetPlayerSpec {
    /// The settings of the search with the default number of simulations.
    ///
    /// Self-play explores, but a match needs the best move. So the settings differ from those of
    /// self-play: a lower `c_puct` that scales with the spread of the values, more even priors, and
    /// more positions for the solver. docs/journal/play-settings.md and docs/journal/solving.md
    /// have the measurements.
    pub(super) fn default_search() -> mcts::Options {
        mcts::Options {
            simulations: 100,
            c_puct: 0.9,
            fpu_reduction: 0.15,
            spread_scale: 1.0,
            prior_temperature: 1.5,
            temperature_plies: 0,
            solve_empties: 17,
            solve_leaves: SOLVE_LEAVES,
            solve_growth: 1.0,
            ..mcts::Options::default()
        }
    }

    /// The same player with the default limits of the solver.
    pub(super) fn with_default_solver(mut self) -> NetPlayerSpec {
        self.search.solve_empties = self.default_solve_empties();
        self.search.solve_leaves =
            if self.time.is_some() { SOLVE_LEAVES_TIMED } else { SOLVE_LEAVES };
        self.search.score_empties = self.default_score_empties();
        self
    }

    /// The default of `score_empties`. With at least 400 simulations and no time limit it is one
    /// more than `solve_empties`: there the tree solves most of its positions. With fewer
    /// simulations or a time limit it is 0, because a search for discs alone would give wins away
    /// (docs/journal/solving.md).
    pub(super) fn default_score_empties(&self) -> u32 {
        const ENOUGH_SIMULATIONS: u32 = 400;
        let mcts::Options { simulations, solve_empties, .. } = self.search;
        let enough = self.time.is_none() && simulations >= ENOUGH_SIMULATIONS && solve_empties > 0;
        if enough { solve_empties + 1 } else { 0 }
    }

    /// The default of `solve_empties`.
    ///
    /// Each further empty square makes a solve about 2.2 times as long. Without a time limit, a
    /// solve should take no longer than the search: some milliseconds for 100 simulations, and one
    /// square more each time that they double. With a time limit, a solve should take a small part
    /// of the move's time, because the time of a solve that is given up is lost.
    fn default_solve_empties(&self) -> u32 {
        /// A game's time is divided by this number of moves.
        const MOVES: u32 = 25;
        let time = match self.time {
            None => return 17 + (self.search.simulations / 100).clamp(1, 128).ilog2(),
            Some(Time::Move(time)) => time,
            Some(Time::Game(time)) => time / MOVES,
        };
        match time.as_millis() {
            25_000.. => 24,
            5000.. => 22,
            1000.. => 20,
            200.. => 18,
            40.. => 16,
            8.. => 14,
            _ => 12,
        }
    }

    /// Sets `parallel` to `None` if it equals the default, so that equal players have equal texts.
    pub(super) fn omit_default_parallel(&mut self) {
        let given = self.parallel.take();
        self.parallel = given.filter(|&leaves| leaves as usize != self.leaves());
    }

    /// How many leaves wait for predictions at the same time. The default with one thread and no
    /// time limit is 1, which makes the best use of the simulations. Otherwise it is 4 for each
    /// thread, or 8 with a time limit, for speed.
    pub fn leaves(&self) -> usize {
        let threads = self.threads.unwrap_or(1);
        self.parallel.map_or_else(
            || match (self.time, threads) {
                (None, 1) => 1,
                (None, _) => 4 * threads,
                (Some(_), _) => 8 * threads,
            },
            |leaves| leaves as usize,
        )
    }
}
