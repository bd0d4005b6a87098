//! `outflank perft`: counts lines of play, to check the rules and to measure their speed.

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use serde_json::json;

use crate::game::{Board, Geometry, Shape, Square, perft};

/// Counts the lines of play of a given length from the start position.
///
/// A pass is a ply of its own; a game that ends earlier counts as one leaf.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The board: 8x8, 6x6, 7x7, octagon88 or cross92
    #[arg(long, default_value = "8x8")]
    shape: Shape,
    /// Plies to count
    // 18 plies have about 10^17 leaves; deeper counts might not fit in 64 bits.
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=18))]
    depth: u32,
    /// Show the leaves below each first move as well
    #[arg(long)]
    divide: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
///
/// # Errors
///
/// Standard output cannot be written.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let started = Instant::now();
    let (leaves, moves) = dispatch!(args.shape, G => count_leaves(Board::<G>::start(), &args));
    let seconds = started.elapsed().as_secs_f64();
    let rate = leaves as f64 / seconds;
    let mut out = std::io::stdout().lock();
    let layout = args.shape.layout();
    for (square, leaves) in moves {
        let name = square.map_or("pass".into(), |square| layout.square_name(square));
        if args.json {
            writeln!(out, "{}", json!({ "version": 1, "move": name, "leaves": leaves }))?;
        } else {
            writeln!(out, "{name:>4} {leaves}")?;
        }
    }
    if args.json {
        let line = json!({
            "version": 1,
            "shape": args.shape.name(),
            "depth": args.depth,
            "leaves": leaves,
            "seconds": seconds,
            "leaves_per_second": rate,
        });
        writeln!(out, "{line}")?;
    } else {
        let millions = rate / 1e6;
        writeln!(
            out,
            "{} depth {}: {leaves} leaves, {seconds:.3} s, {millions:.1} M leaves/s",
            args.shape, args.depth
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The number of leaves, and with `--divide` the number for each move.
type Counts = (u64, Vec<(Option<Square>, u64)>);

/// Counts the leaves.
fn count_leaves<G: Geometry>(board: Board<G>, args: &Args) -> Counts {
    if args.divide {
        let moves = perft::divide(board, args.depth);
        // At depth 0 the position itself is the only leaf, which belongs to no move.
        let all = moves.iter().map(|&(_, leaves)| leaves).sum();
        (if args.depth == 0 { 1 } else { all }, moves)
    } else {
        (perft::count(board, args.depth), Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Square6;

    #[test]
    fn the_leaves_of_the_moves_add_up() {
        for depth in 0..5 {
            let args = |divide| Args { shape: Shape::Square6, depth, divide, json: false };
            let count = |divide| count_leaves(Board::<Square6>::start(), &args(divide)).0;
            assert_eq!(count(true), count(false), "depth {depth}");
        }
    }
}
