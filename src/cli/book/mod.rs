//! `outflank book`: builds, shows and changes opening books.

mod export;
mod grow;
mod import;
mod merge;
mod show;

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Subcommand;

use crate::game::{Board, Geometry};
use crate::store::book::{Book, DISC, Header, Value};
use crate::store::lock_file;

/// Builds, shows and changes opening books.
///
/// A book has positions with the scores of their moves. Positions that differ by a symmetry of the
/// board only are one position. A player uses a book with the key `book=FILE`; docs/book.md explains
/// it.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Build(grow::BuildArgs),
    Grow(grow::GrowArgs),
    Show(show::Args),
    Export(export::Args),
    Import(import::Args),
    Merge(merge::Args),
}

/// Runs the subcommand.
///
/// # Errors
///
/// A book or another file cannot be read or written, or is for another board or goal.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Build(args) => grow::build(&args),
        Command::Grow(args) => grow::grow(&args),
        Command::Show(args) => show::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Merge(args) => merge::run(&args),
    }
}

/// The right to change a book, until it is dropped: another command would lose what this one adds, or
/// the other way round. The lock is a file of its own, since a book that is written replaces the old
/// file.
fn lock(book: &Path) -> anyhow::Result<File> {
    let mut name = OsString::from(".");
    name.push(book.file_name().unwrap_or_default());
    name.push(".lock");
    let path = book.with_file_name(name);
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    let file = file.with_context(|| format!("cannot write {}", path.display()))?;
    if !lock_file(&file, &path)? {
        bail!("{} is being changed by another command; wait until it has ended", book.display());
    }
    Ok(file)
}

/// The book of a file whose header was read.
fn read<G: Geometry>(path: &Path, header: Header) -> anyhow::Result<Book<G>> {
    Ok(Book::read(path, header.goal)?.0)
}

/// The number of positions whose moves need a search.
fn count_open<G: Geometry>(book: &Book<G>) -> usize {
    book.levels().into_iter().flatten().filter(|&board| book.is_open(board)).count()
}

/// A line about a book that was written.
fn summary<G: Geometry>(path: &Path, book: &Book<G>) -> String {
    let mut line = format!("{}: {} positions", path.display(), book.len());
    match book.value(Board::<G>::start()) {
        Some(value) => line += &format!(", start position {}", discs(value)),
        None => line += ", the start position has no score yet",
    }
    let open = count_open(book);
    if open > 0 {
        line += &format!("; {open} need a search: `outflank book grow FILE --positions 0`");
    }
    line
}

/// A score in hundredths of a disc as text in discs.
fn score(hundredths: i16) -> String {
    match hundredths {
        0 => "0.00".into(),
        other => format!("{:+.2}", f32::from(other) / f32::from(DISC)),
    }
}

/// A value as text in discs: one score, or the lowest and the highest.
fn discs(value: Value) -> String {
    match value.low == value.high {
        true => score(value.low),
        false => format!("{} to {}", score(value.low), score(value.high)),
    }
}
