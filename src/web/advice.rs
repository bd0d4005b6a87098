//! An analysis as the page gets it.

use serde::Serialize;

use crate::game::Shape;
use crate::players::control::Analysis;
use crate::players::player::{Bound, Hint};

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
    /// It is too early for this player: it answers from this many empty squares on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers_from: Option<u32>,
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
    fn of(shape: Shape, analysis: &Analysis, done: bool) -> Advice {
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
        let Analysis { nodes, seconds, .. } = *analysis;
        Advice { hints, nodes, seconds, done, answers_from: None }
    }
}

/// What a player may answer: everything, or only what it has proven.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Scope {
    /// A solver answers from this many empty squares on; `None` for a player that estimates.
    pub answers_from: Option<u32>,
}

impl Scope {
    /// Whether the player cannot answer yet.
    pub fn is_too_early(self, empties: u32) -> bool {
        self.answers_from.is_some_and(|most| empties > most)
    }

    /// The answer where it is too early.
    pub fn refusal(self) -> Advice {
        let Scope { answers_from } = self;
        Advice { hints: Vec::new(), nodes: 0, seconds: 0.0, done: true, answers_from }
    }

    /// An analysis on a board. The guesses of a solver are left out.
    pub fn advice(self, shape: Shape, analysis: &Analysis, done: bool) -> Advice {
        let mut advice = Advice::of(shape, analysis, done);
        if self.answers_from.is_some() {
            advice.hints.retain(|hint| hint.bound == Bound::Exact.name());
        }
        advice
    }
}
