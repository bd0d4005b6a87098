//! `outflank bench positions`: makes close positions, on which evaluators are measured.

use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use rayon::prelude::*;

use crate::arena::close::Making;
use crate::cli::contest::{contestants, context};
use crate::cli::game_args::GameArgs;
use crate::game::Geometry;
use crate::game::notation::transcript;
use crate::players::spec::PlayerSpec;

/// Games that are played before their positions are printed.
const AT_ONCE: u64 = 16;

/// Plays games from even openings and prints a position of each with its best move and score, as OBF
/// lines: a test for `bench evaluator`. The same seed prints the same positions.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Positions for each number of empty squares.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    count: u64,
    /// The numbers of empty squares.
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', default_values_t = [22, 30, 36, 44])]
    empties: Vec<u32>,
    /// Boards with at most this many empty squares are solved.
    #[arg(long, value_name = "N", default_value_t = 22, value_parser = clap::value_parser!(u32).range(1..=30))]
    solve: u32,
    /// Who plays the games.
    #[arg(long, value_name = "SPEC", default_value = "alphabeta:depth=10")]
    player: PlayerSpec,
    /// Who scores the boards that are not solved.
    #[arg(long, value_name = "SPEC", default_value = "alphabeta:depth=18,probcut=2.5")]
    judge: PlayerSpec,
    /// Print the even openings instead, as transcripts.
    #[arg(long)]
    openings: bool,
    /// The seed.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    game: GameArgs,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    dispatch!(args.game.shape(), G => positions::<G>(args))?;
    Ok(ExitCode::SUCCESS)
}

fn positions<G: Geometry>(args: &Args) -> anyhow::Result<()> {
    let squares = G::SQUARES as u32;
    for &empties in &args.empties {
        ensure!(
            (1..squares - 12).contains(&empties),
            "--empties: {empties} is not allowed; allowed: 1 to {}",
            squares - 13
        );
    }
    let goal = args.game.goal();
    let specs = [args.player.clone(), args.judge.clone()];
    let players = contestants::<G>(&specs, &context(goal, "auto", 1))?;
    let [player, judge] = &players[..] else { unreachable!("two specifications") };
    let making = Making { goal, player, judge, solved: args.solve, seed: args.seed };
    let numbers = args.empties.len() as u64;
    let mut found = vec![0; args.empties.len()];
    let mut next = 0;
    while found.iter().any(|&count| count < args.count) {
        ensure!(
            next < 20 * args.count * numbers,
            "games end before they have so many empty squares"
        );
        let games = (next..next + AT_ONCE).into_par_iter().map(|game| {
            let place = (game % numbers) as usize;
            let made = making.position(game, args.empties[place]);
            made.map(|made| (place, made))
        });
        for made in games.collect::<Vec<_>>() {
            let (place, made) = made.context("a position")?;
            let Some(made) = made.filter(|_| found[place] < args.count) else { continue };
            found[place] += 1;
            match args.openings {
                true => println!("{}", transcript::<G>(made.opening)),
                false => println!("{}", made.line()),
            }
        }
        next += AT_ONCE;
    }
    Ok(())
}
