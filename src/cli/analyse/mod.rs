//! `outflank analyse`: the best moves of a position, the mistakes of a game, and the same as JSON
//! for other programs.

mod game;
mod position;

use std::io::{self, BufReader};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;

use super::bench::number;
use super::contest::{contestants, context};
use super::game_args::GameArgs;
use super::interrupt::exit_on_interrupt;
use super::machine::cores;
use super::play::game_file;
use super::success_on_broken_pipe;
use crate::game::Geometry;
use crate::players::control::Caps;
use crate::players::shipped;
use crate::players::spec::PlayerSpec;
use crate::protocol::json::{self, DEEPEST, DeskOptions, Limits, MOST_NODES, MOST_SIMULATIONS};
use crate::protocol::session::Session;

/// Analyses a position or a game with any player: the best moves with their values, or for a
/// finished game the value by ply, what each move lost, and the mistakes.
///
/// Values are the final disc difference and the chance to win; `=` marks a proven score, `<=` and
/// `>=` bounds. With a limit of its own (--time, --simulations, --depth, --nodes) the player's limits
/// do not apply.
///
/// With --json other programs ask: a query a line on standard input, lines with improving answers on
/// standard output. `docs/analysis.md` explains the fields.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A transcript such as f5d6c3, a position as an OBF line, or a file with a game: GGF, a
    /// transcript, or OBF; required without --json
    #[arg(
        value_name = "GAME|FILE",
        allow_hyphen_values = true,
        required_unless_present = "json",
        conflicts_with = "json"
    )]
    source: Option<String>,
    /// The player, such as alphabeta:depth=10 or net:CHECKPOINT (`outflank players` shows all); by
    /// default the strongest net that comes with the program for the board and goal
    #[arg(long, value_name = "SPEC")]
    player: Option<PlayerSpec>,
    #[command(flatten)]
    game: GameArgs,
    /// Review the whole game, also if it is not finished
    #[arg(long, conflicts_with = "json")]
    review: bool,
    #[command(flatten)]
    limits: LimitArgs,
    /// The most moves in the table of a position
    #[arg(long, value_name = "N", default_value_t = 10, conflicts_with = "json",
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    moves: u32,
    /// Positions that are analysed at the same time, each on a thread with a player of its own: in
    /// a review and with --json; by default one for each core
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// The device that computes nets: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: String,
    /// The seed of random moves
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Answer queries in JSON, one a line, from standard input
    #[arg(long)]
    json: bool,
}

/// Limits of the search of each position.
#[derive(clap::Args, Clone, Copy, Debug)]
struct LimitArgs {
    /// Seconds for each position; by default the player's own limits apply
    #[arg(long, value_name = "S", conflicts_with = "json",
        value_parser = |text: &str| number(text, json::SECONDS, "seconds"))]
    time: Option<f64>,
    /// Simulations for each position, for net and rollouts; by default the player's own
    #[arg(long, value_name = "N", conflicts_with = "json",
        value_parser = clap::value_parser!(u32).range(1..=MOST_SIMULATIONS))]
    simulations: Option<u32>,
    /// Plies that are searched, for alphabeta; by default the player's own limits apply
    #[arg(long, value_name = "PLIES", conflicts_with = "json",
        value_parser = clap::value_parser!(u32).range(1..=DEEPEST))]
    depth: Option<u32>,
    /// Positions visited for each position, for alphabeta; by default the player's own limits apply
    #[arg(long, value_name = "N", conflicts_with = "json",
        value_parser = clap::value_parser!(u64).range(1..=MOST_NODES as u64))]
    nodes: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  outflank analyse f5d6c3d3c4                         # the best moves there
  outflank analyse game.ggf --simulations 400         # what each move of a game lost
  outflank analyse f5d6 --player alphabeta:depth=12
  echo '{\"id\":\"1\",\"moves\":\"f5d6\",\"time\":2,\"report_every\":0.5}' | outflank analyse --json";

/// Runs the subcommand.
///
/// # Errors
///
/// A player that cannot be opened or fails, a game that cannot be read, or a closed terminal.
pub fn run(mut args: Args) -> anyhow::Result<ExitCode> {
    args.game.complete(&args.player);
    if args.json {
        return serve(&args);
    }
    dispatch!(args.game.shape(), G => analyse::<G>(&args))
}

impl Args {
    fn threads(&self) -> usize {
        self.threads.map_or_else(cores, usize::from)
    }

    /// The player and the limits of its searches.
    fn player(&self) -> anyhow::Result<(PlayerSpec, Limits)> {
        let default = || shipped::opponent(self.game.shape(), self.game.goal());
        let player = self.player.clone().unwrap_or_else(default);
        let LimitArgs { time, simulations, depth, nodes } = self.limits;
        let caps = Caps { simulations, depth, nodes };
        let limits = Limits { time: time.map(Duration::from_secs_f64), caps };
        if let Some((name, allowed)) = limits.unsupported(&player.kind) {
            bail!("player `{player}` has no limit --{name}; allowed: {allowed}");
        }
        Ok((player, limits))
    }
}

/// Answers queries from standard input.
fn serve(args: &Args) -> anyhow::Result<ExitCode> {
    let threads = args.threads();
    let terms = json::Terms {
        shape: args.game.shape(),
        goal: args.game.goal(),
        player: args.player.as_ref(),
        allows: |_| Ok(()),
        // The client is the user of this process. What the machine lacks is an error of the query.
        bounds: None,
    };
    let device = args.device.clone();
    let desk = DeskOptions { device, cores: (cores() / threads).max(1), seed: args.seed };
    exit_on_interrupt();
    let settings = json::Settings { terms, desk, threads };
    let served = json::serve(BufReader::new(io::stdin()), io::stdout(), &settings);
    served.map_or_else(success_on_broken_pipe, |()| Ok(ExitCode::SUCCESS))
}

fn analyse<G: Geometry>(args: &Args) -> anyhow::Result<ExitCode> {
    let session = read::<G>(args.source.as_deref().unwrap_or_default())?;
    let (player, limits) = args.player()?;
    let is_review = args.review || session.is_over();
    let threads = if is_review { args.threads() } else { 1 };
    let context = context(args.game.goal(), &args.device, cores() / threads);
    let players = contestants::<G>(&[player], &context)?;
    exit_on_interrupt();
    let open = || (players[0].open)(args.seed);
    let shown = match is_review {
        true => game::review(&session, args.game.goal(), limits, threads, &open)?,
        false => position::show(&session, limits, args.moves as usize, open()?.as_mut())?,
    };
    let written = io::Write::write_all(&mut io::stdout(), shown.as_bytes());
    written.map_or_else(success_on_broken_pipe, |()| Ok(ExitCode::SUCCESS))
}

/// The game of a file, or of a text on the command line.
fn read<G: Geometry>(source: &str) -> anyhow::Result<Session<G>> {
    // A transcript or OBF line never has a slash or a file's ending.
    let path = Path::new(source);
    if path.exists() || source.contains('/') || path.extension().is_some() {
        return Ok(game_file::load(path)?.session);
    }
    if source.trim().is_empty() {
        bail!("the game is empty; allowed: a transcript such as f5d6, an OBF line, or a file");
    }
    Ok(game_file::read_plain(source)?)
}
