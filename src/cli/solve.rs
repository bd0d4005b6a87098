//! `outflank solve`: the exact scores of positions.

mod progress;
mod report;
mod selective;

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read as _, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};

use super::bench::number;
use super::screen;
use crate::game::notation;
use crate::game::{Geometry, Goal, Position, Shape};
use crate::players::spec::EvaluatorSource;
use crate::search::endgame::{SolveGoal, SolveMonitor, Solver};
use crate::search::memory::room_for;
use crate::store::import::text::{self, TextFault};
use crate::store::lines::{BadLines, Line, LineError, Lines, shortened};
use report::{Solved, Total};
use selective::{Selective, SelectiveSolver};

/// Solves positions exactly: the score for the side to move, and a best line.
///
/// Scores are disc differences, and the winner gets the empty squares. The exit code is 2 if a line
/// is not a position. Else it is 1 if a position is not solved within --seconds, or if a score
/// differs from the best one in its line. Else it is 0.
///
/// Two more empty squares take about six times as long. On one core a position with 20 takes about
/// half a second, with 24 ten seconds, with 30 an hour; some take ten times as long. The start of a
/// game cannot be solved. Ctrl-C ends at once.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A file with one position or transcript a line or one drawn board (`-` for standard input),
    /// or one position: its squares, a transcript such as f5d6, or `start`
    #[arg(value_name = "FILE|POSITION", allow_hyphen_values = true)]
    source: String,
    /// Solve only who wins: scores are 1, 0 and -1
    #[arg(long, conflicts_with = "confidence")]
    wld: bool,
    /// Skip lines that a shallow search shows to be irrelevant, each with this confidence in percent.
    /// Much deeper endings can then be searched. A whole score is right less often than a single
    /// skip. It needs an evaluator with Multi-ProbCut. By default scores are exact
    #[arg(long, value_name = "PERCENT", conflicts_with = "seconds",
        value_parser = |text: &str| number(text, 1.0..=99.99, "percent"))]
    confidence: Option<f64>,
    /// Seconds for each position; after that the bounds found so far are shown. By default there is
    /// no limit
    #[arg(long, value_name = "S", value_parser = |text: &str| number(text, 0.001..=31_536_000.0, "seconds"))]
    seconds: Option<f64>,
    /// Threads for each position
    #[arg(long, value_name = "T", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// The board: 8x8, 6x6, 7x7, octagon88 or cross92
    #[arg(long, value_name = "BOARD", default_value = "8x8")]
    shape: Shape,
    /// Who wins: most or fewest discs
    #[arg(long, value_name = "GOAL", default_value = "most")]
    goal: Goal,
    /// The evaluator that decides which moves are tried first: positional, discs, or the path of a
    /// model that is no net. It changes the time, never the score. By default it is the pattern
    /// evaluator that comes with the program; on a board without one it is positional
    #[arg(long, value_name = "NAME|PATH")]
    eval: Option<EvaluatorSource>,
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
  outflank solve examples/positions.obf --confidence 95
  outflank solve --seconds 60 --json - < FILE
  outflank solve f5d6 --seconds 10               # the bounds after ten seconds";

/// Runs the subcommand.
///
/// # Errors
///
/// The file cannot be read, or standard output cannot be written.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    dispatch!(args.shape, G => solve_all::<G>(&args, Source::open::<G>(&args.source)?))
}

/// The input with the positions.
struct Source {
    /// Its name in messages.
    name: String,
    input: Box<dyn BufRead>,
}

impl Source {
    /// A text of several lines that is one position, such as a drawn board, becomes one line.
    fn open<G: Geometry>(given: &str) -> anyhow::Result<Source> {
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
        // A transcript or OBF line never contains a slash or ends in `.obf`.
        if Path::new(given).exists() || given.contains('/') || given.ends_with(".obf") {
            let at = || format!("cannot read {given}");
            let mut file = BufReader::new(File::open(given).with_context(at)?);
            let mut beginning = Vec::new();
            let most = text::LONGEST as u64 + 1;
            file.by_ref().take(most).read_to_end(&mut beginning).with_context(at)?;
            let one = std::str::from_utf8(&beginning).ok().and_then(text::single::<G>);
            let input: Box<dyn BufRead> = match one.filter(|_| beginning.len() < most as usize) {
                Some(written) => Box::new(Cursor::new(notation::obf(written.position()))),
                None => Box::new(Cursor::new(beginning).chain(file)),
            };
            return Ok(Source { name: given.into(), input });
        }
        let name = "the given position (not a file)".into();
        let one = text::single::<G>(given).map(|written| notation::obf(written.position()));
        Ok(Source { name, input: Box::new(Cursor::new(one.unwrap_or_else(|| given.to_owned()))) })
    }
}

fn solve_all<G: Geometry>(args: &Args, source: Source) -> anyhow::Result<ExitCode> {
    let table_bytes = (args.table_mb as usize) << 20;
    room_for(table_bytes as u64).context("--table-mb")?;
    let order =
        args.eval.clone().unwrap_or_else(|| EvaluatorSource::of_solver(G::SHAPE, args.goal));
    let (evaluator, _) = order.open::<G>(args.goal)?;
    let mut selective = SelectiveSolver::new(args, &evaluator)?;
    let mut solver = Solver::with_evaluator(args.goal, &evaluator, table_bytes)
        .with_threads(usize::from(args.threads));
    let (mut total, mut bad) = (Total::default(), BadLines::default());
    let mut warned = false;
    let mut out = std::io::stdout().lock();
    let (name, columns) = (source.name, if args.json { None } else { screen::columns() });
    for line in Lines::new(source.input) {
        let line = line.with_context(|| format!("cannot read {name}"))?;
        match parse::<G>(&line) {
            Ok((position, stated)) => {
                warned = warned || warn(args, line.number, position);
                let solved = match &mut selective {
                    Some(selective) => probable(selective, position, stated),
                    None => solve(&mut solver, args, line.number, position, stated),
                };
                total.add(&solved);
                let line = solved.to_line(args, total.positions);
                writeln!(out, "{}", screen::wrapped(&line, columns, "     "))?;
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

/// The error in a line and its column, counted from 1.
struct Mistake {
    column: usize,
    text: String,
}

/// The position of a line, and its best stated score, if it has scores.
fn parse<G: Geometry>(line: &Line) -> Result<(Position<G>, Option<i32>), Mistake> {
    let at = |offset: usize, text: String| Mistake { column: 1 + line.indent + offset, text };
    let text = match &line.text {
        Ok(text) => text,
        Err(error @ LineError::NotText { offset, .. }) => {
            return Err(at(*offset, error.to_string()));
        }
        Err(error @ LineError::TooLong) => return Err(at(0, error.to_string())),
    };
    parse_text(text).map_err(|fault| at(fault.character - 1, fault.message.to_string()))
}

/// The position of a text (an OBF line, moves from the start, or `start`), and its best stated score,
/// if it has scores.
pub(super) fn parse_text<G: Geometry>(text: &str) -> Result<(Position<G>, Option<i32>), TextFault> {
    if text.eq_ignore_ascii_case("start") {
        return Ok((Position::start(), None));
    }
    match notation::parse_obf::<G>(text) {
        Ok(line) => Ok((line.position, line.best())),
        Err(_) => text::read_line::<G>(text).map(|written| (written.position(), None)),
    }
}

/// Prints a warning if a position may take very long and there is no time limit. Returns whether it
/// did.
fn warn<G: Geometry>(args: &Args, line: usize, position: Position<G>) -> bool {
    let empties = position.board.empties();
    if args.seconds.is_some() || empties < progress::LONG || position.board.is_over() {
        return false;
    }
    let time = progress::about(progress::typical_seconds(empties, args.threads));
    tell!(
        "warning: line {line} has {empties} empty squares, which usually take {time} and may take \
         ten times that; --seconds S sets a limit for each position"
    );
    true
}

fn probable<G: Geometry>(
    solver: &mut SelectiveSolver<G>,
    position: Position<G>,
    expected: Option<i32>,
) -> Solved {
    let Selective { found, nodes, seconds } = solver.solve(position.board);
    let moves = position.board.legal().len() as u32;
    Solved {
        position: notation::obf(position),
        empties: position.board.empties(),
        expected,
        found,
        moves_done: (moves, moves),
        nodes,
        seconds,
    }
}

fn solve<G: Geometry>(
    solver: &mut Solver<G>,
    args: &Args,
    line: usize,
    position: Position<G>,
    stated: Option<i32>,
) -> Solved {
    let board = position.board;
    let goal = if args.wld { SolveGoal::Winner } else { SolveGoal::Score };
    let before = solver.nodes;
    let monitor = SolveMonitor::start(args.seconds.map(Duration::from_secs_f64));
    let title = format!("line {line} ({} empties)", board.empties());
    let result = progress::with_progress::<G, _>(&title, board.empties(), &monitor, || {
        solver.solve(board, goal, &monitor)
    });
    let progress = monitor.progress();
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
        found: report::Found::new::<G>(result),
        moves_done: (progress.moves_done, progress.moves),
        nodes: solver.nodes - before,
        seconds: progress.elapsed.as_secs_f64(),
    }
}
