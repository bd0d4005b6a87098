//! Searches for the page: each on a thread of its own, limited in number and time, and ended when
//! nobody reads its results any more.
//!
//! A player that was opened once is kept for later requests, since opening a net reads a file. An
//! [`Engine`] hides the type of the board.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;

use super::error::ApiError;
use super::game::Game;
use crate::game::{Geometry, Goal, Shape};
use crate::players::contestant::{OpenError, PlayerContext};
use crate::players::control::{Analysis, Control};
use crate::players::opened::OpenPlayers;
use crate::players::player::{Choice, Player, PlayerError};
use crate::players::spec::PlayerSpec;
use crate::players::variety;
use crate::protocol::session::Session;
use crate::search::stop::Stop;

/// Requests that may wait for a search to end. More are refused.
const MOST_WAITING: usize = 64;
/// The longest wait for a free thread.
const LONGEST_WAIT: Duration = Duration::from_secs(20);
/// Players kept for later requests.
const MOST_KEPT: usize = 6;

/// The searches in progress, and the players that wait for the next ones.
pub(super) struct Engines {
    context: PlayerContext,
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
    kept: OpenPlayers,
    next_game: AtomicU32,
}

/// A player on any board.
pub(super) trait Engine {
    /// The best moves, at most `count`, after the first `plies` moves of the game.
    fn analyze(
        &mut self,
        game: &Game,
        plies: usize,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<Analysis, EngineError>;

    /// A move at the end of the game that loses at most `discs`, drawn by the seed and the ply: see
    /// [`variety::choose`].
    fn choose(
        &mut self,
        game: &Game,
        varied: (f32, u64),
        control: &mut Control<'_>,
    ) -> Result<Choice, EngineError>;
}

/// Why a search has no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum EngineError {
    /// The game has no such position, or it is over there.
    #[error("the game is over, so no move can be chosen")]
    NoTurn,
    /// The player failed.
    #[error(transparent)]
    Player(#[from] PlayerError),
    /// The player cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// A player of the board `G`, with the number of the game under which it keeps what it knows.
struct Seat<'a, G: Geometry> {
    player: &'a mut dyn Player<G>,
    number: u32,
}

impl<G: Geometry> Seat<'_, G> {
    /// The game after its first `plies` moves.
    fn session(game: &Game, plies: usize) -> Result<Session<G>, EngineError> {
        // Requests are checked before a search begins.
        let whole = game.session::<G>().map_err(|_| EngineError::NoTurn)?;
        let mut session = Session::new(whole.start());
        for &square in whole.moves().iter().take(plies) {
            session.play(square).map_err(|_| EngineError::NoTurn)?;
        }
        if session.is_over() { Err(EngineError::NoTurn) } else { Ok(session) }
    }
}

impl<G: Geometry> Engine for Seat<'_, G> {
    fn analyze(
        &mut self,
        game: &Game,
        plies: usize,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<Analysis, EngineError> {
        let session = Seat::<G>::session(game, plies)?;
        Ok(self.player.analyze(&session.turn(self.number), count, control)?)
    }

    fn choose(
        &mut self,
        game: &Game,
        varied: (f32, u64),
        control: &mut Control<'_>,
    ) -> Result<Choice, EngineError> {
        let session = Seat::<G>::session(game, usize::MAX)?;
        let turn = session.turn(self.number);
        Ok(variety::choose(self.player, &turn, varied, control)?)
    }
}

/// The right to search on one thread.
#[derive(Debug)]
pub(super) struct Place(
    #[expect(dead_code, reason = "held until the search ends")] OwnedSemaphorePermit,
);

impl Place {
    /// Does some work on a thread of its own: those of the runtime are for files. When it has ended,
    /// the place is free again, and `finish` gets the result.
    ///
    /// # Errors
    ///
    /// The system has no thread left.
    pub fn use_for<T: 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
        finish: impl FnOnce(T) + Send + 'static,
    ) -> Result<(), ApiError> {
        let started = std::thread::Builder::new().name("engine".into()).spawn(move || {
            let result = work();
            drop(self);
            finish(result);
        });
        started.map(drop).map_err(|error| ApiError::failed(format!("no thread: {error}")))
    }
}

/// Ends a search when it is dropped: with the answer that its results belong to.
#[derive(Debug)]
pub(super) struct Running {
    /// The flag of the search.
    pub stop: Stop,
    timer: AbortHandle,
}

impl Running {
    /// A search that ends after `limit` at the latest.
    pub fn for_at_most(limit: Duration) -> Running {
        let stop = Stop::default();
        let flag = stop.clone();
        let timer = tokio::spawn(async move {
            tokio::time::sleep(limit).await;
            flag.set();
        });
        Running { stop, timer: timer.abort_handle() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.set();
        self.timer.abort();
    }
}

impl Engines {
    /// Engines that search on at most `threads` threads, at least one.
    pub fn new(context: PlayerContext, threads: usize) -> Engines {
        Engines {
            context,
            places: Arc::new(Semaphore::new(threads.max(1))),
            waiting: AtomicUsize::new(0),
            kept: OpenPlayers::new(MOST_KEPT),
            next_game: AtomicU32::new(0),
        }
    }

    /// Waits for the right to search.
    ///
    /// # Errors
    ///
    /// Too many requests wait, or all searches go on for long.
    pub async fn place(&self) -> Result<Place, ApiError> {
        let too_many = || ApiError::busy("too many searches are in progress; try again later");
        let _waiting = Waiting::enter(&self.waiting).ok_or_else(too_many)?;
        match tokio::time::timeout(LONGEST_WAIT, self.places.clone().acquire_owned()).await {
            Ok(Ok(place)) => Ok(Place(place)),
            _ => Err(too_many()),
        }
    }

    /// The right to search, if a thread is free now.
    pub fn free_place(&self) -> Option<Place> {
        self.places.clone().try_acquire_owned().ok().map(Place)
    }

    /// Does some work with a player, on a thread of its own. When it has ended, the player is kept,
    /// the place is free again, and `finish` gets the result.
    ///
    /// # Errors
    ///
    /// The system has no thread left.
    pub fn start<T: 'static>(
        self: &Arc<Engines>,
        place: Place,
        (spec, shape, goal): (PlayerSpec, Shape, Goal),
        work: impl FnOnce(&mut dyn Engine) -> Result<T, EngineError> + Send + 'static,
        finish: impl FnOnce(Result<T, EngineError>) + Send + 'static,
    ) -> Result<(), ApiError> {
        let engines = self.clone();
        place.use_for(move || engines.with_player(&spec, shape, goal, work), finish)
    }

    /// Does some work with a player on this thread, which must have a [`Place`].
    pub fn with_player<T>(
        &self,
        spec: &PlayerSpec,
        shape: Shape,
        goal: Goal,
        work: impl FnOnce(&mut dyn Engine) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let number = self.next_game.fetch_add(1, Ordering::Relaxed);
        let context = PlayerContext { goal, ..self.context.clone() };
        let seed = u64::from(number) ^ u64::from(std::process::id()) << 32;
        dispatch!(shape, G => self.kept.with::<G, _, _>(spec, &context, seed, |player| {
            let mut seat = Seat { player, number };
            let result = work(&mut seat);
            seat.player.end_game(number);
            result
        }))
    }
}

/// A request that waits for a place.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn enter(count: &'a AtomicUsize) -> Option<Waiting<'a>> {
        let waiting = Waiting(count);
        // `waiting` is dropped if there are too many, which takes the count back.
        (count.fetch_add(1, Ordering::Relaxed) < MOST_WAITING).then_some(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engines(threads: usize) -> Arc<Engines> {
        Arc::new(Engines::new(PlayerContext::new(Goal::Most), threads))
    }

    fn run<T>(test: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.expect("a runtime").block_on(test)
    }

    fn greedy() -> (PlayerSpec, Shape, Goal) {
        ("greedy".parse().expect("a player"), Shape::Square6, Goal::Most)
    }

    #[test]
    fn a_place_is_free_again_after_the_search() {
        run(async {
            let engines = engines(1);
            for _ in 0..3 {
                let place = engines.place().await.expect("a place");
                assert!(engines.free_place().is_none());
                let (sender, receiver) = tokio::sync::oneshot::channel();
                let finish = move |result: Result<u32, EngineError>| drop(sender.send(result));
                engines.start(place, greedy(), |_| Ok(7), finish).expect("a thread");
                assert_eq!(receiver.await.expect("a result").expect("no error"), 7);
            }
        });
    }

    #[test]
    fn waiting_requests_are_limited() {
        let count = AtomicUsize::new(0);
        let waiting: Vec<_> = (0..MOST_WAITING).map(|_| Waiting::enter(&count)).collect();
        assert!(waiting.iter().all(Option::is_some));
        assert!(Waiting::enter(&count).is_none());
        drop(waiting);
        assert_eq!(count.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_search_that_nobody_reads_is_stopped() {
        run(async {
            let running = Running::for_at_most(Duration::from_secs(60));
            let stop = running.stop.clone();
            assert!(!stop.is_set());
            drop(running);
            assert!(stop.is_set());
            let running = Running::for_at_most(Duration::from_millis(5));
            tokio::time::sleep(Duration::from_millis(50)).await;
            assert!(running.stop.is_set());
        });
    }
}
