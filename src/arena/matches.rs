//! A match between two players: each opening with both colours, many games at once.
//!
//! Every thread has players of its own and runs its games in lockstep, so that a player sees
//! all positions where it is to move as one batch. Threads take games from one list and share
//! nothing else. What happens in a game follows from the match's seed and the game's number
//! alone (players by the clock or with several threads and outside engines aside), so neither the
//! number of threads nor an interruption changes a match.

mod beginnings;
mod count;
mod referee;
mod table;

pub use beginnings::beginnings;
pub use count::tally;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crossbeam_channel::Sender;

use super::ladder::PlayerLine;
use super::openings::Opening;
use super::player::{Choice, Player, combine};
use super::tally::{Ruling, Sprt};
use crate::game::{Colour, Geometry, Goal, Square};
use referee::Referee;
use table::{Table, move_all};

/// Games that have ended but are not yet taken note of. When it is full the thread that ended
/// one more waits: noting one takes far less time than playing it.
const ENDED: usize = 256;

/// Makes a player from a seed; called once in each thread.
pub type Open<'a, G> =
    dyn Fn(u64) -> Result<Box<dyn Player<G>>, super::open::OpenError> + Send + Sync + 'a;

/// A player who can take part in matches.
pub struct Contestant<'a, G: Geometry> {
    /// The name that the ladder knows it by: its identity.
    pub name: String,
    /// Whether it always plays the same moves in the same line of play.
    pub deterministic: bool,
    /// What the ladder is to note about it, if anything.
    pub line: Option<PlayerLine>,
    /// Makes the player.
    pub open: Box<Open<'a, G>>,
}

impl<G: Geometry> Contestant<'_, G> {
    /// The name that the user gave it, if any.
    pub fn given_name(&self) -> Option<&str> {
        self.line.as_ref()?.label.as_deref()
    }
}

/// What a match is besides its players and openings.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MatchSettings {
    /// Which side of the score wins.
    pub goal: Goal,
    /// How many games; rounded up to pairs.
    pub games: u32,
    /// Decides the players' random choices.
    pub seed: u64,
    /// How many threads play, at least 1.
    pub threads: usize,
    /// Ends the match once this test has a verdict.
    pub sprt: Option<Sprt>,
}

/// The colour of a match's first player in a game: the two games of a pair swap them.
pub fn first_colour(game: u32) -> Colour {
    if game & 1 == 0 { Colour::Black } else { Colour::White }
}

/// Why a game ended before the rules ended it.
#[derive(Clone, PartialEq, Debug)]
pub struct Forfeit {
    /// Who forfeits.
    pub by: Colour,
    /// What happened, as text: it may come from a log.
    pub reason: String,
}

/// A game of a match.
#[derive(Clone, PartialEq, Debug)]
pub struct Played<G: Geometry> {
    /// Its number in the match; the games `2n` and `2n + 1` share an opening.
    pub game: u32,
    /// The colour of the match's first player: black in even games.
    pub first: Colour,
    /// Where the game began and where the players took over.
    pub opening: Opening<G>,
    /// The players' moves, passes left out.
    pub choices: Vec<Choice>,
    /// The final score for black; everything to the other side after a forfeit.
    pub score: i32,
    /// Why it ended early, if it did.
    pub forfeit: Option<Forfeit>,
}

impl<G: Geometry> Played<G> {
    /// All moves from the opening's start, passes left out.
    pub fn moves(&self) -> impl Iterator<Item = Square> + '_ {
        self.opening.moves.iter().copied().chain(self.choices.iter().map(|made| made.square))
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
        /// Why not.
        source: super::open::OpenError,
    },
}

/// The games of a match, as far as it went.
#[derive(Clone, PartialEq, Debug)]
pub struct MatchResult<G: Geometry> {
    /// In the order of their numbers, earlier played ones included.
    pub games: Vec<Played<G>>,
    /// What the sequential test says, if there is one.
    pub ruling: Option<Ruling>,
    /// Whether the match was stopped from outside before its end.
    pub stopped: bool,
}

impl MatchSettings {
    /// How many games there can be: two deterministic players have one for each opening and
    /// colour.
    pub fn games_of<G: Geometry>(&self, pair: [&Contestant<'_, G>; 2], openings: usize) -> u32 {
        let games = self.games.div_ceil(2) * 2;
        let same = pair.iter().all(|contestant| contestant.deterministic);
        if same { games.min(2 * openings as u32) } else { games }
    }
}

/// Plays the games of a match that are not among `done`, calling `on_game` after each one, until
/// all are played, the sequential test has a verdict, `on_game` breaks off, or `stop` is set.
///
/// # Errors
///
/// A player that cannot be made.
///
/// # Panics
///
/// If there are no openings.
pub fn play<G: Geometry>(
    pair: [&Contestant<'_, G>; 2],
    openings: &[Opening<G>],
    setting: &MatchSettings,
    done: Vec<Played<G>>,
    stop: &AtomicBool,
    on_game: &mut dyn FnMut(&Played<G>) -> ControlFlow<()>,
) -> Result<MatchResult<G>, MatchError> {
    let games = setting.games_of(pair, openings.len());
    let known: HashSet<u32> = done.iter().map(|played| played.game).collect();
    let left: Vec<u32> = (0..games).filter(|game| !known.contains(game)).collect();
    play_numbered(pair, openings, setting, &left, done, stop, on_game)
}

/// As [`play`], but plays the games of the numbers in `left`, whatever the setting says of how
/// many there are.
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
    setting: &MatchSettings,
    left: &[u32],
    done: Vec<Played<G>>,
    stop: &AtomicBool,
    on_game: &mut dyn FnMut(&Played<G>) -> ControlFlow<()>,
) -> Result<MatchResult<G>, MatchError> {
    assert!(!openings.is_empty(), "a match needs an opening");
    let games = done.len() + left.len();
    let mut referee = Referee::new(setting.sprt, done);
    let enough = AtomicBool::new(referee.decided());
    let (next, broken) = (AtomicUsize::new(0), AtomicBool::new(false));
    let hall = Hall { pair, openings, setting, left, next, stop, enough, broken };
    let mut failure = None;
    std::thread::scope(|scope| {
        let (sender, ended) = crossbeam_channel::bounded(ENDED);
        let threads = setting.threads.clamp(1, left.len().max(1));
        for _ in 0..threads {
            let (hall, sender) = (&hall, sender.clone());
            scope.spawn(move || hall.run(threads, &sender));
        }
        drop(sender);
        for message in ended {
            match message {
                Err(error) => failure = Some(error),
                Ok(played) if !hall.enough.load(Ordering::Relaxed) => {
                    let broken = on_game(&played).is_break();
                    referee.note(played);
                    if broken || referee.decided() {
                        hall.enough.store(true, Ordering::Relaxed);
                    }
                }
                Ok(_) => {}
            }
        }
    });
    match failure {
        Some(error) => Err(error),
        None => Ok(referee.outcome(games)),
    }
}

/// Points of the match's first player in a game.
fn points<G: Geometry>(played: &Played<G>) -> f64 {
    0.5 + 0.5 * f64::from(played.first_score().signum())
}

/// What the threads of a match share.
struct Hall<'a, G: Geometry> {
    pair: [&'a Contestant<'a, G>; 2],
    openings: &'a [Opening<G>],
    setting: &'a MatchSettings,
    left: &'a [u32],
    next: AtomicUsize,
    stop: &'a AtomicBool,
    /// Whether no more games count.
    enough: AtomicBool,
    /// Whether a thread has failed; games that have ended count.
    broken: AtomicBool,
}

/// Tells the other threads of a match that this one has panicked, if it has.
struct Alarm<'a>(&'a AtomicBool);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        self.0.fetch_or(std::thread::panicking(), Ordering::Relaxed);
    }
}

type Ended<G> = Result<Played<G>, MatchError>;

/// Both players, for one thread.
fn open<G: Geometry>(
    pair: [&Contestant<'_, G>; 2],
    setting: &MatchSettings,
) -> Result<[Box<dyn Player<G>>; 2], MatchError> {
    let open = |seat: usize| {
        let seed = combine(&[setting.seed, seat as u64]);
        let failed = |source| MatchError::Open { name: pair[seat].name.as_str().into(), source };
        (pair[seat].open)(seed).map_err(failed)
    };
    Ok([open(0)?, open(1)?])
}

impl<G: Geometry> Hall<'_, G> {
    fn over(&self) -> bool {
        [self.stop, &self.enough, &self.broken].iter().any(|flag| flag.load(Ordering::Relaxed))
    }

    /// The work of one thread.
    fn run(&self, threads: usize, ended: &Sender<Ended<G>>) {
        let _alarm = Alarm(&self.broken);
        let mut players = match open(self.pair, self.setting) {
            Ok(players) => players,
            Err(error) => {
                self.broken.store(true, Ordering::Relaxed);
                // The receiver outlives the threads; without it nobody wants to know.
                let _ = ended.send(Err(error));
                return;
            }
        };
        let fair_share = self.left.len().div_ceil(threads);
        let width = players.iter().map(|player| player.batch()).max().unwrap_or(1);
        let width = width.clamp(1, fair_share.max(1));
        let mut tables: Vec<Table<G>> = Vec::with_capacity(width);
        while !self.over() {
            while tables.len() < width
                && let Some(table) = self.next_table()
            {
                tables.push(table);
            }
            if tables.is_empty() {
                return;
            }
            for seat in 0..2 {
                move_all(tables.iter_mut(), seat, players[seat].as_mut(), || self.over());
                for table in tables.extract_if(.., |table| table.is_over()) {
                    players.iter_mut().for_each(|player| player.end_game(table.game));
                    // What stops the match ends its engines, which lose no game by that.
                    if table.is_forfeit() && self.stop.load(Ordering::Relaxed) {
                        continue;
                    }
                    if ended.send(Ok(table.finish(self.setting.goal))).is_err() {
                        return;
                    }
                }
            }
        }
    }

    fn next_table(&self) -> Option<Table<G>> {
        let game = *self.left.get(self.next.fetch_add(1, Ordering::Relaxed))?;
        Some(Table::set_up(game, self.openings))
    }
}

#[cfg(test)]
mod tests;
