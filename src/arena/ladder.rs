//! The ladder: one append-only file that holds every game ever played for a rating.
//!
//! Each line is one JSON object: the file's head, the terms of a match, a player's training
//! label and training step, or a game with the time, depth and score of each move. A line is
//! written whole by one write, so a kill leaves at most one torn line; whatever cannot be read is
//! skipped and counted, never removed. One process writes at a time.

use std::collections::{HashMap, HashSet};
use std::fs::{File, TryLockError};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

mod line;
mod read;

use self::line::Line;
pub use self::line::{GameLine, MatchLine, Origin, PlayerLine, Terms};
pub use self::read::Skipped;
use self::read::{LONGEST_LINE, Lines};
use super::matches::Played;
use super::openings::Opening;
use crate::game::{Geometry, Goal, Shape};

/// The version of the file's lines.
const VERSION: u32 = 1;
/// The most bytes of a file that is read: its games are kept in memory.
const MOST_BYTES: u64 = 4 << 30;
/// The most players that are rated together: their errors take a matrix of this side.
const MOST_PLAYERS: usize = 5_000;

/// Why a ladder file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LadderError {
    /// The system refuses.
    #[error("cannot {action} the ladder {}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file is something else.
    #[error("{} is no ladder file of this program; it is left as it is", path.display())]
    NoLadder {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by a later version.
    #[error("{} is of version {found}; this program reads version {VERSION}", path.display())]
    Later {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// The file is too large to be read, or a line would make it so.
    #[error(
        "the ladder {} comes to {bytes} bytes; at most {MOST_BYTES} are read; use another --ladder",
        path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size, with that line.
        bytes: u64,
    },
    /// The file has more players than can be rated, or would have them.
    #[error(
        "the ladder {} brings the players to more than {MOST_PLAYERS}, the most that are rated \
         together; use another --ladder",
        path.display()
    )]
    TooManyPlayers {
        /// The file.
        path: PathBuf,
    },
    /// A line would be too long to be read again.
    #[error(
        "cannot add a line of {bytes} bytes to the ladder {}; at most {LONGEST_LINE} are read; \
         give players shorter specifications",
        path.display()
    )]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The line's length.
        bytes: usize,
    },
    /// There is no number left for another match.
    #[error("the ladder {} has a match of the last number, {}; use another --ladder", path.display(), u32::MAX)]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Another process plays for this ladder.
    #[error("another process is writing to the ladder {}", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
}

/// A ladder file that this process may append to, unless it was only looked at.
pub struct Ladder {
    path: PathBuf,
    file: File,
    /// Every match.
    pub matches: Vec<MatchLine>,
    /// Every game, in the order of their ends.
    pub games: Vec<GameLine>,
    /// Games of other ladders that count as well.
    others: Vec<GameLine>,
    /// Players that come from a training run or have a label, by name.
    pub players: HashMap<String, PlayerLine>,
    /// Those of the other ladders that count as well.
    others_players: HashMap<String, PlayerLine>,
    /// Everybody that a line of this file names.
    names: HashSet<String>,
    /// Lines that could not be read.
    pub skipped: Skipped,
}

impl Ladder {
    /// Opens a ladder, or begins one where there is no file, and keeps others from writing.
    ///
    /// # Errors
    ///
    /// A file that cannot be opened, is something else, or is being written.
    pub fn open(path: &Path) -> Result<Ladder, LadderError> {
        let failed = |action| move |source| LadderError::File { action, path: path.into(), source };
        let file = File::options().create(true).read(true).append(true).open(path);
        let mut file = file.map_err(failed("open"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LadderError::Locked { path: path.into() }),
            Err(TryLockError::Error(source)) => return Err(failed("lock")(source)),
        }
        file.seek(SeekFrom::Start(0)).map_err(failed("read"))?;
        let is_new = file.metadata().map_err(failed("read"))?.len() == 0;
        let mut ladder = Ladder::empty(path, file);
        if is_new {
            ladder.write(&Line::Ladder { version: VERSION })?;
            return Ok(ladder);
        }
        if !ladder.read()? {
            ladder.file.write_all(b"\n").map_err(failed("write to"))?;
        }
        Ok(ladder)
    }

    /// Reads a ladder, which may be in use, without a lock. The file is opened for reading alone:
    /// whatever would be added is refused.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or is something else.
    pub fn look_at(path: &Path) -> Result<Ladder, LadderError> {
        let failed = |source| LadderError::File { action: "read", path: path.into(), source };
        let mut ladder = Ladder::empty(path, File::open(path).map_err(failed)?);
        ladder.read()?;
        Ok(ladder)
    }

    fn empty(path: &Path, file: File) -> Ladder {
        Ladder {
            path: path.into(),
            file,
            matches: Vec::new(),
            games: Vec::new(),
            others: Vec::new(),
            players: HashMap::new(),
            others_players: HashMap::new(),
            names: HashSet::new(),
            skipped: Skipped::default(),
        }
    }

    /// Counts the games of another ladder, which is only read and may be in use, along with this
    /// one's. Returns its lines that cannot be read.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or is something else, or more players than can be rated.
    pub fn count_also(&mut self, path: &Path) -> Result<Skipped, LadderError> {
        let mut other = Ladder::look_at(path)?;
        self.others.append(&mut other.games);
        for (name, line) in other.players {
            let known = self.others_players.remove(&name);
            self.others_players.insert(name, known.unwrap_or_else(|| line.clone()).or(Some(&line)));
        }
        let games = self.all_games().flat_map(|game| [&game.black, &game.white]);
        match games.collect::<HashSet<_>>().len() {
            ..=MOST_PLAYERS => Ok(other.skipped),
            _ => Err(LadderError::TooManyPlayers { path: path.into() }),
        }
    }

    /// Where in its training a player comes from, as far as this ladder or another one that
    /// counts tells.
    pub fn origin(&self, name: &str) -> Option<&Origin> {
        self.noted(name).find_map(|line| line.origin.as_ref())
    }

    /// What the user calls a player, as far as this ladder or another one that counts tells.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.noted(name).find_map(|line| line.label.as_deref())
    }

    fn noted(&self, name: &str) -> impl Iterator<Item = &PlayerLine> {
        [&self.players, &self.others_players].into_iter().filter_map(move |lines| lines.get(name))
    }

    /// This ladder's games, and those of the others that count as well.
    pub fn all_games(&self) -> impl Iterator<Item = &GameLine> {
        self.games.iter().chain(&self.others)
    }

    /// Those of all games that were played on one board for one goal.
    pub fn games_on(&self, board: Shape, goal: Goal) -> impl Iterator<Item = &GameLine> {
        let (board, goal) = (board.name(), goal.name());
        self.all_games().filter(move |game| game.board == board && game.goal == goal)
    }

    /// Counts the players of these names, unless there are too many of them then.
    fn admit(&mut self, names: &[&str]) -> Result<(), LadderError> {
        let is_new = |name: &&&str| !self.names.contains(**name);
        let new: HashSet<&str> = names.iter().filter(is_new).copied().collect();
        if self.names.len() + new.len() > MOST_PLAYERS {
            return Err(LadderError::TooManyPlayers { path: self.path.clone() });
        }
        self.names.extend(new.into_iter().map(String::from));
        Ok(())
    }

    /// Reads the file; whether its last line has an end.
    fn read(&mut self) -> Result<bool, LadderError> {
        let own = self.path.clone();
        let path = || own.clone();
        let failed = |source| LadderError::File { action: "read", path: path(), source };
        let bytes = self.file.metadata().map_err(failed)?.len();
        if bytes > MOST_BYTES {
            return Err(LadderError::TooLarge { path: path(), bytes });
        }
        let mut number = 0;
        let file = self.file.try_clone().map_err(failed)?;
        // A pipe has no size beforehand.
        let mut lines = Lines::new(BufReader::new(file.take(MOST_BYTES)));
        while let Some(bytes) = lines.next().map_err(failed)? {
            number += 1;
            let line = serde_json::from_slice::<Line>(bytes);
            if let Ok(line) = &line {
                self.admit(&line.names())?;
            }
            match line {
                Ok(Line::Ladder { version: VERSION }) => {}
                Ok(Line::Ladder { version }) => {
                    return Err(LadderError::Later { path: path(), found: version });
                }
                _ if number == 1 => return Err(LadderError::NoLadder { path: path() }),
                Ok(Line::Match(line)) => self.matches.push(line),
                Ok(Line::Game(line)) => self.games.push(*line),
                Ok(Line::Player(line)) => {
                    let name = line.name.clone();
                    let line = line.or(self.players.get(&name));
                    self.players.insert(name, line);
                }
                Err(_) => self.skipped.add(number),
            }
        }
        if number == 0 {
            return Err(LadderError::NoLadder { path: path() });
        }
        Ok(lines.ended)
    }

    fn write(&mut self, line: &Line) -> Result<(), LadderError> {
        let failed =
            |source| LadderError::File { action: "write to", path: self.path.clone(), source };
        let mut bytes = serde_json::to_vec(line).map_err(|error| failed(error.into()))?;
        bytes.push(b'\n');
        if bytes.len() > LONGEST_LINE {
            return Err(LadderError::TooLong { path: self.path.clone(), bytes: bytes.len() });
        }
        let size = self.file.metadata().map_err(failed)?.len() + bytes.len() as u64;
        if size > MOST_BYTES {
            return Err(LadderError::TooLarge { path: self.path.clone(), bytes: size });
        }
        self.file.write_all(&bytes).map_err(failed)
    }

    /// The last match on these terms, to go on with.
    pub fn last(&self, terms: &Terms) -> Option<&MatchLine> {
        self.matches.iter().rev().find(|line| line.terms == *terms)
    }

    /// A seed that no match of this file has had.
    pub fn fresh_seed(&self) -> u64 {
        self.matches.iter().map(|line| line.seed.saturating_add(1)).max().unwrap_or(1)
    }

    /// Begins a match.
    ///
    /// # Errors
    ///
    /// A file that cannot be written, or could not be read again.
    pub fn begin(&mut self, terms: Terms, seed: u64) -> Result<MatchLine, LadderError> {
        let last = self.matches.iter().map(|line| line.id).max().unwrap_or(0);
        let full = || LadderError::Full { path: self.path.clone() };
        let id = last.checked_add(1).ok_or_else(full)?;
        self.admit(&[&terms.first, &terms.second])?;
        let line = MatchLine { version: VERSION, id, terms, seed };
        self.write(&Line::Match(line.clone()))?;
        self.matches.push(line.clone());
        Ok(line)
    }

    /// Notes where in its training a player comes from, and what the user calls it.
    ///
    /// # Errors
    ///
    /// A file that cannot be written, or could not be read again.
    pub fn introduce(&mut self, player: PlayerLine) -> Result<(), LadderError> {
        let known = self.players.get(&player.name);
        let player = player.or(known);
        if known == Some(&player) {
            return Ok(());
        }
        self.admit(&[&player.name])?;
        self.write(&Line::Player(player.clone()))?;
        self.players.insert(player.name.clone(), player);
        Ok(())
    }

    /// Adds a game.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn add<G: Geometry>(
        &mut self,
        of: &MatchLine,
        played: &Played<G>,
    ) -> Result<(), LadderError> {
        let line = Box::new(GameLine::new(of.id, &of.terms, played));
        self.write(&Line::Game(line.clone()))?;
        self.games.push(*line);
        Ok(())
    }

    /// The games of a match whose opening is still the one that `openings` gives them.
    pub fn games_of<G: Geometry>(&self, of: &MatchLine, openings: &[Opening<G>]) -> Vec<Played<G>> {
        let lines = self.games.iter().filter(|line| line.match_id == of.id);
        let games = lines.filter_map(|line| line.played::<G>(&of.terms.first));
        let mut games: Vec<_> = games
            .filter(|played| {
                let place = (played.game / 2) as usize % openings.len().max(1);
                openings.get(place) == Some(&played.opening)
            })
            .collect();
        games.sort_by_key(|played| played.game);
        games.dedup_by_key(|played| played.game);
        games
    }

    /// The boards and goals that games were played on.
    pub fn pools(&self) -> Vec<(Shape, Goal)> {
        let mut pools: Vec<(Shape, Goal)> = Vec::new();
        for game in &self.games {
            let (Ok(board), Ok(goal)) = (game.board.parse(), game.goal.parse()) else { continue };
            if !pools.contains(&(board, goal)) {
                pools.push((board, goal));
            }
        }
        pools
    }
}

#[cfg(test)]
mod limits_tests;
#[cfg(test)]
mod tests;
