//! What a run's games were like since the last report: the figures of the curves.

use std::time::{Duration, Instant};

use super::messages::Activity;
use crate::game::record::GameRecord;
use crate::train::game::Work;
use crate::train::replay::Added;

/// Sums since the last report.
#[derive(Clone, Copy, Debug)]
pub struct Statistics {
    since: Instant,
    games: u64,
    positions: u64,
    moves: u64,
    passes: u64,
    black_score: i64,
    black_points: f64,
    draws: u64,
    resigned: u64,
    solved_moves: u64,
    work: Work,
    actors_busy: Duration,
    actors_waiting: Duration,
    learner_busy: Duration,
    learner_waiting: Duration,
}

impl Default for Statistics {
    fn default() -> Statistics {
        Statistics {
            since: Instant::now(),
            games: 0,
            positions: 0,
            moves: 0,
            passes: 0,
            black_score: 0,
            black_points: 0.0,
            draws: 0,
            resigned: 0,
            solved_moves: 0,
            work: Work::default(),
            actors_busy: Duration::ZERO,
            actors_waiting: Duration::ZERO,
            learner_busy: Duration::ZERO,
            learner_waiting: Duration::ZERO,
        }
    }
}

impl Statistics {
    /// Counts a game and what it added to the window.
    pub fn game(&mut self, record: &GameRecord, added: Added) {
        self.games += 1;
        self.positions += added.positions as u64;
        self.passes += added.passes as u64;
        self.moves += record.moves.len() as u64;
        self.black_score += record.score as i64;
        self.black_points += (record.score.signum() as f64 + 1.0) / 2.0;
        self.draws += (record.score == 0) as u64;
        self.resigned += record.resigned as u64;
        self.solved_moves += record.moves.iter().filter(|made| made.exact.is_some()).count() as u64;
    }

    /// Counts what an actor reports besides games.
    pub fn activity(&mut self, activity: Activity) {
        self.work += activity.work;
        self.actors_busy += activity.busy;
        self.actors_waiting += activity.waiting;
    }

    /// Counts the learner's time.
    pub fn learner(&mut self, busy: Duration, waiting: Duration) {
        self.learner_busy += busy;
        self.learner_waiting += waiting;
    }

    /// Seconds since the last report.
    pub fn seconds(&self) -> f64 {
        self.since.elapsed().as_secs_f64().max(1e-9)
    }

    /// Games a second.
    pub fn games_per_second(&self) -> f64 {
        self.games as f64 / self.seconds()
    }

    /// Net evaluations a second, all actors together.
    pub fn evaluations_per_second(&self) -> f64 {
        self.work.evaluations as f64 / self.seconds()
    }

    /// The actors' and the learner's shares of time spent waiting, 0 to 1.
    pub fn waiting(&self) -> (f64, f64) {
        let share = |busy: Duration, waiting: Duration| {
            let total = (busy + waiting).as_secs_f64();
            if total > 0.0 { waiting.as_secs_f64() / total } else { 0.0 }
        };
        (
            share(self.actors_busy, self.actors_waiting),
            share(self.learner_busy, self.learner_waiting),
        )
    }

    /// The figures by the names of their curves.
    pub fn scalars(&self) -> Vec<(String, f64)> {
        let seconds = self.seconds();
        let games = self.games.max(1) as f64;
        let (actors, learner) = self.waiting();
        let mut values = vec![
            ("speed/games_per_second", self.games_per_second()),
            ("speed/positions_per_second", self.positions as f64 / seconds),
            ("speed/simulations_per_second", self.work.simulations as f64 / seconds),
            ("speed/evaluations_per_second", self.evaluations_per_second()),
            ("wait/actors", actors),
            ("wait/learner", learner),
        ];
        if self.games > 0 {
            values.extend([
                ("games/length", self.moves as f64 / games),
                ("games/passes", self.passes as f64 / games),
                ("games/black_points", self.black_points / games),
                ("games/black_score", self.black_score as f64 / games),
                ("games/draws", self.draws as f64 / games),
                ("games/solved_moves", self.solved_moves as f64 / games),
                ("games/resigned", self.resigned as f64 / games),
            ]);
        }
        let Work { resignations_checked: checked, resignation_errors: errors, .. } = self.work;
        if checked > 0 {
            values.push(("games/resignation_errors", errors as f64 / checked as f64));
        }
        values.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
    }
}
