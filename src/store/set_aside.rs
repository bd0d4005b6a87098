//! The games of a run that must not train: `set-aside.json`, with their numbers.
//!
//! Game files are only ever appended to. So games of a worker that is not trusted any more stay in
//! them, and this list says which they are.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::files;
use super::json_file::{self, JsonFileError};

const FILE: &str = "set-aside.json";
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct SetAside {
    version: u32,
    /// Ranges of numbers, first and last, ascending. A worker's games are mostly in a row.
    games: Vec<(u64, u64)>,
}

/// The numbers of a run's games that were set aside, ascending.
///
/// # Errors
///
/// The file cannot be read, or is damaged.
pub fn read(run: &Path) -> Result<Vec<u64>, JsonFileError> {
    match json_file::read::<SetAside>(&run.join(FILE), VERSION) {
        Ok(found) => Ok(found.games.into_iter().flat_map(|(first, last)| first..=last).collect()),
        Err(JsonFileError::File(error)) if error.is_missing() => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Adds the numbers of games.
///
/// # Errors
///
/// The file cannot be read or written.
pub fn add(run: &Path, numbers: &[u64]) -> Result<(), JsonFileError> {
    let path = run.join(FILE);
    let mut games = read(run)?;
    games.extend(numbers);
    games.sort_unstable();
    games.dedup();
    let games = ranges(&games);
    let unwritten = |source| JsonFileError::Content { path: path.clone(), source };
    let bytes = json_file::to_bytes(&SetAside { version: VERSION, games }).map_err(unwritten)?;
    Ok(files::write_atomically(&path, &bytes)?)
}

/// The ranges of ascending numbers.
fn ranges(numbers: &[u64]) -> Vec<(u64, u64)> {
    let in_a_row = |one: &u64, next: &u64| one + 1 == *next;
    numbers.chunk_by(in_a_row).map(|part| (part[0], part[0] + part.len() as u64 - 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_added_and_a_damaged_file_is_named() {
        let run = tempfile::tempdir().expect("a folder");
        assert!(read(run.path()).expect("none yet").is_empty());
        add(run.path(), &[9, 3]).expect("written");
        add(run.path(), &[4, 9]).expect("written");
        assert_eq!(read(run.path()).expect("numbers"), [3, 4, 9]);
        let path = run.path().join(FILE);
        let text = std::fs::read_to_string(&path).expect("a file");
        std::fs::write(&path, text.replace('9', "8")).expect("written");
        let error = read(run.path()).expect_err("damage").to_string();
        assert!(error.contains("set-aside.json is damaged"), "{error}");
    }
}
