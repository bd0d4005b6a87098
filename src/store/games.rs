//! The games of a run, stored in append-only files called segments.
//!
//! A segment is a sequence of frames, one per game, and is closed at about 32 MB. Invariants:
//!
//! - A frame is never changed after it is written.
//! - When the folder is opened for appending, bytes after the last complete frame of the newest
//!   segment are cut off. They are saved to a separate file unless they are one incomplete frame.
//! - Readers skip a damaged frame anywhere else. No other game is lost.

mod pack;
mod writer;

use std::fs;
use std::path::{Path, PathBuf};

use super::codec::{self, CodecError};
use super::files::{self, Action, FileError};
use super::frame::{self, DamageKind, Frame, Scanner};
use super::limits;
use crate::game::record::GameRecord;
pub use pack::{MOST_GAMES, pack, unpack};
pub use writer::GameWriter;

/// The largest decompressed record, in bytes. Real ones have a few kilobytes.
const LARGEST_RECORD: usize = 1 << 20;

/// Why the games of a run cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum GamesError {
    /// The operating system reported an error.
    #[error(transparent)]
    File(#[from] FileError),
    /// A record cannot be compressed.
    #[error("cannot compress game {id}")]
    Compress {
        /// The game's id.
        id: u64,
        /// The compression library's error.
        #[source]
        source: std::io::Error,
    },
    /// Another process appends to the folder.
    #[error("{} is in use by another process; two runs cannot share their games", path.display())]
    InUse {
        /// The newest segment.
        path: PathBuf,
    },
    /// Another process changed a segment while this process used it.
    #[error(
        "{} was {change} while the run used it: stored games are missing; put the file back, \
         then resume the run",
        path.display()
    )]
    Changed {
        /// The segment.
        path: PathBuf,
        /// The change.
        change: SegmentChange,
    },
}

/// How another process changed a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SegmentChange {
    /// The file was removed, moved or replaced.
    Removed,
    /// The file is shorter than before.
    Shortened {
        /// Its length in bytes.
        found: u64,
        /// Its length before, in bytes.
        wanted: u64,
    },
}

impl std::fmt::Display for SegmentChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SegmentChange::Removed => f.write_str("removed, moved or replaced"),
            SegmentChange::Shortened { found, wanted } => {
                write!(f, "shortened from {wanted} to {found} bytes")
            }
        }
    }
}

/// Why a record was skipped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SkipReason {
    /// The bytes do not start with a frame's magic number.
    #[error("the bytes are not a record")]
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
    /// The number or the positions beside the record are not those of its game.
    #[error("the number beside the record is not that of its game")]
    Header,
    /// A message has more games than it may have.
    #[error("there are more than {} games", pack::MOST_GAMES)]
    Many,
    /// The payload cannot be decompressed.
    #[error("the record cannot be decompressed")]
    Packing,
    /// The decompressed payload is not a record.
    #[error(transparent)]
    Content(#[from] CodecError),
}

impl From<DamageKind> for SkipReason {
    fn from(damage: DamageKind) -> SkipReason {
        match damage {
            DamageKind::Foreign => SkipReason::Foreign,
            DamageKind::Checksum => SkipReason::Checksum,
            DamageKind::CutOff => SkipReason::CutOff,
            DamageKind::Positions => SkipReason::Positions,
        }
    }
}

/// A record that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}: game record at byte {offset} skipped: {reason}", path.display())]
pub struct SkippedRecord {
    /// The segment.
    pub path: PathBuf,
    /// Offset in the segment, in bytes.
    pub offset: u64,
    /// What is wrong with it.
    pub reason: SkipReason,
}

/// The number of positions of a game that training can use: those after the opening moves.
pub fn training_positions(record: &GameRecord) -> u32 {
    record.moves.len().saturating_sub(record.opening_moves.into()) as u32
}

/// The contents of a folder of games.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Complete games.
    pub games: u64,
    /// Their training positions.
    pub positions: u64,
    /// The highest id; `None` without games.
    pub highest_id: Option<u64>,
    /// Damaged records, not counting an incomplete one at the end of the newest segment.
    pub skipped: u64,
    /// Whether the newest segment ends inside a record because its writer died.
    pub torn: bool,
}

fn segment_path(dir: &Path, number: u32) -> PathBuf {
    dir.join(format!("games-{number:06}.ofg"))
}

/// The segments of a folder, sorted by number; other files are ignored.
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

/// Whether a process has a folder of games open for appending.
pub(super) fn is_in_use(dir: &Path) -> bool {
    let newest = segments(dir).ok().and_then(|mut segments| segments.pop());
    newest.is_some_and(|(_, path)| files::is_locked(&path))
}

/// Counts the games of a folder without decompressing them. Damaged records are counted, too.
///
/// # Errors
///
/// The folder or a segment cannot be read.
pub fn totals(dir: &Path) -> Result<Totals, GamesError> {
    totals_with(dir, |_| ())
}

/// The same as [`totals`]; calls `note` with the number of each game.
///
/// # Errors
///
/// As for [`totals`].
pub fn totals_with(dir: &Path, mut note: impl FnMut(u64)) -> Result<Totals, GamesError> {
    let mut totals = Totals::default();
    for (_, path) in segments(dir)? {
        // An incomplete record is damage in every segment except the newest.
        totals.skipped += u64::from(std::mem::take(&mut totals.torn));
        for found in frame::scan(&files::read_stored(&path, limits::SEGMENT)?, 0) {
            match found {
                Ok(frame) => {
                    totals.games += 1;
                    note(frame.id);
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

/// Reads the newest games that together have at least this many training positions, oldest first.
/// If there are fewer positions, reads all games.
///
/// # Errors
///
/// The folder or a segment cannot be read.
///
/// ```
/// use std::path::Path;
///
/// use outflank::game::Square6;
/// use outflank::store::games;
///
/// // The newest games. A damaged record is an error of its own, and ends nothing.
/// let games = games::read_tail(Path::new("tests/data/run-1/games"), 100)?;
/// let mut positions = 0;
/// for record in games.flatten() {
///     positions += games::training_positions(&record);
///     assert!(record.positions::<Square6>().is_ok());
/// }
/// assert!((100..150).contains(&positions));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_tail(dir: &Path, positions: u64) -> Result<Games, GamesError> {
    let (mut wanted, mut paths, mut offset) = (positions, Vec::new(), 0);
    for (_, path) in segments(dir)?.into_iter().rev() {
        if wanted == 0 {
            break;
        }
        let bytes = files::read_stored(&path, limits::SEGMENT)?;
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

/// Iterator over the games of some segments in the order in which they were stored. A record that
/// cannot be read is an `Err` item and does not end the iteration.
pub struct Games {
    paths: std::vec::IntoIter<PathBuf>,
    path: PathBuf,
    bytes: Vec<u8>,
    scanner: Scanner,
    next_offset: usize,
}

/// An error during iteration over games.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// One record cannot be read; the iteration continues with the next.
    #[error(transparent)]
    Skipped(#[from] SkippedRecord),
    /// A whole segment cannot be read; the iteration continues with the next.
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

    fn unpack(frame: &Frame<'_>) -> Result<GameRecord, SkipReason> {
        let bytes = zstd::bulk::decompress(frame.payload, LARGEST_RECORD);
        let record = codec::decode(&bytes.map_err(|_| SkipReason::Packing)?)?;
        // `totals` counts this number without decompressing the record.
        let fits = frame.positions as usize <= record.moves.len();
        if fits { Ok(record) } else { Err(SkipReason::Positions) }
    }
}

impl Iterator for Games {
    type Item = Result<GameRecord, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.scanner.offset >= self.bytes.len() {
            self.path = self.paths.next()?;
            self.scanner = Scanner::new(std::mem::take(&mut self.next_offset));
            self.bytes = match files::read_stored(&self.path, limits::SEGMENT) {
                Ok(bytes) => bytes,
                Err(error) => {
                    self.bytes.clear();
                    return Some(Err(error.into()));
                }
            };
        }
        let (offset, game) = match self.scanner.next(&self.bytes)? {
            Ok(frame) => (frame.offset, Games::unpack(&frame)),
            Err(bad) => (bad.offset, Err(bad.damage.into())),
        };
        Some(game.map_err(|reason| {
            SkippedRecord { path: self.path.clone(), offset: offset as u64, reason }.into()
        }))
    }
}

#[cfg(test)]
#[path = "games_tests.rs"]
pub(crate) mod tests;
