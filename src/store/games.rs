//! The games of a run, in append-only segment files.
//!
//! A segment is a row of frames, one a game, and is closed at about 32 MB. Invariants: a frame
//! is never changed once written; bytes after the last whole frame of the newest segment are cut
//! off when the folder is opened for appending, and kept aside unless they are one torn frame; a
//! frame that is damaged elsewhere is skipped by every reader and costs no other game.

mod writer;

use std::fs;
use std::path::{Path, PathBuf};

use super::codec::{self, CodecError};
use super::files::{self, Action, FileError};
use super::frame::{self, Damage, Frame, Scanner};
use super::limits;
use crate::game::record::GameRecord;
pub use writer::GameWriter;

/// Unpacked records are a few kilobytes; a payload that claims more is damaged.
const UNPACKED_MOST: usize = 1 << 20;

/// Why the games of a run cannot be written or read at all.
#[derive(Debug, thiserror::Error)]
pub enum GamesError {
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// The compression library refused a record.
    #[error("cannot compress game {id}")]
    Compress {
        /// The game's id.
        id: u64,
        /// What the library said.
        #[source]
        source: std::io::Error,
    },
    /// Another process appends to the folder.
    #[error("{} is in use by another process; two runs cannot share their games", path.display())]
    InUse {
        /// The newest segment.
        path: PathBuf,
    },
    /// A segment is not as this process left it.
    #[error(
        "{} was {change} while the run used it: games that were stored are no longer there; put \
         the file back, then resume the run",
        path.display()
    )]
    Changed {
        /// The segment.
        path: PathBuf,
        /// What has been done to it.
        change: Change,
    },
}

/// What another process has done to a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// There is none at its path, or another file.
    Removed,
    /// It is shorter than it was.
    Shortened {
        /// Its length, in bytes.
        found: u64,
        /// The length that it had.
        wanted: u64,
    },
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Change::Removed => f.write_str("removed, moved or replaced"),
            Change::Shortened { found, wanted } => {
                write!(f, "shortened from {wanted} to {found} bytes")
            }
        }
    }
}

/// Why one record was skipped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Reason {
    /// The bytes do not begin like a record.
    #[error("bytes that are no record")]
    Foreign,
    /// The checksum is wrong.
    #[error("the checksum is wrong")]
    Checksum,
    /// The file ends within the record.
    #[error("the file ends within the record")]
    CutOff,
    /// The frame claims more positions than its game has.
    #[error("it claims more positions than its game has")]
    Positions,
    /// The payload cannot be unpacked.
    #[error("the record cannot be unpacked")]
    Packing,
    /// The payload is unpacked, but is no record.
    #[error(transparent)]
    Content(#[from] CodecError),
}

/// A record that could not be read; those around it can.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}: game record at byte {offset} skipped: {reason}", path.display())]
pub struct Skipped {
    /// The segment.
    pub path: PathBuf,
    /// Where in it, in bytes.
    pub offset: u64,
    /// What is wrong.
    pub reason: Reason,
}

/// How many positions of a game can be learnt from: those after the opening.
pub fn learnable(record: &GameRecord) -> u32 {
    record.moves.len().saturating_sub(record.opening_moves.into()) as u32
}

/// What a folder of games holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Whole games.
    pub games: u64,
    /// Their positions that can be learnt from.
    pub positions: u64,
    /// The highest id; `None` without games.
    pub highest_id: Option<u64>,
    /// Records that cannot be read, without a torn one at the end.
    pub skipped: u64,
    /// Whether the newest segment ends within a record: the process that wrote it died.
    pub torn: bool,
}

fn segment_path(dir: &Path, number: u32) -> PathBuf {
    dir.join(format!("games-{number:06}.ofg"))
}

/// The segments of a folder by rising number; other files are left alone.
fn segments(dir: &Path) -> Result<Vec<(u32, PathBuf)>, FileError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(FileError::at(Action::Read, dir))? {
        let path = entry.map_err(FileError::at(Action::Read, dir))?.path();
        let number = path
            .file_name()
            .and_then(|name| name.to_str()?.strip_prefix("games-")?.strip_suffix(".ofg"))
            .and_then(|digits| digits.parse().ok());
        if let Some(number) = number {
            found.push((number, path));
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a process appends to a folder of games.
pub(super) fn is_in_use(dir: &Path) -> bool {
    let newest = segments(dir).ok().and_then(|mut segments| segments.pop());
    newest.is_some_and(|(_, path)| files::is_locked(&path))
}

/// Counts the games of a folder without unpacking them.
///
/// # Errors
///
/// The folder or a segment cannot be read; damaged records are only counted.
pub fn totals(dir: &Path) -> Result<Totals, GamesError> {
    let mut totals = Totals::default();
    for (_, path) in segments(dir)? {
        // Only in the newest segment is it no damage.
        totals.skipped += u64::from(std::mem::take(&mut totals.torn));
        for found in frame::scan(&files::read(&path, limits::SEGMENT)?, 0) {
            match found {
                Ok(frame) => {
                    totals.games += 1;
                    totals.positions += u64::from(frame.positions);
                    totals.highest_id = totals.highest_id.max(Some(frame.id));
                }
                Err(bad) if bad.is_torn() => totals.torn = true,
                Err(_) => totals.skipped += 1,
            }
        }
    }
    Ok(totals)
}

/// Reads all games of a folder, oldest first.
///
/// # Errors
///
/// The folder cannot be read.
pub fn read_all(dir: &Path) -> Result<Games, GamesError> {
    let paths = segments(dir)?.into_iter().map(|(_, path)| path).collect();
    Ok(Games::new(paths, 0))
}

/// Reads the newest games that hold at least this many learnable positions together (all games
/// if there are fewer), oldest of them first.
///
/// # Errors
///
/// The folder or a segment cannot be read.
pub fn read_tail(dir: &Path, positions: u64) -> Result<Games, GamesError> {
    let (mut wanted, mut paths, mut offset) = (positions, Vec::new(), 0);
    for (_, path) in segments(dir)?.into_iter().rev() {
        if wanted == 0 {
            break;
        }
        let bytes = files::read(&path, limits::SEGMENT)?;
        paths.insert(0, path);
        let frames: Vec<_> = frame::scan(&bytes, 0).flatten().collect();
        offset = 0;
        for frame in frames.into_iter().rev() {
            if wanted == 0 {
                break;
            }
            offset = frame.offset;
            wanted = wanted.saturating_sub(frame.positions.into());
        }
        if wanted > 0 {
            offset = 0;
        }
    }
    Ok(Games::new(paths, offset))
}

/// The games of some segments in the order in which they were played. A record that cannot be
/// read is an `Err` item and does not end the iteration.
pub struct Games {
    paths: std::vec::IntoIter<PathBuf>,
    path: PathBuf,
    bytes: Vec<u8>,
    scanner: Scanner,
    next_offset: usize,
}

/// What an iteration over games meets instead of a game.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// One record cannot be read; the next one may be.
    #[error(transparent)]
    Skipped(#[from] Skipped),
    /// A whole segment cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Games {
    fn new(paths: Vec<PathBuf>, offset: usize) -> Games {
        Games {
            paths: paths.into_iter(),
            path: PathBuf::new(),
            bytes: Vec::new(),
            scanner: Scanner::default(),
            next_offset: offset,
        }
    }

    fn unpack(frame: &Frame<'_>) -> Result<GameRecord, Reason> {
        let bytes = zstd::bulk::decompress(frame.payload, UNPACKED_MOST);
        let record = codec::decode(&bytes.map_err(|_| Reason::Packing)?)?;
        // What counted the folder has taken the frame's word for it.
        let fits = frame.positions as usize <= record.moves.len();
        if fits { Ok(record) } else { Err(Reason::Positions) }
    }
}

impl Iterator for Games {
    type Item = Result<GameRecord, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.scanner.offset >= self.bytes.len() {
            self.path = self.paths.next()?;
            self.scanner = Scanner::new(std::mem::take(&mut self.next_offset));
            self.bytes = match files::read(&self.path, limits::SEGMENT) {
                Ok(bytes) => bytes,
                Err(error) => {
                    self.bytes.clear();
                    return Some(Err(error.into()));
                }
            };
        }
        let (offset, game) = match self.scanner.next(&self.bytes)? {
            Ok(frame) => (frame.offset, Games::unpack(&frame)),
            Err(bad) => {
                let reason = match bad.damage {
                    Damage::Foreign => Reason::Foreign,
                    Damage::Checksum => Reason::Checksum,
                    Damage::CutOff => Reason::CutOff,
                    Damage::Positions => Reason::Positions,
                };
                (bad.offset, Err(reason))
            }
        };
        Some(game.map_err(|reason| {
            Skipped { path: self.path.clone(), offset: offset as u64, reason }.into()
        }))
    }
}

#[cfg(test)]
#[path = "games_tests.rs"]
pub(crate) mod tests;
