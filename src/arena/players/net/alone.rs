//! A net's player with one turn by itself: by the clock, or steered by a caller.
//!
//! By the clock all threads search one tree until the time is up, each with leaves of its own.
//! With a number of simulations they share out each batch, as in a match, so that the move is
//! the same as there.

use std::time::{Duration, Instant};

use rand::Rng;

use super::{NetPlayer, Thought, answer, failed};
use crate::arena::control::{Control, Effort};
use crate::arena::player::{Choice, PlayerError, Turn, stream};
use crate::arena::spec::Time;
use crate::game::Geometry;
use crate::net::Input;
use crate::net::inference::{Backend as _, InferenceError};
use crate::search::mcts::{Gathered, Mode, Ticket, TreeSearch};
use crate::search::stop::Stop;

/// Simulations that a search by the clock is given at a time, an eighth of the tree's own within
/// these bounds. It looks at the clock after them, even if it has nothing to ask the net.
const SLICE: std::ops::RangeInclusive<u32> = 256..=4096;
/// Simulations of a position with one move to make.
const FIRST_LOOK: u32 = 32;
/// The most simulations in the tree of a search without a number of them, those of earlier
/// searches included. Each takes some 200 bytes.
const MOST_SIMULATIONS: u32 = 4_000_000;
/// What is left of a player's time for a game never falls below this: it must move somehow.
const LAST_RESERVE: Duration = Duration::from_millis(10);

/// Simulations of level 0, as graphical boards count levels. Two levels double them.
const SIMULATIONS_OF_LEVEL_0: f64 = 25.0;

/// The simulations that a level of play comes to.
pub(super) fn simulations_of_level(level: u32) -> u32 {
    let simulations = SIMULATIONS_OF_LEVEL_0 * (f64::from(level) / 2.0).exp2();
    simulations.min(f64::from(MOST_SIMULATIONS)).round() as u32
}

/// What bounds the search of one turn.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    pub time: Option<Duration>,
    simulations: u32,
    /// Whether `simulations` is the size of the tree: those that it has kept count too.
    counts_kept: bool,
}

impl<G: Geometry> NetPlayer<G> {
    /// A move, whose time counts.
    pub(super) fn choose_alone(
        &mut self,
        turn: &Turn<'_, G>,
        control: &mut Control<'_>,
    ) -> Result<Choice, PlayerError> {
        let (begun, solved) = (Instant::now(), self.solver.nodes);
        let thought = self.think_alone(turn, 1, control).map_err(failed)?;
        let mut choice = self.conclude(turn, thought)?;
        if choice.nodes == 0 {
            choice.nodes = self.solver.nodes - solved;
        }
        let time = begun.elapsed();
        choice.seconds = time.as_secs_f64();
        if self.thinking.time.is_some() {
            // The time of an analysis does not count.
            *self.spent.entry(turn.game).or_default() += time;
        }
        Ok(choice)
    }

    /// What a turn comes to by itself. Reports have at most `count` moves.
    pub(super) fn think_alone(
        &mut self,
        turn: &Turn<'_, G>,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<Thought<G>, InferenceError> {
        let begun = Instant::now();
        let budget = self.budget(turn, control.effort);
        let until = budget.time.and_then(|time| begun.checked_add(time));
        self.solver.set_stop(control.stop.clone());
        self.solver.set_deadline(until);
        let mut thought = self.begin(turn, budget.time);
        let mut searched = Ok(());
        if let Thought::Searched(search, done) = &mut thought {
            search.set_stop(control.stop.clone());
            searched = self.search_alone(turn, search, (budget, until), count, control);
            search.set_stop(Stop::default());
            *done = search.simulations();
        }
        self.solver.set_stop(Stop::default());
        self.solver.set_deadline(None);
        searched.map(|()| thought)
    }

    /// What bounds the search of a turn.
    pub(super) fn budget(&self, turn: &Turn<'_, G>, effort: Effort) -> Budget {
        if effort.endless {
            return Budget { time: None, simulations: MOST_SIMULATIONS, counts_kept: true };
        }
        let own = self.own_time(turn);
        let simulations = match (own, effort.level) {
            (Some(_), _) => MOST_SIMULATIONS,
            (None, Some(level)) => simulations_of_level(level),
            (None, None) => self.thinking.search.simulations,
        };
        let time = match (own, effort.time) {
            (Some(own), Some(given)) => Some(own.min(given)),
            (own, given) => own.or(given),
        };
        Budget { time, simulations, counts_kept: own.is_some() }
    }

    /// How long a move may take by the player's own clock.
    fn own_time(&self, turn: &Turn<'_, G>) -> Option<Duration> {
        match self.thinking.time? {
            Time::Move(time) => Some(time),
            Time::Game(time) => {
                let spent = self.spent.get(&turn.game).copied().unwrap_or_default();
                let left = time.saturating_sub(spent).max(LAST_RESERVE);
                // Half of the squares that are not solved are the player's own moves.
                let empties = turn.position.board.empties();
                let moves = empties.saturating_sub(self.thinking.search.solve_empties) / 2;
                Some(left.mul_f64(0.95) / (moves + 2))
            }
        }
    }

    /// Searches a position until its budget is spent or it is stopped.
    fn search_alone(
        &mut self,
        turn: &Turn<'_, G>,
        search: &mut TreeSearch<G>,
        (budget, until): (Budget, Option<Instant>),
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<(), InferenceError> {
        let board = turn.position.board;
        // With one move to make, all there is to gain is a first look at it.
        let forced = until.is_some() && board.legal().len() == 1;
        let most = if forced { FIRST_LOOK.min(budget.simulations) } else { budget.simulations };
        let slice = |search: &TreeSearch<G>, left: u32| match until {
            None => left,
            Some(_) => (search.tree().visits() / 8).clamp(*SLICE.start(), *SLICE.end()).min(left),
        };
        let room = |search: &TreeSearch<G>| {
            let kept = if budget.counts_kept { search.tree().visits() } else { 0 };
            most.saturating_sub(search.simulations().max(kept))
        };
        // What the tree has kept is known once the search has begun.
        search.begin(board, 1, Mode::Play);
        search.extend(slice(search, room(search)).saturating_sub(1));
        loop {
            let searched = self.search_until(until, turn, search, count, control);
            // All are waited for, whatever goes wrong: an answer left over would be taken for the
            // next one.
            let helpers = 0..self.flights.len();
            helpers.fold(searched, |result, helper| self.land(helper, search).and(result))?;
            let left = room(search);
            let late = until.is_some_and(|until| Instant::now() >= until);
            if left == 0 || late || control.stop.is_set() || search.tree().exact().is_some() {
                return Ok(());
            }
            search.extend(slice(search, left));
        }
    }

    /// Runs a search that has begun until it is done, or until the time is up; helpers may be at
    /// work when it returns.
    fn search_until(
        &mut self,
        until: Option<Instant>,
        turn: &Turn<'_, G>,
        search: &mut TreeSearch<G>,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<(), InferenceError> {
        let mut random = stream(self.seed, turn);
        loop {
            let more = match self.thinking.time {
                Some(_) => self.search_apart(search, &mut random)?,
                None => self.search_together(search, &mut random)?,
            };
            if !more || until.is_some_and(|until| Instant::now() >= until) {
                return Ok(());
            }
            if control.is_due() && search.tree().is_expanded() {
                let hints = self.searched_hints(turn, search, count)?;
                control.report(hints, search.simulations().into());
            }
        }
    }

    /// One batch, shared out among all threads; false once the search wants none.
    fn search_together(
        &mut self,
        search: &mut TreeSearch<G>,
        random: &mut impl Rng,
    ) -> Result<bool, InferenceError> {
        let tickets = self.leaves(search, self.thinking.parallel, random);
        if tickets.is_empty() {
            return Ok(false);
        }
        self.net_copies.evaluate(&self.inputs, &mut self.outputs)?;
        for (index, ticket) in tickets.into_iter().enumerate() {
            search.apply(ticket, answer::<G>(&self.outputs, index));
        }
        Ok(true)
    }

    /// One batch of this thread's own. Each helper that is free gets leaves of its own before, so
    /// that none waits while this thread is in the tree. With fewer leaves at a time than threads
    /// some have nothing to do. False once the search wants nothing and no helper is at work.
    fn search_apart(
        &mut self,
        search: &mut TreeSearch<G>,
        random: &mut impl Rng,
    ) -> Result<bool, InferenceError> {
        let helpers = self.flights.len().min(self.thinking.parallel.saturating_sub(1));
        let share = self.thinking.parallel / (helpers + 1);
        for helper in 0..helpers {
            if self.flights[helper].is_empty() || self.net_copies.is_done(helper) {
                self.land(helper, search)?;
                self.flights[helper] = self.leaves(search, share, random);
                if !self.inputs.is_empty() {
                    self.net_copies.submit(helper, &self.inputs);
                }
            }
        }
        let own = self.leaves(search, share, random);
        if own.is_empty() {
            let busy = self.flights.iter().position(|flight| !flight.is_empty());
            return match busy {
                None => Ok(false),
                Some(helper) => self.land(helper, search).map(|()| true),
            };
        }
        self.net_copies.evaluate_here(&self.inputs, &mut self.outputs)?;
        for (index, ticket) in own.into_iter().enumerate() {
            search.apply(ticket, answer::<G>(&self.outputs, index));
        }
        Ok(true)
    }

    /// Leaves that a search wants evaluated, at most `share`; `inputs` are their positions.
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

    /// Waits for a helper, if it was asked, and hands on its answers.
    fn land(&mut self, helper: usize, search: &mut TreeSearch<G>) -> Result<(), InferenceError> {
        let flight = std::mem::take(&mut self.flights[helper]);
        if flight.is_empty() {
            return Ok(());
        }
        let outputs = self.net_copies.collect(helper)?;
        for (index, ticket) in flight.into_iter().enumerate() {
            search.apply(ticket, answer::<G>(outputs, index));
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "alone_tests.rs"]
mod tests;
