//! The report about a player's losses, as text and as JSON.

use std::fmt;

use serde_json::{Value, json};

use super::JudgedMove;
use crate::game::Geometry;
use crate::game::notation::{obf, square_name};

/// How many of the worst moves a report has.
const EXAMPLES: usize = 5;

/// The version of the JSON objects.
const VERSION: u32 = 1;

/// A summary of a player's moves in all positions, with examples.
///
/// ```
/// use outflank::arena::loss::{JudgedMove, LossReport};
/// use outflank::game::{Position, Square, Square8};
///
/// let (position, square) = (Position::<Square8>::start(), Square(19));
/// let judged = JudgedMove { position, square, score: -2, best: (Square(26), 4) };
/// let report = LossReport::new(["random", "Random"], 0, &[judged]);
/// assert_eq!((report.loss, report.exact, report.kept), (6.0, 0, 0));
/// assert_eq!(report.worst[0].played, ("d3".to_string(), -2));
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct LossReport {
    /// The player's identity.
    pub player: String,
    /// Its label.
    pub label: String,
    /// The number of positions.
    pub positions: usize,
    /// The mean loss of a move, in discs.
    pub loss: f64,
    /// The standard error of the mean loss.
    pub error: f64,
    /// The number of moves without a loss.
    pub exact: usize,
    /// The number of moves that keep the result of the position ([`JudgedMove::keeps_outcome`]).
    pub kept: usize,
    /// The number of positions that have few enough empty squares for the player to solve them.
    pub solved_itself: usize,
    /// The moves with the greatest losses, the greatest first.
    pub worst: Vec<Worst>,
}

/// A move with a loss.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Worst {
    /// The position as an OBF line.
    pub position: String,
    /// The player's move and its exact score.
    pub played: (String, i32),
    /// A best move and its exact score.
    pub best: (String, i32),
}

impl LossReport {
    /// The report about the moves of the player with this identity and label, with the
    /// worst as examples. The player solves positions of at most `solve_empties` empty squares itself.
    pub fn new<G: Geometry>(
        [player, label]: [&str; 2],
        solve_empties: u32,
        judged: &[JudgedMove<G>],
    ) -> LossReport {
        let losses = || judged.iter().map(|judged| f64::from(judged.loss()));
        let count = judged.len() as f64;
        let loss = losses().sum::<f64>() / count.max(1.0);
        let squares = losses().map(|one| (one - loss).powi(2)).sum::<f64>();
        let error = (squares / (count - 1.0).max(1.0) / count.max(1.0)).sqrt();
        let mut costly: Vec<_> = judged.iter().filter(|judged| judged.loss() > 0).collect();
        costly.sort_by_key(|judged| std::cmp::Reverse(judged.loss()));
        let example = |judged: &&JudgedMove<G>| Worst {
            position: obf(judged.position),
            played: (square_name::<G>(judged.square), judged.score),
            best: (square_name::<G>(judged.best.0), judged.best.1),
        };
        let solves = |judged: &&JudgedMove<G>| judged.position.board.empties() <= solve_empties;
        LossReport {
            player: player.into(),
            label: label.into(),
            solved_itself: judged.iter().filter(solves).count(),
            positions: judged.len(),
            loss,
            error,
            exact: judged.iter().filter(|judged| judged.loss() == 0).count(),
            kept: judged.iter().filter(|judged| judged.keeps_outcome()).count(),
            worst: costly.iter().take(EXAMPLES).map(example).collect(),
        }
    }

    fn share(&self, count: usize) -> f64 {
        count as f64 / self.positions.max(1) as f64
    }

    /// The report as a JSON object; `about` describes the source of the positions.
    pub fn json(&self, about: &Value) -> Value {
        let example = |worst: &Worst| {
            json!({
                "position": worst.position,
                "played": worst.played.0,
                "score": worst.played.1,
                "best": worst.best.0,
                "best_score": worst.best.1,
                "loss": worst.best.1 - worst.played.1,
            })
        };
        json!({
            "version": VERSION,
            "kind": "loss",
            "player": self.player,
            "label": self.label,
            "source": about,
            "positions": self.positions,
            "solved_itself": self.solved_itself,
            "loss": self.loss,
            "loss_error": self.error,
            "exact_best": self.share(self.exact),
            "outcome_kept": self.share(self.kept),
            "worst": self.worst.iter().map(example).collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for LossReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LossReport { label, positions, loss, error, .. } = self;
        let (exact, kept) = (100.0 * self.share(self.exact), 100.0 * self.share(self.kept));
        writeln!(f, "{label}")?;
        writeln!(
            f,
            "  {positions} positions: mean loss {loss:.3} discs (standard error {error:.3}), \
             exact best move {exact:.1} %, outcome kept {kept:.1} %"
        )?;
        for Worst { position, played, best } in &self.worst {
            let loss = best.1 - played.1;
            writeln!(
                f,
                "  -{loss:<2} {position}; played {} ({:+}), best {} ({:+})",
                played.0, played.1, best.0, best.1
            )?;
        }
        Ok(())
    }
}
