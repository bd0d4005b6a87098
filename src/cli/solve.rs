//! `outflank solve`: what positions are worth under perfect play.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use serde_json::json;

use crate::game::notation::{self, NotationError};
use crate::game::{Geometry, Goal, Position, Shape};
use crate::search::endgame::Solver;
use crate::store::{self, limits};

/// Solves positions exactly: the score for the side to move, and a best line.
///
/// Scores are disc differences with the empty squares to the winner. The exit code is 1 if a
/// score differs from the best one that its line states, and 2 if a line is no position.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A file with one OBF position a line (`-` for standard input), or one position: an OBF
    /// line, a transcript such as f5d6, or `start`
    #[arg(value_name = "FILE|POSITION")]
    source: String,
    /// Find out who wins and nothing more: scores are 1, 0 and -1
    #[arg(long)]
    wld: bool,
    /// Threads for each position
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Board: 8x8, 6x6, 7x7, octagon88 or cross92
    #[arg(long, default_value = "8x8")]
    shape: Shape,
    /// Who wins: `most` or `fewest` discs
    #[arg(long, default_value = "most")]
    goal: Goal,
    /// Size of the transposition table in MiB
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65536))]
    table_mb: u32,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
///
/// # Errors
///
/// The file cannot be read, or standard output cannot be written.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (name, text) = read(&args.source)?;
    dispatch!(args.shape, G => solve_all::<G>(&args, &name, &text))
}

/// What the positions come from, for messages, and their text.
fn read(source: &str) -> anyhow::Result<(String, String)> {
    if source == "-" {
        let text = store::read_text(std::io::stdin(), limits::POSITIONS);
        return Ok(("standard input".into(), text.context("standard input")?));
    }
    // Neither a transcript nor an OBF line holds a slash or ends like a file name.
    if Path::new(source).is_file() || source.contains('/') || source.ends_with(".obf") {
        let bytes = store::read(Path::new(source), limits::POSITIONS)?;
        let text = String::from_utf8(bytes).with_context(|| source.to_owned())?;
        return Ok((source.into(), text));
    }
    Ok(("the position given, which names no file".into(), source.into()))
}

/// What became of all positions.
#[derive(Default)]
struct Total {
    solved: u32,
    stated: u32,
    different: u32,
    bad: u32,
    nodes: u64,
    seconds: f64,
}

fn solve_all<G: Geometry>(args: &Args, name: &str, text: &str) -> anyhow::Result<ExitCode> {
    let table_bytes = (args.table_mb as usize) << 20;
    let mut solver =
        Solver::<G>::new(args.goal, table_bytes).with_threads(usize::from(args.threads));
    let mut total = Total::default();
    let mut out = std::io::stdout().lock();
    for (index, line) in text.lines().enumerate() {
        let content = line.trim();
        if content.is_empty() || content.starts_with(['#', '%']) {
            continue;
        }
        match parse::<G>(content) {
            Ok((position, stated)) => {
                let solved = solve(&mut solver, args, position, stated);
                total.add(&solved);
                writeln!(out, "{}", solved.shown(args, total.solved))?;
                out.flush()?;
            }
            Err(error) => {
                total.bad += 1;
                let column = 1 + (line.len() - line.trim_start().len()) + offset(&error, content);
                tell!("error: {name}:{}:{column}: {error}", index + 1);
            }
        }
    }
    if args.json {
        tell!("{total}");
    } else {
        writeln!(out, "{total}")?;
    }
    Ok(ExitCode::from(total.exit_code()))
}

/// A position, and the best score that the text states for it.
fn parse<G: Geometry>(text: &str) -> Result<(Position<G>, Option<i32>), NotationError> {
    if text.eq_ignore_ascii_case("start") {
        return Ok((Position::start(), None));
    }
    if notation::is_transcript(text) {
        return Ok((notation::parse_transcript(text, Position::start())?.1, None));
    }
    let line = notation::parse_obf::<G>(text)?;
    Ok((line.position, line.best()))
}

/// Where in a line the error is.
fn offset(error: &NotationError, line: &str) -> usize {
    match error {
        NotationError::NoSquare { offset, .. }
        | NotationError::IllegalMove { offset, .. }
        | NotationError::IllegalPass { offset }
        | NotationError::NoDisc { offset, .. } => *offset,
        NotationError::WrongLength { .. } => 0,
        NotationError::NoSide { .. } => {
            line.find(char::is_whitespace).map_or(line.len(), |at| at + 1)
        }
        NotationError::NoScore { text } => line.find(&**text).unwrap_or(0),
    }
}

/// One solved position.
struct Solved {
    position: String,
    empties: u32,
    score: i32,
    expected: Option<i32>,
    line: String,
    nodes: u64,
    seconds: f64,
}

fn solve<G: Geometry>(
    solver: &mut Solver<G>,
    args: &Args,
    position: Position<G>,
    stated: Option<i32>,
) -> Solved {
    let (nodes, started) = (solver.nodes, Instant::now());
    let (score, line) = if args.wld {
        solver.winning_line(position.board)
    } else {
        solver.best_line(position.board)
    };
    Solved {
        position: notation::obf(position),
        empties: position.board.empties(),
        score,
        expected: stated.map(|stated| if args.wld { stated.signum() } else { stated }),
        line: notation::transcript::<G>(line),
        nodes: solver.nodes - nodes,
        seconds: started.elapsed().as_secs_f64(),
    }
}

impl Solved {
    fn differs(&self) -> bool {
        self.expected.is_some_and(|expected| expected != self.score)
    }

    fn rate(&self) -> f64 {
        self.nodes as f64 / self.seconds.max(1e-9)
    }

    fn shown(&self, args: &Args, number: u32) -> String {
        if args.json {
            let line = json!({
                "version": 1,
                "shape": args.shape.name(),
                "goal": args.goal.name(),
                "wld": args.wld,
                "position": self.position,
                "empties": self.empties,
                "score": self.score,
                "expected": self.expected,
                "agrees": self.expected.map(|_| !self.differs()),
                "line": self.line,
                "nodes": self.nodes,
                "seconds": self.seconds,
                "nodes_per_second": self.rate(),
            });
            return line.to_string();
        }
        let verdict = match self.expected {
            None => String::new(),
            Some(_) if !self.differs() => " as stated".into(),
            Some(expected) => format!(" BUT {expected:+} is stated"),
        };
        let Solved { empties, score, line, nodes, seconds, .. } = self;
        let rate = self.rate() / 1e6;
        format!(
            "{number:>3}: {empties:>2} empties, score {score:+}{verdict}, {nodes} nodes, \
             {seconds:.3} s, {rate:.1} M nodes/s, {line}"
        )
    }
}

impl Total {
    fn add(&mut self, solved: &Solved) {
        self.solved += 1;
        self.stated += u32::from(solved.expected.is_some());
        self.different += u32::from(solved.differs());
        self.nodes += solved.nodes;
        self.seconds += solved.seconds;
    }

    fn exit_code(&self) -> u8 {
        match (self.bad, self.different) {
            (0, 0) => 0,
            (0, _) => 1,
            _ => 2,
        }
    }
}

impl std::fmt::Display for Total {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Total { solved, stated, different, bad, nodes, seconds } = self;
        let agree = stated - different;
        let rate = *nodes as f64 / seconds.max(1e-9) / 1e6;
        write!(f, "total: {solved} positions, {agree} of {stated} stated scores agree")?;
        if *bad > 0 {
            write!(f, ", {bad} bad lines")?;
        }
        write!(f, ", {nodes} nodes, {seconds:.3} s, {rate:.1} M nodes/s")
    }
}
