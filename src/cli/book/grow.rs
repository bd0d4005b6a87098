//! `outflank book build` and `grow`: searches positions and adds them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::bail;
use indicatif::ProgressBar;

use super::super::bench::number;
use super::super::contest::progress_bar;
use super::super::interrupt::{INTERRUPTED, stop_flag};
use super::super::machine::cores;
use super::{lock, read, summary};
use crate::game::{Geometry, Goal, Shape};
use crate::players::book::{Grower, Growth};
use crate::players::kinds::AlphaBetaPlayer;
use crate::players::spec::{AlphaBetaSpec, PlayerKind, PlayerSpec, ThinkingLimit};
use crate::store::book::{Book, Header};

/// The depth of the default player.
const DEPTH: u32 = 12;
/// The default player solves positions with so many empty squares.
const SOLVE_EMPTIES: u32 = 18;
/// The time between two saves.
const SAVE_AFTER: Duration = Duration::from_secs(60);

/// Builds a new book from the start position.
///
/// Positions are added one by one: the one after the leaf move whose line loses the fewest discs
/// against the best play of both sides, plus a penalty for each move. The book is saved once a
/// minute. Ctrl-C saves it and ends; `outflank book grow` continues.
#[derive(clap::Args, Debug)]
pub struct BuildArgs {
    /// The file of the book, which must not exist
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The board: 8x8, 6x6, 7x7, octagon88 or cross92
    #[arg(long, value_name = "BOARD", default_value = "8x8")]
    shape: Shape,
    /// Who wins: most or fewest discs
    #[arg(long, value_name = "GOAL", default_value = "most")]
    goal: Goal,
    #[command(flatten)]
    growth: GrowthArgs,
}

/// Searches what needs a search in a book, and adds positions.
///
/// After `import` and `merge`, positions may need a search; these come first. `--positions 0` adds
/// none. The book is saved once a minute. Ctrl-C saves it and ends; the same command continues.
#[derive(clap::Args, Debug)]
pub struct GrowArgs {
    /// The file of the book
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    growth: GrowthArgs,
}

/// How a book grows.
#[derive(clap::Args, Debug)]
struct GrowthArgs {
    /// Positions to add
    #[arg(long, value_name = "N", default_value_t = 1000)]
    positions: usize,
    /// The player that searches: `alphabeta` with a depth, nodes or a time for each move; by default
    /// to depth 12 with the best evaluator that comes with the program, and exact from 18 empty
    /// squares on
    #[arg(long, value_name = "SPEC")]
    player: Option<PlayerSpec>,
    /// No position is added after more moves than this
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=92))]
    plies: u32,
    /// The discs that each move of a line adds to its cost. With less the book is deep and narrow,
    /// with more it is broad
    #[arg(long, value_name = "DISCS", default_value_t = 0.5,
        value_parser = |text: &str| number(text, 0.01..=64.0, "discs"))]
    penalty: f64,
    /// Threads, each with a position of its own; by default one for each core
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
}

/// Runs `build`.
///
/// # Errors
///
/// The file exists or cannot be written, or the player cannot be used.
pub fn build(args: &BuildArgs) -> anyhow::Result<ExitCode> {
    if args.file.exists() {
        let file = args.file.display();
        bail!("{file} exists; name a new file, or let it grow with `outflank book grow {file}`");
    }
    let _lock = lock(&args.file)?;
    dispatch!(args.shape, G => {
        let mut grower = args.growth.grower::<G>(args.goal, 0)?;
        run_growth(&args.file, Book::<G>::new(args.goal), &mut grower, args.growth.positions)
    })
}

/// Runs `grow`.
///
/// # Errors
///
/// The book cannot be read or written, or the player cannot be used.
pub fn grow(args: &GrowArgs) -> anyhow::Result<ExitCode> {
    let _lock = lock(&args.file)?;
    let header = Header::read(&args.file)?;
    dispatch!(header.shape, G => {
        let book = read::<G>(&args.file, header)?;
        let mut grower = args.growth.grower::<G>(header.goal, book.len())?;
        run_growth(&args.file, book, &mut grower, args.growth.positions)
    })
}

impl GrowthArgs {
    /// What lets a book of this size grow.
    fn grower<G: Geometry>(
        &self,
        goal: Goal,
        size: usize,
    ) -> anyhow::Result<Grower<AlphaBetaPlayer<G>>> {
        let most = Book::<G>::capacity();
        let positions = size.saturating_add(self.positions);
        if positions > most {
            bail!("the book would have {positions} positions; allowed: {most} on this board");
        }
        let growth = Growth { penalty: self.penalty as f32, plies: self.plies, positions };
        let spec = self.spec()?;
        let (evaluator, _) = spec.evaluator.open::<G>(goal)?;
        let player = |_| {
            let name = "book".into();
            AlphaBetaPlayer::new(name, goal, &evaluator, spec.clone()).map_err(anyhow::Error::from)
        };
        let threads = self.threads.map_or_else(cores, usize::from);
        let players = (0..threads).map(player).collect::<anyhow::Result<Vec<_>>>()?;
        Ok(Grower::new(players, growth))
    }

    fn spec(&self) -> anyhow::Result<AlphaBetaSpec> {
        let Some(given) = &self.player else {
            return Ok(AlphaBetaSpec {
                limit: ThinkingLimit::Depth(DEPTH),
                solve_empties: SOLVE_EMPTIES,
                ..AlphaBetaSpec::default()
            });
        };
        match &given.kind {
            PlayerKind::AlphaBeta(spec)
                if given.book.is_none() && !matches!(spec.limit, ThinkingLimit::GameTime(_)) =>
            {
                Ok(spec.clone())
            }
            _ => bail!(
                "player `{given}` cannot search for a book; allowed: alphabeta without `gametime` \
                 and `book`, such as alphabeta:depth=12"
            ),
        }
    }
}

/// Lets a book grow until it has `wanted` more positions, nothing is left to add, or Ctrl-C comes.
fn run_growth<G: Geometry>(
    path: &Path,
    mut book: Book<G>,
    grower: &mut Grower<AlphaBetaPlayer<G>>,
    wanted: usize,
) -> anyhow::Result<ExitCode> {
    let stop = stop_flag();
    // First, so that a file that cannot be written costs no search.
    book.write(path)?;
    let bar = progress_bar("book", wanted as u64, "positions");
    let (mut saved, mut added) = (Instant::now(), 0);
    loop {
        let progress = grower.step(&mut book, stop);
        added += progress.added;
        advance(&bar, added, progress.searched - progress.added);
        if progress.searched == 0 || stop.load(Ordering::Relaxed) {
            break;
        }
        if saved.elapsed() >= SAVE_AFTER {
            book.write(path)?;
            saved = Instant::now();
        }
    }
    bar.finish_and_clear();
    book.write(path)?;
    println!("{}", summary(path, &book));
    if stop.load(Ordering::Relaxed) {
        tell!("stopped after {added} new positions; the book is saved, and `book grow` continues");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    if added < wanted {
        tell!("{added} new positions: no more lines of this length can be added; see --plies");
    }
    Ok(ExitCode::SUCCESS)
}

fn advance(bar: &ProgressBar, added: usize, again: usize) {
    bar.set_position(added as u64);
    if again > 0 {
        bar.set_message(format!("book, {again} again"));
    }
}
