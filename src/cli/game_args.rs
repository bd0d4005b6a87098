//! The options for the game of a subcommand: board and goal, by default those of the first net.

use crate::game::{Goal, Shape};
use crate::players::models::LoadedModel;
use crate::players::spec::{AlphaBetaSpec, EvaluatorSource, PlayerKind, PlayerSpec};

/// The board and the goal.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub struct GameArgs {
    /// The board: 8x8, 6x6, 7x7, octagon88 or cross92; by default the board of the first net among
    /// the players, or 8x8
    #[arg(long, value_name = "BOARD")]
    shape: Option<Shape>,
    /// Who wins: most or fewest discs; by default the goal of the first net among the players, or
    /// most
    #[arg(long, value_name = "GOAL")]
    goal: Option<Goal>,
}

impl GameArgs {
    /// Takes what is not given from the first model among the players. One that cannot be read is
    /// left to the code that opens the players, which reports it.
    pub fn complete<'a>(&mut self, players: impl IntoIterator<Item = &'a PlayerSpec>) {
        if self.shape.is_some() && self.goal.is_some() {
            return;
        }
        let path = players.into_iter().find_map(|player| match &player.kind {
            PlayerKind::Net(net) => Some(&net.path),
            PlayerKind::Policy(policy) => Some(&policy.path),
            PlayerKind::AlphaBeta(AlphaBetaSpec {
                evaluator: EvaluatorSource::Model(path),
                ..
            }) => Some(path),
            _ => None,
        });
        if let Some(net) = path.and_then(|path| LoadedModel::read(path).ok()) {
            self.shape.get_or_insert(net.description.shape);
            self.goal.get_or_insert(net.description.goal);
        }
    }

    /// The board.
    pub fn shape(&self) -> Shape {
        self.shape.unwrap_or(Shape::Square8)
    }

    /// The goal.
    pub fn goal(&self) -> Goal {
        self.goal.unwrap_or(Goal::Most)
    }
}
