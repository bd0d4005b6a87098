//! How a caller controls a player's search: when it stops, how long it takes, and where its
//! intermediate results go.
//!
//! Matches use none of this. The protocols and `outflank play` pass a [`Control`] to
//! [`Player::think`](super::player::Player::think) and
//! [`Player::analyze`](super::player::Player::analyze).

use std::time::{Duration, Instant};

use super::hint::Hint;
use crate::search::stop::Stop;

/// How long a player searches. By default the player's own specification decides. External
/// engines always follow their specification: they are neither interrupted nor given an effort.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Effort {
    /// A level of play, as graphical boards set it. It replaces the depth of an alpha-beta player
    /// or the simulations of a net player. Players of other kinds or with another limit ignore it.
    pub level: Option<u32>,
    /// The most time for this move. The player's own limits apply too.
    pub time: Option<Duration>,
    /// Whether the search continues until it is stopped or the position is solved. Then the level
    /// and the player's own limits do not apply; `time` and `caps` do. A tree search also ends when
    /// its tree is large: at 4,000,000 simulations of a net, or 2^20 of `rollouts`.
    pub endless: bool,
    /// Limits of an endless search.
    pub caps: Caps,
}

/// Limits of an endless search besides time. A player ignores those that its kind of search lacks.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Caps {
    /// The most simulations of a tree search; for a net those of earlier searches that its tree
    /// kept count too.
    pub simulations: Option<u32>,
    /// The greatest depth of alpha-beta, in plies.
    pub depth: Option<u32>,
    /// The most positions that alpha-beta visits.
    pub nodes: Option<u64>,
}

/// A player's analysis of a position.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Analysis {
    /// The moves considered, best first.
    pub hints: Vec<Hint>,
    /// Positions searched; for Monte Carlo tree search the number of simulations.
    pub nodes: u64,
    /// Time in seconds.
    pub seconds: f64,
}

/// Controls a player's search.
///
/// ```
/// use std::time::Duration;
///
/// use outflank::game::{Goal, Position, Square8};
/// use outflank::players::control::{Analysis, Caps, Control, Effort};
/// use outflank::players::open;
/// use outflank::players::player::Turn;
/// use outflank::search::stop::Stop;
///
/// // An analysis to depth 3 that shows its results as it goes on.
/// let mut player = open::player::<Square8>(&"alphabeta:eval=positional".parse()?, Goal::Most)?;
/// let caps = Caps { depth: Some(3), ..Caps::default() };
/// let effort = Effort { endless: true, caps, ..Effort::default() };
/// let mut reports = 0;
/// let mut note = |analysis: &Analysis| reports += analysis.hints.len().min(1);
/// let mut control = Control::new(Stop::default(), effort).reporting(Duration::ZERO, &mut note);
/// let last = player.analyze(&Turn::at(Position::start()), 3, &mut control)?;
/// assert_eq!((last.hints.len(), last.hints[0].depth), (3, Some(3)));
/// assert!(reports > 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Control<'a> {
    /// When this flag is set, the player answers within some milliseconds with its best move so
    /// far. Players without a search and external engines may ignore it.
    pub stop: Stop,
    /// How long to search.
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
    /// A control without reports. The time of an endless search becomes a deadline of the flag.
    pub fn new(stop: Stop, effort: Effort) -> Control<'a> {
        let begun = Instant::now();
        let deadline = effort.time.filter(|_| effort.endless);
        let stop = match deadline.and_then(|time| begun.checked_add(time)) {
            Some(deadline) => stop.by(deadline),
            None => stop,
        };
        Control { stop, effort, begun, reports: None }
    }

    /// A control without reports or limits: the player searches as in a match.
    pub fn plain() -> Control<'a> {
        Control::new(Stop::default(), Effort::default())
    }

    /// The same control, with reports to `sink`: the first as soon as there is a result, then at
    /// most one in each `interval`.
    #[must_use]
    pub fn reporting(self, interval: Duration, sink: &'a mut dyn FnMut(&Analysis)) -> Control<'a> {
        let next = self.begun;
        Control { reports: Some(Reports { interval, next, sink }), ..self }
    }

    /// Runs a search that has this much time, if any is given, in place of the effort's.
    pub fn within<T>(&mut self, time: Option<Duration>, search: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.effort.time;
        self.effort.time = time.or(before);
        let result = search(self);
        self.effort.time = before;
        result
    }

    /// Whether reports go anywhere.
    pub fn has_reports(&self) -> bool {
        self.reports.is_some()
    }

    /// Whether a report is due now.
    pub fn is_due(&self) -> bool {
        let due = |reports: &Reports<'_>| Instant::now() >= reports.next;
        self.reports.as_ref().is_some_and(due) && !self.stop.is_set()
    }

    /// Reports the results so far.
    pub fn report(&mut self, hints: Vec<Hint>, nodes: u64) {
        let analysis = self.analysis(hints, nodes);
        if let Some(reports) = &mut self.reports {
            (reports.sink)(&analysis);
            reports.next = Instant::now() + reports.interval;
        }
    }

    /// The results so far, with the time since the control was created.
    pub fn analysis(&self, hints: Vec<Hint>, nodes: u64) -> Analysis {
        Analysis { hints, nodes, seconds: self.begun.elapsed().as_secs_f64() }
    }
}
