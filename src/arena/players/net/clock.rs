//! A net's player by the clock: how long a move may take, and one tree that all threads search
//! until then.

use std::time::{Duration, Instant};

use rand::Rng;

use super::{NetPlayer, Thought, answer};
use crate::arena::player::{Turn, stream};
use crate::arena::spec::Time;
use crate::game::Geometry;
use crate::net::Input;
use crate::net::inference::InferenceError;
use crate::search::mcts::{Gathered, Mode, Search, Ticket};

/// Simulations that a search by the clock is given at a time: it looks at the clock after them
/// even if it has nothing to ask the net, and no more than a fraction of the tree's own.
const SLICE: std::ops::RangeInclusive<u32> = 256..=4096;
/// Simulations of a position with one move to make.
const FIRST_LOOK: u32 = 32;
/// Simulations after which a search by the clock has enough: its tree takes some 200 bytes each.
const MOST_SIMULATIONS: u32 = 4_000_000;
/// What is left of a player's time for a game never falls below this: it must move somehow.
const LAST_RESERVE: Duration = Duration::from_millis(10);

impl<G: Geometry> NetPlayer<G> {
    /// What a turn comes to in its time.
    pub(super) fn think_by_the_clock(
        &mut self,
        turn: &Turn<'_, G>,
    ) -> Result<Thought<G>, InferenceError> {
        let begun = Instant::now();
        let time = self.time_for(turn);
        let until = begun + time;
        let mut thought = self.begin(turn, Some(time));
        self.solver.set_deadline(Some(until));
        let board = turn.position.board;
        if let Thought::Searched(search, _) = &mut thought
            && !self.thinking.search.tree_reuse
        {
            search.forget();
        }
        // With one move to make, all there is to gain is a first look at it.
        let forced = board.legal().len() == 1;
        while let Thought::Searched(search, done) = &mut thought {
            let slice = match forced {
                true => FIRST_LOOK,
                false => (search.tree().visits() / 8).clamp(*SLICE.start(), *SLICE.end()),
            };
            search.begin(board, slice, Mode::Play);
            let searched = self.search_until(until, turn, search);
            // All are waited for, whatever goes wrong: an answer left over would be taken for the
            // next one.
            let helpers = 0..self.flights.len();
            helpers.fold(searched, |result, helper| self.land(helper, search).and(result))?;
            *done += search.simulations();
            let proven = search.tree().exact().is_some();
            if proven || forced || *done >= MOST_SIMULATIONS || Instant::now() >= until {
                break;
            }
        }
        Ok(thought)
    }

    /// How long a move may take.
    fn time_for(&self, turn: &Turn<'_, G>) -> Duration {
        match self.thinking.time {
            None => Duration::MAX,
            Some(Time::Move(time)) => time,
            Some(Time::Game(time)) => {
                let spent = self.spent.get(&turn.game).copied().unwrap_or_default();
                let left = time.saturating_sub(spent).max(LAST_RESERVE);
                // Half of the squares that are not solved are the player's own moves.
                let empties = turn.position.board.empties();
                let moves = empties.saturating_sub(self.thinking.search.solve_empties) / 2;
                left.mul_f64(0.95) / (moves + 2)
            }
        }
    }

    /// Runs a search that has begun until it is done, or until the time is up. Whoever of the crew
    /// is free gets leaves of his own, so that nobody waits while this thread is in the tree;
    /// helpers may be at work when it returns. With fewer leaves at a time than threads some have
    /// nothing to do.
    fn search_until(
        &mut self,
        until: Instant,
        turn: &Turn<'_, G>,
        search: &mut Search<G>,
    ) -> Result<(), InferenceError> {
        let helpers = self.flights.len().min(self.thinking.parallel.saturating_sub(1));
        let share = self.thinking.parallel / (helpers + 1);
        let mut random = stream(self.seed, turn);
        loop {
            for helper in 0..helpers {
                if self.flights[helper].is_empty() || self.crew.is_done(helper) {
                    self.land(helper, search)?;
                    self.flights[helper] = self.leaves(search, share, &mut random);
                    if !self.inputs.is_empty() {
                        self.crew.submit(helper, &self.inputs);
                    }
                }
            }
            let own = self.leaves(search, share, &mut random);
            if own.is_empty() {
                let Some(helper) = self.flights.iter().position(|flight| !flight.is_empty()) else {
                    return Ok(());
                };
                self.land(helper, search)?;
            } else {
                self.crew.evaluate_here(&self.inputs, &mut self.outputs)?;
                for (index, ticket) in own.into_iter().enumerate() {
                    search.apply(ticket, answer::<G>(&self.outputs, index));
                }
            }
            if Instant::now() >= until {
                return Ok(());
            }
        }
    }

    /// Leaves that a search wants evaluated, at most `share`; `inputs` are their positions.
    fn leaves(
        &mut self,
        search: &mut Search<G>,
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
    fn land(&mut self, helper: usize, search: &mut Search<G>) -> Result<(), InferenceError> {
        let flight = std::mem::take(&mut self.flights[helper]);
        if flight.is_empty() {
            return Ok(());
        }
        let outputs = self.crew.collect(helper)?;
        for (index, ticket) in flight.into_iter().enumerate() {
            search.apply(ticket, answer::<G>(outputs, index));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::player::Player;
    use crate::arena::players::Crew;
    use crate::arena::players::net::Thinking;
    use crate::game::{Goal, Position, Square8};
    use crate::net::inference::{Backend, Outputs};
    use crate::net::weights::Weights;

    /// A net without an opinion, which fails from its `left`-th answer on.
    struct Indifferent {
        left: u32,
    }

    impl Backend for Indifferent {
        fn evaluate(
            &mut self,
            inputs: &[Input],
            outputs: &mut Outputs,
        ) -> Result<(), InferenceError> {
            if self.left == 0 {
                return Err(InferenceError::ServerEnded);
            }
            self.left -= 1;
            let answers = vec![0.0; inputs.len()];
            outputs.policy = vec![0.0; inputs.len() * Square8::SQUARES];
            (outputs.value, outputs.score) = (answers.clone(), answers);
            Ok(())
        }

        fn load(&mut self, _: &Weights) -> Result<(), InferenceError> {
            Ok(())
        }

        fn describe(&self) -> String {
            "indifferent".into()
        }
    }

    fn player(lefts: [u32; 3], time: Duration) -> NetPlayer<Square8> {
        let [own, others @ ..] =
            lefts.map(|left| Box::new(Indifferent { left }) as Box<dyn Backend>);
        let time = Some(Time::Move(time));
        let thinking = Thinking { time, parallel: 6, solvers: 1, ..Thinking::default() };
        let crew = Crew::new(own, others.into());
        NetPlayer::new("net".into(), Goal::Most, crew, thinking, 1)
    }

    fn turn<'a>() -> Turn<'a, Square8> {
        let start = Position::start();
        Turn { game: 0, start, moves: &[], position: start }
    }

    #[test]
    fn every_leaf_that_was_asked_about_is_answered() {
        let mut player = player([u32::MAX; 3], Duration::from_millis(30));
        let thought = player.think_by_the_clock(&turn()).expect("a search");
        let Thought::Searched(search, done) = thought else { panic!("nothing to solve here") };
        assert!(player.flights.iter().all(Vec::is_empty));
        // All four moves of the start were looked at, and all of their visits have come back.
        let visits: u32 = search.tree().root_moves().map(|stats| stats.visits).sum();
        assert_eq!((visits + 1, search.tree().visits()), (done, done));
        assert!(done > 0);
    }

    #[test]
    fn advice_takes_nothing_of_a_game_s_time() {
        let mut player = player([u32::MAX; 3], Duration::ZERO);
        player.thinking.time = Some(Time::Game(Duration::from_millis(500)));
        let hints = player.hints(&turn(), 3).expect("hints");
        assert_eq!((hints.len(), player.spent.get(&0)), (3, None));
        let choice = player.choose(&[turn()]).remove(0).expect("a move");
        let spent = player.spent[&0].as_secs_f64();
        assert!(spent >= choice.seconds && choice.seconds > 0.0, "{spent}");
    }

    #[test]
    fn few_leaves_at_a_time_are_kept_to_by_many_threads() {
        for (parallel, asked) in [(1, [true, false, false]), (2, [true, true, false])] {
            // A helper that is asked fails at once.
            let lefts = asked.map(|asked| if asked { u32::MAX } else { 0 });
            let mut player = player(lefts, Duration::from_millis(20));
            player.thinking.parallel = parallel;
            assert!(player.think_by_the_clock(&turn()).is_ok(), "{parallel}");
        }
    }

    #[test]
    fn a_net_that_fails_leaves_nothing_under_way() {
        // Whoever it is that fails: this thread's copy, a helper's, or all.
        for lefts in [[3, u32::MAX, u32::MAX], [u32::MAX, 3, u32::MAX], [5, 5, 5]] {
            // Far more time than it takes until somebody has failed.
            let mut player = player(lefts, Duration::from_secs(600));
            assert!(player.think_by_the_clock(&turn()).is_err(), "{lefts:?}");
            assert!(player.flights.iter().all(Vec::is_empty), "{lefts:?}");
            assert!(player.think_by_the_clock(&turn()).is_err(), "{lefts:?}");
        }
    }
}
