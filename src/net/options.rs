//! The settings of a network and of its inference copies.

use std::ops::RangeInclusive;

use serde::de::{Deserialize, Deserializer, Error};

use crate::choices::choices;

choices! {
    /// The kind of trunk that a net has.
    pub enum Tower {
        /// Residual blocks of two 3x3 convolutions.
        #[default]
        Resnet = "resnet",
        /// Four convolutions and two fully connected layers over one plane (Fu and Xu).
        Paper = "paper",
    }
}

choices! {
    /// What a `resnet` is shown of a position. The default is what nets have been shown whose files
    /// do not say.
    pub enum Inputs {
        /// The discs of both sides and the legal moves.
        #[default]
        Discs = "discs",
        /// The same, and what the rules say a move ahead: see [`super::lookahead`].
        Lookahead = "lookahead",
    }
}

/// What a net is made of.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TowerOptions {
    /// The kind of trunk.
    pub tower: Tower,
    /// What a `resnet` is shown.
    #[serde(default)]
    pub inputs: Inputs,
    /// Residual blocks of a `resnet`, within [`TowerOptions::BLOCKS`].
    #[serde(deserialize_with = "blocks")]
    pub blocks: u32,
    /// Channels of each convolution, within [`TowerOptions::CHANNELS`].
    #[serde(deserialize_with = "channels")]
    pub channels: u32,
    /// Whether some blocks of a `resnet` see averages over the whole board.
    pub global_pooling: bool,
    /// Whether the net also foretells the final disc difference.
    pub score_head: bool,
    /// Whether the net also foretells the final owner of each square.
    pub owner_head: bool,
    /// Share of the `paper` tower's hidden units that a training step drops, 0 to below 1.
    pub dropout: f64,
}

impl TowerOptions {
    /// How many residual blocks a net may have.
    pub const BLOCKS: RangeInclusive<u32> = 1..=100;
    /// How many channels its convolutions may have.
    pub const CHANNELS: RangeInclusive<u32> = 1..=1024;
}

// A file may say anything, and whoever builds a net by it takes memory as it says.
fn blocks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    within(deserializer, "blocks", &TowerOptions::BLOCKS)
}

fn channels<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    within(deserializer, "channels", &TowerOptions::CHANNELS)
}

fn within<'de, D: Deserializer<'de>>(
    deserializer: D,
    name: &str,
    range: &RangeInclusive<u32>,
) -> Result<u32, D::Error> {
    let found = u32::deserialize(deserializer)?;
    if range.contains(&found) {
        return Ok(found);
    }
    let (least, most) = (range.start(), range.end());
    Err(D::Error::custom(format!("{name} is {found}; allowed: {least} to {most}")))
}

impl Default for TowerOptions {
    fn default() -> TowerOptions {
        TowerOptions {
            tower: Tower::Resnet,
            inputs: Inputs::Lookahead,
            blocks: 4,
            channels: 32,
            global_pooling: true,
            score_head: true,
            owner_head: true,
            dropout: 0.0,
        }
    }
}

/// The copy of a net that plays.
pub mod inference {
    use super::choices;

    choices! {
        /// The code that computes a net's outputs for play.
        pub enum BackendKind {
            /// The fastest one that the machine and the net allow.
            #[default]
            Auto = "auto",
            /// libtorch, operator by operator.
            Eager = "eager",
            /// The kernel of this program for processors with matrix tiles; bf16.
            Amx = "amx",
            /// The kernel of this program for any processor; f32, with filters in f16 where that
            /// is faster and not asked against.
            Winograd = "winograd",
        }
    }

    choices! {
        /// The number format of weights and activations in play.
        pub enum Precision {
            /// The fastest one that the device has.
            #[default]
            Auto = "auto",
            /// 32-bit floats.
            F32 = "f32",
            /// 16-bit brain floats.
            Bf16 = "bf16",
            /// 16-bit floats; a GPU only.
            F16 = "f16",
        }
    }

    /// How a net is computed in play.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
    pub struct Options {
        /// The code that computes it.
        pub backend: BackendKind,
        /// Its number format.
        pub precision: Precision,
    }
}
