//! Files that are either wholly there or not at all, and errors that say which file it was.

use std::fmt;
use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `outflank runs` holds a lock for an instant to look at it; opening a run waits that long.
const LOCK_TRIES: u32 = 10;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// What was tried when the operating system said no.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Making a directory.
    CreateDirectory,
    /// Making or replacing a file.
    Write,
    /// Forcing a file to the disk.
    Sync,
    /// Reading a file or directory.
    Read,
    /// Giving a file its final name.
    Rename,
    /// Removing a file or directory.
    Remove,
    /// Cutting a file short.
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
            Action::Rename => "put in place",
            Action::Remove => "remove",
            Action::Truncate => "shorten",
            Action::Lock => "lock",
        })
    }
}

/// The operating system refused to do something with a file.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}{}", path.display(), hint(*action, source))]
pub struct FileError {
    /// What was tried.
    pub action: Action,
    /// The file or directory.
    pub path: PathBuf,
    /// What the operating system said.
    #[source]
    pub source: io::Error,
}

fn hint(action: Action, source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull => {
            " (the disk is full: free some space, what was stored before is intact)"
        }
        io::ErrorKind::QuotaExceeded => {
            " (the disk quota is used up: free some space, what was stored before is intact)"
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
    pub(super) fn at(action: Action, path: &Path) -> impl FnOnce(io::Error) -> FileError {
        let path = path.to_path_buf();
        move |source| FileError { action, path, source }
    }

    /// Whether the path does not exist.
    pub fn is_missing(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }
}

/// Makes a directory with its parents; one that exists already is fine.
///
/// # Errors
///
/// The directory cannot be made.
pub fn create_dir(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(FileError::at(Action::CreateDirectory, path))
}

/// A file is longer than this program reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("it has {} bytes; at most {limit} are read", found.map_or("more".into(), |n| n.to_string()))]
pub struct TooLong {
    /// Its length in bytes; unknown where the file is a pipe or a device.
    pub found: Option<u64>,
    /// The most bytes that are read.
    pub limit: u64,
}

/// Reads a whole file of at most `limit` bytes. A longer one is refused before it takes memory.
///
/// # Errors
///
/// The file cannot be read, or it is longer.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let read = || {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        read_at_most(file, length, limit)
    };
    read().map_err(FileError::at(Action::Read, path))
}

/// How many bytes a file has.
pub(super) fn length(path: &Path) -> Result<u64, FileError> {
    fs::metadata(path).map(|data| data.len()).map_err(FileError::at(Action::Read, path))
}

/// The first bytes of a file, at most `most`, and how many it has.
pub(super) fn read_start(path: &Path, most: u64) -> Result<(Vec<u8>, u64), FileError> {
    let read = || {
        let file = File::open(path)?;
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
/// It cannot be read, is longer, or is not UTF-8.
pub fn read_text(source: impl Read, limit: u64) -> io::Result<String> {
    let bytes = read_at_most(source, 0, limit)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// `expected` bytes, or any number if it is 0, as for pipes and devices, which do not know theirs.
fn read_at_most(source: impl Read, expected: u64, limit: u64) -> io::Result<Vec<u8>> {
    let too_long =
        |found| Err(io::Error::new(io::ErrorKind::FileTooLarge, TooLong { found, limit }));
    if expected > limit {
        return too_long(Some(expected));
    }
    let mut bytes = Vec::new();
    // An error, where the machine lacks the memory, and not the end of the process.
    bytes.try_reserve_exact(expected as usize)?;
    source.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { too_long(None) } else { Ok(bytes) }
}

/// Makes the names in a directory durable: a file that was created or renamed in it is found
/// again after a power cut only then.
pub(super) fn sync_dir(path: &Path) -> Result<(), FileError> {
    let directory = File::open(path).map_err(FileError::at(Action::Sync, path))?;
    directory.sync_all().map_err(FileError::at(Action::Sync, path))
}

/// Creates a file with this content and forces it to the disk. A file that could not be
/// written to its end is removed.
pub(super) fn write_synced(path: &Path, content: &[u8]) -> Result<(), FileError> {
    let written = (|| {
        let mut file = File::create(path).map_err(FileError::at(Action::Write, path))?;
        file.write_all(content).map_err(FileError::at(Action::Write, path))?;
        file.sync_all().map_err(FileError::at(Action::Sync, path))
    })();
    if written.is_err() {
        // Best effort: what matters is the error that is already on its way.
        let _ = fs::remove_file(path);
    }
    written
}

/// Gives `path` this content so that, whenever the process or the machine dies, the file holds
/// either its old content or the new one.
///
/// # Errors
///
/// The content cannot be written; the old content then stands.
pub fn write_atomically(path: &Path, content: &[u8]) -> Result<(), FileError> {
    let parent = parent_of(path);
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = parent.join(name);
    write_synced(&temporary, content)?;
    if let Err(source) = fs::rename(&temporary, path) {
        let _ = fs::remove_file(&temporary);
        return Err(FileError::at(Action::Rename, path)(source));
    }
    sync_dir(parent)
}

/// Locks a file against other processes; false if another one has it.
pub(super) fn lock(file: &File, path: &Path) -> Result<bool, FileError> {
    for _ in 1..LOCK_TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            answer => return locked(answer, path),
        }
    }
    locked(file.try_lock(), path)
}

fn locked(answer: Result<(), TryLockError>, path: &Path) -> Result<bool, FileError> {
    match answer {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(source)) => Err(FileError::at(Action::Lock, path)(source)),
    }
}

/// Whether a process has locked the file at `path`. One that cannot be asked counts as locked, a
/// missing one does not.
pub(super) fn is_locked(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => file.try_lock_shared().is_err(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Whether the open `file` is still the one at `path`: nobody has removed, moved or replaced it.
pub(super) fn stands_at(file: &File, path: &Path) -> Result<bool, FileError> {
    let there = match fs::metadata(path) {
        Err(error) if is_absence(&error) => return Ok(false),
        there => there.map_err(FileError::at(Action::Read, path))?,
    };
    let open = file.metadata().map_err(FileError::at(Action::Read, path))?;
    Ok(is_same(&open, &there))
}

/// Whether an error says that there is no such file.
pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Other systems do not let an open file be removed or replaced, or do not tell files apart.
#[cfg(not(unix))]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    one.file_type() == other.file_type()
}

/// Removes what processes that died within [`write_atomically`] have left in a directory. Call it
/// only where no other process writes.
pub(super) fn remove_unfinished(dir: &Path) -> Result<(), FileError> {
    for entry in fs::read_dir(dir).map_err(FileError::at(Action::Read, dir))? {
        let path = entry.map_err(FileError::at(Action::Read, dir))?.path();
        if is_unfinished(&path) {
            fs::remove_file(&path).map_err(FileError::at(Action::Remove, &path))?;
        }
    }
    Ok(())
}

/// Whether a path is of the form `.NAME.PROCESS.tmp`.
fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let inner = name.and_then(|name| name.strip_prefix('.')?.strip_suffix(".tmp"));
    let parts = inner.and_then(|inner| inner.rsplit_once('.'));
    parts.is_some_and(|(name, process)| !name.is_empty() && process.parse::<u32>().is_ok())
}

/// The directory that a path stands in; `.` for a bare name.
pub(super) fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
