//! An actor: many games in flight, one batch of questions to the net at a time.
//!
//! Batches run over games and not over one tree, so every search stays sequential and exact,
//! and the batch is as large as the number of games. The actor owns no thread and no channel:
//! the pipeline calls [`Actor::step`] in a loop and decides what happens in between.

use std::sync::atomic::{AtomicU64, Ordering};

pub use super::options::selfplay::{Opening, Options};

use super::game::{Game, Rules, Wanted, Work};
use crate::game::Geometry;
use crate::game::record::GameRecord;
use crate::net::encode::Input;
use crate::net::inference::{Backend, InferenceError, Outputs};
use crate::net::weights::Weights;
use crate::search::endgame::Solver;
use crate::search::mcts::Answer;

/// Bytes of the exact solver's table: small enough to stay in a core's second-level cache.
const SOLVER_TABLE_BYTES: usize = 1 << 20;

/// Numbers of games, shared by all actors of a run so that no two games have the same.
#[derive(Debug)]
pub struct GameNumbers(AtomicU64);

impl GameNumbers {
    /// Numbers from `first` on.
    pub fn from(first: u64) -> GameNumbers {
        GameNumbers(AtomicU64::new(first))
    }

    /// The next number.
    pub fn take(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }

    /// The number that would be taken next.
    pub fn next(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Plays many games at once with one copy of the net.
pub struct Actor<G: Geometry> {
    rules: Rules,
    games: Vec<Game<G>>,
    solver: Solver<G>,
    backend: Box<dyn Backend>,
    version: u32,
    positions: u64,
    inputs: Vec<Input>,
    outputs: Outputs,
    work: Work,
}

impl<G: Geometry> Actor<G> {
    /// An actor that plays `rules.selfplay.games_per_actor` games with `backend`.
    pub fn new(rules: Rules, backend: Box<dyn Backend>, numbers: &GameNumbers) -> Actor<G> {
        let mut actor = Actor {
            solver: Solver::new(rules.goal, SOLVER_TABLE_BYTES),
            games: Vec::new(),
            backend,
            version: 0,
            positions: 0,
            inputs: Vec::new(),
            outputs: Outputs::default(),
            work: Work::default(),
            rules,
        };
        for _ in 0..actor.rules.selfplay.games_per_actor {
            let simulations = actor.simulations();
            actor.games.push(Game::new(&actor.rules, numbers.take(), 0, simulations));
        }
        actor
    }

    /// Takes newer weights, of a net that was made after `positions` positions of the run.
    /// Games under way go on with them.
    ///
    /// # Errors
    ///
    /// The weights do not fit the net.
    pub fn load(
        &mut self,
        weights: &Weights,
        version: u32,
        positions: u64,
    ) -> Result<(), InferenceError> {
        self.backend.load(weights)?;
        (self.version, self.positions) = (version, positions);
        Ok(())
    }

    /// Simulations of a full search at this point of the run.
    fn simulations(&self) -> u32 {
        let ramp = self.rules.selfplay.ramp.iter();
        ramp.take_while(|&&(from, _)| from <= self.positions)
            .last()
            .map_or(self.rules.search.simulations, |&(_, simulations)| simulations)
    }

    /// Brings every game to its next question, asks the net about all of them at once, and
    /// appends the games that ended to `finished`; others start in their place.
    ///
    /// # Errors
    ///
    /// The net fails.
    pub fn step(
        &mut self,
        numbers: &GameNumbers,
        finished: &mut Vec<GameRecord>,
    ) -> Result<(), InferenceError> {
        let simulations = self.simulations();
        self.inputs.clear();
        for game in &mut self.games {
            let (board, legal) = loop {
                match game.advance(&self.rules, &mut self.solver) {
                    Wanted::Answer { board, legal } => break (board, legal),
                    Wanted::Finished => {
                        self.work += std::mem::take(&mut game.work);
                        let (number, version) = (numbers.take(), self.version);
                        finished.push(game.restart(&self.rules, number, version, simulations));
                    }
                }
            };
            self.inputs.push(Input::new(board, legal));
        }
        self.backend.evaluate(&self.inputs, &mut self.outputs)?;
        for (index, game) in self.games.iter_mut().enumerate() {
            game.apply(
                &self.rules,
                Answer {
                    policy: &self.outputs.policy[index * G::SQUARES..][..G::SQUARES],
                    value: self.outputs.value[index],
                    score: self.outputs.score[index],
                },
            );
        }
        Ok(())
    }

    /// The work done since this was last called.
    pub fn take_work(&mut self) -> Work {
        for game in &mut self.games {
            self.work += std::mem::take(&mut game.work);
        }
        std::mem::take(&mut self.work)
    }
}
