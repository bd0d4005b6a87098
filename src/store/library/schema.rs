//! The tables of an index.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

/// Marks an index of this program: `OFLB`.
const APPLICATION: i32 = 0x4f46_4c42;
/// An index of another format is emptied, and made again by the next refresh.
const FORMAT: i32 = 1;
/// How long a program waits for another one that writes.
const PATIENCE: Duration = Duration::from_secs(20);

/// `files.first` to `files.last` are the numbers of a file's games. `blocks` is described in
/// `blocks.rs`; games with a start of their own have `start`, and `games.at` is where a game's moves
/// begin in its block.
const TABLES: &str = "
    DROP TABLE IF EXISTS files;
    DROP TABLE IF EXISTS names;
    DROP TABLE IF EXISTS games;
    DROP TABLE IF EXISTS blocks;
    CREATE TABLE files (
        id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL,
        first INTEGER NOT NULL, last INTEGER NOT NULL, faults INTEGER NOT NULL, problem TEXT
    );
    CREATE TABLE names (
        id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, folded TEXT NOT NULL
    );
    CREATE TABLE games (
        id INTEGER PRIMARY KEY, file INTEGER NOT NULL, number INTEGER NOT NULL,
        board TEXT NOT NULL, goal TEXT NOT NULL, black INTEGER, white INTEGER, event INTEGER,
        opening INTEGER, year INTEGER, date TEXT, score INTEGER, finished INTEGER NOT NULL,
        block INTEGER NOT NULL, at INTEGER NOT NULL, start TEXT
    );
    CREATE TABLE blocks (
        id INTEGER PRIMARY KEY, first INTEGER NOT NULL, board TEXT NOT NULL, goal TEXT NOT NULL,
        own_start INTEGER NOT NULL, bytes BLOB NOT NULL
    );
    CREATE INDEX games_black ON games (black);
    CREATE INDEX games_white ON games (white);
    CREATE INDEX games_event ON games (event);
    CREATE INDEX games_opening ON games (opening);
    CREATE INDEX games_year ON games (year);
    CREATE INDEX blocks_first ON blocks (first);
";

/// Opens an index, and makes its tables if it has none.
pub(super) fn open(path: &Path) -> rusqlite::Result<Connection> {
    let mut database = Connection::open(path)?;
    database.busy_timeout(PATIENCE)?;
    let number = |database: &Connection, name| {
        database.pragma_query_value(None, name, |row| row.get::<_, i32>(0))
    };
    // The number of tables first: another program may make them just now, and then it is this program's index.
    let tables: i64 =
        database.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let application = number(&database, "application_id")?;
    let format = number(&database, "user_version")?;
    if (application, format) == (APPLICATION, FORMAT) {
        return Ok(database);
    }
    if application != APPLICATION && tables > 0 {
        return Err(rusqlite::Error::InvalidQuery);
    }
    let transaction = database.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    // Another program may have made them since.
    if number(&transaction, "user_version")? != FORMAT {
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", FORMAT)?;
    }
    transaction.commit()?;
    Ok(database)
}
