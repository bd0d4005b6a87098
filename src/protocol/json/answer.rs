//! What a client gets for a position.

use serde::Serialize;

use super::query::Query;
use crate::game::notation::{obf, square_name};
use crate::game::{Geometry, Position};
use crate::players::control::Analysis;
use crate::players::player::{Bound, Hint};

/// The analysis of a position, as a line of JSON. Values are for the side to move.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Answer {
    /// The query's id.
    pub id: String,
    /// The ply of the query's game; 0 is its start position.
    pub turn: usize,
    /// Whether better lines about the same position follow.
    pub is_during_search: bool,
    /// Whether the client has ended the analysis.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub terminated: bool,
    /// Whether the game is over; then there are no moves and the score is the final one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub game_over: bool,
    /// The position as an OBF line, after a forced pass.
    pub position: String,
    /// The moves, best first.
    pub moves: Vec<MoveAnswer>,
    /// The position as a whole.
    pub root: RootAnswer,
}

/// A move of an answer. What its player does not estimate is left out.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MoveAnswer {
    /// The square, such as `f5`.
    #[serde(rename = "move")]
    pub square: String,
    /// The chance to win, from 0 to 1; a draw counts as half a win.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub win_chance: Option<f64>,
    /// The final disc difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// How the score relates to the exact one: `estimated`, `at-most`, `at-least` or `exact`.
    pub bound: &'static str,
    /// The depth of the search in plies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Simulations that began with the move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visits: Option<u32>,
    /// The net's probability of the move before the search, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<f64>,
    /// The expected line, which begins with the move, without passes.
    pub line: Vec<String>,
    /// Where the value comes from.
    pub source: &'static str,
}

/// The value of a position: that of its best move, or of a finished game.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RootAnswer {
    /// The chance to win, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub win_chance: Option<f64>,
    /// The final disc difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// As for a move.
    pub bound: &'static str,
    /// Positions searched; for tree search the number of simulations.
    pub nodes: u64,
    /// The time in seconds.
    pub seconds: f64,
    /// The player's specification.
    pub player: String,
}

/// Four decimals. -0 becomes 0.
fn rounded(number: f32) -> f64 {
    (f64::from(number) * 1e4).round() / 1e4 + 0.0
}

impl MoveAnswer {
    fn of<G: Geometry>(hint: &Hint) -> Option<MoveAnswer> {
        let line: Vec<_> = hint.line.iter().map(|&square| square_name::<G>(square)).collect();
        Some(MoveAnswer {
            square: line.first()?.clone(),
            win_chance: hint.win_chance.map(rounded),
            score: hint.score.map(rounded),
            bound: hint.bound.name(),
            depth: hint.depth,
            visits: hint.visits,
            policy: hint.policy.map(rounded),
            line,
            source: hint.source.name(),
        })
    }
}

impl Answer {
    /// The answer with these hints. Whether it is the last one is for the caller to say.
    pub(super) fn of<G: Geometry>(
        query: &Query,
        turn: usize,
        position: Position<G>,
        analysis: &Analysis,
    ) -> Answer {
        let game_over = position.board.is_over();
        let best = analysis.hints.first();
        let final_score = game_over.then(|| position.board.final_score(query.goal));
        let won = |score: i32| (score.signum() + 1) as f32 / 2.0;
        let root = RootAnswer {
            win_chance: final_score.map(won).or(best.and_then(|best| best.win_chance)).map(rounded),
            score: final_score
                .map(|score| score as f32)
                .or(best.and_then(|best| best.score))
                .map(rounded),
            bound: match final_score {
                Some(_) => Bound::Exact.name(),
                None => best.map_or(Bound::Estimated, |best| best.bound).name(),
            },
            nodes: analysis.nodes,
            seconds: (analysis.seconds * 1000.0).round() / 1000.0,
            player: query.player.to_string(),
        };
        Answer {
            id: query.id.clone(),
            turn,
            is_during_search: false,
            terminated: false,
            game_over,
            position: obf(position),
            moves: analysis.hints.iter().filter_map(MoveAnswer::of::<G>).collect(),
            root,
        }
    }
}
