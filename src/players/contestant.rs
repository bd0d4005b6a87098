//! A player that can take part in matches: what identifies it, and how to make it.

use serde::{Deserialize, Serialize};

use super::open::OpenError;
use super::player::Player;
use crate::game::Geometry;

/// Makes a player from a seed; called once in each thread.
pub type PlayerFactory<'a, G> =
    dyn Fn(u64) -> Result<Box<dyn Player<G>>, OpenError> + Send + Sync + 'a;

/// A player that can take part in matches.
pub struct Contestant<'a, G: Geometry> {
    /// Its identity: the name in ladders.
    pub name: String,
    /// The name that the user gave it, if any.
    pub label: Option<String>,
    /// Where its net comes from, if it has one.
    pub origin: Option<Origin>,
    /// Whether the same moves of the opponent always get the same replies.
    pub deterministic: bool,
    /// Makes the player. The seed decides its random choices; most players have none.
    pub open: Box<PlayerFactory<'a, G>>,
}

impl<'a, G: Geometry> Contestant<'a, G> {
    /// A player without a label or a net, for which the same moves may get different replies.
    pub fn new(
        name: impl Into<String>,
        open: impl Fn(u64) -> Result<Box<dyn Player<G>>, OpenError> + Send + Sync + 'a,
    ) -> Contestant<'a, G> {
        Contestant {
            name: name.into(),
            label: None,
            origin: None,
            deterministic: false,
            open: Box::new(open),
        }
    }
}

/// The run and the training step of a player's net.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// The name of the run, or the path of a net that belongs to no run.
    pub run: String,
    /// The training step.
    pub step: u64,
    /// Positions trained on or played, if known.
    pub positions: Option<u64>,
    /// Self-play games before this step, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub games: Option<u64>,
    /// Minutes of training before this step, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<f64>,
    /// The CRC-32 of the net's weights, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub net: Option<String>,
}

impl Origin {
    /// The same with the numbers of games and minutes of training.
    pub fn with_training(self, games: Option<u64>, minutes: Option<f64>) -> Origin {
        Origin { games, minutes, ..self }
    }
}
