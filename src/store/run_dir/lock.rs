//! The lock of a run directory: only one process may train in it.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use super::{LOCK, RunDirError};
use crate::store::files::{self, Action, FileError, read_text};

/// The most bytes of a lock file that are read: a process number and a line end.
const NUMBER_BYTES: u64 = 32;

/// Takes the lock and writes this process's number to the lock file.
///
/// # Errors
///
/// Another process has the lock, or the file cannot be created.
pub(super) fn lock(path: &Path) -> Result<File, RunDirError> {
    let lock_path = path.join(LOCK);
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&lock_path)
        .map_err(FileError::at(Action::Write, &lock_path))?;
    if !files::lock(&file, &lock_path)? {
        let holder = files::open_stored(&lock_path).ok();
        let holder = holder.and_then(|file| read_text(file, NUMBER_BYTES).ok());
        let holder = holder.and_then(|text| text.trim().parse().ok());
        return Err(RunDirError::Locked { path: path.to_path_buf(), holder });
    }
    // The number is only used in messages, so an error (a full disk, say) is ignored.
    let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
    Ok(file)
}
