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
mod loss;
mod machine;
mod perft;
mod play;
mod runs;
mod serve;
mod solve;
mod train;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Learns Othello by playing against itself, and measures what it has learnt.
#[derive(Parser, Debug)]
#[command(name = "outflank", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

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
}

/// Parses the arguments of the process, runs the subcommand, and reports an error in one place.
pub fn main() -> ExitCode {
    machine::refuse_foreign_build().unwrap_or_else(parse_and_run)
}

// Out of line, so that none of its instructions comes before the check of the processor.
#[inline(never)]
fn parse_and_run() -> ExitCode {
    end_quietly_with_the_reader();
    let cli = Cli::parse();
    let level = tracing_subscriber::EnvFilter::builder()
        .with_default_directive(tracing::level_filters::LevelFilter::INFO.into())
        .with_env_var("OUTFLANK_LOG")
        .from_env_lossy();
    tracing_subscriber::fmt()
        .with_env_filter(level)
        .with_writer(|| crate::telemetry::Messages)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_target(false)
        .without_time()
        // A log that nobody can read any more is no reason to panic.
        .log_internal_errors(false)
        .init();
    match run(cli.command) {
        Ok(code) => code,
        Err(error) => {
            tell!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Ends the process without a word when whoever read its output has gone, as in `| head`.
///
/// The standard library turns a closed pipe into a panic of the printing macros.
fn end_quietly_with_the_reader() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or_default();
        if message.starts_with("failed printing to stdout") && message.contains("Broken pipe") {
            std::process::exit(0);
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
    }
}
