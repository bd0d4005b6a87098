//! `outflank play`: a game against a player in the terminal, or through a pipe.
//!
//! `input` reads lines, `commands` and `moves` parse them, `game_loop` runs the game, `display`
//! shows it, and `game_file` loads and saves it.

mod commands;
pub mod display;
pub mod game_file;
mod game_loop;
mod input;
mod moves;

use std::io;
use std::process::ExitCode;

use self::display::BoardStyle;
use self::game_loop::{End, GameLoop};
use super::contest::{contestants, context};
use super::game_args::GameArgs;
use super::interrupt::{INTERRUPTED, exit_on_interrupt};
use super::machine::cores;
use super::success_on_broken_pipe;
use crate::game::{Colour, Geometry};
use crate::players::shipped;
use crate::players::spec::PlayerSpec;

/// A side, as named on the command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Side {
    Black,
    White,
}

/// Plays against you in the terminal: moves like f5, and hint, undo, moves, save, load, help
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Your opponent, such as alphabeta:depth=8 or net:CHECKPOINT,simulations=400 (`outflank
    /// players` shows all); by default the net that comes with the program for the board and goal,
    /// or alphabeta:depth=8 if there is none
    #[arg(value_name = "SPEC")]
    player: Option<PlayerSpec>,
    /// Your colour; black moves first
    #[arg(long, alias = "color", value_name = "COLOUR", default_value = "black")]
    colour: Side,
    #[command(flatten)]
    game: GameArgs,
    /// A saved game to continue: GGF, a transcript, or a position in OBF; by default a new game
    /// begins
    #[arg(long, value_name = "FILE")]
    load: Option<std::path::PathBuf>,
    /// The device that computes nets: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: String,
    /// The seed of random moves
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
}

/// Runs the subcommand.
///
/// # Errors
///
/// A player that cannot be made, a game that cannot be loaded, or a closed terminal.
pub fn run(mut args: Args) -> anyhow::Result<ExitCode> {
    args.game.complete(&args.player);
    dispatch!(args.game.shape(), G => play::<G>(&args))
}

fn play<G: Geometry>(args: &Args) -> anyhow::Result<ExitCode> {
    let context = context(args.game.goal(), &args.device, cores());
    let player =
        args.player.clone().unwrap_or_else(|| shipped::opponent(G::SHAPE, args.game.goal()));
    let contestants = contestants::<G>(&[player], &context)?;
    exit_on_interrupt();
    let human = match args.colour {
        Side::Black => Colour::Black,
        Side::White => Colour::White,
    };
    let mut game = GameLoop::<G, _>::new(
        (contestants[0].open)(args.seed)?,
        human,
        args.game.goal(),
        BoardStyle::of_stdout(),
        io::stdout().lock(),
    );
    if let Some(path) = &args.load {
        game.load(path)?;
    }
    match game.run(input::of_stdin().as_mut()) {
        Ok(End::Quit) => Ok(ExitCode::SUCCESS),
        Ok(End::Interrupt) => Ok(ExitCode::from(INTERRUPTED)),
        Err(error) => success_on_broken_pipe(error),
    }
}

#[cfg(test)]
mod tests;
