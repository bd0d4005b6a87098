//! Files that are either wholly there or not at all, and errors that say which file it was.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

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
    /// Locking a directory against other processes.
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

/// Reads a whole file.
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    fs::read(path).map_err(FileError::at(Action::Read, path))
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

/// The directory that a path stands in; `.` for a bare name.
pub(super) fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_file_leaves_no_other_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        write_atomically(&path, b"one").unwrap();
        write_atomically(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_error_names_the_path_and_leaves_the_old_content() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("missing").join("a.json");
        let error = write_atomically(&path, b"one").unwrap_err();
        assert!(error.to_string().contains("missing"), "{error}");
        assert!(error.is_missing());
    }

    #[test]
    fn who_may_not_read_is_not_told_about_writing() {
        let refused = |action| {
            let source = io::Error::from(io::ErrorKind::PermissionDenied);
            FileError::at(action, Path::new("net"))(source).to_string()
        };
        assert!(refused(Action::Read).contains("may not read"));
        assert!(refused(Action::Write).contains("may not write"));
    }

    #[test]
    fn a_full_disk_is_told_as_one() {
        let path = Path::new("/dev/full");
        if !path.exists() {
            // Past the runner, which keeps what passing tests print to itself.
            let _ =
                writeln!(std::io::stderr(), "SKIPPED: a full disk: this system has no /dev/full");
            return;
        }
        let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
        let error = FileError::at(Action::Write, path)(file.write_all(b"x").unwrap_err());
        assert!(error.to_string().contains("/dev/full (the disk is full"), "{error}");
    }
}
