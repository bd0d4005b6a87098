//! `outflank bench people`: how often players choose the moves that people chose.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use crate::arena::people::{Strengths, agreement, positions};
use crate::arena::report::table;
use crate::cli::contest::{contestants, context};
use crate::cli::game_args::GameArgs;
use crate::game::Geometry;
use crate::players::spec::PlayerSpec;
use crate::store::import::{self, Game};

/// Compares players with people, by the strength of the people: the share of positions in which a
/// player names the move that was played, and the temperature with which its policy explains the
/// moves best. People are rated by the results of all the games.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Games of people: files of the WTHOR archive, GGF or JSON, or folders of them.
    #[arg(required = true, value_name = "GAMES")]
    games: Vec<PathBuf>,
    /// Players, such as alphabeta:depth=1 or policy:MODEL; may be repeated.
    #[arg(long = "player", required = true, value_name = "SPEC")]
    players: Vec<PlayerSpec>,
    /// Take positions of games from this year on; all games count for ratings.
    #[arg(long, default_value_t = 0, value_name = "YEAR")]
    from: u16,
    /// Groups of people, from the weakest to the strongest, with equally many positions.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=20))]
    groups: u32,
    /// Positions of each group at most.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    count: u32,
    /// The seed that draws the positions.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    game: GameArgs,
    /// Print one JSON object a line.
    #[arg(long)]
    json: bool,
}

/// A line of `--json`.
#[derive(Serialize)]
struct Row<'a> {
    version: u32,
    player: &'a str,
    /// The strengths of the group: the lowest and the highest.
    strengths: [f64; 2],
    positions: usize,
    agreement: f64,
    temperature: Option<f64>,
    surprise: Option<f64>,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    dispatch!(args.game.shape(), G => measure::<G>(args))?;
    Ok(ExitCode::SUCCESS)
}

fn measure<G: Geometry>(args: &Args) -> anyhow::Result<()> {
    let (mut games, mut faulty) = (Vec::<Game>::new(), 0);
    for path in &args.games {
        for file in import::files(path, None)? {
            for found in file.games(args.game.shape(), args.game.goal())? {
                match found?.game {
                    Ok(game) => games.push(game),
                    Err(_) => faulty += 1,
                }
            }
        }
    }
    if faulty > 0 {
        tell!("warning: left out {faulty} games that are illegal or unreadable");
    }
    let strengths = Strengths::of(&games);
    games.retain(|game| game.year().unwrap_or(0) >= args.from);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(args.seed);
    let asked = positions::<G>(&games, &strengths, &mut random);
    let groups = args.groups as usize;
    ensure!(asked.len() >= groups, "the games have no positions of people with 30 games or more");
    let players = contestants::<G>(&args.players, &context(args.game.goal(), "auto", 1))?;
    let head = ["player", "strength", "positions", "agreement", "temperature", "surprise"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for player in &players {
        for group in 0..groups {
            let all = &asked[group * asked.len() / groups..(group + 1) * asked.len() / groups];
            let step = all.len().div_ceil(args.count as usize).max(1);
            let part: Vec<_> = all.iter().step_by(step).cloned().collect();
            let found = agreement(player, &part).with_context(|| player.name.clone())?;
            let row = Row {
                version: 1,
                player: &player.name,
                strengths: [all[0].strength, all[all.len() - 1].strength],
                positions: found.positions,
                agreement: found.share,
                temperature: found.policy.map(|(temperature, _)| temperature),
                surprise: found.policy.map(|(_, surprise)| surprise),
            };
            if args.json {
                println!("{}", serde_json::to_string(&row)?);
            }
            let number = |number: Option<f64>| number.map_or("-".into(), |it| format!("{it:.2}"));
            rows.push(vec![
                player.name.clone(),
                format!("{:+.0} to {:+.0}", row.strengths[0], row.strengths[1]),
                row.positions.to_string(),
                format!("{:.1} %", 100.0 * row.agreement),
                number(row.temperature),
                number(row.surprise),
            ]);
        }
    }
    if !args.json {
        print!("{}", table(&rows, 1));
    }
    Ok(())
}
