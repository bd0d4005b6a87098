//! `outflank web`: the page for people, in a browser.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::contest::context;
use super::interrupt::exit_on_interrupt;
use super::machine::cores;
use super::success_on_broken_pipe;
use crate::game::Goal;
use crate::players::spec::PlayerSpec;
use crate::web::{DEFAULT_PORT, OpenedFile, Options, PublicUrl, Server, ShownBook, Token};

/// Opens a page in the browser: play, analyse games, and watch training.
///
/// The page comes from this program alone, and no request leaves the machine. Other machines can
/// reach it only with --host and --token. `docs/web.md` describes the page and its interface.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A file of games or positions that the page opens in the analysis; by default none
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The address or name at which the page is served; others than the loopback need --token
    #[arg(long, value_name = "HOST", default_value = "127.0.0.1")]
    host: String,
    /// The port; 0 takes any free one
    #[arg(long, value_name = "PORT", default_value_t = DEFAULT_PORT)]
    port: u16,
    /// A secret of 12 to 128 letters, digits, `-` and `_` that every request must have;
    /// by default none
    #[arg(long, value_name = "TOKEN")]
    token: Option<Token>,
    /// Another address at which the page is served, by a proxy or another name of this machine, such
    /// as https://othello.example; by default none
    #[arg(long, value_name = "URL")]
    public: Vec<PublicUrl>,
    /// A folder of runs, or a run, that the page shows; `runs` by default, if it exists
    #[arg(long, value_name = "DIR")]
    runs: Vec<PathBuf>,
    /// The folder of the library: games to search, and those that are played on the page; by default
    /// outflank/library in the user's folder for data
    #[arg(long, value_name = "DIR")]
    library: Option<PathBuf>,
    /// Keep no games and show no library
    #[arg(long, conflicts_with = "library")]
    no_library: bool,
    /// An opening book whose scores the explorer shows; by default none
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
    /// A player that the page offers besides its own, which `outflank players` explains; by default
    /// none
    #[arg(long, value_name = "SPEC")]
    player: Vec<PlayerSpec>,
    /// Allow the page to start, stop and resume runs in the first folder of --runs
    #[arg(long)]
    allow_training: bool,
    /// Searches at the same time, each on a thread; by default one for each core
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// The device that computes nets: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: String,
    /// Print the page's address without opening it in a browser
    #[arg(long)]
    no_open: bool,
}

const EXAMPLES: &str = "\
Examples:
  outflank web                                    # at http://127.0.0.1:8484/
  outflank web game.ggf                           # opens the file in the analysis
  outflank web --runs runs --allow-training
  outflank web --player net:runs/mine,simulations=400
  outflank web --host 0.0.0.0 --token a-long-secret --no-open";

/// Runs the subcommand, until it is interrupted. The first line of its output is the page's address.
///
/// # Errors
///
/// The file cannot be read, or the host or the port cannot be used.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let server = Server::bind(args.options()?)?;
    let url = server.url();
    if let Err(error) = writeln!(std::io::stdout(), "{url}") {
        return success_on_broken_pipe(error);
    }
    tell!("Ctrl-C ends the page");
    if !args.no_open
        && let Err(error) = open::that_detached(&url)
    {
        tell!("no browser was opened ({error}); open {url}");
    }
    exit_on_interrupt();
    server.run()?;
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn options(&self) -> anyhow::Result<Options> {
        let file = self.file.as_deref().map(OpenedFile::read).transpose()?;
        let mut runs = self.runs.clone();
        if runs.is_empty() && (self.allow_training || Path::new("runs").is_dir()) {
            runs.push("runs".into());
        }
        let threads = self.threads.map_or_else(cores, usize::from);
        Ok(Options {
            host: self.host.clone(),
            port: self.port,
            public: self.public.clone(),
            token: self.token.clone(),
            runs,
            file,
            library: match self.no_library {
                true => None,
                false => self.library.clone().or_else(default_library),
            },
            book: self.book.as_deref().map(ShownBook::read).transpose()?,
            players: self.player.clone(),
            trainer: self.allow_training.then(std::env::current_exe).transpose()?,
            context: context(Goal::Most, &self.device, threads),
        })
    }
}

/// The folder of the library, by the XDG base directory specification.
fn default_library() -> Option<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(absolute);
    let home = || std::env::home_dir().filter(absolute).map(|home| home.join(".local/share"));
    Some(data.or_else(home)?.join("outflank/library"))
}
