//! The stream of finished games from the actors to the learner.

use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use crate::game::record::GameRecord;

/// The other end of a stream was dropped: the run is stopping.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the other end of the game stream is closed")]
pub struct StreamClosed;

/// The sending end of a stream. Each actor has its own clone.
pub trait GameStream: Send {
    /// Sends a game; waits while the stream is full.
    ///
    /// # Errors
    ///
    /// The receiving end was dropped; the game is lost.
    fn send(&self, game: GameRecord) -> Result<(), StreamClosed>;

    /// Another sender of the same stream, for another thread.
    fn boxed_clone(&self) -> Box<dyn GameStream>;
}

/// The receiving end of a stream, which the learner's thread has.
pub trait GameSource: Send {
    /// The next game, or `None` if none came within `wait`.
    ///
    /// # Errors
    ///
    /// All senders were dropped and every game has been received.
    fn receive(&self, wait: Duration) -> Result<Option<GameRecord>, StreamClosed>;
}

/// A stream within this process that holds up to `capacity` games. When it is full, actors wait, so
/// that they do not get far ahead of the learner.
pub fn in_process(capacity: usize) -> (InProcessStream, InProcessSource) {
    let (sender, receiver) = crossbeam_channel::bounded(capacity);
    (InProcessStream(sender), InProcessSource(receiver))
}

/// The sending end of [`in_process`].
#[derive(Clone, Debug)]
pub struct InProcessStream(Sender<GameRecord>);

/// The receiving end of [`in_process`].
#[derive(Debug)]
pub struct InProcessSource(Receiver<GameRecord>);

impl GameStream for InProcessStream {
    fn send(&self, game: GameRecord) -> Result<(), StreamClosed> {
        self.0.send(game).map_err(|_| StreamClosed)
    }

    fn boxed_clone(&self) -> Box<dyn GameStream> {
        Box::new(self.clone())
    }
}

impl GameSource for InProcessSource {
    fn receive(&self, wait: Duration) -> Result<Option<GameRecord>, StreamClosed> {
        match self.0.recv_timeout(wait) {
            Ok(game) => Ok(Some(game)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(StreamClosed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::record::Source;
    use crate::game::{Colour, Goal, Shape};

    fn a_game(id: u64) -> GameRecord {
        GameRecord {
            shape: Shape::Square6,
            goal: Goal::Most,
            id,
            source: Source::SelfPlay,
            worker: None,
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
    fn games_arrive_in_order_and_the_stream_closes_after_the_last() {
        let (stream, source) = in_process(2);
        let sender = stream.boxed_clone();
        drop(stream);
        let actor = std::thread::spawn(move || (0..50).try_for_each(|id| sender.send(a_game(id))));
        let wait = Duration::from_secs(10);
        for id in 0..50 {
            assert_eq!(source.receive(wait).unwrap().map(|game| game.id), Some(id));
        }
        assert_eq!(source.receive(wait), Err(StreamClosed));
        assert_eq!(actor.join().unwrap(), Ok(()));
    }

    #[test]
    fn receive_returns_none_if_no_game_comes_in_time() {
        let (_stream, source) = in_process(1);
        assert_eq!(source.receive(Duration::ZERO), Ok(None));
    }

    #[test]
    fn sending_without_a_receiver_is_an_error() {
        let (stream, source) = in_process(1);
        drop(source);
        assert_eq!(stream.send(a_game(1)), Err(StreamClosed));
    }
}
