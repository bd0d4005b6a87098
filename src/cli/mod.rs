//! The command line: one file per subcommand, each thin.
//!
//! Standard output carries data; progress and logs go to standard error. Exit codes: 0 yes,
//! 1 a negative answer, 2 an error.

mod arena;
mod contest;
mod doctor;
mod machine;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Learns Othello by playing against itself, and measures what it has learnt.
#[derive(Parser, Debug)]
#[command(name = "outflank", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Doctor(doctor::Args),
    Arena(arena::Args),
}

/// Parses the arguments of the process, runs the subcommand, and reports an error in one place.
pub fn main() -> ExitCode {
    machine::refuse_foreign_build().unwrap_or_else(parse_and_run)
}

// Out of line, so that none of its instructions comes before the check of the processor.
#[inline(never)]
fn parse_and_run() -> ExitCode {
    let cli = Cli::parse();
    match run(cli.command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Doctor(args) => doctor::run(args),
        Command::Arena(args) => arena::run(args),
    }
}
