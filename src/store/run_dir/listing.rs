//! Runs as seen by those who do not hold them.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::files::{Action, FileError, is_locked};
use super::super::games;
use super::{GAMES, LOCK, Manifest, RunDirError, State, is_run, read_manifest};

/// A run as seen from outside.
#[derive(Debug)]
pub struct Listed {
    /// Its directory.
    pub path: PathBuf,
    /// What its `run.json` says, with [`State::Killed`] where it claims to be running and
    /// no process holds it.
    pub manifest: Result<Manifest, RunDirError>,
}

/// The runs in a directory, or the one that the directory is, oldest first; none if there is no
/// such directory.
///
/// # Errors
///
/// The directory cannot be read. A run that cannot be read is listed with its error.
pub fn list(parent: &Path) -> Result<Vec<Listed>, RunDirError> {
    let mut paths = Vec::new();
    if is_run(parent) {
        paths.push(parent.to_path_buf());
    } else if parent.exists() {
        for entry in fs::read_dir(parent).map_err(FileError::at(Action::Read, parent))? {
            paths.push(entry.map_err(FileError::at(Action::Read, parent))?.path());
        }
    }
    let mut runs: Vec<Listed> = paths
        .into_iter()
        .filter(|path| is_run(path))
        .map(|path| Listed { manifest: look(&path), path })
        .collect();
    runs.sort_by_key(|run| {
        (run.manifest.as_ref().map_or(u64::MAX, |manifest| manifest.created), run.path.clone())
    });
    Ok(runs)
}

fn look(path: &Path) -> Result<Manifest, RunDirError> {
    let mut manifest = read_manifest(path)?;
    // A process whose `run.lock` was removed still holds the newest game file.
    let is_held = || is_locked(&path.join(LOCK)) || games::is_in_use(&path.join(GAMES));
    if manifest.state == State::Running && !is_held() {
        manifest.state = State::Killed;
    }
    Ok(manifest)
}
