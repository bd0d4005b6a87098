//! Games that were played on the page: a file in GGF for each, in a folder of the library.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use rusqlite::OptionalExtension as _;
use time::OffsetDateTime;

use super::{Library, LibraryError, PLAYED, index};
use crate::game::Position;
use crate::game::record::GameRecord;
use crate::store::files::{self, Action, FileError, NewFile};
use crate::store::ggf::{self, Header};

/// More games of one second are not kept.
const MOST_OF_A_SECOND: u32 = 100;

/// A game that was played on the page.
#[derive(Clone, PartialEq, Debug)]
pub struct OwnGame {
    /// Start, moves and goal.
    pub record: GameRecord,
    /// Black's name.
    pub black: String,
    /// White's name.
    pub white: String,
    /// Black's score; `None` if the game is not finished.
    pub score: Option<i32>,
    /// When it ended.
    pub time: OffsetDateTime,
}

/// Keeps a game in the library of a folder. The index has it after the next
/// [`Library::refresh`]; none is needed to keep a game.
///
/// # Errors
///
/// The file cannot be written.
pub fn keep(root: &Path, game: &OwnGame) -> Result<(), LibraryError> {
    let folder = root.join(PLAYED);
    files::create_dir(&folder)?;
    let (date, time) = (game.time.date(), game.time.time());
    let day = format!("{:04}.{:02}.{:02}", date.year(), u8::from(date.month()), date.day());
    let clock = format!("{:02}.{:02}.{:02}", time.hour(), time.minute(), time.second());
    let header = Header {
        black: game.black.clone(),
        white: game.white.clone(),
        date: Some(format!("{day}_{}.GMT", clock.replace('.', ":"))),
        result: game.score.map(|score| game.record.goal.apply(score)),
        goal: game.record.goal,
        ..Header::default()
    };
    let moves: Vec<_> = game.record.moves.iter().map(|made| made.square).collect();
    let text = dispatch!(game.record.shape, G => {
        let start = game.record.start::<G>().unwrap_or_else(|_| Position::start());
        ggf::write_with(&header, start, &moves)
    });
    let mut file = new_file(&folder, &format!("{day}_{clock}"))?;
    file.write_all(text.as_bytes()).map_err(FileError::at(Action::Write, &folder))?;
    Ok(file.finish()?)
}

impl Library {
    /// Removes a game that was played on the page, and its file.
    ///
    /// # Errors
    ///
    /// There is no such game, it is not one of those, or its file cannot be removed.
    pub fn delete(&mut self, id: i64) -> Result<(), LibraryError> {
        let select = "SELECT files.id, files.path FROM games \
                      JOIN files ON files.id = games.file WHERE games.id = ?";
        let found = self
            .database
            .query_row(select, [id], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)));
        let found = found.optional().map_err(|error| self.fault(error))?;
        let Some((file, name)) = found else { return Err(LibraryError::NoGame { id }) };
        if !is_own(&name) {
            return Err(LibraryError::NotOwn { id });
        }
        let path = self.root.join(&name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(FileError::at(Action::Remove, &path)(error).into());
            }
            _ => {}
        }
        let forget = || {
            let transaction = self.database.unchecked_transaction()?;
            index::forget(&transaction, file)?;
            transaction.commit()
        };
        forget().map_err(|error| self.fault(error))
    }
}

/// Whether a file of the index has a game that was played on the page.
pub(super) fn is_own(name: &str) -> bool {
    let path = Path::new(name);
    path.parent() == Some(Path::new(PLAYED)) && path.extension().is_some_and(|it| it == "ggf")
}

/// A new file whose name begins with a time. It has the number of this process, since another one can
/// keep a game in the same second.
fn new_file(folder: &Path, time: &str) -> Result<NewFile, FileError> {
    let process = std::process::id();
    let mut taken = None;
    for number in 1..=MOST_OF_A_SECOND {
        let name = format!("{time}_{process}_{number}.ggf");
        match NewFile::create(&folder.join(name)) {
            Err(error) if error.source.kind() == ErrorKind::AlreadyExists => taken = Some(error),
            other => return other,
        }
    }
    Err(taken.unwrap_or_else(|| FileError::at(Action::Write, folder)(ErrorKind::Other.into())))
}
