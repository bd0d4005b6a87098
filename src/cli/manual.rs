//! `outflank completions` and `outflank man`: shell completions and manual pages.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Command;
use clap_complete::Shell;

use crate::store;

/// The program's name.
const NAME: &str = "outflank";

const WHERE: &str = "\
Where the script goes:
  bash        outflank completions bash > ~/.local/share/bash-completion/completions/outflank
  zsh         outflank completions zsh > FOLDER/_outflank, in a FOLDER of $fpath
  fish        outflank completions fish > ~/.config/fish/completions/outflank.fish
  elvish      outflank completions elvish >> ~/.config/elvish/rc.elv
  powershell  outflank completions powershell >> $PROFILE";

/// Prints a script for a shell to complete subcommands and options
#[derive(clap::Args, Debug)]
#[command(after_help = WHERE)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Prints the manual page, or writes the pages of all subcommands to a folder
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  outflank man | man -l -\n  outflank man ~/.local/share/man/man1"
)]
pub struct ManArgs {
    /// The folder that gets the pages of the program and of each subcommand; it is created if there
    /// is none. By default the program's own page is printed
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

/// Prints the completions of `command`, the whole program.
///
/// # Errors
///
/// None.
pub fn run_completions(args: &CompletionsArgs, mut command: Command) -> anyhow::Result<ExitCode> {
    // Into memory first, because the library panics if a pipe is closed.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, NAME, &mut script);
    print!("{}", String::from_utf8_lossy(&script));
    Ok(ExitCode::SUCCESS)
}

/// Prints or writes the manual of `command`, the whole program.
///
/// # Errors
///
/// The pages cannot be written.
pub fn run_man(args: &ManArgs, command: Command) -> anyhow::Result<ExitCode> {
    // `help` has no page of its own.
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let Some(folder) = &args.folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        print!("{}", String::from_utf8_lossy(&page));
        return Ok(ExitCode::SUCCESS);
    };
    store::create_dir(folder)?;
    clap_mangen::generate_to(command, folder)
        .with_context(|| format!("cannot write manual pages to {}", folder.display()))?;
    println!("{}: {NAME}.1 and a page for each subcommand", folder.display());
    Ok(ExitCode::SUCCESS)
}
