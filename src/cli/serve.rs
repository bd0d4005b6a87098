//! `outflank nboard` and `outflank gtp`: a player behind a protocol, for other programs.

use std::io::{self, BufReader};
use std::process::ExitCode;

use super::contest::{contestants, context};
use super::interrupt::end_at_once;
use super::machine::cores;
use crate::arena::player::Player;
use crate::arena::shipped;
use crate::arena::spec::PlayerSpec;
use crate::game::{Geometry, Goal, Shape};
use crate::protocol::{gtp, nboard};

/// Who plays, and what.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The player, such as alphabeta:depth=8 or net:CHECKPOINT,simulations=200; by default the net
    /// that comes with the program for the board and goal, or alphabeta:depth=8
    #[arg(value_name = "SPEC")]
    player: Option<PlayerSpec>,
    /// The board
    #[arg(long, value_name = "BOARD", default_value = "8x8")]
    shape: Shape,
    /// Who wins: most or fewest discs
    #[arg(long, value_name = "GOAL", default_value = "most")]
    goal: Goal,
    /// Where nets are computed: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: String,
    /// Decides random moves
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
}

/// Serves a graphical board over the NBoard protocol.
///
/// # Errors
///
/// A player that cannot be made, or a closed terminal.
pub fn run_nboard(args: Args) -> anyhow::Result<ExitCode> {
    dispatch!(args.shape, G => {
        let mut player = open::<G>(&args)?;
        // The thread that reads is left behind at `quit`, and ends with the process.
        nboard::serve(player.as_mut(), BufReader::new(io::stdin()), io::stdout().lock())?;
    });
    Ok(ExitCode::SUCCESS)
}

/// Serves a controller over the Go Text Protocol.
///
/// # Errors
///
/// A player that cannot be made, or a closed terminal.
pub fn run_gtp(args: Args) -> anyhow::Result<ExitCode> {
    dispatch!(args.shape, G => {
        let mut player = open::<G>(&args)?;
        gtp::serve(player.as_mut(), args.goal, BufReader::new(io::stdin()), io::stdout().lock())?;
    });
    Ok(ExitCode::SUCCESS)
}

fn open<G: Geometry>(args: &Args) -> anyhow::Result<Box<dyn Player<G>>> {
    let context = context(args.goal, &args.device, cores());
    let player = args.player.clone().unwrap_or_else(|| shipped::opponent(G::SHAPE, args.goal));
    let contestants = contestants::<G>(&[player], &context)?;
    end_at_once();
    Ok((contestants[0].open)(args.seed)?)
}
