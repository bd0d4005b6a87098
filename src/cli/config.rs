//! `outflank config`: checks a configuration and prints it with all defaults.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::config::{self, Config};

/// Checks a configuration and prints it with every default filled in.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The configuration, a TOML file; all its problems are shown at once. It must be given without
    /// --reference.
    #[arg(value_name = "CONFIG", required_unless_present = "reference")]
    config: Option<PathBuf>,
    /// Change a key, such as `search.simulations=128`; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Print above each key its meaning and the allowed values.
    #[arg(long)]
    explain: bool,
    /// Print the reference page of all keys instead (docs/configuration.md).
    #[arg(long, exclusive = true)]
    reference: bool,
}

/// Runs the subcommand.
///
/// # Errors
///
/// The configuration cannot be read or has problems.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let text = match args.config {
        None => config::reference(),
        Some(path) => {
            let config = Config::load(&path, &args.overrides)?;
            if args.explain { config.explained() } else { config.resolved() }
        }
    };
    print!("{text}");
    Ok(ExitCode::SUCCESS)
}
