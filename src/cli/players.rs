//! `outflank players`: prints the reference of player specifications.

use std::process::ExitCode;

use super::screen;
use crate::players::spec;

/// Prints the reference of player specifications: all kinds and keys, with defaults and ranges
/// (docs/players.md); in Markdown if the output is no terminal
#[derive(clap::Args, Debug)]
pub struct Args {}

/// Runs the subcommand.
///
/// # Errors
///
/// None.
pub fn run(_: &Args) -> anyhow::Result<ExitCode> {
    let page = spec::reference();
    match screen::columns() {
        Some(columns) => print!("{}", screen::plain(&page, columns)),
        None => print!("{page}"),
    }
    Ok(ExitCode::SUCCESS)
}
