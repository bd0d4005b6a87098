//! Files that are written completely or not at all, with locks, and errors that name the file.

use std::fmt;
use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `outflank runs` takes a lock for a moment to test it, so a first failure to lock is retried.
const LOCK_TRIES: u32 = 10;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// The operation that failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Creating a directory.
    CreateDirectory,
    /// Creating or writing a file.
    Write,
    /// Syncing a file to the disk.
    Sync,
    /// Reading a file or directory.
    Read,
    /// Giving a file its final name.
    Rename,
    /// Removing a file or directory.
    Remove,
    /// Shortening a file.
    Truncate,
    /// Locking a file against other processes.
    Lock,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Action::CreateDirectory => "create directory",
            Action::Write => "write",
            Action::Sync => "write to the disk",
            Action::Read => "read",
            Action::Rename => "rename a file to",
            Action::Remove => "remove",
            Action::Truncate => "shorten",
            Action::Lock => "lock",
        })
    }
}

/// A file operation that failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}{}", path.display(), hint(*action, source))]
pub struct FileError {
    /// The operation.
    pub action: Action,
    /// The file or directory.
    pub path: PathBuf,
    /// The operating system's error.
    #[source]
    pub source: io::Error,
}

fn hint(action: Action, source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull => {
            " (the disk is full: free some space; what was stored before is intact)"
        }
        io::ErrorKind::QuotaExceeded => {
            " (the disk quota is used up: free some space; what was stored before is intact)"
        }
        io::ErrorKind::PermissionDenied if action == Action::Read => {
            " (this user may not read it: change its permissions)"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            " (this user may not write there: choose another directory or change its permissions)"
        }
        _ => "",
    }
}

impl FileError {
    pub(crate) fn at(action: Action, path: &Path) -> impl FnOnce(io::Error) -> FileError {
        let path = path.to_path_buf();
        move |source| FileError { action, path, source }
    }

    /// Whether the path does not exist.
    pub fn is_missing(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }
}

/// Creates a directory and its parents, unless it exists.
///
/// # Errors
///
/// The directory cannot be created.
pub fn create_dir(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(FileError::at(Action::CreateDirectory, path))
}

/// A file is longer than the limit for its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "it has {} bytes; at most {limit} are read",
    found.map_or(format!("more than {limit}"), |length| length.to_string())
)]
pub struct TooLong {
    /// The file's length in bytes; `None` for a pipe or a device, whose length is unknown.
    pub found: Option<u64>,
    /// The limit in bytes.
    pub limit: u64,
}

/// Reads a whole file of at most `limit` bytes. A longer one is refused before memory is allocated.
///
/// # Errors
///
/// The file cannot be read, or is longer than `limit`.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let read = || {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        read_at_most(file, length, limit)
    };
    read().map_err(FileError::at(Action::Read, path))
}

/// Reads a whole file that this program has written itself, of at most `limit` bytes.
///
/// # Errors
///
/// As for [`read`], or the path is a pipe or a device.
pub(super) fn read_stored(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let read = || {
        let file = open_stored(path)?;
        let length = file.metadata()?.len();
        read_at_most(file, length, limit)
    };
    read().map_err(FileError::at(Action::Read, path))
}

/// Opens a file that this program has written itself. To open a named pipe in its place would wait for
/// ever, and with it the page's list of all runs.
pub(crate) fn open_stored(path: &Path) -> io::Result<File> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() || kind.is_dir() {
        // To read a folder is an error of its own.
        return File::open(path);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a pipe or a device, not a file"))
}

/// The length of a file in bytes.
pub(super) fn length(path: &Path) -> Result<u64, FileError> {
    fs::metadata(path).map(|data| data.len()).map_err(FileError::at(Action::Read, path))
}

/// The first bytes of a file, at most `most`, and the length of the whole file.
pub(super) fn read_start(path: &Path, most: u64) -> Result<(Vec<u8>, u64), FileError> {
    let read = || {
        let file = open_stored(path)?;
        let (length, mut bytes) = (file.metadata()?.len(), Vec::new());
        file.take(most).read_to_end(&mut bytes)?;
        Ok((bytes, length))
    };
    read().map_err(FileError::at(Action::Read, path))
}

/// Reads a text of at most `limit` bytes from a pipe, such as the standard input.
///
/// # Errors
///
/// The text cannot be read, is longer than `limit`, or is not UTF-8.
pub fn read_text(source: impl Read, limit: u64) -> io::Result<String> {
    let bytes = read_at_most(source, 0, limit)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Reads all bytes of `source`. `expected` is the known length, or 0 for a pipe or a device.
fn read_at_most(source: impl Read, expected: u64, limit: u64) -> io::Result<Vec<u8>> {
    let too_long =
        |found| Err(io::Error::new(io::ErrorKind::FileTooLarge, TooLong { found, limit }));
    if expected > limit {
        return too_long(Some(expected));
    }
    let mut bytes = Vec::new();
    // If the machine lacks the memory, this returns an error instead of ending the process.
    bytes.try_reserve_exact(expected as usize)?;
    source.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { too_long(None) } else { Ok(bytes) }
}

/// Syncs a directory to the disk. Without this, a file created or renamed in it may be missing
/// after a power cut.
pub(super) fn sync_dir(path: &Path) -> Result<(), FileError> {
    let directory = File::open(path).map_err(FileError::at(Action::Sync, path))?;
    directory.sync_all().map_err(FileError::at(Action::Sync, path))
}

/// Creates a file with this content and syncs it to the disk. If this fails, the file is removed.
pub(super) fn write_synced(path: &Path, content: &[u8]) -> Result<(), FileError> {
    let written = (|| {
        let mut file = File::create(path).map_err(FileError::at(Action::Write, path))?;
        file.write_all(content).map_err(FileError::at(Action::Write, path))?;
        file.sync_all().map_err(FileError::at(Action::Sync, path))
    })();
    if written.is_err() {
        // An error here is ignored: the first error matters more.
        let _ = fs::remove_file(path);
    }
    written
}

/// Replaces the content of `path`. If the process or the machine dies meanwhile, the file has
/// either its old content or the new one.
///
/// # Errors
///
/// The content cannot be written. The file then keeps its old content.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.txt");
/// outflank::store::write_atomically(&path, b"old")?;
/// outflank::store::write_atomically(&path, b"new")?;
/// assert_eq!(outflank::store::read(&path, 10)?, b"new");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_atomically(path: &Path, content: &[u8]) -> Result<(), FileError> {
    let temporary = temporary_for(path);
    write_synced(&temporary, content)?;
    if let Err(source) = fs::rename(&temporary, path) {
        let _ = fs::remove_file(&temporary);
        return Err(FileError::at(Action::Rename, path)(source));
    }
    sync_dir(parent_of(path))
}

/// A new file that is written part by part. It has a temporary name until [`NewFile::finish`], and
/// is removed if that is not called.
#[derive(Debug)]
pub struct NewFile {
    file: BufWriter<File>,
    temporary: PathBuf,
    path: PathBuf,
    is_finished: bool,
}

impl NewFile {
    /// Begins a file.
    ///
    /// # Errors
    ///
    /// A file of this name exists, or the folder cannot be written.
    pub fn create(path: &Path) -> Result<NewFile, FileError> {
        let at = FileError::at(Action::Write, path);
        if path.symlink_metadata().is_ok() {
            return Err(at(io::ErrorKind::AlreadyExists.into()));
        }
        let temporary = temporary_for(path);
        let file = File::create(&temporary).map_err(at)?;
        let file = BufWriter::with_capacity(1 << 16, file);
        Ok(NewFile { file, temporary, path: path.to_path_buf(), is_finished: false })
    }

    /// Syncs the file to the disk and gives it its name.
    ///
    /// # Errors
    ///
    /// The rest cannot be written, or the file cannot be renamed.
    pub fn finish(mut self) -> Result<(), FileError> {
        self.file.flush().map_err(FileError::at(Action::Write, &self.path))?;
        self.file.get_ref().sync_all().map_err(FileError::at(Action::Sync, &self.path))?;
        fs::rename(&self.temporary, &self.path)
            .map_err(FileError::at(Action::Rename, &self.path))?;
        self.is_finished = true;
        sync_dir(parent_of(&self.path))
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for NewFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_finished {
            // An error here is ignored: the error that ended the writing matters more.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// The name of a file before it is complete: `.NAME.PROCESS.tmp` in the same folder.
fn temporary_for(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    parent_of(path).join(name)
}

/// Locks a file against other processes; false if another process holds the lock.
pub(crate) fn lock(file: &File, path: &Path) -> Result<bool, FileError> {
    for _ in 1..LOCK_TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            result => return is_acquired(result, path),
        }
    }
    is_acquired(file.try_lock(), path)
}

fn is_acquired(result: Result<(), TryLockError>, path: &Path) -> Result<bool, FileError> {
    match result {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(source)) => Err(FileError::at(Action::Lock, path)(source)),
    }
}

/// Whether a process has locked the file at `path`. A file that cannot be opened counts as locked,
/// a missing file as not locked.
pub(super) fn is_locked(path: &Path) -> bool {
    match open_stored(path) {
        Ok(file) => file.try_lock_shared().is_err(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Whether the open `file` is still the file at `path`: it was not removed, moved or replaced.
pub(crate) fn is_still_at(file: &File, path: &Path) -> Result<bool, FileError> {
    let at_path = match fs::metadata(path) {
        Err(error) if means_missing(&error) => return Ok(false),
        metadata => metadata.map_err(FileError::at(Action::Read, path))?,
    };
    let open = file.metadata().map_err(FileError::at(Action::Read, path))?;
    Ok(is_same_file(&open, &at_path))
}

/// Whether an error means that the file does not exist.
pub(super) fn means_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(unix)]
fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Other systems do not allow an open file to be removed or replaced, or have no file identity.
#[cfg(not(unix))]
fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    one.file_type() == other.file_type()
}

/// Removes the temporary files that [`write_atomically`] left in a directory when a process died.
/// Call it only if no other process writes there.
pub(super) fn remove_temporary_files(dir: &Path) -> Result<(), FileError> {
    for entry in fs::read_dir(dir).map_err(FileError::at(Action::Read, dir))? {
        let path = entry.map_err(FileError::at(Action::Read, dir))?.path();
        if is_temporary_file(&path) {
            fs::remove_file(&path).map_err(FileError::at(Action::Remove, &path))?;
        }
    }
    Ok(())
}

/// Whether a path has the form `.NAME.PROCESS.tmp`.
fn is_temporary_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let inner = name.and_then(|name| name.strip_prefix('.')?.strip_suffix(".tmp"));
    let parts = inner.and_then(|inner| inner.rsplit_once('.'));
    parts.is_some_and(|(name, process)| !name.is_empty() && process.parse::<u32>().is_ok())
}

/// The parent directory of a path; `.` for a bare name.
pub(super) fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
