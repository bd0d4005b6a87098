//! An analysis as the page gets it.

use serde::Serialize;

use crate::game::Shape;
use crate::players::control::Analysis;
use crate::players::player::Hint;

/// An analysis for the page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Advice {
    /// The moves, best first.
    pub hints: Vec<Advised>,
    /// Positions searched, or simulations.
    pub nodes: u64,
    /// Time in seconds.
    pub seconds: f64,
    /// Whether the search has ended.
    pub done: bool,
}

/// A move of an analysis. Scores are for the side to move.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Advised {
    #[serde(rename = "move")]
    pub square: String,
    /// The expected line, which begins with the move.
    pub line: Vec<String>,
    /// The chance to win, 0 to 1.
    pub win: Option<f32>,
    /// The expected final disc difference.
    pub score: Option<f32>,
    /// `estimated`, `at-most`, `at-least` or `exact`.
    pub bound: &'static str,
    /// Depth in plies.
    pub depth: Option<u32>,
    /// Simulations that began with the move.
    pub visits: Option<u32>,
    /// The net's probability of the move before the search, 0 to 1.
    pub policy: Option<f32>,
    /// Where the value comes from, as in the JSON analysis.
    pub source: &'static str,
}

impl Advice {
    /// An analysis on a board.
    pub fn of(shape: Shape, analysis: &Analysis, done: bool) -> Advice {
        let layout = shape.layout();
        let advised = |hint: &Hint| {
            let line: Vec<_> = hint.line.iter().map(|&square| layout.square_name(square)).collect();
            Some(Advised {
                square: line.first()?.clone(),
                line,
                win: hint.win_chance,
                score: hint.score,
                bound: hint.bound.name(),
                depth: hint.depth,
                visits: hint.visits,
                policy: hint.policy,
                source: hint.source.name(),
            })
        };
        let hints = analysis.hints.iter().filter_map(advised).collect();
        Advice { hints, nodes: analysis.nodes, seconds: analysis.seconds, done }
    }
}
