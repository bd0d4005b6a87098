//! `outflank nboard` and `outflank gtp`: a player for other programs, through a protocol.

use std::io::{self, BufReader};
use std::process::ExitCode;

use super::contest::{contestants, context};
use super::game_args::GameArgs;
use super::interrupt::exit_on_interrupt;
use super::machine::cores;
use super::success_on_broken_pipe;
use crate::game::Geometry;
use crate::players::player::Player;
use crate::players::shipped;
use crate::players::spec::PlayerSpec;
use crate::protocol::{gtp, nboard};

/// The player and the game that a server plays.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The player, such as alphabeta:depth=8 or net:CHECKPOINT,simulations=200 (`outflank players`
    /// shows all); by default the strongest net that comes with the program for the board and goal,
    /// or alphabeta:depth=8 if there is none
    #[arg(value_name = "SPEC")]
    player: Option<PlayerSpec>,
    #[command(flatten)]
    game: GameArgs,
    /// The device that computes nets: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: String,
    /// The seed of random moves
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
}

/// Serves a graphical board over the NBoard protocol.
///
/// # Errors
///
/// The player cannot be opened, or standard input or output fails.
pub fn run_nboard(mut args: Args) -> anyhow::Result<ExitCode> {
    args.game.complete(&args.player);
    dispatch!(args.game.shape(), G => {
        let mut player = open::<G>(&args)?;
        // At `quit` the reading thread still waits for input; it ends with the process.
        let served =
            nboard::serve(player.as_mut(), BufReader::new(io::stdin()), io::stdout().lock());
        served.map_or_else(success_on_broken_pipe, |()| Ok(ExitCode::SUCCESS))
    })
}

/// Serves a controller over the Go Text Protocol.
///
/// # Errors
///
/// The player cannot be opened, or standard input or output fails.
pub fn run_gtp(mut args: Args) -> anyhow::Result<ExitCode> {
    args.game.complete(&args.player);
    dispatch!(args.game.shape(), G => {
        let mut player = open::<G>(&args)?;
        let (input, output) = (BufReader::new(io::stdin()), io::stdout().lock());
        let served = gtp::serve(player.as_mut(), args.game.goal(), input, output);
        served.map_or_else(success_on_broken_pipe, |()| Ok(ExitCode::SUCCESS))
    })
}

fn open<G: Geometry>(args: &Args) -> anyhow::Result<Box<dyn Player<G>>> {
    let context = context(args.game.goal(), &args.device, cores());
    let player =
        args.player.clone().unwrap_or_else(|| shipped::opponent(G::SHAPE, args.game.goal()));
    let contestants = contestants::<G>(&[player], &context)?;
    exit_on_interrupt();
    Ok((contestants[0].open)(args.seed)?)
}
