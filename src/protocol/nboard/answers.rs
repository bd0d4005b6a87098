//! The lines with which the NBoard server reports a search.

use std::io::{self, Write};

use crate::game::Geometry;
use crate::game::notation::transcript;
use crate::players::control::Analysis;
use crate::players::player::{Bound, Hint};

/// `nodestats NODES SECONDS`.
pub(super) fn node_stats(output: &mut impl Write, nodes: u64, seconds: f64) -> io::Result<()> {
    writeln!(output, "nodestats {nodes} {seconds:.2}")
}

/// A line for each hint, and the nodes.
pub(super) fn search_lines<G: Geometry>(
    output: &mut impl Write,
    analysis: &Analysis,
    passes: bool,
) -> io::Result<()> {
    analysis.hints.iter().try_for_each(|hint| search_line::<G>(output, hint, passes))?;
    node_stats(output, analysis.nodes, analysis.seconds)
}

/// `search LINE EVAL 0 DEPTH TEXT`. EVAL is the disc difference, or without one the win chance
/// scaled to -1..1. DEPTH is `100%` for an exact score, and `100%W` for a bound that proves the
/// winner; TEXT has the bound.
///
/// If the side to move `passes`, the hint is the other side's. The line then begins with the pass,
/// and all numbers are for the side that passes.
fn search_line<G: Geometry>(output: &mut impl Write, hint: &Hint, passes: bool) -> io::Result<()> {
    let line = transcript::<G>(hint.line.iter().copied()).to_ascii_uppercase();
    let pass = if passes { "PA" } else { "" };
    let (win_chance, score, bound) = match passes {
        // `0.0 - s` and not `-s`: an even score must not be printed as -0.
        true => (hint.win_chance.map(|chance| 1.0 - chance), hint.score.map(|s| 0.0 - s), {
            hint.bound.reversed()
        }),
        false => (hint.win_chance, hint.score, hint.bound),
    };
    let eval = score.or(win_chance.map(|chance| 2.0 * chance - 1.0)).unwrap_or(0.0);
    let depth = match bound {
        Bound::Exact => "100%".into(),
        Bound::AtMost if eval < 0.0 => "100%W".into(),
        Bound::AtLeast if eval > 0.0 => "100%W".into(),
        _ => hint.effort().unwrap_or(0).to_string(),
    };
    write!(output, "search {pass}{line} {eval:.2} 0 {depth}")?;
    if let Some(chance) = win_chance {
        write!(output, " {:.1} %", 100.0 * chance)?;
    }
    if matches!(bound, Bound::AtMost | Bound::AtLeast) {
        write!(output, " {}{eval:.2}", bound.mark())?;
    }
    writeln!(output)
}
