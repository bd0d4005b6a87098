//! A library: the games of a folder, searched by player, event, year, opening, result and position.
//!
//! [`Library::refresh`] reads the files that [`import`](super::import) knows, in the folder and the
//! folders inside it, and keeps an index beside them, an SQLite database. The files are the truth: an
//! index can be removed at any time and is made again. A file is read again when its length or time
//! has changed.
//!
//! The index has the moves of each file's games in blocks. A position is searched by reading all
//! blocks of its board: a game is replayed only if its first moves fill the same squares, so a
//! search through 137,548 games takes some hundredths of a second and the index needs no table of
//! positions.

mod blocks;
mod index;
mod own;
mod query;
mod schema;
mod sql;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode};

pub use blocks::{Explored, Following};
pub use index::{Changes, Problem};
pub use own::{OwnGame, keep};
pub use query::{Found, Query, Row, Sort, Winner};

use super::files::{self, Action, FileError};

/// The name of an index in its folder.
pub const INDEX: &str = "outflank-library.db";
/// The folder, inside that of a library, of games that were played on the page.
pub const PLAYED: &str = "played";

/// Why a library cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// The operating system reported an error.
    #[error(transparent)]
    File(#[from] FileError),
    /// The folder of the games is none.
    #[error("{} is no folder; allowed: a folder with files of games", path.display())]
    NoFolder {
        /// The path.
        path: PathBuf,
    },
    /// The folder has too many files.
    #[error("{} has more than {most} files of games", path.display())]
    TooMany {
        /// The folder.
        path: PathBuf,
        /// The most files that are read.
        most: usize,
    },
    /// Another program writes the index.
    #[error("another program is changing the index {}; try again when it has ended", path.display())]
    Busy {
        /// The index.
        path: PathBuf,
    },
    /// The index cannot be written.
    #[error(
        "the index {} cannot be written ({message}); name another place for it, such as --index \
         ~/games.db, or make room there",
        path.display()
    )]
    NotWritten {
        /// The index.
        path: PathBuf,
        /// SQLite's message.
        message: String,
    },
    /// The index is damaged, or is a file of another program.
    #[error(
        "{} is damaged or no index of this program ({message}); if it is an index, remove it: it is \
         made again from the files of games",
        path.display()
    )]
    Damaged {
        /// The index.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// There is no such game.
    #[error("the library has no game {id}; it may have changed since it was searched")]
    NoGame {
        /// The number of the game.
        id: i64,
    },
    /// The game is not one that was played on the page.
    #[error("game {id} was not played here; only games in the folder `{PLAYED}` can be deleted")]
    NotOwn {
        /// The number of the game.
        id: i64,
    },
}

/// An open library.
///
/// ```
/// use outflank::store::library::{Library, Query};
///
/// # let folder = tempfile::tempdir()?;
/// # std::fs::write(folder.path().join("mine.txt"), "f5d6c3d3c4f4\nf5f6e6f4e3\n")?;
/// # let folder = folder.path();
/// let mut library = Library::open(folder, None)?;
/// library.refresh(|_, _| {})?;
/// let query = Query { opening: Some("tiger".into()), most: 10, ..Query::default() };
/// let found = library.search(&query)?;
/// assert_eq!(found.total, 1);
/// let (_, record) = library.game(found.rows[0].id)?;
/// assert_eq!(record.moves.len(), 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Library {
    root: PathBuf,
    index: PathBuf,
    database: Connection,
}

impl Library {
    /// Opens the library of a folder. Its index is `index`, or the file [`INDEX`] in the folder; if
    /// there is none, an empty one is made.
    ///
    /// # Errors
    ///
    /// The folder is none, or the index cannot be made or is damaged.
    pub fn open(root: &Path, index: Option<&Path>) -> Result<Library, LibraryError> {
        let is_folder = root.metadata().map_err(FileError::at(Action::Read, root))?.is_dir();
        if !is_folder {
            return Err(LibraryError::NoFolder { path: root.to_path_buf() });
        }
        let index = index.map_or_else(|| root.join(INDEX), Path::to_path_buf);
        let database = schema::open(&index).map_err(|error| fault(&index, error))?;
        Ok(Library { root: root.to_path_buf(), index, database })
    }

    /// Opens the library of a folder of this program's own, which is made if it is missing.
    ///
    /// # Errors
    ///
    /// As of [`Library::open`], or the folder cannot be made.
    pub fn create(root: &Path) -> Result<Library, LibraryError> {
        files::create_dir(root)?;
        Library::open(root, None)
    }

    fn fault(&self, error: rusqlite::Error) -> LibraryError {
        fault(&self.index, error)
    }
}

/// SQLite's error as one of a library.
fn fault(path: &Path, error: rusqlite::Error) -> LibraryError {
    let (path, message) = (path.to_path_buf(), error.to_string());
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => LibraryError::Busy { path },
        Some(
            ErrorCode::ReadOnly
            | ErrorCode::CannotOpen
            | ErrorCode::PermissionDenied
            | ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure,
        ) => LibraryError::NotWritten { path, message },
        _ => LibraryError::Damaged { path, message },
    }
}
