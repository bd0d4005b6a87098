//! A match between two players: each opening with both colours, many games at once.
//!
//! Every thread has its own copies of both players. It plays many games side by side, one move in
//! each at a time, so that a player gets all positions where it is to move as one batch. Threads
//! take games from one list and share nothing else.
//!
//! The match's seed and the game's number decide all moves of a game. So a match has the same games
//! with any number of threads and after an interruption. Exceptions are players with a time limit
//! or with several threads, and external engines.

mod beginnings;
mod collector;
mod running_game;
mod running_tally;

pub use beginnings::beginnings;
pub use running_tally::tally;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crossbeam_channel::Sender;

use super::openings::Opening;
use super::tally::{Sprt, SprtResult};
use crate::game::{Colour, Geometry, Goal, Square};
use crate::players::contestant::Contestant;
use crate::players::contestant::OpenError;
use crate::players::player::{Choice, Player, combine};
use collector::ResultCollector;
use running_game::{RunningGame, play_turns};

/// Capacity of the queue of ended games. A thread that ends a game waits while it is full, which is
/// rare: recording a game takes far less time than playing one.
const ENDED_QUEUE: usize = 256;

/// The settings of a match, besides its players and openings.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MatchSettings {
    /// Which score wins.
    pub goal: Goal,
    /// Number of games; an odd number is rounded up.
    pub games: u32,
    /// The random seed of both players.
    pub seed: u64,
    /// Threads that play, at least 1.
    pub threads: usize,
    /// The match ends early when this test has a verdict.
    pub sprt: Option<Sprt>,
}

/// The colour of a match's first player in a game: the two games of a pair swap them.
///
/// ```
/// use outflank::arena::matches::first_colour;
/// use outflank::game::Colour;
///
/// assert_eq!([0, 1, 2].map(first_colour), [Colour::Black, Colour::White, Colour::Black]);
/// ```
pub fn first_colour(game: u32) -> Colour {
    if game & 1 == 0 { Colour::Black } else { Colour::White }
}

/// Why a game ended before the rules ended it.
#[derive(Clone, PartialEq, Debug)]
pub struct Forfeit {
    /// The side that forfeits.
    pub by: Colour,
    /// The error of its player. A text, since ladders store it as text.
    pub reason: String,
}

/// A game of a match.
#[derive(Clone, PartialEq, Debug)]
pub struct MatchGame<G: Geometry> {
    /// Its number in the match; the games `2n` and `2n + 1` share an opening.
    pub game: u32,
    /// The colour of the match's first player: black in even games.
    pub first: Colour,
    /// The opening.
    pub opening: Opening<G>,
    /// The players' moves after the opening, without passes.
    pub choices: Vec<Choice>,
    /// The final score for black. After a forfeit all squares count for the other side.
    pub score: i32,
    /// Set if a player forfeited the game.
    pub forfeit: Option<Forfeit>,
}

impl<G: Geometry> MatchGame<G> {
    /// All moves from the opening's start, without passes.
    pub fn moves(&self) -> impl Iterator<Item = Square> + '_ {
        self.opening.moves.iter().copied().chain(self.choices.iter().map(|choice| choice.square))
    }

    /// The final score for the match's first player.
    pub fn first_score(&self) -> i32 {
        if self.first == Colour::Black { self.score } else { -self.score }
    }
}

/// Why a match cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    /// A player cannot be made.
    #[error("player `{name}`")]
    Open {
        /// The player's name.
        name: Box<str>,
        /// The reason.
        source: OpenError,
    },
}

/// The games of a match, which may have been stopped early.
#[derive(Clone, PartialEq, Debug)]
pub struct MatchResult<G: Geometry> {
    /// Sorted by number; includes the games that were played earlier.
    pub games: Vec<MatchGame<G>>,
    /// The result of the sequential test, if there is one.
    pub sprt: Option<SprtResult>,
    /// Whether the match was stopped before its end, other than by the sequential test.
    pub stopped: bool,
}

impl MatchSettings {
    /// The number of games: [`MatchSettings::games`], rounded up to pairs. Two deterministic
    /// players play at most one game for each opening and colour.
    pub fn game_count<G: Geometry>(&self, pair: [&Contestant<'_, G>; 2], openings: usize) -> u32 {
        let games = self.games.div_ceil(2) * 2;
        let all_deterministic = pair.iter().all(|contestant| contestant.deterministic);
        if all_deterministic { games.min(2 * openings as u32) } else { games }
    }
}

/// Plays the games of a match that are not in `earlier`, and calls `on_game` after each game. Ends
/// when all games are played, the sequential test has a verdict, `on_game` returns a break, or
/// `stop` is set.
///
/// # Errors
///
/// A player that cannot be made.
///
/// # Panics
///
/// If there are no openings.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::sync::atomic::AtomicBool;
///
/// use outflank::arena::matches::{self, MatchSettings};
/// use outflank::arena::openings::OpeningSource;
/// use outflank::game::{Goal, Square6};
/// use outflank::players::contestant::PlayerContext;
/// use outflank::players::open;
///
/// let context = PlayerContext::new(Goal::Most);
/// let strong = open::contestant::<Square6>(&"alphabeta:depth=2,eval=positional".parse()?, &context)?;
/// let weak = open::contestant::<Square6>(&"random".parse()?, &context)?;
/// let openings = OpeningSource::Random { plies: 4 }.book(10, 1)?.openings;
/// let settings = MatchSettings { goal: Goal::Most, games: 20, seed: 1, threads: 1, sprt: None };
/// let (stop, all) = (AtomicBool::new(false), &mut |_: &_| ControlFlow::Continue(()));
/// let result = matches::play([&strong, &weak], &openings, &settings, Vec::new(), &stop, all)?;
/// let (tally, _repeated) = matches::tally(&result.games);
/// assert_eq!((result.games.len(), tally.games()), (20, 20));
/// assert!(tally.score() > 0.5, "alpha-beta wins");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn play<G: Geometry>(
    pair: [&Contestant<'_, G>; 2],
    openings: &[Opening<G>],
    settings: &MatchSettings,
    earlier: Vec<MatchGame<G>>,
    stop: &AtomicBool,
    on_game: &mut dyn FnMut(&MatchGame<G>) -> ControlFlow<()>,
) -> Result<MatchResult<G>, MatchError> {
    let games = settings.game_count(pair, openings.len());
    let played: HashSet<u32> = earlier.iter().map(|played| played.game).collect();
    let numbers: Vec<u32> = (0..games).filter(|game| !played.contains(game)).collect();
    play_numbered(pair, openings, settings, &numbers, earlier, stop, on_game)
}

/// As [`play`], but plays the games with the given numbers and ignores [`MatchSettings::games`].
///
/// # Errors
///
/// A player that cannot be made.
///
/// # Panics
///
/// If there are no openings.
pub fn play_numbered<G: Geometry>(
    pair: [&Contestant<'_, G>; 2],
    openings: &[Opening<G>],
    settings: &MatchSettings,
    numbers: &[u32],
    earlier: Vec<MatchGame<G>>,
    stop: &AtomicBool,
    on_game: &mut dyn FnMut(&MatchGame<G>) -> ControlFlow<()>,
) -> Result<MatchResult<G>, MatchError> {
    assert!(!openings.is_empty(), "a match needs an opening");
    let games = earlier.len() + numbers.len();
    let mut collector = ResultCollector::new(settings.sprt, earlier);
    let complete = AtomicBool::new(collector.is_decided());
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let shared = SharedMatch { pair, openings, settings, numbers, next, stop, complete, failed };
    let mut failure = None;
    std::thread::scope(|scope| {
        let (sender, ended) = crossbeam_channel::bounded(ENDED_QUEUE);
        let threads = settings.threads.clamp(1, numbers.len().max(1));
        for _ in 0..threads {
            let (shared, sender) = (&shared, sender.clone());
            scope.spawn(move || shared.run(threads, &sender));
        }
        drop(sender);
        for message in ended {
            match message {
                Err(error) => failure = Some(error),
                Ok(played) if !shared.complete.load(Ordering::Relaxed) => {
                    let is_break = on_game(&played).is_break();
                    collector.add(played);
                    if is_break || collector.is_decided() {
                        shared.complete.store(true, Ordering::Relaxed);
                    }
                }
                Ok(_) => {}
            }
        }
    });
    match failure {
        Some(error) => Err(error),
        None => Ok(collector.result(games)),
    }
}

/// Points of the match's first player in a game: 1, 0.5 or 0.
fn points<G: Geometry>(played: &MatchGame<G>) -> f64 {
    0.5 + 0.5 * f64::from(played.first_score().signum())
}

/// The state that all threads of a match share.
struct SharedMatch<'a, G: Geometry> {
    pair: [&'a Contestant<'a, G>; 2],
    openings: &'a [Opening<G>],
    settings: &'a MatchSettings,
    /// The games to play.
    numbers: &'a [u32],
    /// Index in `numbers` of the next game that no thread has taken.
    next: AtomicUsize,
    /// Set from outside to stop the match.
    stop: &'a AtomicBool,
    /// Set when later games do not count any more.
    complete: AtomicBool,
    /// Set when a thread has failed. Games that have ended before still count.
    failed: AtomicBool,
}

/// Sets the flag when it is dropped by a panic, so that the other threads end.
struct SetOnPanic<'a>(&'a AtomicBool);

impl Drop for SetOnPanic<'_> {
    fn drop(&mut self) {
        self.0.fetch_or(std::thread::panicking(), Ordering::Relaxed);
    }
}

type EndedGame<G> = Result<MatchGame<G>, MatchError>;

/// Makes both players for one thread.
fn open_players<G: Geometry>(
    pair: [&Contestant<'_, G>; 2],
    settings: &MatchSettings,
) -> Result<[Box<dyn Player<G>>; 2], MatchError> {
    let open = |index: usize| {
        let seed = combine(&[settings.seed, index as u64]);
        let failed = |source| MatchError::Open { name: pair[index].name.as_str().into(), source };
        (pair[index].open)(seed).map_err(failed)
    };
    Ok([open(0)?, open(1)?])
}

impl<G: Geometry> SharedMatch<'_, G> {
    fn is_ending(&self) -> bool {
        [self.stop, &self.complete, &self.failed].iter().any(|flag| flag.load(Ordering::Relaxed))
    }

    /// Plays games on one thread until none are left.
    fn run(&self, threads: usize, ended: &Sender<EndedGame<G>>) {
        let _set_on_panic = SetOnPanic(&self.failed);
        let mut players = match open_players(self.pair, self.settings) {
            Ok(players) => players,
            Err(error) => {
                self.failed.store(true, Ordering::Relaxed);
                // The receiver outlives the threads. If it is gone, nobody needs the error.
                let _ = ended.send(Err(error));
                return;
            }
        };
        let fair_share = self.numbers.len().div_ceil(threads);
        let width = players.iter().map(|player| player.batch()).max().unwrap_or(1);
        let width = width.clamp(1, fair_share.max(1));
        let mut games: Vec<RunningGame<G>> = Vec::with_capacity(width);
        while !self.is_ending() {
            while games.len() < width
                && let Some(game) = self.next_game()
            {
                games.push(game);
            }
            if games.is_empty() {
                return;
            }
            for index in 0..2 {
                play_turns(games.iter_mut(), index, players[index].as_mut(), || self.is_ending());
                for game in games.extract_if(.., |game| game.is_over()) {
                    players.iter_mut().for_each(|player| player.end_game(game.number));
                    // A stop also ends the external engines. That forfeit does not count.
                    if game.is_forfeit() && self.stop.load(Ordering::Relaxed) {
                        continue;
                    }
                    if ended.send(Ok(game.finish(self.settings.goal))).is_err() {
                        return;
                    }
                }
            }
        }
    }

    fn next_game(&self) -> Option<RunningGame<G>> {
        let number = *self.numbers.get(self.next.fetch_add(1, Ordering::Relaxed))?;
        Some(RunningGame::new(number, self.openings))
    }
}

#[cfg(test)]
mod tests;
