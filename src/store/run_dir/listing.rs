//! Lists runs without locking them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::super::files::{Action, FileError, is_locked};
use super::super::games;
use super::{GAMES, LOCK, MANIFEST, Manifest, RunDirError, State, read_manifest};

/// A run in a list of runs.
#[derive(Debug)]
pub struct ListedRun {
    /// Its directory.
    pub path: PathBuf,
    /// The content of `run.json`. If its state is "running" but no process holds a lock, the state
    /// is replaced by [`State::Killed`].
    pub manifest: Result<Manifest, RunDirError>,
}

/// Whether a directory holds a run; false if the path does not exist.
///
/// # Errors
///
/// The directory cannot be read, for example because of its permissions.
pub fn is_run(path: &Path) -> Result<bool, FileError> {
    let manifest = path.join(MANIFEST);
    match fs::metadata(&manifest) {
        Ok(metadata) => Ok(metadata.is_file()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(false)
        }
        Err(error) => Err(FileError::at(Action::Read, &manifest)(error)),
    }
}

/// Lists the runs in a directory, oldest first. A run directory is a list of one run; a missing
/// directory has no runs. A run that cannot be read is listed with its error.
///
/// # Errors
///
/// The directory cannot be read.
pub fn list(parent: &Path) -> Result<Vec<ListedRun>, RunDirError> {
    let mut runs = Vec::new();
    if is_run(parent)? {
        runs.push(ListedRun { manifest: current_manifest(parent), path: parent.to_path_buf() });
    } else {
        for path in entries(parent)? {
            // A folder that cannot be read may be a run, so it is listed with the error.
            let manifest = match is_run(&path) {
                Ok(true) => current_manifest(&path),
                Ok(false) => continue,
                Err(error) => Err(error.into()),
            };
            runs.push(ListedRun { manifest, path });
        }
    }
    runs.sort_by_key(|run| {
        (run.manifest.as_ref().map_or(u64::MAX, |manifest| manifest.created), run.path.clone())
    });
    Ok(runs)
}

/// The paths in a directory; empty if the directory does not exist.
fn entries(parent: &Path) -> Result<Vec<PathBuf>, FileError> {
    let entries = match fs::read_dir(parent) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(FileError::at(Action::Read, parent))?,
    };
    let path = |entry: std::io::Result<fs::DirEntry>| entry.map(|entry| entry.path());
    let paths = entries.map(path).collect::<Result<_, _>>();
    paths.map_err(FileError::at(Action::Read, parent))
}

/// The content of `run.json`, with the state checked against the locks.
fn current_manifest(path: &Path) -> Result<Manifest, RunDirError> {
    let mut manifest = read_manifest(path)?;
    // If `run.lock` was removed, the process still has the newest segment of games locked.
    let is_in_use = || is_locked(&path.join(LOCK)) || games::is_in_use(&path.join(GAMES));
    if manifest.state == State::Running && !is_in_use() {
        manifest.state = State::Killed;
    }
    Ok(manifest)
}
