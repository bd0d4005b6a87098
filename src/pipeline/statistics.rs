//! Statistics of games and threads since the last report, as values of curves.

use std::time::{Duration, Instant};

use super::messages::Activity;
use crate::game::record::GameRecord;
use crate::train::game::Work;
use crate::train::replay::AddedGame;

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
    /// Counts a game and the positions that it added to the window.
    pub fn game(&mut self, record: &GameRecord, added: AddedGame) {
        self.games += 1;
        self.positions += added.positions as u64;
        self.passes += added.passes as u64;
        self.moves += record.moves.len() as u64;
        self.black_score += record.score as i64;
        self.black_points += (record.score.signum() as f64 + 1.0) / 2.0;
        self.draws += (record.score == 0) as u64;
        self.solved_moves += record.moves.iter().filter(|made| made.exact.is_some()).count() as u64;
    }

    /// Adds an actor's activity.
    pub fn activity(&mut self, activity: Activity) {
        self.work += activity.work;
        self.actors_busy += activity.busy;
        self.actors_waiting += activity.waiting;
    }

    /// Adds the learner's time.
    pub fn learner(&mut self, busy: Duration, waiting: Duration) {
        self.learner_busy += busy;
        self.learner_waiting += waiting;
    }

    /// Seconds since the last report.
    pub fn seconds(&self) -> f64 {
        self.since.elapsed().as_secs_f64().max(1e-9)
    }

    /// Games per second.
    pub fn games_per_second(&self) -> f64 {
        self.games as f64 / self.seconds()
    }

    /// Positions per second that the net evaluates, over all actors.
    pub fn evaluations_per_second(&self) -> f64 {
        self.work.evaluations as f64 / self.seconds()
    }

    /// The shares of their time that the actors and the learner wait, 0 to 1.
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

    /// The values with the names of their curves.
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
            ]);
        }
        values.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
    }
}
