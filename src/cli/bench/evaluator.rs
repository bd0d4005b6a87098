//! `outflank bench evaluator`: how far the scores of players lie from the right ones.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail, ensure};
use serde::Serialize;

use crate::arena::close::errors;
use crate::arena::report::table;
use crate::cli::contest::{contestants, context};
use crate::cli::game_args::GameArgs;
use crate::cli::solve::parse_text;
use crate::game::{Geometry, Position};
use crate::players::spec::PlayerSpec;
use crate::store::lines::Lines;

/// Compares the scores that players expect with those of a file, by the number of empty squares:
/// mean absolute error, mean error (bias) and correlation. `bench positions` makes such a file.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// OBF lines with scores.
    file: PathBuf,
    /// Players, such as alphabeta:depth=1 or alphabeta:depth=8,eval=MODEL.
    #[arg(required = true, value_name = "SPEC")]
    players: Vec<PlayerSpec>,
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
    empties: u32,
    positions: usize,
    error: f64,
    bias: f64,
    correlation: f64,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    dispatch!(args.game.shape(), G => measure::<G>(args))?;
    Ok(ExitCode::SUCCESS)
}

fn measure<G: Geometry>(args: &Args) -> anyhow::Result<()> {
    let positions = read::<G>(&args.file)?;
    let players = contestants::<G>(&args.players, &context(args.game.goal(), "auto", 1))?;
    let head = ["player", "empties", "positions", "error", "bias", "correlation"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for player in &players {
        for found in errors(player, &positions).with_context(|| player.name.clone())? {
            let row = Row {
                version: 1,
                player: &player.name,
                empties: found.empties,
                positions: found.positions,
                error: found.error,
                bias: found.bias,
                correlation: found.correlation,
            };
            if args.json {
                println!("{}", serde_json::to_string(&row)?);
            }
            rows.push(vec![
                player.name.clone(),
                row.empties.to_string(),
                row.positions.to_string(),
                format!("{:.2}", row.error),
                format!("{:+.2}", row.bias),
                format!("{:.3}", row.correlation),
            ]);
        }
    }
    if !args.json {
        print!("{}", table(&rows, 1));
    }
    Ok(())
}

/// The positions of a file with their best scores.
fn read<G: Geometry>(path: &PathBuf) -> anyhow::Result<Vec<(Position<G>, i32)>> {
    let name = path.display();
    let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
    let mut positions = Vec::new();
    for line in Lines::new(BufReader::new(file)) {
        let line = line.with_context(|| format!("cannot read {name}"))?;
        let place = || format!("{name}:{}", line.number);
        let text = line.text.as_deref().map_err(Clone::clone).with_context(place)?;
        let (position, score) = parse_text::<G>(text).with_context(place)?;
        let Some(score) = score else { bail!("{}: the position has no score", place()) };
        ensure!(!position.board.legal().is_empty(), "{}: the side to move has no move", place());
        positions.push((position, score));
    }
    ensure!(!positions.is_empty(), "{name} has no positions");
    Ok(positions)
}
