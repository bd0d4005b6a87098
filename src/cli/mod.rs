//! The command line, with one file per subcommand.
//!
//! Results go to standard output; progress and logs go to standard error. Exit codes: 0 success,
//! 1 a negative answer, 2 an error, 130 an interrupt.

#![deny(clippy::print_stderr)]

/// Writes a line to standard error, above a run's progress bar.
macro_rules! tell {
    ($($message:tt)*) => {
        crate::telemetry::tell(format_args!($($message)*))
    };
}

mod analyse;
mod arena;
mod bench;
mod book;
mod config;
mod contest;
mod doctor;
mod eval;
mod export;
mod game_args;
mod games;
mod interrupt;
mod library;
mod log;
mod loss;
mod machine;
mod manual;
mod perft;
mod play;
mod players;
mod runs;
mod screen;
mod serve;
mod server_args;
mod show;
mod solve;
mod span;
mod train;
mod web;
mod worker;

use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::game::notation::excerpt;
use crate::players::spec::{AlphaBetaSpec, PlayerKind};

/// Learns Othello by self-play, and measures the strength of players.
#[derive(Parser, Debug)]
#[command(name = "outflank", version, propagate_version = true, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
`outflank players` explains players, such as alphabeta:depth=6 or net:runs/quick,simulations=400.
`outflank config --reference` explains the keys of a configuration.

Environment:
  OUTFLANK_LOG  the level of the log on standard error: off, error, warn, info, debug or trace, or a
                level for a module, such as outflank::net=debug [default: info]

Exit codes:
  0 success, 1 a negative answer, 2 an error, 130 Ctrl-C left work unfinished";

// There is one value in a process, so its size does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Subcommand, Debug)]
enum Command {
    Train(train::Args),
    Eval(eval::Args),
    Arena(Box<arena::Args>),
    Loss(loss::Args),
    Play(play::Args),
    Analyse(Box<analyse::Args>),
    Export(export::Args),
    Games(Box<games::Args>),
    Library(Box<library::Args>),
    Show(show::Args),
    Runs(runs::Args),
    Config(config::Args),
    Players(players::Args),
    Doctor(doctor::Args),
    Perft(perft::Args),
    Solve(solve::Args),
    Bench(bench::Args),
    Book(book::Args),
    /// Plays through the NBoard protocol, for graphical boards
    Nboard(serve::Args),
    /// Plays through the Go Text Protocol (GTP), as Othello programs use it
    Gtp(serve::Args),
    Web(web::Args),
    Worker(worker::Args),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
}

/// An error message is cut after this many characters.
const MAX_ERROR_CHARS: usize = 40_000;

/// Parses the process's arguments, runs the subcommand, and reports its error.
pub fn main() -> ExitCode {
    machine::refuse_foreign_build().unwrap_or_else(parse_and_run)
}

// Not inlined, so that none of its instructions runs before the check of the CPU.
#[inline(never)]
fn parse_and_run() -> ExitCode {
    exit_silently_on_broken_pipe();
    let cli = Cli::parse();
    log::start();
    match run(cli.command) {
        Ok(code) => code,
        Err(error) => {
            // A library's message may contain a whole file.
            tell!("error: {}", excerpt(&format!("{error:#}"), MAX_ERROR_CHARS));
            ExitCode::from(2)
        }
    }
}

/// Says how to play against the evaluator of a model.
fn tell_how_to_play(model: &Path) {
    let player = PlayerKind::AlphaBeta(AlphaBetaSpec::with_model(model.to_path_buf(), 8));
    tell!("play against it with: outflank play {player}");
}

/// Ends the process silently when the pipe that reads its output is closed, as in `| head`.
///
/// The printing macros of the standard library panic on a closed pipe.
fn exit_silently_on_broken_pipe() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or_default();
        if message.starts_with("failed printing to stdout") && message.contains("Broken pipe") {
            interrupt::exit_now(0);
        }
        report(panic);
    }));
}

/// Success if the error is a closed pipe, for subcommands that get it as an error.
fn success_on_broken_pipe(error: std::io::Error) -> anyhow::Result<ExitCode> {
    match error.kind() {
        std::io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        _ => Err(error.into()),
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Doctor(args) => doctor::run(args),
        Command::Perft(args) => perft::run(args),
        Command::Solve(args) => solve::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Book(args) => book::run(args),
        Command::Config(args) => config::run(args),
        Command::Players(args) => players::run(&args),
        Command::Export(args) => export::run(args),
        Command::Games(args) => games::run(&args),
        Command::Library(args) => library::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Runs(args) => runs::run(args),
        Command::Train(args) => train::run(args),
        Command::Arena(args) => arena::run(*args),
        Command::Eval(args) => eval::run(args),
        Command::Loss(args) => loss::run(args),
        Command::Play(args) => play::run(args),
        Command::Analyse(args) => analyse::run(*args),
        Command::Nboard(args) => serve::run_nboard(args),
        Command::Gtp(args) => serve::run_gtp(args),
        Command::Web(args) => web::run(args),
        Command::Worker(args) => worker::run(args),
        Command::Completions(args) => manual::run_completions(&args, Cli::command()),
        Command::Man(args) => manual::run_man(&args, Cli::command()),
    }
}

#[cfg(test)]
mod help_tests;
