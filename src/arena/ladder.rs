//! The ladder: one append-only file that holds every game ever played for a rating.
//!
//! Each line is one JSON object: the file's head, the terms of a match, a player's training
//! step, or a game with the time, depth and score of each move. A line is written whole by one
//! write, so a kill leaves at most one torn line; whatever cannot be read is skipped and
//! counted, never removed. One process writes at a time.

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

mod line;

use self::line::Line;
pub use self::line::{GameLine, MatchLine, PlayerLine, Terms};
use super::matches::Played;
use super::openings::Opening;
use crate::game::{Geometry, Goal, Shape};

/// The version of the file's lines.
const VERSION: u32 = 1;

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
    /// Somebody else plays for this ladder.
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
    /// Players that come from a training run, by name.
    pub players: HashMap<String, PlayerLine>,
    /// Those of the other ladders that count as well.
    of_others: HashMap<String, PlayerLine>,
    /// The numbers of lines that could not be read, counted from 1.
    pub skipped: Vec<usize>,
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
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0)).map_err(failed("read"))?;
        file.read_to_end(&mut bytes).map_err(failed("read"))?;
        let mut ladder = Ladder::empty(path, file);
        if bytes.is_empty() {
            ladder.write(&Line::Ladder { version: VERSION })?;
            return Ok(ladder);
        }
        ladder.read(&String::from_utf8_lossy(&bytes))?;
        if !bytes.ends_with(b"\n") {
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
        let mut file = File::open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        if bytes.is_empty() {
            return Err(LadderError::NoLadder { path: path.into() });
        }
        let mut ladder = Ladder::empty(path, file);
        ladder.read(&String::from_utf8_lossy(&bytes))?;
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
            of_others: HashMap::new(),
            skipped: Vec::new(),
        }
    }

    /// Counts the games of another ladder, which is only read and may be in use, along with this
    /// one's. Returns the numbers of its lines that cannot be read.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or is something else.
    pub fn count_also(&mut self, path: &Path) -> Result<Vec<usize>, LadderError> {
        let mut other = Ladder::look_at(path)?;
        self.others.append(&mut other.games);
        for (name, line) in other.players {
            self.of_others.entry(name).or_insert(line);
        }
        Ok(other.skipped)
    }

    /// Where in its training a player comes from, as far as this ladder or another one that
    /// counts tells.
    pub fn origin(&self, name: &str) -> Option<&PlayerLine> {
        self.players.get(name).or_else(|| self.of_others.get(name))
    }

    /// This ladder's games, and those of the others that count as well.
    pub fn all_games(&self) -> impl Iterator<Item = &GameLine> {
        self.games.iter().chain(&self.others)
    }

    fn read(&mut self, text: &str) -> Result<(), LadderError> {
        for (index, line) in text.lines().enumerate() {
            match serde_json::from_str(line) {
                Ok(Line::Ladder { version: VERSION }) => {}
                Ok(Line::Ladder { version }) => {
                    return Err(LadderError::Later { path: self.path.clone(), found: version });
                }
                _ if index == 0 => {
                    return Err(LadderError::NoLadder { path: self.path.clone() });
                }
                Ok(Line::Match(line)) => self.matches.push(line),
                Ok(Line::Game(line)) => self.games.push(*line),
                Ok(Line::Player(line)) => {
                    self.players.insert(line.name.clone(), line);
                }
                Err(_) => self.skipped.push(index + 1),
            }
        }
        Ok(())
    }

    fn write(&mut self, line: &Line) -> Result<(), LadderError> {
        let failed =
            |source| LadderError::File { action: "write to", path: self.path.clone(), source };
        let mut bytes = serde_json::to_vec(line).map_err(|error| failed(error.into()))?;
        bytes.push(b'\n');
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
    /// A file that cannot be written.
    pub fn begin(&mut self, terms: Terms, seed: u64) -> Result<MatchLine, LadderError> {
        let id = self.matches.iter().map(|line| line.id + 1).max().unwrap_or(1);
        let line = MatchLine { version: VERSION, id, terms, seed };
        self.write(&Line::Match(line.clone()))?;
        self.matches.push(line.clone());
        Ok(line)
    }

    /// Notes where in its training a player comes from.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn introduce(&mut self, player: PlayerLine) -> Result<(), LadderError> {
        if self.players.get(&player.name) == Some(&player) {
            return Ok(());
        }
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
mod tests;
