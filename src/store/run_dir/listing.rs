//! Runs as seen by those who do not hold them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::super::files::{Action, FileError, is_locked};
use super::super::games;
use super::{GAMES, LOCK, MANIFEST, Manifest, RunDirError, State, read_manifest};

/// A run as seen from outside.
#[derive(Debug)]
pub struct Listed {
    /// Its directory.
    pub path: PathBuf,
    /// What its `run.json` says, with [`State::Killed`] where it claims to be running and
    /// no process holds it.
    pub manifest: Result<Manifest, RunDirError>,
}

/// Whether a directory holds a run; a path that does not exist holds none.
///
/// # Errors
///
/// The directory cannot be looked into, as where this user may not.
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

/// The runs in a directory, or the one that the directory is, oldest first; none if there is no
/// such directory.
///
/// # Errors
///
/// The directory cannot be read. A run that cannot be read is listed with its error.
pub fn list(parent: &Path) -> Result<Vec<Listed>, RunDirError> {
    let mut runs = Vec::new();
    if is_run(parent)? {
        runs.push(Listed { manifest: look(parent), path: parent.to_path_buf() });
    } else {
        for path in entries(parent)? {
            // A folder that cannot be looked into may be a run, so it is shown with the reason.
            let manifest = match is_run(&path) {
                Ok(true) => look(&path),
                Ok(false) => continue,
                Err(error) => Err(error.into()),
            };
            runs.push(Listed { manifest, path });
        }
    }
    runs.sort_by_key(|run| {
        (run.manifest.as_ref().map_or(u64::MAX, |manifest| manifest.created), run.path.clone())
    });
    Ok(runs)
}

/// What is in a directory; nothing if there is no such directory.
fn entries(parent: &Path) -> Result<Vec<PathBuf>, FileError> {
    let entries = match fs::read_dir(parent) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(FileError::at(Action::Read, parent))?,
    };
    let path = |entry: std::io::Result<fs::DirEntry>| entry.map(|entry| entry.path());
    let paths = entries.map(path).collect::<Result<_, _>>();
    paths.map_err(FileError::at(Action::Read, parent))
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
