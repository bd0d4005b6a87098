//! `outflank solve`: what positions are worth under perfect play.

mod progress;
mod report;

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};

use super::bench::number;
use crate::game::notation::{self, NotationError};
use crate::game::{Geometry, Goal, Position, Shape};
use crate::search::endgame::{SolveGoal, Solver, Watch};
use crate::store::lines::{BadLines, Line, LineError, Lines, shortened};
use report::{Solved, Total};

/// Solves positions exactly: the score for the side to move, and a best line.
///
/// Scores are disc differences with the empty squares to the winner. The exit code is 2 if a line
/// is no position. Else it is 1 if a position is not solved within --seconds, or if a score differs
/// from the best one that its line states. Else it is 0.
///
/// Two more empty squares take about six times as long. On one core a position with 20 takes about
/// half a second, with 24 ten seconds, with 30 an hour; some take ten times as long. The start of a
/// game is out of reach. Ctrl-C ends at once.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A file with one OBF position or transcript a line (`-` for standard input), or one
    /// position: an OBF line, a transcript such as f5d6, or `start`
    #[arg(value_name = "FILE|POSITION")]
    source: String,
    /// Find out who wins and nothing more: scores are 1, 0 and -1
    #[arg(long)]
    wld: bool,
    /// Seconds for each position; of one that takes longer, what is known by then is shown. By
    /// default there is no limit
    #[arg(long, value_name = "S", value_parser = |text: &str| number(text, 0.001..=31_536_000.0, "seconds"))]
    seconds: Option<f64>,
    /// Threads for each position
    #[arg(long, value_name = "T", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Board: 8x8, 6x6, 7x7, octagon88 or cross92
    #[arg(long, value_name = "BOARD", default_value = "8x8")]
    shape: Shape,
    /// Who wins: `most` or `fewest` discs
    #[arg(long, value_name = "GOAL", default_value = "most")]
    goal: Goal,
    /// Size of the transposition table in MiB
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65536))]
    table_mb: u32,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  outflank solve examples/positions.obf --threads 2
  outflank solve --seconds 60 --json - < FILE
  outflank solve f5d6 --seconds 10               # what can be said after ten seconds";

/// Runs the subcommand.
///
/// # Errors
///
/// The file cannot be read, or standard output cannot be written.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let source = Source::open(&args.source)?;
    dispatch!(args.shape, G => solve_all::<G>(&args, source))
}

/// Where positions come from.
struct Source {
    /// Its name in messages.
    name: String,
    input: Box<dyn BufRead>,
}

impl Source {
    fn open(given: &str) -> anyhow::Result<Source> {
        if given.trim().is_empty() {
            bail!(
                "the position is empty; give a file, `-` for standard input, an OBF line, a \
                 transcript such as f5d6, or `start`"
            );
        }
        if given == "-" {
            let input = Box::new(std::io::stdin().lock());
            return Ok(Source { name: "standard input".into(), input });
        }
        // Neither a transcript nor an OBF line holds a slash or ends like a file name.
        if Path::new(given).exists() || given.contains('/') || given.ends_with(".obf") {
            let file = File::open(given).with_context(|| format!("cannot read {given}"))?;
            return Ok(Source { name: given.into(), input: Box::new(BufReader::new(file)) });
        }
        let name = "the position given, which names no file".into();
        Ok(Source { name, input: Box::new(Cursor::new(given.to_owned())) })
    }
}

fn solve_all<G: Geometry>(args: &Args, source: Source) -> anyhow::Result<ExitCode> {
    let table_bytes = (args.table_mb as usize) << 20;
    let mut solver =
        Solver::<G>::new(args.goal, table_bytes).with_threads(usize::from(args.threads));
    let (mut total, mut bad) = (Total::default(), BadLines::default());
    let mut warned = false;
    let mut out = std::io::stdout().lock();
    let name = source.name;
    for line in Lines::new(source.input) {
        let line = line.with_context(|| format!("cannot read {name}"))?;
        match parse::<G>(&line) {
            Ok((position, stated)) => {
                warned = warned || warn(args, line.number, position);
                let solved = solve(&mut solver, args, line.number, position, stated);
                total.add(&solved);
                writeln!(out, "{}", solved.shown(args, total.positions))?;
                out.flush()?;
            }
            Err(Mistake { column, text }) => {
                if let Some(bad) = bad.note(line.number, text) {
                    tell!("error: {name}:{}:{column}: {}", bad.line, shortened(&bad.problem));
                }
            }
        }
    }
    if bad.more() > 0 {
        tell!("error: {name}: {} more bad lines", bad.more());
    }
    total.bad = bad.count();
    if args.json {
        tell!("{total}");
    } else {
        writeln!(out, "{total}")?;
    }
    Ok(ExitCode::from(total.exit_code()))
}

/// What is wrong with a line, and in which column.
struct Mistake {
    column: usize,
    text: String,
}

/// A position, and the best score that the line states for it.
fn parse<G: Geometry>(line: &Line) -> Result<(Position<G>, Option<i32>), Mistake> {
    let at = |offset: usize, text: String| Mistake { column: 1 + line.indent + offset, text };
    let text = match &line.text {
        Ok(text) => text,
        Err(error @ LineError::NotText { offset, .. }) => {
            return Err(at(*offset, error.to_string()));
        }
        Err(error @ LineError::TooLong) => return Err(at(0, error.to_string())),
    };
    parse_text(text).map_err(|error| at(offset(&error, text), error.to_string()))
}

fn parse_text<G: Geometry>(text: &str) -> Result<(Position<G>, Option<i32>), NotationError> {
    if text.eq_ignore_ascii_case("start") {
        return Ok((Position::start(), None));
    }
    if notation::is_transcript(text) {
        return Ok((notation::parse_transcript(text, Position::start())?.1, None));
    }
    let line = notation::parse_obf::<G>(text)?;
    Ok((line.position, line.best()))
}

/// Where in a text the error is.
fn offset(error: &NotationError, text: &str) -> usize {
    match error {
        NotationError::NoSquare { offset, .. }
        | NotationError::IllegalMove { offset, .. }
        | NotationError::IllegalPass { offset }
        | NotationError::NoDisc { offset, .. } => *offset,
        NotationError::WrongLength { .. } => 0,
        NotationError::NoSide { .. } => {
            text.find(char::is_whitespace).map_or(text.len(), |at| at + 1)
        }
        NotationError::NoScore { text: score } => text.find(&**score).unwrap_or(0),
    }
}

/// Warns of a position that may take very long, unless there is a time limit; whether it did.
fn warn<G: Geometry>(args: &Args, line: usize, position: Position<G>) -> bool {
    let empties = position.board.empties();
    if args.seconds.is_some() || empties < progress::LONG {
        return false;
    }
    let time = progress::about(progress::usual_seconds(empties, args.threads));
    tell!(
        "warning: line {line} has {empties} empty squares, which usually take {time} and may take \
         ten times that; --seconds S sets a limit for each position"
    );
    true
}

fn solve<G: Geometry>(
    solver: &mut Solver<G>,
    args: &Args,
    line: usize,
    position: Position<G>,
    stated: Option<i32>,
) -> Solved {
    let board = position.board;
    let question = if args.wld { SolveGoal::Winner } else { SolveGoal::Score };
    let before = solver.nodes;
    let watch = Watch::start(args.seconds.map(Duration::from_secs_f64));
    let title = format!("line {line} ({} empties)", board.empties());
    let answer = progress::shown::<G, _>(&title, board.empties(), &watch, || {
        solver.answer(board, question, &watch)
    });
    let progress = watch.progress();
    tracing::debug!(
        "{title}: {} of {} moves done in {:.3} s, {} nodes with the best line",
        progress.moves_done,
        progress.moves,
        progress.elapsed.as_secs_f64(),
        solver.nodes - before
    );
    Solved {
        position: notation::obf(position),
        empties: board.empties(),
        expected: stated.map(|stated| if args.wld { stated.signum() } else { stated }),
        found: report::Found::new::<G>(answer),
        moves_done: (progress.moves_done, progress.moves),
        nodes: solver.nodes - before,
        seconds: progress.elapsed.as_secs_f64(),
    }
}
