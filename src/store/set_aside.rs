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

/// The numbers of games, as ranges from a first to a last one: a worker's games are mostly in a row.
/// The ranges ascend, and do not meet.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(try_from = "Vec<(u64, u64)>")]
pub struct SetAside(Vec<(u64, u64)>);

impl SetAside {
    /// Whether a game is one of them.
    pub fn contains(&self, number: u64) -> bool {
        let next = self.0.partition_point(|&(first, _)| first <= number);
        next > 0 && number <= self.0[next - 1].1
    }

    fn add(&mut self, numbers: &[u64]) {
        self.0.extend(numbers.iter().map(|&number| (number, number)));
        self.0.sort_unstable();
        let mut ranges: Vec<(u64, u64)> = Vec::with_capacity(self.0.len());
        for &(first, last) in &self.0 {
            match ranges.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => {
                    before.1 = before.1.max(last);
                }
                _ => ranges.push((first, last)),
            }
        }
        self.0 = ranges;
    }
}

impl TryFrom<Vec<(u64, u64)>> for SetAside {
    type Error = &'static str;

    fn try_from(ranges: Vec<(u64, u64)>) -> Result<SetAside, &'static str> {
        let ascend = ranges.is_sorted_by(|one, next| one.1 < next.0);
        match ascend && ranges.iter().all(|(first, last)| first <= last) {
            true => Ok(SetAside(ranges)),
            false => Err("the ranges of games do not ascend"),
        }
    }
}

impl FromIterator<u64> for SetAside {
    fn from_iter<T: IntoIterator<Item = u64>>(numbers: T) -> SetAside {
        let mut games = SetAside::default();
        games.add(&numbers.into_iter().collect::<Vec<_>>());
        games
    }
}

#[derive(Serialize, Deserialize)]
struct Content {
    version: u32,
    games: SetAside,
}

/// The numbers of a run's games that were set aside.
///
/// # Errors
///
/// The file cannot be read, or is damaged.
pub fn read(run: &Path) -> Result<SetAside, JsonFileError> {
    match json_file::read::<Content>(&run.join(FILE), VERSION) {
        Ok(found) => Ok(found.games),
        Err(JsonFileError::File(error)) if error.is_missing() => Ok(SetAside::default()),
        Err(error) => Err(error),
    }
}

/// Adds the numbers of games. Returns all of them.
///
/// # Errors
///
/// The file cannot be read or written.
///
/// ```
/// use outflank::store::set_aside;
///
/// let run = tempfile::tempdir()?;
/// set_aside::add(run.path(), &[7, 8])?;
/// let games = set_aside::add(run.path(), &[12])?;
/// assert_eq!(set_aside::read(run.path())?, games);
/// assert!(games.contains(8) && !games.contains(9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn add(run: &Path, numbers: &[u64]) -> Result<SetAside, JsonFileError> {
    let path = run.join(FILE);
    let mut games = read(run)?;
    games.add(numbers);
    let content = Content { version: VERSION, games };
    let unwritten = |source| JsonFileError::Content { path: path.clone(), source };
    files::write_atomically(&path, &json_file::to_bytes(&content).map_err(unwritten)?)?;
    Ok(content.games)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_added_and_a_damaged_file_is_named() {
        let run = tempfile::tempdir().expect("a folder");
        assert_eq!(read(run.path()).expect("none yet"), SetAside::default());
        add(run.path(), &[9, 3]).expect("written");
        let added = add(run.path(), &[4, 9, 4]).expect("written");
        assert_eq!(read(run.path()).expect("numbers"), added);
        assert_eq!(added, SetAside(vec![(3, 4), (9, 9)]));
        let found: Vec<_> = (0..20).filter(|&number| added.contains(number)).collect();
        assert_eq!(found, [3, 4, 9]);
        let path = run.path().join(FILE);
        let text = std::fs::read_to_string(&path).expect("a file");
        std::fs::write(&path, text.replace('9', "8")).expect("written");
        let error = read(run.path()).expect_err("damage").to_string();
        assert!(error.contains("set-aside.json is damaged"), "{error}");
    }

    #[test]
    fn ranges_that_do_not_ascend_are_refused_whatever_their_length() {
        let run = tempfile::tempdir().expect("a folder");
        for (ranges, is_allowed) in [
            ("[[0, 18446744073709551615]]", true),
            ("[[5, 4]]", false),
            ("[[1, 3], [3, 4]]", false),
            ("[[6, 7], [1, 2]]", false),
        ] {
            let text = format!("{{\"version\": 1, \"games\": {ranges}}}");
            std::fs::write(run.path().join(FILE), text).expect("written");
            match read(run.path()) {
                Ok(games) => assert!(is_allowed && games.contains(u64::MAX) && games.contains(7)),
                Err(error) => {
                    assert!(!is_allowed && error.to_string().contains("set-aside.json"), "{error}");
                }
            }
        }
    }
}
