//! The command line: one file per subcommand, each thin.
//!
//! Standard output carries data; progress and logs go to standard error. Exit codes: 0 yes,
//! 1 a negative answer, 2 an error.

#![deny(clippy::print_stderr)]

/// Writes a line to standard error, above a run's progress bar; whether anybody reads there must
/// not matter to the work.
macro_rules! tell {
    ($($message:tt)*) => {{
        use std::io::Write as _;
        let _ = crate::telemetry::above_bar(|| writeln!(std::io::stderr(), $($message)*));
    }};
}

mod arena;
mod bench;
mod config;
mod contest;
mod doctor;
mod eval;
mod export;
mod interrupt;
mod log;
mod loss;
mod machine;
mod manual;
mod perft;
mod play;
mod runs;
mod serve;
mod solve;
mod train;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::game::notation::excerpt;

/// Learns Othello by playing against itself, and measures what it has learnt.
#[derive(Parser, Debug)]
#[command(name = "outflank", version, propagate_version = true, after_help = ENVIRONMENT)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const ENVIRONMENT: &str = "\
Environment:
  OUTFLANK_LOG  how much is logged to standard error: off, error, warn, info, debug or trace, or a
                level for a module, such as outflank::net=debug [default: info]

Exit codes:
  0 yes, 1 a negative answer, 2 an error, 130 work that Ctrl-C left unfinished";

// Made once in a process: its size does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Subcommand, Debug)]
enum Command {
    Train(train::Args),
    Eval(eval::Args),
    Arena(Box<arena::Args>),
    Loss(loss::Args),
    Play(play::Args),
    Export(export::Args),
    Runs(runs::Args),
    Config(config::Args),
    Doctor(doctor::Args),
    Perft(perft::Args),
    Solve(solve::Args),
    Bench(bench::Args),
    /// Plays behind the NBoard protocol, for graphical boards that speak it
    Nboard(serve::Args),
    /// Plays behind the Go Text Protocol, as Othello programs use it
    Gtp(serve::Args),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
}

/// Characters of an error that are shown.
const LONGEST_ERROR: usize = 40_000;

/// Parses the arguments of the process, runs the subcommand, and reports an error in one place.
pub fn main() -> ExitCode {
    machine::refuse_foreign_build().unwrap_or_else(parse_and_run)
}

// Out of line, so that none of its instructions comes before the check of the processor.
#[inline(never)]
fn parse_and_run() -> ExitCode {
    end_quietly_with_the_reader();
    let cli = Cli::parse();
    log::start();
    match run(cli.command) {
        Ok(code) => code,
        Err(error) => {
            // A library's message may show a whole text of a file.
            tell!("error: {}", excerpt(&format!("{error:#}"), LONGEST_ERROR));
            ExitCode::from(2)
        }
    }
}

/// An error with what caused it, as the program shows the one that ends it.
fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// Ends the process silently when the reader of its output is gone, as in `| head`.
///
/// The standard library turns a closed pipe into a panic of the printing macros.
fn end_quietly_with_the_reader() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or_default();
        if message.starts_with("failed printing to stdout") && message.contains("Broken pipe") {
            interrupt::leave(0);
        }
        report(panic);
    }));
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Doctor(args) => doctor::run(args),
        Command::Perft(args) => perft::run(args),
        Command::Solve(args) => solve::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Config(args) => config::run(args),
        Command::Export(args) => export::run(args),
        Command::Runs(args) => runs::run(args),
        Command::Train(args) => train::run(args),
        Command::Arena(args) => arena::run(*args),
        Command::Eval(args) => eval::run(args),
        Command::Loss(args) => loss::run(&args),
        Command::Play(args) => play::run(args),
        Command::Nboard(args) => serve::run_nboard(args),
        Command::Gtp(args) => serve::run_gtp(args),
        Command::Completions(args) => manual::run_completions(&args, Cli::command()),
        Command::Man(args) => manual::run_man(&args, Cli::command()),
    }
}
