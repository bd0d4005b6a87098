//! What a net's player does where nothing else is said, as its simulations, its clock and its
//! threads have it.

use super::{NetPlayerSpec, Time};
use crate::search::mcts;

/// At so many empty squares a leaf costs the solver about as much as a net of 8x64.
const SOLVE_LEAVES: u32 = 12;
/// By the clock, where a solution costs simulations, it is to cost less than a net of 4x64.
const SOLVE_LEAVES_TIMED: u32 = 10;

impl NetPlayerSpec {
    /// The same player with the usual share of the solver in its thinking.
    pub(super) fn solving_as_usual(mut self) -> NetPlayerSpec {
        self.search.solve_empties = self.usual_solve_empties();
        self.search.solve_leaves =
            if self.time.is_some() { SOLVE_LEAVES_TIMED } else { SOLVE_LEAVES };
        self.search.score_empties = self.usual_score_empties();
        self
    }

    /// Empty squares from which on discs alone count where nothing else is said: one more than are
    /// solved, in a search whose tree then solves most of what it looks at. With fewer simulations,
    /// or by the clock, it would give wins away (docs/results.md, Play).
    pub(super) fn usual_score_empties(&self) -> u32 {
        const ENOUGH_SIMULATIONS: u32 = 400;
        let mcts::Options { simulations, solve_empties, .. } = self.search;
        let enough = self.time.is_none() && simulations >= ENOUGH_SIMULATIONS && solve_empties > 0;
        if enough { solve_empties + 1 } else { 0 }
    }

    /// Empty squares at which the solver takes over where nothing else is said.
    ///
    /// Solving takes about 2.2 times as long for each square more. Without a clock it is to take
    /// no longer than the search would: some milliseconds for 100 simulations, and a square more
    /// for each time that they double. By the clock it is to take a small part of a move's time,
    /// for what is given up is time lost.
    fn usual_solve_empties(&self) -> u32 {
        /// The moves that a game's time is divided among.
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

    /// Says nothing of the leaves at a time if they are as many as is usual for the threads: one
    /// player has one name.
    pub(super) fn leave_out_usual_parallel(&mut self) {
        let given = self.parallel.take();
        self.parallel = given.filter(|&leaves| leaves as usize != self.leaves());
    }

    /// Leaves that wait for the net at a time. Where nothing else is said that is one, for a search
    /// whose strength is in its simulations; some for each thread; and a few where the clock
    /// decides, for their speed.
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
