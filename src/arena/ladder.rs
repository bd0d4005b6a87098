//! The ladder: an append-only file with all games that were played for ratings.
//!
//! Each line is a JSON object: the file's header, the terms of a match, a player's label and
//! training step, or a game with the time, depth and score of each move. Each line is written by a
//! single write, so a killed process leaves at most one incomplete line. Lines that cannot be read
//! are skipped and counted, never removed. Only one process writes at a time.

use std::collections::{HashMap, HashSet};
use std::fs::{File, TryLockError};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

mod line;
mod read;

use self::line::Line;
pub use self::line::{GameLine, MatchLine, MatchTerms, PlayerLine};
pub use self::read::SkippedLines;
use self::read::{LONGEST_LINE, Lines};
use super::matches::MatchGame;
use super::openings::Opening;
use crate::game::{Geometry, Goal, Shape};
use crate::players::contestant::Origin;

/// The version of the file's lines.
const VERSION: u32 = 1;
/// The largest file that is read, in bytes. All games are kept in memory.
const MOST_BYTES: u64 = 4 << 30;
/// The most players that are rated together. Their errors take a square matrix of this size.
const MOST_PLAYERS: usize = 5_000;

/// Why a ladder file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LadderError {
    /// The system returned an error.
    #[error("cannot {action} the ladder {}", path.display())]
    File {
        /// The operation that failed.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file is not a ladder.
    #[error("{} is not a ladder file; it is left unchanged", path.display())]
    NotALadder {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by a later version of this program.
    #[error("{} has version {found}; this program reads version {VERSION}", path.display())]
    Later {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// The file is too large to be read, or would be with the new line.
    #[error(
        "the ladder {} has {bytes} bytes; at most {MOST_BYTES} are read; use another --ladder",
        path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size, with the new line.
        bytes: u64,
    },
    /// There are more players than can be rated, or would be with the new line.
    #[error(
        "with the ladder {} there are more than {MOST_PLAYERS} players, the most that can be rated \
         together; use another --ladder",
        path.display()
    )]
    TooManyPlayers {
        /// The file.
        path: PathBuf,
    },
    /// A line would be too long to be read again.
    #[error(
        "cannot add a line of {bytes} bytes to the ladder {}; at most {LONGEST_LINE} are allowed; \
         give players shorter specifications",
        path.display()
    )]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The line's length.
        bytes: usize,
    },
    /// A match already has the highest number.
    #[error(
        "the ladder {} has a match with the highest number, {}; use another --ladder",
        path.display(),
        u32::MAX
    )]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Another process has opened this ladder for writing.
    #[error("another process is writing to the ladder {}", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
}

/// A ladder file, opened for appending or read-only.
///
/// ```
/// use outflank::arena::ladder::{Ladder, MatchTerms};
///
/// let folder = tempfile::tempdir()?;
/// let mut ladder = Ladder::open(&folder.path().join("ladder.jsonl"))?;
/// let [first, second] = ["greedy", "random"].map(String::from);
/// let [board, goal, openings] = ["8x8", "most", "start"].map(String::from);
/// let terms = MatchTerms { first, second, board, goal, openings };
/// let line = ladder.begin_match(terms.clone(), ladder.fresh_seed())?;
/// assert_eq!(ladder.last_match(&terms), Some(&line));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Ladder {
    path: PathBuf,
    file: File,
    /// All matches.
    pub matches: Vec<MatchLine>,
    /// All games, in the order in which they ended.
    pub games: Vec<GameLine>,
    /// Games of other ladders that were included.
    included_games: Vec<GameLine>,
    /// Players that come from a training run or have a label, by identity.
    pub players: HashMap<String, PlayerLine>,
    /// The same of the included ladders.
    included_players: HashMap<String, PlayerLine>,
    /// The identities of all players that a line of this file names.
    names: HashSet<String>,
    /// The lines that could not be read.
    pub skipped: SkippedLines,
}

impl Ladder {
    /// Opens a ladder for appending and locks it. Creates the file if there is none.
    ///
    /// # Errors
    ///
    /// A file that cannot be opened, is not a ladder, or is locked by another process.
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

    /// Reads a ladder without a lock, even while another process writes to it. Adding anything to
    /// it fails.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or is not a ladder.
    pub fn open_read_only(path: &Path) -> Result<Ladder, LadderError> {
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
            included_games: Vec::new(),
            players: HashMap::new(),
            included_players: HashMap::new(),
            names: HashSet::new(),
            skipped: SkippedLines::default(),
        }
    }

    /// Includes the games of another ladder, which is opened read-only. Returns its lines that
    /// cannot be read.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or is not a ladder, or more players than can be rated.
    pub fn include(&mut self, path: &Path) -> Result<SkippedLines, LadderError> {
        let mut other = Ladder::open_read_only(path)?;
        self.included_games.append(&mut other.games);
        for (name, line) in other.players {
            let known = self.included_players.remove(&name);
            self.included_players
                .insert(name, known.unwrap_or_else(|| line.clone()).or(Some(&line)));
        }
        let games = self.all_games().flat_map(|game| [&game.black, &game.white]);
        match games.collect::<HashSet<_>>().len() {
            ..=MOST_PLAYERS => Ok(other.skipped),
            _ => Err(LadderError::TooManyPlayers { path: path.into() }),
        }
    }

    /// The run and step of a player's net, from this ladder or an included one.
    pub fn origin(&self, name: &str) -> Option<&Origin> {
        self.player_lines(name).find_map(|line| line.origin.as_ref())
    }

    /// The name that the user gave to a player, from this ladder or an included one.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.player_lines(name).find_map(|line| line.label.as_deref())
    }

    fn player_lines(&self, name: &str) -> impl Iterator<Item = &PlayerLine> {
        [&self.players, &self.included_players].into_iter().filter_map(move |lines| lines.get(name))
    }

    /// The games of this ladder and of the included ones.
    pub fn all_games(&self) -> impl Iterator<Item = &GameLine> {
        self.games.iter().chain(&self.included_games)
    }

    /// All games on one board and for one goal, included ladders too.
    pub fn games_on(&self, board: Shape, goal: Goal) -> impl Iterator<Item = &GameLine> {
        let (board, goal) = (board.name(), goal.name());
        self.all_games().filter(move |game| game.board == board && game.goal == goal)
    }

    /// Adds identities of players; fails if there would be too many.
    fn add_names(&mut self, names: &[&str]) -> Result<(), LadderError> {
        let is_new = |name: &&&str| !self.names.contains(**name);
        let new: HashSet<&str> = names.iter().filter(is_new).copied().collect();
        if self.names.len() + new.len() > MOST_PLAYERS {
            return Err(LadderError::TooManyPlayers { path: self.path.clone() });
        }
        self.names.extend(new.into_iter().map(String::from));
        Ok(())
    }

    /// Reads the file. Returns whether its last line ends with a line feed.
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
        // The size of a pipe is not known, so the limit is applied here too.
        let mut lines = Lines::new(BufReader::new(file.take(MOST_BYTES)));
        while let Some(bytes) = lines.next().map_err(failed)? {
            number += 1;
            let line = serde_json::from_slice::<Line>(bytes);
            if let Ok(line) = &line {
                self.add_names(&line.names())?;
            }
            match line {
                Ok(Line::Ladder { version: VERSION }) => {}
                Ok(Line::Ladder { version }) => {
                    return Err(LadderError::Later { path: path(), found: version });
                }
                _ if number == 1 => return Err(LadderError::NotALadder { path: path() }),
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
            return Err(LadderError::NotALadder { path: path() });
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

    /// The newest match with these terms.
    pub fn last_match(&self, terms: &MatchTerms) -> Option<&MatchLine> {
        self.matches.iter().rev().find(|line| line.terms == *terms)
    }

    /// A seed that no match of this file has.
    pub fn fresh_seed(&self) -> u64 {
        self.matches.iter().map(|line| line.seed.saturating_add(1)).max().unwrap_or(1)
    }

    /// Adds a match with a new number.
    ///
    /// # Errors
    ///
    /// A file that cannot be written, or a line that could not be read again.
    pub fn begin_match(&mut self, terms: MatchTerms, seed: u64) -> Result<MatchLine, LadderError> {
        let last = self.matches.iter().map(|line| line.id).max().unwrap_or(0);
        let full = || LadderError::Full { path: self.path.clone() };
        let id = last.checked_add(1).ok_or_else(full)?;
        self.add_names(&[&terms.first, &terms.second])?;
        let line = MatchLine { version: VERSION, id, terms, seed };
        self.write(&Line::Match(line.clone()))?;
        self.matches.push(line.clone());
        Ok(line)
    }

    /// Adds a player's label and training step, if the ladder does not have them yet.
    ///
    /// # Errors
    ///
    /// A file that cannot be written, or a line that could not be read again.
    pub fn add_player(&mut self, player: PlayerLine) -> Result<(), LadderError> {
        let known = self.players.get(&player.name);
        let player = player.or(known);
        if known == Some(&player) {
            return Ok(());
        }
        self.add_names(&[&player.name])?;
        self.write(&Line::Player(player.clone()))?;
        self.players.insert(player.name.clone(), player);
        Ok(())
    }

    /// Adds a game of a match.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn add_game<G: Geometry>(
        &mut self,
        match_line: &MatchLine,
        played: &MatchGame<G>,
    ) -> Result<(), LadderError> {
        let line = Box::new(GameLine::new(match_line.id, &match_line.terms, played));
        self.write(&Line::Game(line.clone()))?;
        self.games.push(*line);
        Ok(())
    }

    /// The games of a match. Games whose opening is not the one in `openings` are left out.
    pub fn games_of<G: Geometry>(
        &self,
        match_line: &MatchLine,
        openings: &[Opening<G>],
    ) -> Vec<MatchGame<G>> {
        let lines = self.games.iter().filter(|line| line.match_id == match_line.id);
        let games = lines.filter_map(|line| line.played::<G>(&match_line.terms.first));
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
}

#[cfg(test)]
mod limits_tests;
#[cfg(test)]
mod tests;
