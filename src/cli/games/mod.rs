//! `outflank games`: lists, counts, filters and converts games.

mod counts;
mod filter;
mod output;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;

use super::success_on_broken_pipe;
use crate::choices::choices;
use crate::game::{Goal, Shape};
use crate::net::Inputs;
use crate::store::import::{self, Format, Game, GameFile};
use counts::Report;
use filter::{Filter, FilterArgs};
use output::Output;

/// Counts, filters and converts games of runs, archives and other programs.
///
/// A source is a run directory, its `games`, a file, or a folder of files: WTHOR (`.wtb`), GGF
/// (`.ggf`), JSON of this command (`.json`, `.jsonl`), and transcripts, one a line. Without --to the
/// command counts. Games that break the rules or cannot be read are left out; they and unfinished
/// games are counted and named on standard error.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Run directories, folders and files
    #[arg(value_name = "SOURCE", required = true)]
    sources: Vec<PathBuf>,
    /// Write the games: transcript, ggf, obf (a position a line), json, csv, or npz (planes for
    /// NumPy); by default they are counted
    #[arg(long, value_name = "FORMAT")]
    to: Option<To>,
    /// The format of the files: wthor, ggf, json or transcript; by default that of each file's ending
    #[arg(long, value_name = "FORMAT")]
    from: Option<Format>,
    /// A new file, or for npz a folder; by default standard output
    #[arg(long, value_name = "PATH", requires = "to")]
    out: Option<PathBuf>,
    /// The board of transcripts and of --opening: 8x8, 6x6, 7x7, octagon88 or cross92
    #[arg(long, value_name = "BOARD", default_value_t = Shape::Square8)]
    shape: Shape,
    /// Who wins in transcripts: most or fewest discs
    #[arg(long, value_name = "GOAL", default_value_t = Goal::Most)]
    goal: Goal,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    arrays: ArrayArgs,
    /// Name all games that are illegal, unreadable, unfinished or left out, not only the first ten
    /// of a file
    #[arg(long)]
    all: bool,
    /// Print the counts as JSON, an object for each file and one for all
    #[arg(long, conflicts_with = "to")]
    json: bool,
}

/// The options of NumPy files.
#[derive(clap::Args, Debug)]
struct ArrayArgs {
    /// The planes of npz: discs (4) or lookahead (16); by default discs
    #[arg(long, value_name = "PLANES", requires = "to", conflicts_with = "net")]
    planes: Option<Inputs>,
    /// The planes of npz are those of this net: a net file or its folder, a checkpoint, or a run
    /// directory; by default those of --planes
    #[arg(long, value_name = "NET", requires = "to")]
    net: Option<PathBuf>,
    /// The most positions in a file of npz
    #[arg(
        long,
        value_name = "N",
        default_value_t = 250_000,
        value_parser = clap::value_parser!(u32).range(1..=10_000_000),
    )]
    positions: u32,
}

choices! {
    /// A format that games are written in.
    pub enum To {
        /// A transcript on each line.
        #[default]
        Transcript = "transcript",
        /// The Generic Game Format.
        Ggf = "ggf",
        /// A position on each line.
        Obf = "obf",
        /// A game with all its numbers on each line.
        Json = "json",
        /// A row for each game.
        Csv = "csv",
        /// Planes and targets for NumPy.
        Npz = "npz",
    }
}

/// Runs the subcommand.
///
/// # Errors
///
/// A source cannot be read, a filter is wrong, or the output cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let is_npz = args.to == Some(To::Npz);
    if !is_npz && (args.arrays.planes.is_some() || args.arrays.net.is_some()) {
        bail!("--planes and --net are for --to npz");
    }
    let mut files = Vec::new();
    for source in &args.sources {
        files.extend(import::files(source, args.from)?);
    }
    let filter = Filter::new(&args.filter, args.shape)?;
    let skipped = match args.filter.last {
        Some(last) => count(args, &files, &filter)?.saturating_sub(last),
        None => 0,
    };
    let output = Output::open(args)?;
    let mut work =
        Work { args, filter, skipped, matched: 0, output, report: Report::new(args.all) };
    for file in &files {
        if !work.file(file)? {
            break;
        }
    }
    let Work { output, report, .. } = work;
    if args.to.is_none() {
        report.print(args.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    report.tell();
    match output.finish() {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => closed_pipe(error),
    }
}

/// The number of games that the filter accepts.
fn count(args: &Args, files: &[GameFile], filter: &Filter) -> anyhow::Result<u64> {
    let mut games = 0;
    for file in files {
        for found in file.games(args.shape, args.goal)? {
            games += u64::from(found?.game.is_ok_and(|game| filter.accepts(&game)));
        }
    }
    Ok(games)
}

/// Success if an error is a closed pipe.
fn closed_pipe(error: anyhow::Error) -> anyhow::Result<ExitCode> {
    success_on_broken_pipe(error.downcast::<std::io::Error>()?)
}

struct Work<'a> {
    args: &'a Args,
    filter: Filter,
    /// Matching games before the last ones that are wanted.
    skipped: u64,
    matched: u64,
    output: Output,
    report: Report,
}

impl Work<'_> {
    /// Reads a file. Returns whether more games are wanted.
    fn file(&mut self, file: &GameFile) -> anyhow::Result<bool> {
        self.report.begin(file);
        for found in file.games(self.args.shape, self.args.goal)? {
            let found = found?;
            match found.game {
                Err(fault) => self.report.fault(found.number, &fault),
                Ok(game) if !self.filter.accepts(&game) => {}
                Ok(game) => {
                    self.matched += 1;
                    if self.matched > self.skipped {
                        self.game(file, found.number, &game)?;
                    }
                    if self.args.filter.first.is_some_and(|first| self.matched >= first) {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    fn game(&mut self, file: &GameFile, number: u64, game: &Game) -> anyhow::Result<()> {
        self.report.game(number, game);
        match self.output.write(&file.path, game)? {
            Ok(()) => {}
            Err(left_out) => self.report.left_out(number, left_out),
        }
        Ok(())
    }
}
