//! The lists of names beside the files of WTHOR: players (`.JOU`) and tournaments (`.TRN`).
//!
//! A list has a header of 16 bytes with the number of names at offset 8, two bytes little-endian.
//! Each name has 20 bytes in a list of players, 26 in one of tournaments; a 0 ends it. The letters
//! are ASCII or Latin-1.

use std::fs;
use std::path::{Path, PathBuf};

use super::{has_ending, name};
use crate::store::files::{self, Action, FileError};
use crate::store::limits;

const HEADER_BYTES: usize = 16;

/// Why a list is not read.
#[derive(Debug, thiserror::Error)]
pub enum NamesError {
    /// The operating system reported an error, or the file is too long.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file has another length than its header says.
    #[error(
        "{} is cut off or no list of names: it has {found} bytes; {names} names have {wanted}; \
         without the file games are read without names",
        path.display()
    )]
    Length {
        /// The file.
        path: PathBuf,
        /// Its length.
        found: usize,
        /// The number of names in its header.
        names: u16,
        /// The length that this number of names has.
        wanted: usize,
    },
}

/// A kind of list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Players, `.JOU`.
    Players,
    /// Tournaments, `.TRN`.
    Tournaments,
}

/// Whether a file has the ending of a list.
pub fn is_list(path: &Path) -> bool {
    [Kind::Players, Kind::Tournaments].into_iter().any(|kind| has_ending(path, kind.ending()))
}

impl Kind {
    fn ending(self) -> &'static str {
        match self {
            Kind::Players => "jou",
            Kind::Tournaments => "trn",
        }
    }

    fn name_bytes(self) -> usize {
        match self {
            Kind::Players => 20,
            Kind::Tournaments => 26,
        }
    }
}

/// The names of a list by their numbers. It is empty where there is no list.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names(Vec<Option<Box<str>>>);

impl Names {
    /// Reads the list in the folder of a file of games; the first one by name if it has several.
    pub(super) fn beside(games: &Path, kind: Kind) -> Result<Names, NamesError> {
        let folder = files::parent_of(games);
        let mut lists = Vec::new();
        for entry in fs::read_dir(folder).map_err(FileError::at(Action::Read, folder))? {
            let path = entry.map_err(FileError::at(Action::Read, folder))?.path();
            if has_ending(&path, kind.ending()) {
                lists.push(path);
            }
        }
        match lists.into_iter().min() {
            Some(path) => Names::of(&files::read(&path, limits::ARCHIVE)?, &path, kind),
            None => Ok(Names::default()),
        }
    }

    /// Reads the bytes of a list; `path` is for the error only.
    ///
    /// # Errors
    ///
    /// The bytes are cut off, or are no list of this kind.
    pub fn of(bytes: &[u8], path: &Path, kind: Kind) -> Result<Names, NamesError> {
        let names = match bytes.get(8..10) {
            Some(&[low, high]) => u16::from_le_bytes([low, high]),
            _ => 0,
        };
        let wanted = HEADER_BYTES + usize::from(names) * kind.name_bytes();
        if bytes.len() != wanted {
            let (path, found) = (path.to_path_buf(), bytes.len());
            return Err(NamesError::Length { path, found, names, wanted });
        }
        let text = |bytes: &[u8]| name(bytes.split(|&byte| byte == 0).next().unwrap_or_default());
        Ok(Names(bytes[HEADER_BYTES..].chunks_exact(kind.name_bytes()).map(text).collect()))
    }

    /// A name by its number.
    pub fn get(&self, number: u16) -> Option<Box<str>> {
        self.0.get(usize::from(number))?.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&[u8]]) -> Vec<u8> {
        let mut bytes = vec![0; 16];
        bytes[8..10].copy_from_slice(&(names.len() as u16).to_le_bytes());
        for name in names {
            bytes.extend_from_slice(name);
            bytes.resize(bytes.len() + 20 - name.len(), 0);
        }
        bytes
    }

    #[test]
    fn names_are_read_without_control_characters() {
        let bytes = list(&[b"Tastet Marc", b"", b"Andr\xe9\x07 \x1b[1m", b"x\0rest"]);
        let names = Names::of(&bytes, Path::new("WTH.JOU"), Kind::Players).expect("a list");
        assert_eq!(names.get(0).as_deref(), Some("Tastet Marc"));
        assert_eq!(names.get(1), None);
        assert_eq!(names.get(2).as_deref(), Some("André   [1m"));
        assert_eq!(names.get(3).as_deref(), Some("x"));
        assert_eq!(names.get(4), None);
    }

    #[test]
    fn a_list_of_another_length_is_refused() {
        let bytes = list(&[b"Tastet Marc", b"x"]);
        for length in 0..bytes.len() {
            // A list without names is one.
            if length == 16 {
                continue;
            }
            let found = Names::of(&bytes[..length], Path::new("WTH.JOU"), Kind::Players);
            let text = found.expect_err("a part of a list").to_string();
            assert!(text.starts_with("WTH.JOU is cut off or no list of names: it has "), "{text}");
        }
    }
}
