//! The `outflank` program: parses the command line and runs a subcommand.

use std::process::ExitCode;

fn main() -> ExitCode {
    outflank::cli::main()
}
