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

use anyhow::bail;

use self::display::BoardStyle;
use self::game_loop::{End, GameLoop};
use super::contest::{contestants, context};
use super::game_args::GameArgs;
use super::interrupt::{INTERRUPTED, exit_on_interrupt};
use super::machine::cores;
use super::success_on_broken_pipe;
use crate::game::{Colour, Geometry, Goal, Shape};
use crate::players::levels::{LEVELS, Level};
use crate::players::spec::{PlayerName, PlayerSpec};

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
    /// players` shows all); by default a level
    #[arg(value_name = "SPEC")]
    player: Option<PlayerSpec>,
    /// A level instead: first-day, disc-grabber, beginner, newcomer, casual, tournament, steady, club,
    /// strong-club, expert, master, grandmaster, champion, legend or engine. Each game goes another way; newcomer
    /// and tournament err like people. They, and all from expert on, need the net that comes with the
    /// program
    #[arg(long, value_name = "LEVEL", default_value = "club", value_parser = level, conflicts_with = "player")]
    level: &'static Level,
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
    /// The seed of random moves, for the same games again; by default another one at each start
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
}

fn level(name: &str) -> Result<&'static Level, String> {
    let all = || LEVELS.iter().map(|level| level.word.to_lowercase().replace(' ', "-"));
    Level::named(name).ok_or_else(|| format!("allowed: {}", all().collect::<Vec<_>>().join(", ")))
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
    let (player, variety) = match &args.player {
        Some(player) => (player.clone(), 0.0),
        None => (opponent(args.level, G::SHAPE, args.game.goal())?, args.level.variety),
    };
    let contestants = contestants::<G>(&[player], &context)?;
    let seed = args.seed.unwrap_or_else(rand::random);
    exit_on_interrupt();
    let human = match args.colour {
        Side::Black => Colour::Black,
        Side::White => Colour::White,
    };
    let mut game = GameLoop::<G, _>::new(
        (contestants[0].open)(seed)?,
        (variety, seed),
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

/// The player of a level, called by the level's word.
fn opponent(level: &Level, shape: Shape, goal: Goal) -> anyhow::Result<PlayerSpec> {
    let Some(player) = level.player(shape, goal) else {
        let word = level.word;
        let strongest = LEVELS.iter().rfind(|level| level.player(shape, goal).is_some());
        let strongest = strongest.map_or("", |level| level.word);
        bail!(
            "level \"{word}\" needs a net for {shape} that does not come with the program; allowed: up \
             to \"{strongest}\""
        )
    };
    Ok(PlayerSpec { name: PlayerName::new(level.word), ..player })
}

#[cfg(test)]
mod tests;
