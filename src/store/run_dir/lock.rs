//! The lock by which a run directory has one owner.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use super::{LOCK, RunDirError};
use crate::store::files::{self, Action, FileError, read_text};

/// A process's number and the end of its line are not longer.
const NUMBER_BYTES: u64 = 32;

/// Takes the lock and leaves this process's number in it.
///
/// # Errors
///
/// Another process has it, or the file cannot be made.
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
        let holder = File::open(&lock_path).ok();
        let holder = holder.and_then(|file| read_text(file, NUMBER_BYTES).ok());
        let holder = holder.and_then(|text| text.trim().parse().ok());
        return Err(RunDirError::Locked { path: path.to_path_buf(), holder });
    }
    // The number serves messages only, so a disk that is full now is no reason to stop.
    let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
    Ok(file)
}
