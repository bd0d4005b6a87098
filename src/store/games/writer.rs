//! Appends games to the segments of a run.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::{GamesError, SegmentChange, segment_path, segments, training_positions};
use crate::game::record::GameRecord;

use crate::store::files::{self, Action, FileError};
use crate::store::{codec, frame, limits};

pub(super) const SEGMENT_BYTES: u64 = 32 << 20;
pub(super) const COMPRESSION_LEVEL: i32 = 3;

/// Appends games to a folder.
///
/// It locks the segment that it appends to. So there is only one writer, even if the lock of the
/// run directory was removed.
///
/// ```
/// use outflank::game::record::{GameRecord, MoveRecord};
/// use outflank::game::{Goal, Position, Square6};
/// use outflank::store::games::{self, GameWriter};
///
/// let mut position = Position::<Square6>::start();
/// let mut record = GameRecord::begin(position, Goal::Most, 0);
/// while let Some(square) = position.board.legal().next() {
///     record.moves.push(MoveRecord::of(square));
///     position = position.play(square).expect("a legal move").pass_if_forced();
/// }
/// record.score = position.black_view().final_score(Goal::Most) as i16;
///
/// let folder = tempfile::tempdir()?;
/// let mut writer = GameWriter::open(folder.path())?;
/// writer.append(&record)?;
/// writer.flush_sync()?;
/// let games: Result<Vec<_>, _> = games::read_all(folder.path())?.collect();
/// assert_eq!(games?, [record]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GameWriter {
    dir: PathBuf,
    /// The closed segments with their lengths in bytes.
    closed: Vec<(PathBuf, u64)>,
    path: PathBuf,
    pub(super) file: File,
    number: u32,
    length: u64,
    pub(super) segment_bytes: u64,
    cut_off: u64,
    saved_to: Option<PathBuf>,
    compressor: zstd::bulk::Compressor<'static>,
    buffer: Vec<u8>,
}

impl GameWriter {
    /// Opens a folder of games, or creates it. Bytes after the last complete record of the newest
    /// segment are cut off; unless they are one incomplete record, they are saved to a file beside
    /// the segment.
    ///
    /// # Errors
    ///
    /// The folder or the segment cannot be created, read or written, or another process appends to
    /// it.
    pub fn open(dir: &Path) -> Result<GameWriter, GamesError> {
        files::create_dir(dir)?;
        let mut closed = segments(dir)?;
        let (number, path) = closed.pop().unwrap_or_else(|| (1, segment_path(dir, 1)));
        let length_of = |(_, path): (u32, PathBuf)| {
            let metadata = fs::metadata(&path).map_err(FileError::at(Action::Read, &path))?;
            Ok((path, metadata.len()))
        };
        let closed = closed.into_iter().map(length_of).collect::<Result<_, FileError>>()?;
        let is_new = !path.exists();
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(FileError::at(Action::Write, &path))?;
        lock(&file, &path)?;
        if is_new {
            files::sync_dir(dir)?;
        }
        let bytes = files::read_stored(&path, limits::SEGMENT)?;
        let whole = frame::scan(&bytes, 0).flatten().last().map_or(0, |frame| frame.end);
        let saved_to = save_rest(&path, &bytes, whole)?;
        let cut_off = (bytes.len() - whole) as u64;
        if cut_off > 0 {
            file.set_len(whole as u64).map_err(FileError::at(Action::Truncate, &path))?;
            file.sync_all().map_err(FileError::at(Action::Sync, &path))?;
        }
        let compressor = zstd::bulk::Compressor::new(COMPRESSION_LEVEL)
            .map_err(|source| GamesError::Compress { id: 0, source })?;
        Ok(GameWriter {
            dir: dir.to_path_buf(),
            closed,
            path,
            file,
            number,
            length: whole as u64,
            segment_bytes: SEGMENT_BYTES,
            cut_off,
            saved_to,
            compressor,
            buffer: Vec::new(),
        })
    }

    /// The number of bytes that [`GameWriter::open`] cut off.
    pub fn cut_off(&self) -> u64 {
        self.cut_off
    }

    /// The file that the cut-off bytes were saved to; `None` if they were one incomplete record.
    pub fn saved_to(&self) -> Option<&Path> {
        self.saved_to.as_deref()
    }

    /// Checks that all segments are still in place.
    ///
    /// # Errors
    ///
    /// A segment was removed, moved, replaced or shortened.
    pub fn check(&self) -> Result<(), GamesError> {
        let changed = |path: &Path, change| GamesError::Changed { path: path.into(), change };
        if !files::is_still_at(&self.file, &self.path)? {
            return Err(changed(&self.path, SegmentChange::Removed));
        }
        let newest = (&self.path, self.length);
        for (path, wanted) in
            self.closed.iter().map(|(path, length)| (path, *length)).chain([newest])
        {
            let found = match fs::metadata(path) {
                Err(error) if files::means_missing(&error) => {
                    return Err(changed(path, SegmentChange::Removed));
                }
                found => found.map_err(FileError::at(Action::Read, path))?.len(),
            };
            if found < wanted {
                return Err(changed(path, SegmentChange::Shortened { found, wanted }));
            }
        }
        Ok(())
    }

    /// Appends a game. After this call it survives a crash of the process; after the next
    /// [`GameWriter::flush_sync`] it also survives a crash of the machine.
    ///
    /// # Errors
    ///
    /// The game cannot be written, for example because the disk is full. The earlier games are
    /// then intact. The call may be repeated, unless a new segment could not be created.
    pub fn append(&mut self, record: &GameRecord) -> Result<(), GamesError> {
        if self.length >= self.segment_bytes {
            self.roll()?;
        }
        let payload = self
            .compressor
            .compress(&codec::encode(record))
            .map_err(|source| GamesError::Compress { id: record.id, source })?;
        self.buffer.clear();
        frame::write(&mut self.buffer, record.id, training_positions(record), &payload);
        if let Err(source) = self.file.write_all(&self.buffer) {
            // If this fails as well, readers skip the incomplete record.
            let _ = self.file.set_len(self.length);
            return Err(FileError::at(Action::Write, &self.path)(source).into());
        }
        self.length += self.buffer.len() as u64;
        Ok(())
    }

    /// Syncs all games to the disk, so that they survive a power cut.
    ///
    /// # Errors
    ///
    /// The operating system reported an error.
    pub fn flush_sync(&mut self) -> Result<(), GamesError> {
        self.file.sync_data().map_err(FileError::at(Action::Sync, &self.path))?;
        Ok(())
    }

    /// Closes the segment and starts the next one.
    fn roll(&mut self) -> Result<(), GamesError> {
        // The folder may have been moved, and another run's may be at its path.
        self.check()?;
        self.flush_sync()?;
        let path = segment_path(&self.dir, self.number + 1);
        let file = OpenOptions::new()
            .create_new(true)
            .append(true)
            .open(&path)
            .map_err(FileError::at(Action::Write, &path))?;
        lock(&file, &path)?;
        files::sync_dir(&self.dir)?;
        self.number += 1;
        self.file = file;
        let closed = std::mem::replace(&mut self.path, path);
        self.closed.push((closed, std::mem::take(&mut self.length)));
        Ok(())
    }
}

fn lock(file: &File, path: &Path) -> Result<(), GamesError> {
    if files::lock(file, path)? {
        Ok(())
    } else {
        Err(GamesError::InUse { path: path.to_path_buf() })
    }
}

/// Copies the bytes after the first `whole` bytes of a segment to a file beside it, and returns its
/// path. A single incomplete record, as a kill leaves it, is not copied.
fn save_rest(path: &Path, bytes: &[u8], whole: usize) -> Result<Option<PathBuf>, FileError> {
    let mut rest = frame::scan(bytes, whole);
    match (rest.next(), rest.next()) {
        (None, _) => return Ok(None),
        (Some(Err(bad)), None) if bad.is_torn() => return Ok(None),
        _ => {}
    }
    let cut = &bytes[whole..];
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    // The checksum in the name keeps apart different bytes that were cut off at the same offset.
    name.push(format!(".cut-{whole}-{:08x}", crc32fast::hash(cut)));
    let aside = path.with_file_name(name);
    files::write_synced(&aside, cut)?;
    files::sync_dir(files::parent_of(path))?;
    Ok(Some(aside))
}
