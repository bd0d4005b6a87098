//! The way of finished games from the actors to the learner.

use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use crate::game::record::GameRecord;

/// The other end of a stream is gone: the run is stopping.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the other end of the game stream is closed")]
pub struct Closed;

/// The end of a stream that actors put games into. Each actor holds its own clone.
pub trait GameStream: Send {
    /// Hands a game over; waits while the stream is full.
    ///
    /// # Errors
    ///
    /// Nobody reads the stream any more; the game is lost.
    fn send(&self, game: GameRecord) -> Result<(), Closed>;

    /// Another handle on the same stream, for another thread.
    fn another(&self) -> Box<dyn GameStream>;
}

/// The end of a stream that the learner takes games from.
pub trait GameSource: Send {
    /// The next game, or `None` if none came within `wait`.
    ///
    /// # Errors
    ///
    /// All senders are gone and every game has been taken.
    fn receive(&self, wait: Duration) -> Result<Option<GameRecord>, Closed>;
}

/// A stream within this process that holds up to `capacity` games; a full one makes actors
/// wait, so that they never run ahead of a learner that holds its replay ratio.
pub fn in_process(capacity: usize) -> (InProcessStream, InProcessSource) {
    let (sender, receiver) = crossbeam_channel::bounded(capacity);
    (InProcessStream(sender), InProcessSource(receiver))
}

/// The writing end of [`in_process`].
#[derive(Clone, Debug)]
pub struct InProcessStream(Sender<GameRecord>);

/// The reading end of [`in_process`].
#[derive(Debug)]
pub struct InProcessSource(Receiver<GameRecord>);

impl GameStream for InProcessStream {
    fn send(&self, game: GameRecord) -> Result<(), Closed> {
        self.0.send(game).map_err(|_| Closed)
    }

    fn another(&self) -> Box<dyn GameStream> {
        Box::new(self.clone())
    }
}

impl GameSource for InProcessSource {
    fn receive(&self, wait: Duration) -> Result<Option<GameRecord>, Closed> {
        match self.0.recv_timeout(wait) {
            Ok(game) => Ok(Some(game)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Closed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Colour, Goal, Shape};

    fn a_game(id: u64) -> GameRecord {
        GameRecord {
            shape: Shape::Square6,
            goal: Goal::Most,
            id,
            net_version: 0,
            opening_moves: 0,
            start_mine: 1,
            start_theirs: 2,
            start_side: Colour::White,
            moves: Vec::new(),
            score: 0,
            resigned: true,
        }
    }

    #[test]
    fn games_arrive_in_order_and_the_end_is_seen_after_the_last() {
        let (stream, source) = in_process(2);
        let sender = stream.another();
        drop(stream);
        let actor = std::thread::spawn(move || (0..50).try_for_each(|id| sender.send(a_game(id))));
        let wait = Duration::from_secs(10);
        for id in 0..50 {
            assert_eq!(source.receive(wait).unwrap().map(|game| game.id), Some(id));
        }
        assert_eq!(source.receive(wait), Err(Closed));
        assert_eq!(actor.join().unwrap(), Ok(()));
    }

    #[test]
    fn nothing_within_the_wait_is_none() {
        let (_stream, source) = in_process(1);
        assert_eq!(source.receive(Duration::ZERO), Ok(None));
    }

    #[test]
    fn a_sender_without_a_reader_is_told_so() {
        let (stream, source) = in_process(1);
        drop(source);
        assert_eq!(stream.send(a_game(1)), Err(Closed));
    }
}
