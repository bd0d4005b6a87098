//! Settings of a net and of its inference.

use std::ops::RangeInclusive;

use serde::de::{Deserialize, Deserializer, Error};

use crate::choices::choices;

choices! {
    /// The architecture of a net's trunk.
    pub enum Tower {
        /// Residual blocks of two 3x3 convolutions.
        #[default]
        Resnet = "resnet",
        /// Four convolutions and two fully connected layers over one plane: the net of Fu and Xu
        /// (see `docs/references.md`).
        Paper = "paper",
    }
}

choices! {
    /// The input planes of a `resnet`. The default applies to older net files, which do not name
    /// their inputs.
    pub enum Inputs {
        /// The discs of both sides and the legal moves.
        #[default]
        Discs = "discs",
        /// The same, and planes that the rules compute one move ahead: see [`super::lookahead`].
        Lookahead = "lookahead",
    }
}

/// The architecture of a net, without its board.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TowerOptions {
    /// The architecture of the trunk.
    pub tower: Tower,
    /// The input planes of a `resnet`.
    #[serde(default)]
    pub inputs: Inputs,
    /// Residual blocks of a `resnet`, within [`TowerOptions::BLOCKS`].
    #[serde(deserialize_with = "blocks")]
    pub blocks: u32,
    /// Channels of each convolution, within [`TowerOptions::CHANNELS`].
    #[serde(deserialize_with = "channels")]
    pub channels: u32,
    /// Whether some blocks of a `resnet` use means and maxima over the whole board.
    pub global_pooling: bool,
    /// Whether the net also predicts the final disc difference.
    pub score_head: bool,
    /// Whether the net also predicts the final owner of each square.
    pub owner_head: bool,
    /// Share of the `paper` tower's hidden units that a training step drops, 0 to below 1.
    pub dropout: f64,
}

impl TowerOptions {
    /// The allowed numbers of residual blocks.
    pub const BLOCKS: RangeInclusive<u32> = 1..=100;
    /// The allowed numbers of channels.
    pub const CHANNELS: RangeInclusive<u32> = 1..=1024;
}

// A damaged or malicious file could ask for a net that does not fit into memory.
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

/// Settings of inference.
pub mod inference {
    use super::choices;

    choices! {
        /// The code that computes a net's predictions.
        pub enum BackendKind {
            /// The fastest one that supports the machine and the net.
            #[default]
            Auto = "auto",
            /// libtorch, operator by operator.
            Eager = "eager",
            /// This program's kernel for processors with matrix tiles (Intel AMX), in bf16.
            Amx = "amx",
            /// This program's kernel for any processor, in f32. With [`Precision::Auto`] filters
            /// may be stored in f16 where that is faster.
            Winograd = "winograd",
        }
    }

    choices! {
        /// The number format of weights and activations in inference.
        pub enum Precision {
            /// The fastest one on the device.
            #[default]
            Auto = "auto",
            /// 32-bit floats.
            F32 = "f32",
            /// 16-bit brain floats.
            Bf16 = "bf16",
            /// 16-bit floats, on a GPU only.
            F16 = "f16",
        }
    }

    /// How a net's predictions are computed.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
    pub struct Options {
        /// The code that computes it.
        pub backend: BackendKind,
        /// Its number format.
        pub precision: Precision,
    }
}
