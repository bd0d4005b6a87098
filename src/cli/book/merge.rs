//! `outflank book merge`: joins books.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;

use super::{lock, read, summary};
use crate::game::Geometry;
use crate::store::book::{Book, Header};

/// Joins books into one, with the positions of all.
///
/// Of two searches of a position the deeper one stays. Positions may then need a search, which
/// `outflank book grow` does.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The file of the joined book, which must not exist or be one of the books
    #[arg(value_name = "OUT")]
    out: PathBuf,
    /// The books
    #[arg(value_name = "BOOK", required = true, num_args = 2..)]
    books: Vec<PathBuf>,
}

/// Runs the subcommand.
///
/// # Errors
///
/// A book cannot be read or is for another board or goal, or the file cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.out.exists() && !args.books.contains(&args.out) {
        bail!("{} exists and is none of the books; name a new file", args.out.display());
    }
    let _lock = lock(&args.out)?;
    let header = Header::read(&args.books[0])?;
    dispatch!(header.shape, G => merge::<G>(args, header))
}

fn merge<G: Geometry>(args: &Args, header: Header) -> anyhow::Result<ExitCode> {
    let mut book = Book::<G>::new(header.goal);
    for path in &args.books {
        book.merge(&read(path, header)?);
    }
    book.write(&args.out)?;
    println!("{}", summary(&args.out, &book));
    Ok(ExitCode::SUCCESS)
}
