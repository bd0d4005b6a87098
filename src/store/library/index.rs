//! Brings an index up to date with the files of its folder.

use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rusqlite::{Connection, TransactionBehavior, params};

use super::blocks::{BlockWriter, Entry};
use super::{Library, LibraryError, fault};
use crate::game::notation::obf;
use crate::game::{Goal, Position, Shape, Square};
use crate::store::files::{Action, FileError};
use crate::store::import::{self, Ending, Game, GameFile, ImportError};
use crate::store::lessons::LESSONS;
use crate::store::{openings, with_causes};

/// The most files of a library.
const MOST_FILES: usize = 200_000;
/// Folders inside folders are read to this depth.
const DEPTH: usize = 4;
/// The longest name that is kept, in characters.
const LONGEST_NAME: usize = 200;

/// What a refresh changed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Changes {
    /// Files that were read, since they are new or have changed.
    pub read: usize,
    /// Files that are no longer there.
    pub removed: usize,
    /// All games of the index.
    pub games: u64,
    /// Games that break the rules or cannot be read, in all files. They are left out.
    pub faults: u64,
    /// Files that cannot be read at all.
    pub problems: Vec<Problem>,
}

/// A file that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The file, inside the folder.
    pub path: String,
    /// Why.
    pub message: String,
}

/// A file with its name in the index and what changes with its content.
struct Source {
    file: GameFile,
    name: String,
    stamp: String,
}

impl Library {
    /// Reads the files that are new or have changed, and forgets those that are gone. `progress` is
    /// told how many files of how many are done.
    ///
    /// All happens at once: a refresh that is interrupted changes nothing.
    ///
    /// # Errors
    ///
    /// The folder cannot be read, another program refreshes the index, or it cannot be written.
    pub fn refresh(
        &mut self,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Changes, LibraryError> {
        let mut sources = Vec::new();
        walk(&self.root, &self.root, DEPTH, &mut sources)?;
        let difference = Difference::of(&self.database, &sources);
        let (mut read, mut removed) = (0, 0);
        if !difference.map_err(|error| self.fault(error))?.is_empty() {
            let index = self.index.clone();
            let mut write = || {
                let behaviour = TransactionBehavior::Immediate;
                let transaction = self.database.transaction_with_behavior(behaviour)?;
                // Another program may have read them since.
                let Difference { gone, old, changed } = Difference::of(&transaction, &sources)?;
                for &id in gone.iter().chain(&old) {
                    forget(&transaction, id)?;
                }
                for (done, source) in changed.iter().enumerate() {
                    progress(done, changed.len());
                    add(&transaction, source)?;
                }
                remove_unused_names(&transaction)?;
                (read, removed) = (changed.len(), gone.len());
                transaction.commit()
            };
            write().map_err(|error| fault(&index, error))?;
        }
        self.counts(read, removed).map_err(|error| self.fault(error))
    }

    fn counts(&self, read: usize, removed: usize) -> rusqlite::Result<Changes> {
        let one = |sql| self.database.query_row(sql, [], |row| row.get::<_, i64>(0));
        let select = "SELECT path, problem FROM files WHERE problem IS NOT NULL ORDER BY path";
        let mut statement = self.database.prepare(select)?;
        let problem =
            |row: &rusqlite::Row<'_>| Ok(Problem { path: row.get(0)?, message: row.get(1)? });
        let problems = statement.query_map([], problem)?.collect::<Result<_, _>>()?;
        Ok(Changes {
            read,
            removed,
            games: one("SELECT count(*) FROM games")? as u64,
            faults: one("SELECT coalesce(sum(faults), 0) FROM files")? as u64,
            problems,
        })
    }
}

/// How the files of a folder differ from those of an index.
struct Difference<'a> {
    /// The numbers of files that are no longer there.
    gone: Vec<i64>,
    /// The numbers of files that have changed.
    old: Vec<i64>,
    /// Files that are new or have changed.
    changed: Vec<&'a Source>,
}

impl<'a> Difference<'a> {
    fn of(database: &Connection, sources: &'a [Source]) -> rusqlite::Result<Difference<'a>> {
        let mut statement = database.prepare("SELECT path, id, stamp FROM files")?;
        let entry = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, (row.get(1)?, row.get(2)?)));
        let rows = statement.query_map([], entry)?;
        let mut known: HashMap<String, (i64, String)> = rows.collect::<Result<_, _>>()?;
        let (mut old, mut changed) = (Vec::new(), Vec::new());
        for source in sources {
            match known.remove(&source.name) {
                Some((_, stamp)) if stamp == source.stamp => {}
                other => {
                    old.extend(other.map(|(id, _)| id));
                    changed.push(source);
                }
            }
        }
        let mut gone: Vec<i64> = known.into_values().map(|(id, _)| id).collect();
        gone.sort_unstable();
        Ok(Difference { gone, old, changed })
    }

    fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.changed.is_empty()
    }
}

/// Removes a file's games. The names stay until [`remove_unused_names`].
pub(super) fn forget(database: &Connection, file: i64) -> rusqlite::Result<()> {
    let select = "SELECT first, last FROM files WHERE id = ?";
    let (first, last): (i64, i64) =
        database.query_row(select, [file], |row| Ok((row.get(0)?, row.get(1)?)))?;
    database.execute("DELETE FROM games WHERE id BETWEEN ? AND ?", [first, last])?;
    database.execute("DELETE FROM blocks WHERE first BETWEEN ? AND ?", [first, last])?;
    database.execute("DELETE FROM files WHERE id = ?", [file]).map(|_| ())
}

/// Removes names that no game has.
fn remove_unused_names(database: &Connection) -> rusqlite::Result<()> {
    let delete = "
        DELETE FROM names WHERE id NOT IN (
            SELECT black FROM games WHERE black IS NOT NULL
            UNION SELECT white FROM games WHERE white IS NOT NULL
            UNION SELECT event FROM games WHERE event IS NOT NULL
            UNION SELECT opening FROM games WHERE opening IS NOT NULL
        )";
    database.execute(delete, []).map(|_| ())
}

/// The files of games of a folder and of those inside it, in the order of their names. A run is one
/// of them.
fn walk(
    root: &Path,
    folder: &Path,
    depth: usize,
    found: &mut Vec<Source>,
) -> Result<(), LibraryError> {
    let (files, is_run) = match import::files(folder, None) {
        Ok(files) => {
            let is_run = files.iter().any(|file| file.format.is_none());
            (files, is_run)
        }
        Err(ImportError::NoGames { .. }) => (Vec::new(), false),
        Err(ImportError::File(error)) if folder == root => return Err(error.into()),
        // A folder inside that cannot be read has no games for us.
        Err(_) => return Ok(()),
    };
    let mut names: HashSet<String> = HashSet::new();
    // A person's lessons are beside the games.
    let is_game = |file: &GameFile| file.path.file_name().is_none_or(|name| name != LESSONS);
    for file in files.into_iter().filter(is_game) {
        let name = file.path.strip_prefix(root).unwrap_or(&file.path).to_string_lossy();
        // A name that is no text can be equal to another one then.
        if names.insert(name.to_string()) {
            let stamp = stamp(&file);
            found.push(Source { name: name.into(), stamp, file });
        }
        if found.len() > MOST_FILES {
            return Err(LibraryError::TooMany { path: root.to_path_buf(), most: MOST_FILES });
        }
    }
    if is_run || depth == 0 {
        return Ok(());
    }
    let read = FileError::at(Action::Read, folder);
    let mut inner: Vec<PathBuf> = match fs::read_dir(folder) {
        // `file_type` does not follow links, so there are no circles.
        Ok(entries) => entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .map(|entry| entry.path())
            .collect(),
        Err(error) if folder == root => return Err(read(error).into()),
        Err(_) => Vec::new(),
    };
    inner.sort();
    inner.iter().try_for_each(|path| walk(root, path, depth - 1, found))
}

/// Lengths and times of a file, of the lists of names beside it, or of the files of a run.
fn stamp(file: &GameFile) -> String {
    let of = |metadata: Metadata| {
        let time = metadata.modified().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
        format!("{}:{}", metadata.len(), time.unwrap_or_default().as_nanos())
    };
    let folder = match file.format {
        None => file.path.as_path(),
        Some(_) => file.path.parent().unwrap_or(Path::new(".")),
    };
    let belongs = |path: &Path| match file.format {
        None => true,
        Some(import::Format::Wthor) => import::names::is_list(path),
        Some(_) => false,
    };
    let own = file.path.metadata().ok().filter(|_| file.format.is_some());
    let mut parts: Vec<String> = own.map(of).into_iter().collect();
    if file.format.is_none() || file.format == Some(import::Format::Wthor) {
        let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        let mut others: Vec<PathBuf> =
            entries.map(|entry| entry.path()).filter(|path| belongs(path)).collect();
        others.sort();
        parts.extend(others.iter().filter_map(|path| path.metadata().ok()).map(of));
    }
    parts.join(" ")
}

/// Reads a file into the index.
fn add(database: &Connection, source: &Source) -> rusqlite::Result<()> {
    let greatest = |sql| database.query_row(sql, [], |row| row.get::<_, i64>(0));
    let first = greatest("SELECT coalesce(max(last), 0) FROM files")? + 1;
    let blocks = BlockWriter::after(greatest("SELECT coalesce(max(id), 0) FROM blocks")?);
    let insert = "INSERT INTO files (path, stamp, first, last, faults) VALUES (?, ?, ?, ?, 0)";
    database.execute(insert, params![source.name, source.stamp, first, first])?;
    let file = database.last_insert_rowid();
    let mut adder = Adder { database, file, next: first, blocks, names: HashMap::new() };
    let (faults, problem) = adder.games(&source.file)?;
    adder.blocks.end_file(database)?;
    let last = adder.next.max(first + 1) - 1;
    let update = "UPDATE files SET last = ?, faults = ?, problem = ? WHERE id = ?";
    database.execute(update, params![last, faults, problem, file]).map(|_| ())
}

/// Puts the games of a file into the index.
struct Adder<'a> {
    database: &'a Connection,
    file: i64,
    /// The number of the next game.
    next: i64,
    blocks: BlockWriter,
    names: HashMap<Box<str>, i64>,
}

impl Adder<'_> {
    /// Adds the games that can be used. Returns the number of the others, and why the file could not
    /// be read to its end.
    fn games(&mut self, file: &GameFile) -> rusqlite::Result<(i64, Option<String>)> {
        let games = match file.games(Shape::Square8, Goal::Most) {
            Ok(games) => games,
            Err(error) => return Ok((0, Some(with_causes(&error)))),
        };
        let mut faults = 0;
        for found in games {
            match found {
                Err(error) => return Ok((faults, Some(with_causes(&error)))),
                Ok(found) => match found.game {
                    Ok(game) => self.game(found.number, &game)?,
                    Err(_) => faults += 1,
                },
            }
        }
        Ok((faults, None))
    }

    fn game(&mut self, number: u64, game: &Game) -> rusqlite::Result<()> {
        let record = &game.record;
        let id = self.next;
        let Ok(short) = u32::try_from(id) else { return Ok(()) };
        let squares: Vec<u8> = game.squares().map(|square| square.0).collect();
        let moves: Vec<Square> = game.squares().collect();
        let score = game.stated.or(game.score());
        let (start, opening) = dispatch!(record.shape, G => {
            let start = record.start::<G>().unwrap_or_else(|_| Position::start());
            let own = (start != Position::start()).then(|| obf(start));
            (own, openings::name(start, &moves))
        });
        let entry = Entry { id: short, score: score.map(|it| it as i8), moves: &squares };
        let key = (record.shape, record.goal, start.is_some());
        let (block, at) = self.blocks.add(self.database, key, entry)?;
        let [black, white, event] =
            [&game.black, &game.white, &game.event].map(|name| name.as_deref());
        let names = [black, white, event, opening].map(|name| self.name(name));
        let [black, white, event, opening] = names;
        let year = game.year();
        // A date that is only a year is not written twice.
        let date =
            game.date.as_deref().filter(|date| year.is_none_or(|it| *date != it.to_string()));
        let insert = "INSERT INTO games (id, file, number, board, goal, black, white, event, opening, \
                      year, date, score, finished, block, at, start) \
                      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
        self.database.prepare_cached(insert)?.execute(params![
            id,
            self.file,
            number as i64,
            record.shape.name(),
            record.goal.name(),
            black?,
            white?,
            event?,
            opening?,
            year,
            date.map(short_name),
            score,
            game.ending == Ending::Finished,
            block,
            at as i64,
            start,
        ])?;
        self.next += 1;
        Ok(())
    }

    /// The number of a name.
    fn name(&mut self, name: Option<&str>) -> rusqlite::Result<Option<i64>> {
        let Some(name) = name.map(short_name) else { return Ok(None) };
        if let Some(&id) = self.names.get(name) {
            return Ok(Some(id));
        }
        let insert = "INSERT INTO names (text, folded) VALUES (?, ?) ON CONFLICT DO NOTHING";
        self.database.prepare_cached(insert)?.execute([name, &name.to_lowercase()])?;
        let select = "SELECT id FROM names WHERE text = ?";
        let id = self.database.prepare_cached(select)?.query_row([name], |row| row.get(0))?;
        self.names.insert(name.into(), id);
        Ok(Some(id))
    }
}

/// The first characters of a name.
fn short_name(name: &str) -> &str {
    name.char_indices().nth(LONGEST_NAME).map_or(name, |(end, _)| &name[..end])
}
