//! The numbers of games that a run has leased to workers: the file `leases.txt` of a run.
//!
//! Each line is a lease: the first number, the number after the last one, and the worker. A line is
//! on the disk before the worker gets its numbers, so a number is never given twice, also after a
//! crash. The file is only appended to.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::files::{Action, FileError, read_stored};
use super::limits;

const FILE: &str = "leases.txt";
/// More numbers than any run has games.
const HIGHEST: u64 = 1_000_000_000_000_000;

/// Why leases cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// Leases were lost.
    #[error(
        "{} has {found} bytes; the newest checkpoint was made with {wanted}. It was cut off, replaced or \
         removed: put it back, or start a new run with its games: outflank train {run}/config.toml \
         --games {run}",
        path.display(),
        run = run.display()
    )]
    Lost {
        /// The file.
        path: PathBuf,
        /// The directory of the run.
        run: PathBuf,
        /// Its length.
        found: u64,
        /// The length that it had.
        wanted: u64,
    },
    /// The operating system reported an error.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line is not a lease.
    #[error("{}:{line}: `{shown}` is not a lease; allowed: FIRST END WORKER, above all leases before", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Its text.
        shown: Box<str>,
    },
}

/// The length in bytes of a run's leases; 0 without any. As the file only grows, a shorter one later
/// has lost some, and their numbers could be given twice.
///
/// # Errors
///
/// The file is there and its length cannot be read.
pub fn length(run: &Path) -> Result<u64, FileError> {
    match super::files::length(&run.join(FILE)) {
        Err(error) if error.is_missing() => Ok(0),
        found => found,
    }
}

/// All leases of a run.
#[derive(Debug)]
pub struct LeaseBook {
    path: PathBuf,
    file: Option<File>,
    /// By the first number: the number after the last one, and the worker.
    leases: BTreeMap<u64, (u64, Box<str>)>,
}

impl LeaseBook {
    /// Reads the leases of a run, which had this [`length`] at least. A last line that was cut off by a
    /// crash counts as no lease.
    ///
    /// # Errors
    ///
    /// The file cannot be read or has become shorter, or a line is no lease.
    pub fn read_at_least(run: &Path, wanted: u64) -> Result<LeaseBook, LeaseError> {
        let found = length(run)?;
        if found < wanted {
            let (path, run) = (run.join(FILE), run.to_path_buf());
            return Err(LeaseError::Lost { path, run, found, wanted });
        }
        LeaseBook::read(run)
    }

    /// Reads the leases of a run.
    ///
    /// # Errors
    ///
    /// As for [`LeaseBook::read_at_least`].
    pub fn read(run: &Path) -> Result<LeaseBook, LeaseError> {
        let path = run.join(FILE);
        let mut book = LeaseBook { path: path.clone(), file: None, leases: BTreeMap::new() };
        let bytes = match read_stored(&path, limits::LEASES) {
            Err(error) if error.is_missing() => return Ok(book),
            found => found?,
        };
        let text = String::from_utf8_lossy(&bytes);
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let Some(line) = line.strip_suffix('\n') else { break };
            let lease = parse(line).filter(|(range, _)| range.start >= book.end());
            let Some((range, worker)) = lease else {
                let shown = crate::game::notation::plain_excerpt(line, 60);
                return Err(LeaseError::Line { path, line: index + 1, shown });
            };
            book.note(range, worker);
        }
        Ok(book)
    }

    /// The number after the last leased one; 0 without leases.
    pub fn end(&self) -> u64 {
        self.leases.last_key_value().map_or(0, |(_, (end, _))| *end)
    }

    /// The worker to which a number was leased.
    pub fn owner(&self, number: u64) -> Option<&str> {
        let (_, (end, worker)) = self.leases.range(..=number).next_back()?;
        (number < *end).then_some(worker)
    }

    /// Writes a lease to the disk.
    ///
    /// # Errors
    ///
    /// It cannot be written; then the numbers must not be used.
    pub fn add(&mut self, numbers: Range<u64>, worker: &str) -> Result<(), FileError> {
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let mut file = OpenOptions::new()
                    .create(true)
                    .append(true)
                    .open(&self.path)
                    .map_err(FileError::at(Action::Write, &self.path))?;
                // Ends a line that was cut off.
                if !ends_with_a_line(&self.path) {
                    remove_last_line(&mut file, &self.path)?;
                }
                none.insert(file)
            }
        };
        let line = format!("{} {} {worker}\n", numbers.start, numbers.end);
        file.write_all(line.as_bytes()).map_err(FileError::at(Action::Write, &self.path))?;
        file.sync_data().map_err(FileError::at(Action::Sync, &self.path))?;
        self.note(numbers, worker);
        Ok(())
    }

    fn note(&mut self, numbers: Range<u64>, worker: &str) {
        // Neighbours of one worker become one lease.
        if let Some(mut last) = self.leases.last_entry()
            && last.get().0 == numbers.start
            && &*last.get().1 == worker
        {
            last.get_mut().0 = numbers.end;
            return;
        }
        self.leases.insert(numbers.start, (numbers.end, worker.into()));
    }
}

fn parse(line: &str) -> Option<(Range<u64>, &str)> {
    let mut parts = line.split(' ');
    let (first, end, worker) = (parts.next()?, parts.next()?, parts.next()?);
    let (first, end) = (first.parse().ok()?, end.parse().ok()?);
    (parts.next().is_none() && !worker.is_empty() && first < end && end <= HIGHEST)
        .then_some((first..end, worker))
}

/// Whether a file is empty or its last byte ends a line.
fn ends_with_a_line(path: &Path) -> bool {
    read_stored(path, limits::LEASES)
        .is_ok_and(|bytes| bytes.last().is_none_or(|&last| last == b'\n'))
}

/// Cuts off the bytes after the last end of a line.
fn remove_last_line(file: &mut File, path: &Path) -> Result<(), FileError> {
    let bytes = read_stored(path, limits::LEASES)?;
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |place| place + 1);
    file.set_len(whole as u64).map_err(FileError::at(Action::Truncate, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leases_are_read_again_and_a_cut_line_is_none() {
        let run = tempfile::tempdir().expect("a folder");
        let mut book = LeaseBook::read(run.path()).expect("none yet");
        assert_eq!((book.end(), book.owner(0)), (0, None));
        book.add(10..20, "ada").expect("written");
        book.add(20..30, "ada").expect("written");
        book.add(40..41, "bob").expect("written");
        let path = run.path().join(FILE);
        let whole = std::fs::read(&path).expect("a file");
        for cut in [0, 3, 7, whole.len() - 1, whole.len()] {
            std::fs::write(&path, &whole[..cut]).expect("written");
            let mut again = LeaseBook::read(run.path()).expect("leases");
            let has = |number| cut == whole.len() || number < 40 && cut > 20;
            for number in [9, 10, 29, 30, 40, 41] {
                let owner = book.owner(number).filter(|_| has(number));
                assert_eq!(again.owner(number), owner, "{number} of {cut} bytes");
            }
            again.add(50..60, "eve").expect("written");
            let last = LeaseBook::read(run.path()).expect("leases");
            assert_eq!((last.owner(55), last.end()), (Some("eve"), 60));
        }
    }

    #[test]
    fn leases_that_were_cut_off_or_removed_are_noticed() {
        let run = tempfile::tempdir().expect("a folder");
        let path = run.path().join(FILE);
        assert!(LeaseBook::read_at_least(run.path(), 0).is_ok());
        let mut book = LeaseBook::read(run.path()).expect("none yet");
        book.add(0..10, "ada").expect("written");
        let wanted = length(run.path()).expect("a length");
        book.add(10..20, "ada").expect("written");
        assert_eq!(LeaseBook::read_at_least(run.path(), wanted).expect("leases").end(), 20);
        let error = || {
            let found = LeaseBook::read_at_least(run.path(), wanted).expect_err("lost leases");
            assert!(matches!(found, LeaseError::Lost { .. }), "{found}");
            found.to_string()
        };
        std::fs::write(&path, "").expect("written");
        assert!(error().contains("leases.txt has 0 bytes"));
        std::fs::remove_file(&path).expect("removed");
        assert!(error().contains("--games"));
    }

    #[test]
    fn a_line_that_is_no_lease_is_named() {
        let run = tempfile::tempdir().expect("a folder");
        let long = format!("0 {} w\n", u64::MAX);
        let lines = [
            "x\n",
            "5 5 w\n",
            "5 4 w\n",
            "-1 4 w\n",
            "0 4\n",
            "0 4 w w\n",
            &long,
            "0 9 a\n8 12 b\n",
        ];
        for text in lines {
            std::fs::write(run.path().join(FILE), text).expect("written");
            let error = LeaseBook::read(run.path()).expect_err(text).to_string();
            assert!(error.contains("leases.txt:") && error.contains("is not a lease"), "{error}");
        }
    }
}
