//! An actor: many games in flight, one batch of questions to the net at a time.
//!
//! Batches run over games and not over one tree, so every search stays sequential and exact,
//! and the batch is as large as the number of games. The actor owns no thread and no channel:
//! the pipeline calls [`Actor::step`] in a loop and decides what happens in between.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use super::options::selfplay::{Opening, Options};

use super::game::{GameStatus, SelfPlayGame, SelfPlaySettings, Work};
use crate::game::Geometry;
use crate::game::record::GameRecord;
use crate::net::encode::Input;
use crate::net::inference::{InferenceError, Outputs};
use crate::net::server::{Predictor, Query};
use crate::net::weights::Weights;
use crate::search::endgame::Solver;
use crate::search::mcts::Prediction;

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

/// Where a run stood when a net was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NetVersion {
    /// The net's number: 0 is the one that the run began with.
    pub version: u32,
    /// Positions that the run had made.
    pub positions: u64,
}

/// Games whose questions travel together.
struct Group<G: Geometry> {
    games: Vec<SelfPlayGame<G>>,
    /// Whether a question is under way, with one input for each game.
    asked: bool,
    /// The question's memory while none is under way.
    spare: Query,
}

/// Plays many games at once with one net.
///
/// The games form groups: while one group's question is answered elsewhere, another plays. A
/// net that answers on the spot needs one group, one behind a server two.
pub struct Actor<G: Geometry> {
    rules: SelfPlaySettings,
    groups: Vec<Group<G>>,
    turn: usize,
    solver: Solver<G>,
    evaluator: Box<dyn Predictor>,
    made: NetVersion,
    work: Work,
}

impl<G: Geometry> Actor<G> {
    /// An actor that plays `rules.selfplay.games_per_actor` games in so many groups, with the net
    /// that the evaluator has, which was `made` then.
    pub fn new(
        rules: SelfPlaySettings,
        evaluator: Box<dyn Predictor>,
        groups: usize,
        numbers: &GameNumbers,
        made: NetVersion,
    ) -> Actor<G> {
        let mut actor = Actor {
            solver: Solver::new(rules.goal, SOLVER_TABLE_BYTES),
            groups: Vec::new(),
            turn: 0,
            evaluator,
            made,
            work: Work::default(),
            rules,
        };
        let simulations = actor.simulations();
        let games = actor.rules.selfplay.games_per_actor as usize;
        for index in 0..groups.clamp(1, games) {
            let share = games / groups + usize::from(index < games % groups);
            let game =
                |_| SelfPlayGame::new(&actor.rules, numbers.take(), made.version, simulations);
            actor.groups.push(Group {
                games: (0..share).map(game).collect(),
                asked: false,
                spare: Query::default(),
            });
        }
        actor
    }

    /// Takes newer weights, of a net that was `made` then. Games under way go on with them.
    ///
    /// # Errors
    ///
    /// The weights do not fit the net.
    pub fn load(&mut self, weights: &Arc<Weights>, made: NetVersion) -> Result<(), InferenceError> {
        self.evaluator.load(weights, made.version.into())?;
        self.made = made;
        Ok(())
    }

    /// Simulations of a full search at this point of the run.
    fn simulations(&self) -> u32 {
        let ramp = self.rules.selfplay.ramp.iter();
        ramp.take_while(|&&(from, _)| from <= self.made.positions)
            .last()
            .map_or(self.rules.search.simulations, |&(_, simulations)| simulations)
    }

    /// Takes the answers of one group, brings each of its games to its next question, and asks
    /// the net about all of them at once. Appends the games that ended to `finished`; others
    /// start in their place.
    ///
    /// # Errors
    ///
    /// The net fails.
    pub fn step(
        &mut self,
        numbers: &GameNumbers,
        finished: &mut Vec<GameRecord>,
    ) -> Result<(), InferenceError> {
        let turn = self.turn;
        self.turn = (turn + 1) % self.groups.len();
        let simulations = self.simulations();
        let mut question = if self.groups[turn].asked {
            self.evaluator.collect(turn)?
        } else {
            std::mem::take(&mut self.groups[turn].spare)
        };
        let group = &mut self.groups[turn];
        if group.asked {
            answer(&mut group.games, &self.rules, &question.outputs);
        }
        question.inputs.clear();
        for game in &mut group.games {
            let (board, legal) = loop {
                match game.advance(&self.rules, &mut self.solver) {
                    GameStatus::NeedsPrediction { board, legal } => break (board, legal),
                    GameStatus::Finished => {
                        self.work += std::mem::take(&mut game.work);
                        let (number, version) = (numbers.take(), self.made.version);
                        finished.push(game.restart(&self.rules, number, version, simulations));
                    }
                }
            };
            question.inputs.push(Input::new(board, legal));
        }
        group.asked = true;
        self.evaluator.submit(turn, question)
    }

    /// The work done since this was last called.
    pub fn take_work(&mut self) -> Work {
        for game in self.groups.iter_mut().flat_map(|group| &mut group.games) {
            self.work += std::mem::take(&mut game.work);
        }
        std::mem::take(&mut self.work)
    }
}

/// Hands each game its row of the answers.
fn answer<G: Geometry>(games: &mut [SelfPlayGame<G>], rules: &SelfPlaySettings, outputs: &Outputs) {
    for (index, game) in games.iter_mut().enumerate() {
        let answer = Prediction {
            policy: &outputs.policy[index * G::SQUARES..][..G::SQUARES],
            value: outputs.value[index],
            score: outputs.score[index],
        };
        game.apply(rules, answer);
    }
}
