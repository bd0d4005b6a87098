//! `outflank players`: prints the reference of player specifications.

use std::process::ExitCode;

use crate::players::spec;

/// Prints the reference of player specifications: all kinds and keys, with defaults and ranges
/// (docs/players.md)
#[derive(clap::Args, Debug)]
pub struct Args {}

/// Runs the subcommand.
///
/// # Errors
///
/// None.
pub fn run(_: &Args) -> anyhow::Result<ExitCode> {
    print!("{}", spec::reference());
    Ok(ExitCode::SUCCESS)
}
