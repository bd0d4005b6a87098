//! `outflank play`: a game against a player in the terminal, or through a pipe.
//!
//! `input` gives lines, `commands` and `moves` read them, `table` keeps the game, `display` shows
//! it, and `game_file` loads and saves it.

mod commands;
mod display;
mod game_file;
mod input;
mod moves;
mod table;

use std::io;
use std::process::ExitCode;

use self::display::Look;
use self::table::{End, Table};
use super::contest::{contestants, context};
use super::interrupt::{INTERRUPTED, end_at_once};
use super::machine::cores;
use crate::arena::shipped;
use crate::arena::spec::PlayerSpec;
use crate::game::{Colour, Geometry, Goal, Shape};

/// A side as the command line names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Side {
    Black,
    White,
}

/// Plays against you in the terminal: moves like f5, and hint, undo, moves, save, load, help
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Your opponent, such as alphabeta:depth=8 or net:CHECKPOINT,simulations=400; by default the
    /// net that comes with the program for the board and goal, or alphabeta:depth=8
    #[arg(value_name = "SPEC")]
    player: Option<PlayerSpec>,
    /// Your colour; black moves first
    #[arg(long, alias = "color", value_name = "COLOUR", default_value = "black")]
    colour: Side,
    /// The board
    #[arg(long, value_name = "BOARD", default_value = "8x8")]
    shape: Shape,
    /// Who wins: most or fewest discs
    #[arg(long, value_name = "GOAL", default_value = "most")]
    goal: Goal,
    /// A saved game to go on with: GGF, a transcript, or a position in OBF
    #[arg(long, value_name = "FILE")]
    load: Option<std::path::PathBuf>,
    /// Where nets are computed: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: String,
    /// Decides random moves
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
}

/// Runs the subcommand.
///
/// # Errors
///
/// A player that cannot be made, a game that cannot be loaded, or a closed terminal.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    dispatch!(args.shape, G => play::<G>(&args))
}

fn play<G: Geometry>(args: &Args) -> anyhow::Result<ExitCode> {
    let context = context(args.goal, &args.device, cores());
    let player = args.player.clone().unwrap_or_else(|| shipped::opponent(G::SHAPE, args.goal));
    let contestants = contestants::<G>(&[player], &context)?;
    end_at_once();
    let human = match args.colour {
        Side::Black => Colour::Black,
        Side::White => Colour::White,
    };
    let mut table = Table::<G, _>::new(
        (contestants[0].open)(args.seed)?,
        human,
        args.goal,
        Look::of_stdout(),
        io::stdout().lock(),
    );
    if let Some(path) = &args.load {
        table.load(path)?;
    }
    match table.run(input::of_stdin().as_mut())? {
        End::Quit => Ok(ExitCode::SUCCESS),
        End::Interrupt => Ok(ExitCode::from(INTERRUPTED)),
    }
}

#[cfg(test)]
mod tests;
