//! `outflank book import`: adds the first moves of games to a book.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};

use super::{read, summary};
use crate::game::notation::{NotationError, parse_transcript};
use crate::game::{Geometry, Goal, Position, Shape};
use crate::store::book::{Book, Header};
use crate::store::games;
use crate::store::import::wthor::WthorFile;
use crate::store::lines::{BadLines, LineError, Lines};
use crate::store::run_dir;

/// Adds the positions of games to a book.
///
/// A file of games has one transcript a line; what follows it after a blank is ignored. Other
/// sources are WTHOR files (`.wtb`) and run directories. The positions have no scores until
/// `outflank book grow` searches them, and no player moves by them before. Games that cannot be used
/// are left out, and the first ten of a file are named.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The file of the book; if it does not exist, it is made
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Files of transcripts, WTHOR files or run directories
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

/// An error in a line of a file of games.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
enum GameLineError {
    #[error(transparent)]
    Line(#[from] LineError),
    #[error(transparent)]
    Notation(#[from] NotationError),
}

/// A book that gets games.
struct Import<G: Geometry> {
    book: Book<G>,
    plies: usize,
    games: usize,
}

impl<G: Geometry> Import<G> {
    fn source(&mut self, path: &Path) -> anyhow::Result<()> {
        let is_wthor = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("wtb"));
        let skipped = match path.is_dir() {
            true => self.run(path)?,
            false if is_wthor => self.archive(path)?,
            false => self.transcripts(path)?,
        };
        for remark in skipped {
            tell!("warning: {}: {remark}", path.display());
        }
        Ok(())
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

    fn transcripts(&mut self, path: &Path) -> anyhow::Result<Vec<String>> {
        let name = || format!("cannot read {}", path.display());
        let file = File::open(path).with_context(name)?;
        let mut bad = BadLines::default();
        for line in Lines::new(BufReader::new(file)) {
            let line = line.with_context(name)?;
            match line.text.map_err(GameLineError::from).and_then(|text| replay(&text)) {
                Ok(positions) => self.add(positions)?,
                Err(problem) => {
                    bad.note(line.number, problem);
                }
            }
        }
        Ok(bad.remarks())
    }

    fn archive(&mut self, path: &Path) -> anyhow::Result<Vec<String>> {
        if (G::SHAPE, self.book.goal()) != (Shape::Square8, Goal::Most) {
            bail!("{}: games of WTHOR are for board 8x8 and goal most", path.display());
        }
        let mut bad = BadLines::default();
        for (index, game) in WthorFile::read(path)?.games.iter().enumerate() {
            match game.replay::<G>() {
                Ok(game) => self.add(game.positions)?,
                Err(problem) => {
                    bad.note(index + 1, problem);
                }
            }
        }
        Ok(bad.remarks().into_iter().map(|remark| remark.replacen("line", "game", 1)).collect())
    }

    fn run(&mut self, path: &Path) -> anyhow::Result<Vec<String>> {
        if !run_dir::is_run(path)? {
            bail!("{} is no run directory", path.display());
        }
        let mut bad = BadLines::default();
        for (index, record) in games::read_all(&path.join(run_dir::GAMES))?.enumerate() {
            let Ok(record) = record else { continue };
            match record.positions::<G>() {
                Ok(positions) if record.goal == self.book.goal() => {
                    if positions.first() == Some(&Position::start()) {
                        self.add(positions)?;
                    }
                }
                Ok(_) => bail!("{}: its games are for goal {}", path.display(), record.goal),
                Err(problem) => {
                    bad.note(index + 1, problem);
                }
            }
        }
        Ok(bad.remarks().into_iter().map(|remark| remark.replacen("line", "game", 1)).collect())
    }
}

/// The positions of a game in a line.
fn replay<G: Geometry>(text: &str) -> Result<Vec<Position<G>>, GameLineError> {
    let game = text.split_whitespace().next().unwrap_or_default();
    if game.eq_ignore_ascii_case("start") {
        return Ok(vec![Position::start()]);
    }
    let mut position = Position::start();
    let mut positions = vec![position];
    for square in parse_transcript::<G>(game, position)?.0 {
        let Some(next) = position.play(square) else { break };
        position = next.pass_if_forced();
        positions.push(position);
    }
    Ok(positions)
}
