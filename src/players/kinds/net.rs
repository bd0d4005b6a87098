//! A player that searches with a net (Monte Carlo tree search).
//!
//! All turns of one call share the batches of the net, so a match of many games is as fast as
//! self-play.

mod alone;
mod analysis;
mod handover;
mod options;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::NetCopies;
use crate::game::{Geometry, Goal, Square};
use crate::players::control::{Analysis, Control};
use crate::players::player::{Choice, Player, PlayerError, Turn, stream};
use crate::predict::Input;
use crate::predict::{Backend as _, PredictError, Predictions};
use crate::search::endgame::Solver;
use crate::search::mcts::{self, Gathered, Mode, Ticket, TreeSearch};
use handover::Handover;
pub use options::{NetPlayerSpec, Time};

/// The preferred number of games in one call of `choose`: enough for a full batch.
pub(super) const GAMES_PER_BATCH: usize = 64;
/// Bytes of the solver's table.
const SOLVER_TABLE_BYTES: usize = 16 << 20;

/// With a time limit the player tries to solve positions that have up to this many empty squares
/// more than `solve_empties`.
const EXTRA_SOLVE_EMPTIES: u32 = 2;
/// The share of the move's time for such an attempt. After the score is found, the solver has a
/// quarter of this time more to find the move. If it fails, enough time is left for a search.
const SOLVE_TIME_SHARE: f64 = 0.4;

/// Search settings of a net player.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NetPlayerSettings {
    /// Settings of the tree search.
    pub search: mcts::Options,
    /// The most leaves of one tree that wait for the net at a time, over all threads; at least 1.
    pub parallel: usize,
    /// The time limit. It replaces the number of simulations.
    pub time: Option<Time>,
    /// Threads that solve the current position under a time limit, at least 1. Without a time
    /// limit one thread solves it, since with several threads chance decides which of equally good
    /// moves is found. Positions in the tree are solved by one thread too: most take little time.
    pub solvers: usize,
}

/// Searches with a net. It keeps a tree for each game.
pub struct NetPlayer<G: Geometry> {
    name: String,
    seed: u64,
    goal: Goal,
    settings: NetPlayerSettings,
    /// Time spent in each game in progress, for players with a time limit.
    spent: HashMap<u32, Duration>,
    net_copies: NetCopies,
    solver: Solver<G>,
    searches: HashMap<u32, Box<TreeSearch<G>>>,
    inputs: Vec<Input>,
    /// For each of `inputs` the index of its turn and the leaf's ticket.
    tickets: Vec<(usize, Ticket)>,
    predictions: Predictions,
    /// The leaves that each helper of `net_copies` is computing.
    pending: Vec<Vec<Ticket>>,
    /// Who plays the late part of a game, if not the net.
    handover: Option<Handover<G>>,
}

/// The result of a turn.
enum TurnResult<G: Geometry> {
    /// The position was solved.
    Solved { score: i32, line: Vec<Square> },
    /// The position was searched: the tree and the number of new simulations.
    Searched(Box<TreeSearch<G>>, u32),
}

impl<G: Geometry> NetPlayer<G> {
    /// A player whose random choices depend on the seed.
    pub fn new(
        name: String,
        goal: Goal,
        net_copies: NetCopies,
        settings: NetPlayerSettings,
        seed: u64,
    ) -> NetPlayer<G> {
        NetPlayer {
            name,
            seed,
            goal,
            settings,
            spent: HashMap::new(),
            pending: vec![Vec::new(); net_copies.helpers()],
            net_copies,
            solver: Solver::new(goal, SOLVER_TABLE_BYTES),
            searches: HashMap::new(),
            inputs: Vec::new(),
            tickets: Vec::new(),
            predictions: Predictions::default(),
            handover: None,
        }
    }

    /// Searches or solves all turns together, without a time limit.
    fn think_about_all(
        &mut self,
        turns: &[Turn<'_, G>],
    ) -> Result<Vec<TurnResult<G>>, PredictError> {
        let mut results: Vec<_> = turns.iter().map(|turn| self.begin(turn, None)).collect();
        for (turn, result) in turns.iter().zip(&mut results) {
            if let TurnResult::Searched(search, _) = result {
                let simulations = self.settings.search.simulations;
                search.begin(turn.position.board, simulations, Mode::Play);
            }
        }
        self.search(turns, &mut results)?;
        for result in &mut results {
            if let TurnResult::Searched(search, done) = result {
                *done = search.simulations();
            }
        }
        Ok(results)
    }

    /// Whether the turn's position has few enough empty squares to be solved.
    fn solves(&self, turn: &Turn<'_, G>, time: Option<Duration>) -> bool {
        let (board, most) = (turn.position.board, self.settings.search.solve_empties);
        // With one legal move an early solution gains nothing.
        let extra =
            if time.is_none() || board.legal().len() == 1 { 0 } else { EXTRA_SOLVE_EMPTIES };
        most > 0 && board.empties() <= most + extra
    }

    /// Solves the turn's position if it has few enough empty squares. Otherwise returns the game's
    /// tree, ready to be searched.
    fn begin(&mut self, turn: &Turn<'_, G>, time: Option<Duration>) -> TurnResult<G> {
        let (board, options) = (turn.position.board, &self.settings.search);
        let (solve_time, threads) = match time {
            None => (None, 1),
            Some(time) => (Some(time.mul_f64(SOLVE_TIME_SHARE)), self.settings.solvers),
        };
        let solved = match self.solves(turn, time) {
            true => self.solver.best_line_within(board, solve_time, threads),
            false => None,
        };
        if let Some((score, line)) = solved {
            return TurnResult::Solved { score, line };
        }
        let kept = self.searches.remove(&turn.game);
        let search = kept.unwrap_or_else(|| Box::new(TreeSearch::new(self.goal, options)));
        TurnResult::Searched(search, 0)
    }

    /// Runs the searches to their end.
    fn search(
        &mut self,
        turns: &[Turn<'_, G>],
        results: &mut [TurnResult<G>],
    ) -> Result<(), PredictError> {
        while self.gather(turns, results) {
            self.net_copies.predict(&self.inputs, &mut self.predictions)?;
            for (index, &(turn, ticket)) in self.tickets.iter().enumerate() {
                if let TurnResult::Searched(search, _) = &mut results[turn] {
                    search.apply(ticket, self.predictions.get(index, G::SQUARES));
                }
            }
        }
        Ok(())
    }

    /// Collects the leaves of all searches that need a prediction; false if there are none.
    fn gather(&mut self, turns: &[Turn<'_, G>], results: &mut [TurnResult<G>]) -> bool {
        self.inputs.clear();
        self.tickets.clear();
        for (index, result) in results.iter_mut().enumerate() {
            let TurnResult::Searched(search, _) = result else { continue };
            let mut random = stream(self.seed, &turns[index]);
            for _ in 0..self.settings.parallel.max(1) {
                let gathered = search.gather(&mut self.solver, &mut random);
                let Some(Gathered::Leaf { ticket, board, legal }) = gathered else { break };
                self.inputs.push(Input::new(board, legal));
                self.tickets.push((index, ticket));
            }
        }
        !self.inputs.is_empty()
    }

    /// The move of a turn. Keeps the tree for the game's next turn.
    fn take_choice(
        &mut self,
        turn: &Turn<'_, G>,
        result: TurnResult<G>,
    ) -> Result<Choice, PlayerError> {
        let nothing = || PlayerError::IllegalMove { shown: "nothing".into() };
        match result {
            TurnResult::Solved { score, line } => {
                let square = *line.first().ok_or_else(nothing)?;
                Ok(Choice { score: Some(score as f32), ..Choice::plain(square) })
            }
            TurnResult::Searched(mut search, done) => {
                let options = &self.settings.search;
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

pub(super) fn network_error(error: PredictError) -> PlayerError {
    PlayerError::Network { reason: error.to_string().into() }
}

/// Divides the time of a batch evenly among its choices.
pub(super) fn set_times(choices: &mut [Result<Choice, PlayerError>], begun: Instant) {
    let each = begun.elapsed().as_secs_f64() / choices.len().max(1) as f64;
    choices.iter_mut().flatten().for_each(|choice| choice.seconds = each);
}

impl<G: Geometry> Player<G> for NetPlayer<G> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
        if self.settings.time.is_some() {
            let mut control = Control::plain();
            return turns.iter().map(|turn| self.choose_alone(turn, &mut control)).collect();
        }
        let begun = Instant::now();
        match self.think_about_all(turns).map_err(network_error) {
            Err(error) => vec![Err(error); turns.len()],
            Ok(results) => {
                let finished = turns.iter().zip(results);
                let mut choices: Vec<_> =
                    finished.map(|(turn, result)| self.take_choice(turn, result)).collect();
                set_times(&mut choices, begun);
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
        if let Some(analysis) = self.late_analysis(turn, count, control)? {
            return Ok(analysis);
        }
        let (hints, nodes) = self.hints_of(turn, count, control).map_err(network_error)?;
        Ok(control.analysis(hints, nodes))
    }

    fn level(&self, level: u32) -> Option<String> {
        let simulations = alone::simulations_of_level(level);
        self.settings.time.is_none().then(|| format!("simulations={simulations}"))
    }

    fn batch(&self) -> usize {
        // With a time limit the moves of several games would wait for each other.
        if self.settings.time.is_some() { 1 } else { GAMES_PER_BATCH }
    }
}
