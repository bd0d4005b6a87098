//! `outflank book import`: adds the first moves of games to a book.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;

use super::{lock, read, summary};
use crate::game::{Geometry, Goal, Position, Shape};
use crate::store::book::{Book, Header};
use crate::store::import::{self, Fault, Game};
use crate::store::lines::BadLines;

/// Adds the positions of games to a book.
///
/// A file of games has one transcript a line; what follows it after a blank is ignored. Other
/// sources are WTHOR, GGF and JSON files (`.wtb`, `.ggf`, `.json`), folders of files, and run
/// directories. The positions have no scores until
/// `outflank book grow` searches them, and no player moves by them before. Games that cannot be used
/// are left out, and the first ten of a file are named.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The file of the book; if it does not exist, it is made
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Files of transcripts, WTHOR, GGF or JSON, folders of them, or run directories
    #[arg(value_name = "GAMES", required = true)]
    sources: Vec<PathBuf>,
    /// How many moves of each game
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=92))]
    plies: u32,
    /// The board of a new book: 8x8, 6x6, 7x7, octagon88 or cross92; by default 8x8
    #[arg(long, value_name = "BOARD")]
    shape: Option<Shape>,
    /// Who wins by a new book: most or fewest discs; by default most
    #[arg(long, value_name = "GOAL")]
    goal: Option<Goal>,
}

/// Runs the subcommand.
///
/// # Errors
///
/// The book or a source cannot be read, or holds no game of the board.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let _lock = lock(&args.file)?;
    if !args.file.exists() {
        let shape = args.shape.unwrap_or(Shape::Square8);
        let goal = args.goal.unwrap_or_default();
        return dispatch!(shape, G => import_all(args, Book::<G>::new(goal)));
    }
    let header = Header::read(&args.file)?;
    let Header { shape, goal, .. } = header;
    if args.shape.is_some_and(|wanted| wanted != shape)
        || args.goal.is_some_and(|wanted| wanted != goal)
    {
        bail!("{} is a book for board {shape} and goal {goal}", args.file.display());
    }
    dispatch!(shape, G => import_all(args, read::<G>(&args.file, header)?))
}

fn import_all<G: Geometry>(args: &Args, book: Book<G>) -> anyhow::Result<ExitCode> {
    let before = book.len();
    let mut import = Import { book, plies: args.plies as usize, games: 0 };
    for source in &args.sources {
        let games = import.games;
        import.source(source)?;
        if import.games == games {
            bail!("{} holds no game of board {}", source.display(), G::SHAPE);
        }
    }
    let Import { mut book, games, .. } = import;
    book.revalue();
    book.write(&args.file)?;
    println!("{}", summary(&args.file, &book));
    tell!("{} new positions from {games} games", book.len() - before);
    Ok(ExitCode::SUCCESS)
}

/// Why a game is not used.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
enum GameProblem {
    #[error(transparent)]
    Fault(#[from] Fault),
    #[error("the game is for board {shape} and goal {goal}")]
    OtherGame { shape: Shape, goal: Goal },
}

/// A book that gets games.
struct Import<G: Geometry> {
    book: Book<G>,
    plies: usize,
    games: usize,
}

impl<G: Geometry> Import<G> {
    fn source(&mut self, path: &Path) -> anyhow::Result<()> {
        for file in import::files(path, None)? {
            let mut bad = BadLines::default();
            for found in file.games(G::SHAPE, self.book.goal())? {
                let found = found?;
                let problem = match found.game {
                    Err(fault) => GameProblem::Fault(fault),
                    Ok(game) if (game.record.shape, game.record.goal) != self.game() => {
                        let Game { record, .. } = game;
                        GameProblem::OtherGame { shape: record.shape, goal: record.goal }
                    }
                    Ok(game) => {
                        let positions = game.record.replay::<G>()?;
                        if positions.first() == Some(&Position::start()) {
                            self.add(positions)?;
                        }
                        continue;
                    }
                };
                bad.note(found.number as usize, problem);
            }
            for remark in bad.remarks() {
                let remark = remark.replacen("line", file.unit(), 1);
                tell!("warning: {}: {remark}", file.path.display());
            }
        }
        Ok(())
    }

    fn game(&self) -> (Shape, Goal) {
        (G::SHAPE, self.book.goal())
    }

    /// Adds the positions of a game from the start position on, as many as are wanted.
    fn add(&mut self, positions: impl IntoIterator<Item = Position<G>>) -> anyhow::Result<()> {
        for position in positions.into_iter().take(self.plies + 1) {
            self.book.add(position.board);
        }
        self.games += 1;
        let (found, most) = (self.book.len(), Book::<G>::capacity());
        if found > most {
            bail!("the games have more than {most} positions, the most for a book of this board");
        }
        Ok(())
    }
}
