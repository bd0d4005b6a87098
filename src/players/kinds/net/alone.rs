//! A net player's search of a single turn: with a time limit, or under a caller's control.
//!
//! With a time limit all threads search one tree until the time is up, each with its own batches of
//! leaves. With a number of simulations each batch is divided among the threads. Then the search is
//! the same as in a match, and so is the move.

use std::time::{Duration, Instant};

use rand::Rng;

use super::Time;
use super::{NetPlayer, TurnResult, network_error};
use crate::game::Geometry;
use crate::players::control::{Control, Effort};
use crate::players::player::{Choice, PlayerError, Turn, stream};
use crate::predict::Input;
use crate::predict::{Backend as _, PredictError};
use crate::search::mcts::{Gathered, Mode, Ticket, TreeSearch};
use crate::search::stop::Stop;

/// Bounds of the number of simulations between two checks of the time limit. Within them it is an
/// eighth of the tree's visits. The check does not depend on leaves: in a solved part of the tree
/// there may be none.
const SIMULATIONS_PER_CHECK: std::ops::RangeInclusive<u32> = 256..=4096;
/// The most simulations under a time limit if there is one legal move only.
const FORCED_MOVE_SIMULATIONS: u32 = 32;
/// The most visits of a tree without a limit of simulations, earlier searches included. Each takes
/// about 200 bytes.
const MOST_SIMULATIONS: u32 = 4_000_000;
/// The least time that a player counts as left for a game, since it must still move.
const MIN_TIME_LEFT: Duration = Duration::from_millis(10);

/// Simulations of level 0. Every two levels double them.
const SIMULATIONS_OF_LEVEL_0: f64 = 25.0;

/// The number of simulations of a level of play.
pub(super) fn simulations_of_level(level: u32) -> u32 {
    let simulations = SIMULATIONS_OF_LEVEL_0 * (f64::from(level) / 2.0).exp2();
    simulations.min(f64::from(MOST_SIMULATIONS)).round() as u32
}

/// The limits of one turn's search.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    pub time: Option<Duration>,
    simulations: u32,
    /// Whether `simulations` limits the visits of the whole tree, earlier searches included.
    is_tree_size: bool,
}

impl<G: Geometry> NetPlayer<G> {
    /// A move. Its time counts against the time for the game.
    pub(super) fn choose_alone(
        &mut self,
        turn: &Turn<'_, G>,
        control: &mut Control<'_>,
    ) -> Result<Choice, PlayerError> {
        let begun = Instant::now();
        let mut choice = match self.late_choice(turn, control)? {
            Some(choice) => choice,
            None => self.early_choice(turn, control)?,
        };
        let time = begun.elapsed();
        choice.seconds = time.as_secs_f64();
        if self.settings.time.is_some() {
            *self.spent.entry(turn.game).or_default() += time;
        }
        Ok(choice)
    }

    /// The move that the net's search or the solver finds.
    fn early_choice(
        &mut self,
        turn: &Turn<'_, G>,
        control: &mut Control<'_>,
    ) -> Result<Choice, PlayerError> {
        let solved = self.solver.nodes;
        let result = self.think_alone(turn, 1, control).map_err(network_error)?;
        let mut choice = self.take_choice(turn, result)?;
        if choice.nodes == 0 {
            choice.nodes = self.solver.nodes - solved;
        }
        Ok(choice)
    }

    /// The result of a single turn. Reports have at most `count` moves.
    pub(super) fn think_alone(
        &mut self,
        turn: &Turn<'_, G>,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<TurnResult<G>, PredictError> {
        let begun = Instant::now();
        let budget = self.budget(turn, control.effort);
        let deadline = budget.time.and_then(|time| begun.checked_add(time));
        self.solver.set_stop(control.stop.clone());
        self.solver.set_deadline(deadline);
        if self.solves(turn, budget.time) {
            self.report_predictions(turn, count, control)?;
        }
        let mut result = self.begin(turn, budget.time);
        let mut searched = Ok(());
        if let TurnResult::Searched(search, done) = &mut result {
            search.set_stop(control.stop.clone());
            searched = self.search_alone(turn, search, (budget, deadline), count, control);
            search.set_stop(Stop::default());
            *done = search.simulations();
        }
        self.solver.set_stop(Stop::default());
        self.solver.set_deadline(None);
        searched.map(|()| result)
    }

    /// The limits of a turn's search.
    pub(super) fn budget(&self, turn: &Turn<'_, G>, effort: Effort) -> Budget {
        if effort.endless {
            let most = effort.caps.simulations.unwrap_or(MOST_SIMULATIONS);
            let simulations = most.clamp(1, MOST_SIMULATIONS);
            return Budget { time: effort.time, simulations, is_tree_size: true };
        }
        let own = self.own_time(turn);
        let simulations = match (own, effort.level) {
            (Some(_), _) => MOST_SIMULATIONS,
            (None, Some(level)) => simulations_of_level(level),
            (None, None) => self.settings.search.simulations,
        };
        let time = match (own, effort.time) {
            (Some(own), Some(given)) => Some(own.min(given)),
            (own, given) => own.or(given),
        };
        Budget { time, simulations, is_tree_size: own.is_some() }
    }

    /// The time for this move by the player's own time limit.
    fn own_time(&self, turn: &Turn<'_, G>) -> Option<Duration> {
        match self.settings.time? {
            Time::Move(time) => Some(time),
            Time::Game(time) => {
                let spent = self.spent.get(&turn.game).copied().unwrap_or_default();
                let left = time.saturating_sub(spent).max(MIN_TIME_LEFT);
                // The player makes half of the moves before the solver takes over.
                let empties = turn.position.board.empties();
                let moves = empties.saturating_sub(self.settings.search.solve_empties) / 2;
                Some(left.mul_f64(0.95) / (moves + 2))
            }
        }
    }

    /// Searches a position until a limit is reached or the search is stopped.
    fn search_alone(
        &mut self,
        turn: &Turn<'_, G>,
        search: &mut TreeSearch<G>,
        (budget, deadline): (Budget, Option<Instant>),
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<(), PredictError> {
        let board = turn.position.board;
        // With one legal move a short search is enough: it gives the move's value.
        let forced = deadline.is_some() && board.legal().len() == 1;
        let most = if forced {
            FORCED_MOVE_SIMULATIONS.min(budget.simulations)
        } else {
            budget.simulations
        };
        let slice = |search: &TreeSearch<G>, left: u32| match deadline {
            None => left,
            Some(_) => (search.tree().visits() / 8)
                .clamp(*SIMULATIONS_PER_CHECK.start(), *SIMULATIONS_PER_CHECK.end())
                .min(left),
        };
        let room = |search: &TreeSearch<G>| {
            let kept = if budget.is_tree_size { search.tree().visits() } else { 0 };
            most.saturating_sub(search.simulations().max(kept))
        };
        // The number of visits that the tree kept is known after `begin`.
        search.begin(board, 1, if count > 1 { Mode::Analyse } else { Mode::Play });
        search.extend(slice(search, room(search)).saturating_sub(1));
        loop {
            let searched = self.search_until(deadline, turn, search, count, control);
            // Wait for all helpers even after an error. A result that is not collected here would
            // be taken for that of the next batch.
            let helpers = 0..self.pending.len();
            helpers.fold(searched, |result, helper| self.collect(helper, search).and(result))?;
            let left = room(search);
            let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if left == 0 || late || control.stop.is_set() || search.tree().exact().is_some() {
                return Ok(());
            }
            search.extend(slice(search, left));
        }
    }

    /// Runs a search until its simulations are done or the time is up. Helpers may still be
    /// computing when it returns.
    fn search_until(
        &mut self,
        deadline: Option<Instant>,
        turn: &Turn<'_, G>,
        search: &mut TreeSearch<G>,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<(), PredictError> {
        let mut random = stream(self.seed, turn);
        loop {
            let more = match self.settings.time {
                Some(_) => self.search_separate_batches(search, &mut random)?,
                None => self.search_shared_batch(search, &mut random)?,
            };
            if !more || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(());
            }
            if control.is_due() && search.tree().is_expanded() {
                let hints = self.searched_hints(turn, search, count)?;
                control.report(hints, search.simulations().into());
            }
        }
    }

    /// Computes one batch, divided among all threads; false if the search has no more leaves.
    fn search_shared_batch(
        &mut self,
        search: &mut TreeSearch<G>,
        random: &mut impl Rng,
    ) -> Result<bool, PredictError> {
        let tickets = self.leaves(search, self.settings.parallel, random);
        if tickets.is_empty() {
            return Ok(false);
        }
        self.net_copies.predict(&self.inputs, &mut self.predictions)?;
        for (index, ticket) in tickets.into_iter().enumerate() {
            search.apply(ticket, self.predictions.get(index, G::SQUARES));
        }
        Ok(true)
    }

    /// Gives each idle helper a batch of leaves, then computes one batch on this thread. So no
    /// helper waits while this thread computes. If `parallel` is less than the number of threads,
    /// some helpers stay idle. False if the search has no more leaves and no helper is computing.
    fn search_separate_batches(
        &mut self,
        search: &mut TreeSearch<G>,
        random: &mut impl Rng,
    ) -> Result<bool, PredictError> {
        let helpers = self.pending.len().min(self.settings.parallel.saturating_sub(1));
        let share = self.settings.parallel / (helpers + 1);
        for helper in 0..helpers {
            if self.pending[helper].is_empty() || self.net_copies.is_done(helper) {
                self.collect(helper, search)?;
                self.pending[helper] = self.leaves(search, share, random);
                if !self.inputs.is_empty() {
                    self.net_copies.submit(helper, &self.inputs);
                }
            }
        }
        let own = self.leaves(search, share, random);
        if own.is_empty() {
            let busy = self.pending.iter().position(|tickets| !tickets.is_empty());
            return match busy {
                None => Ok(false),
                Some(helper) => self.collect(helper, search).map(|()| true),
            };
        }
        self.net_copies.evaluate_here(&self.inputs, &mut self.predictions)?;
        for (index, ticket) in own.into_iter().enumerate() {
            search.apply(ticket, self.predictions.get(index, G::SQUARES));
        }
        Ok(true)
    }

    /// Leaves of a search that need a prediction, at most `share`. Their positions go to `inputs`.
    fn leaves(
        &mut self,
        search: &mut TreeSearch<G>,
        share: usize,
        random: &mut impl Rng,
    ) -> Vec<Ticket> {
        let mut tickets = Vec::new();
        self.inputs.clear();
        for _ in 0..share.max(1) {
            let gathered = search.gather(&mut self.solver, random);
            let Some(Gathered::Leaf { ticket, board, legal }) = gathered else { break };
            self.inputs.push(Input::new(board, legal));
            tickets.push(ticket);
        }
        tickets
    }

    /// Waits for a helper's batch, if it has one, and applies its predictions to the tree.
    fn collect(&mut self, helper: usize, search: &mut TreeSearch<G>) -> Result<(), PredictError> {
        let tickets = std::mem::take(&mut self.pending[helper]);
        if tickets.is_empty() {
            return Ok(());
        }
        let predictions = self.net_copies.collect(helper)?;
        for (index, ticket) in tickets.into_iter().enumerate() {
            search.apply(ticket, predictions.get(index, G::SQUARES));
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "alone_tests.rs"]
mod tests;
