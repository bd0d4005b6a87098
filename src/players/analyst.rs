//! A player that analyses on a thread of its own, for callers that must not wait: a server for web
//! pages, an interactive board.
//!
//! An [`Analyst`] analyses one position at a time. A new question ends the analysis in progress, and
//! so does dropping the receiver of its updates. Dropping the analyst ends its thread and its player.

use std::io;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

use super::control::{Analysis, Control, Effort};
use super::player::{Player, PlayerError, Turn};
use crate::game::{Geometry, Position, Square};
use crate::search::stop::Stop;

/// The most updates that wait for a reader. A reader that is slower misses some, but not the last.
const WAITING: usize = 16;

/// A position to analyse.
#[derive(Clone, PartialEq, Debug)]
pub struct Question<G: Geometry> {
    start: Position<G>,
    moves: Vec<Square>,
    position: Position<G>,
    /// The most moves in an update.
    pub count: usize,
    /// How long to search; by default until it is stopped.
    pub effort: Effort,
    /// The least time between two updates.
    pub interval: Duration,
}

impl<G: Geometry> Question<G> {
    /// The position after `moves` from `start`, passes left out, to be analysed until it is stopped,
    /// with all moves in an update and ten updates a second. `None` if a move is not legal.
    pub fn new(start: Position<G>, moves: Vec<Square>) -> Option<Question<G>> {
        let start = start.pass_if_forced();
        let play = |position: Position<G>, &square: &Square| {
            position.play(square).map(Position::pass_if_forced)
        };
        let position = moves.iter().try_fold(start, play)?;
        let effort = Effort { endless: true, ..Effort::default() };
        let interval = Duration::from_millis(100);
        Some(Question { start, moves, position, count: usize::MAX, effort, interval })
    }

    /// The position. Its side to move has a move unless the game is over.
    pub fn position(&self) -> Position<G> {
        self.position
    }

    /// The position as a player gets it.
    pub fn turn(&self) -> Turn<'_, G> {
        Turn { game: 0, start: self.start, moves: &self.moves, position: self.position }
    }
}

/// What an analyst reports.
#[derive(Clone, PartialEq, Debug)]
pub enum Update {
    /// Better hints; the analysis goes on.
    Improved(Analysis),
    /// The last hints: the analysis has ended by itself or was stopped. Without hints the game is
    /// over, or a stop came before the first hint.
    Finished(Result<Analysis, PlayerError>),
}

struct Task<G: Geometry> {
    question: Question<G>,
    stop: Stop,
    updates: Sender<Update>,
}

/// A player on a thread of its own.
pub struct Analyst<G: Geometry> {
    /// `None` only while the analyst is dropped.
    tasks: Option<Sender<Task<G>>>,
    /// Ends the newest analysis.
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl<G: Geometry> Analyst<G> {
    /// Starts a thread for the player.
    ///
    /// # Errors
    ///
    /// The system refuses another thread.
    pub fn start(mut player: Box<dyn Player<G>>) -> io::Result<Analyst<G>> {
        // If it is full, `ask` waits: the questions before have been stopped and end in milliseconds.
        let (tasks, received) = bounded::<Task<G>>(1);
        let work = move || received.iter().for_each(|task| task.run(player.as_mut()));
        let thread = std::thread::Builder::new().name("analyst".into()).spawn(work)?;
        Ok(Analyst { tasks: Some(tasks), stop: Stop::default(), thread: Some(thread) })
    }

    /// Begins to analyse a position. An analysis in progress is stopped; a caller that asks again at
    /// once waits until it has ended. Hints come from the
    /// receiver, the last as [`Update::Finished`]; the channel closes without it only if the player
    /// panicked. The player keeps its tree from question to question.
    pub fn ask(&mut self, question: Question<G>) -> Receiver<Update> {
        self.stop.set();
        self.stop = Stop::default();
        let (updates, receiver) = bounded(WAITING);
        let task = Task { question, stop: self.stop.clone(), updates };
        if let Some(tasks) = &self.tasks {
            // Without a thread the task is dropped, which closes the receiver's channel.
            let _ = tasks.send(task);
        }
        receiver
    }

    /// Ends the analysis in progress within some milliseconds. Its last hints still come.
    pub fn stop(&self) {
        self.stop.set();
    }
}

impl<G: Geometry> Drop for Analyst<G> {
    /// Waits some milliseconds until the player is gone.
    fn drop(&mut self) {
        self.stop.set();
        self.tasks = None;
        // A panic of the thread was reported when it happened.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl<G: Geometry> Task<G> {
    fn run(self, player: &mut dyn Player<G>) {
        let is_over = self.question.position.board.is_over();
        let result = match is_over || self.stop.is_set() {
            true => Ok(Analysis::default()),
            false => self.analyze(player),
        };
        // There is room for it. Without a receiver nobody needs it.
        let _ = self.updates.try_send(Update::Finished(result));
    }

    fn analyze(&self, player: &mut dyn Player<G>) -> Result<Analysis, PlayerError> {
        let Question { count, effort, interval, .. } = self.question;
        let mut sink = |analysis: &Analysis| {
            if self.updates.len() + 1 >= WAITING {
                return;
            }
            let sent = self.updates.try_send(Update::Improved(analysis.clone()));
            if matches!(sent, Err(TrySendError::Disconnected(_))) {
                self.stop.set();
            }
        };
        let control = Control::new(self.stop.clone(), effort);
        let mut control = control.reporting(interval, &mut sink);
        match player.analyze(&self.question.turn(), count, &mut control) {
            Err(PlayerError::Interrupted) => Ok(Analysis::default()),
            result => result,
        }
    }
}

#[cfg(test)]
mod tests;
