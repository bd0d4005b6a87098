//! Settings of a net and of its inference.

use std::ops::RangeInclusive;

use serde::de::{Deserialize, Deserializer, Error};

use crate::choices::choices;
use crate::keys::{below, keys, range, text};

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
        /// The same, but an evaluator's opinion of the position and of each legal move in place of the
        /// numbers of discs that moves turn.
        Evaluations = "evaluations",
    }
}

keys! {
    /// The architecture of a net, without its board.
    #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    pub struct TowerOptions {
        /// The architecture: residual blocks, or the net of Fu and Xu.
        key tower: Tower = Tower::Resnet;

        /// Input planes of a `resnet`: the discs; with the effects of each legal move; or also with an
        /// evaluator's opinion of each.
        #[serde(default)]
        key inputs: Inputs = Inputs::Lookahead;

        /// The checksum of the model that gives the evaluations of `inputs = "evaluations"`; empty
        /// stands for the strongest evaluator that is shipped for the board.
        ///
        /// A run writes it into its configuration.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        key inputs_evaluator: String = String::new(), text("8 hexadecimal digits, or nothing", |_| true);

        /// Residual blocks of a `resnet`.
        #[serde(deserialize_with = "blocks")]
        key blocks: u32 = 4, range(TowerOptions::BLOCKS);

        /// Channels of each convolution.
        #[serde(deserialize_with = "channels")]
        key channels: u32 = 32, range(TowerOptions::CHANNELS);

        /// Whether some blocks of a `resnet` get averages over the whole board.
        ///
        /// They also get maxima.
        key global_pooling: bool = true;

        /// Whether a `resnet` also predicts the final disc difference.
        key score_head: bool = true;

        /// Whether a `resnet` also predicts each square's final owner.
        key owner_head: bool = true;

        /// Share of the `paper` net's hidden units dropped in a training step.
        key dropout: f64 = 0.0, below(0.0, 1.0);
    }
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

/// Settings of inference.
pub mod inference {
    use super::{choices, keys};

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

    keys! {
        /// How a net's predictions are computed.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Options {
            /// The code that computes the net in play; `auto` takes the fastest one that supports
            /// the machine and the net.
            key backend: BackendKind = BackendKind::Auto;

            /// Number format in play; `auto` takes the fastest on the device.
            key precision: Precision = Precision::Auto;
        }
    }
}
