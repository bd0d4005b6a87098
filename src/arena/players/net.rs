//! A network as a player: with a tree search over its estimates, or by its policy alone.
//!
//! All games that the player is shown at once share one batch, so a match of many games is as
//! fast as self-play.

mod alone;
mod analysis;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::NetCopies;
use crate::arena::control::{Analysis, Control};
use crate::arena::player::{Choice, Player, PlayerError, Turn, stream};
use crate::arena::spec::Time;
use crate::game::{Geometry, Goal, Square};
use crate::net::Input;
use crate::net::inference::{Backend as _, InferenceError, Outputs};
use crate::search::endgame::Solver;
use crate::search::mcts::{self, Gathered, Mode, Prediction, Ticket, TreeSearch};

/// Games that a net likes to be shown at once: enough for a full batch.
pub(super) const GAMES_AT_ONCE: usize = 64;
/// Bytes of the exact solver's table.
const SOLVER_TABLE_BYTES: usize = 16 << 20;

/// By the clock a position is tried to be solved so many squares earlier than `solve_empties`...
const TRIED_EARLIER: u32 = 2;
/// ...for this share of the move's time, and a quarter more for the solution's move: so enough is
/// left for a search if it does not succeed.
const TRIED_SHARE: f64 = 0.4;

/// How a net's player thinks.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Thinking {
    /// How it searches.
    pub search: mcts::Options,
    /// Leaves of one tree that wait for the net at a time, all threads together; at least 1.
    pub parallel: usize,
    /// The time that it may take, in place of a number of simulations.
    pub time: Option<Time>,
    /// Threads that solve the position to move in by the clock, at least 1. Without a clock one
    /// thread does, for with several it is left to chance which of equally good moves is found.
    /// In the tree, too, one thread does, for most solutions there are short.
    pub solvers: usize,
}

/// Searches with a net; keeps a tree for each game.
pub struct NetPlayer<G: Geometry> {
    name: String,
    seed: u64,
    goal: Goal,
    thinking: Thinking,
    /// Time spent on the moves of each running game, where it counts.
    spent: HashMap<u32, Duration>,
    net_copies: NetCopies,
    solver: Solver<G>,
    searches: HashMap<u32, Box<TreeSearch<G>>>,
    inputs: Vec<Input>,
    asked: Vec<(usize, Ticket)>,
    outputs: Outputs,
    /// For each helper of the crew the leaves that it was asked about.
    flights: Vec<Vec<Ticket>>,
}

/// What a turn came to.
enum Thought<G: Geometry> {
    /// The position was solved.
    Solved { score: i32, line: Vec<Square> },
    /// The position was searched, in this tree, with so many simulations.
    Searched(Box<TreeSearch<G>>, u32),
}

impl<G: Geometry> NetPlayer<G> {
    /// A player whose random choices follow from the seed.
    pub fn new(
        name: String,
        goal: Goal,
        net_copies: NetCopies,
        thinking: Thinking,
        seed: u64,
    ) -> NetPlayer<G> {
        NetPlayer {
            name,
            seed,
            goal,
            thinking,
            spent: HashMap::new(),
            flights: vec![Vec::new(); net_copies.helpers()],
            net_copies,
            solver: Solver::new(goal, SOLVER_TABLE_BYTES),
            searches: HashMap::new(),
            inputs: Vec::new(),
            asked: Vec::new(),
            outputs: Outputs::default(),
        }
    }

    /// Thinks about all turns at once, without a clock.
    fn think_of_all(&mut self, turns: &[Turn<'_, G>]) -> Result<Vec<Thought<G>>, InferenceError> {
        let mut thoughts: Vec<_> = turns.iter().map(|turn| self.begin(turn, None)).collect();
        for (turn, thought) in turns.iter().zip(&mut thoughts) {
            if let Thought::Searched(search, _) = thought {
                let simulations = self.thinking.search.simulations;
                search.begin(turn.position.board, simulations, Mode::Play);
            }
        }
        self.search(turns, &mut thoughts)?;
        for thought in &mut thoughts {
            if let Thought::Searched(search, done) = thought {
                *done = search.simulations();
            }
        }
        Ok(thoughts)
    }

    /// The solution of a turn's position if it is to be solved, or else the game's search.
    fn begin(&mut self, turn: &Turn<'_, G>, time: Option<Duration>) -> Thought<G> {
        let (board, options) = (turn.position.board, &self.thinking.search);
        let (tried, threads) = match time {
            None => (None, 1),
            Some(time) => (Some(time.mul_f64(TRIED_SHARE)), self.thinking.solvers),
        };
        // With one move to make, nothing is to be gained by an early solution.
        let earlier = if time.is_none() || board.legal().len() == 1 { 0 } else { TRIED_EARLIER };
        let most = options.solve_empties;
        let solves = most > 0 && board.empties() <= most + earlier;
        let solved = solves.then(|| self.solver.best_line_within(board, tried, threads)).flatten();
        if let Some((score, line)) = solved {
            return Thought::Solved { score, line };
        }
        let kept = self.searches.remove(&turn.game);
        let search = kept.unwrap_or_else(|| Box::new(TreeSearch::new(self.goal, options)));
        Thought::Searched(search, 0)
    }

    /// Runs the searches that have begun until they are done.
    fn search(
        &mut self,
        turns: &[Turn<'_, G>],
        thoughts: &mut [Thought<G>],
    ) -> Result<(), InferenceError> {
        while self.gather(turns, thoughts) {
            self.net_copies.evaluate(&self.inputs, &mut self.outputs)?;
            for (index, &(turn, ticket)) in self.asked.iter().enumerate() {
                if let Thought::Searched(search, _) = &mut thoughts[turn] {
                    search.apply(ticket, answer::<G>(&self.outputs, index));
                }
            }
        }
        Ok(())
    }

    /// Collects the leaves that the searches want evaluated; false once they want none.
    fn gather(&mut self, turns: &[Turn<'_, G>], thoughts: &mut [Thought<G>]) -> bool {
        self.inputs.clear();
        self.asked.clear();
        for (index, thought) in thoughts.iter_mut().enumerate() {
            let Thought::Searched(search, _) = thought else { continue };
            let mut random = stream(self.seed, &turns[index]);
            for _ in 0..self.thinking.parallel.max(1) {
                let gathered = search.gather(&mut self.solver, &mut random);
                let Some(Gathered::Leaf { ticket, board, legal }) = gathered else { break };
                self.inputs.push(Input::new(board, legal));
                self.asked.push((index, ticket));
            }
        }
        !self.inputs.is_empty()
    }

    fn conclude(&mut self, turn: &Turn<'_, G>, thought: Thought<G>) -> Result<Choice, PlayerError> {
        let nothing = || PlayerError::IllegalMove { shown: "nothing".into() };
        match thought {
            Thought::Solved { score, line } => {
                let square = *line.first().ok_or_else(nothing)?;
                Ok(Choice { score: Some(score as f32), ..Choice::plain(square) })
            }
            Thought::Searched(mut search, done) => {
                let options = &self.thinking.search;
                let early = turn.ply() < options.temperature_plies;
                let temperature =
                    if early { options.temperature } else { options.temperature_late };
                let mut random = stream(self.seed, turn);
                let square = search.choose(temperature, &mut random).ok_or_else(nothing)?;
                let choice = Choice {
                    score: search.tree().exact().map(f32::from),
                    depth: Some(search.tree().visits()),
                    nodes: u64::from(done),
                    ..Choice::plain(square)
                };
                self.searches.insert(turn.game, search);
                Ok(choice)
            }
        }
    }
}

pub(super) fn answer<G: Geometry>(outputs: &Outputs, index: usize) -> Prediction<'_> {
    Prediction {
        policy: &outputs.policy[index * G::SQUARES..][..G::SQUARES],
        value: outputs.value[index],
        score: outputs.score[index],
    }
}

pub(super) fn failed(error: InferenceError) -> PlayerError {
    PlayerError::Network { reason: error.to_string().into() }
}

/// Shares a batch's time out among its choices.
pub(super) fn timed(choices: &mut [Result<Choice, PlayerError>], begun: Instant) {
    let each = begun.elapsed().as_secs_f64() / choices.len().max(1) as f64;
    choices.iter_mut().flatten().for_each(|choice| choice.seconds = each);
}

impl<G: Geometry> Player<G> for NetPlayer<G> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
        if self.thinking.time.is_some() {
            let mut control = Control::plain();
            return turns.iter().map(|turn| self.choose_alone(turn, &mut control)).collect();
        }
        let begun = Instant::now();
        match self.think_of_all(turns).map_err(failed) {
            Err(error) => vec![Err(error); turns.len()],
            Ok(thoughts) => {
                let concluded = turns.iter().zip(thoughts);
                let mut choices: Vec<_> =
                    concluded.map(|(turn, thought)| self.conclude(turn, thought)).collect();
                timed(&mut choices, begun);
                choices
            }
        }
    }

    fn end_game(&mut self, game: u32) {
        self.searches.remove(&game);
        self.spent.remove(&game);
    }

    fn think(
        &mut self,
        turn: &Turn<'_, G>,
        control: &mut Control<'_>,
    ) -> Result<Choice, PlayerError> {
        let choice = self.choose_alone(turn, control)?;
        match choice.score {
            Some(_) => Ok(choice),
            None => Ok(Choice { score: self.expected_score(turn, choice.square)?, ..choice }),
        }
    }

    fn analyze(
        &mut self,
        turn: &Turn<'_, G>,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<Analysis, PlayerError> {
        let (hints, nodes) = self.hints_of(turn, count, control).map_err(failed)?;
        Ok(control.analysis(hints, nodes))
    }

    fn level(&self, level: u32) -> Option<String> {
        let simulations = alone::simulations_of_level(level);
        self.thinking.time.is_none().then(|| format!("simulations={simulations}"))
    }

    fn batch(&self) -> usize {
        // Games that wait for each other's clocks gain nothing from being played at once.
        if self.thinking.time.is_some() { 1 } else { GAMES_AT_ONCE }
    }
}
