//! How a caller steers a player while it thinks: when to stop, how long to think, and where
//! improving hints go.
//!
//! Matches ask for moves without any of it. Protocols, and whatever else shows a player at work,
//! hand a [`Control`] to [`Player::think`](super::player::Player::think) and
//! [`Player::analyze`](super::player::Player::analyze).

use std::time::{Duration, Instant};

use super::player::Hint;
use crate::search::stop::Stop;

/// How long a player thinks. By default as long as its specification says. An outside engine
/// thinks that long in any case: it is neither interrupted nor told of an effort.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Effort {
    /// A level of play, as graphical boards set it, in place of the own depth of alpha-beta search
    /// or the own simulations of a net. Every other player, and one with another limit, ignores it.
    pub level: Option<u32>,
    /// The most time for this move, if that ends before the player's own limits.
    pub time: Option<Duration>,
    /// Whether it goes on until it is stopped, or nothing is left to find out. The other fields
    /// and the player's own limits do not count then. A tree search ends once its tree is large:
    /// at 4,000,000 simulations of a net, or 2^20 of `rollouts`.
    pub endless: bool,
}

/// What a player thinks of a position.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Analysis {
    /// The moves considered, best first.
    pub hints: Vec<Hint>,
    /// Positions searched, or simulations of a tree search by samples.
    pub nodes: u64,
    /// Time spent.
    pub seconds: f64,
}

/// Steers a player while it thinks.
pub struct Control<'a> {
    /// Once this flag is set the player answers with what it has, within some milliseconds. One
    /// that does not search may answer as if it were not set, and so may an outside engine.
    pub stop: Stop,
    /// How long to think.
    pub effort: Effort,
    begun: Instant,
    reports: Option<Reports<'a>>,
}

/// Where reports go, and how often.
struct Reports<'a> {
    interval: Duration,
    next: Instant,
    sink: &'a mut dyn FnMut(&Analysis),
}

impl<'a> Control<'a> {
    /// A control without reports.
    pub fn new(stop: Stop, effort: Effort) -> Control<'a> {
        Control { stop, effort, begun: Instant::now(), reports: None }
    }

    /// A control without reports or wishes: the player thinks as in a match.
    pub fn plain() -> Control<'a> {
        Control::new(Stop::default(), Effort::default())
    }

    /// The same control, with reports to `sink`, one in each `interval` at most.
    #[must_use]
    pub fn reporting(self, interval: Duration, sink: &'a mut dyn FnMut(&Analysis)) -> Control<'a> {
        let next = self.begun + interval;
        Control { reports: Some(Reports { interval, next, sink }), ..self }
    }

    /// Whether there is anywhere to send reports to.
    pub fn has_reports(&self) -> bool {
        self.reports.is_some()
    }

    /// Whether a report is wanted now.
    pub fn is_due(&self) -> bool {
        let due = |reports: &Reports<'_>| Instant::now() >= reports.next;
        self.reports.as_ref().is_some_and(due) && !self.stop.is_set()
    }

    /// Reports what the player has found so far.
    pub fn report(&mut self, hints: Vec<Hint>, nodes: u64) {
        let analysis = self.analysis(hints, nodes);
        if let Some(reports) = &mut self.reports {
            (reports.sink)(&analysis);
            reports.next = Instant::now() + reports.interval;
        }
    }

    /// What the player has found, with the time that it took.
    pub fn analysis(&self, hints: Vec<Hint>, nodes: u64) -> Analysis {
        Analysis { hints, nodes, seconds: self.begun.elapsed().as_secs_f64() }
    }
}
