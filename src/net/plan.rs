//! The parts of a net by name: which arrays it has, their shapes, and how they start.
//!
//! One list serves the trained net, its inference copies and files. A residual net of `B` blocks
//! and `C` channels over `W x W` cells, of which `S` are squares:
//!
//! ```text
//! stem            3x3 convolution P -> C, batch norm, ReLU
//! block.0 .. B-1  x -> ReLU(norm2(conv2(ReLU(norm1(conv1(x)) + pool(x)))) + x)
//!                 pool, in every second block (1, 3, ..): a C x 2C matrix times the mean and the
//!                 maximum of each channel over the squares, added alike to all cells
//! policy          1x1 convolution C -> 16, norm, ReLU, then 16 -> 1 a cell, plus a bias a square
//! value           1x1 convolution C -> 16, norm, ReLU (the features), then all cells -> 64, ReLU,
//!                 then 64 -> 1, tanh
//! score           64 -> 1 from the value's hidden layer: the final disc difference over S
//! owner           16 -> 1 a cell from the value's features, tanh: +1 mine, -1 theirs
//! ```
//!
//! `P` is 4, or 16 where a net is shown what a move leads to ([`planes_of`]).
//!
//! After each ReLU the cells that are no squares are set to 0, so that holes look like the world
//! beyond the edge. Global pooling is KataGo's method (Wu 2019), here from a block's input; the
//! score and owner heads are his as well.

use super::encode::planes_of;
use super::options::{Tower, TowerOptions};
use crate::game::Shape;

/// Channels of the policy head and of the value head over each cell.
pub const HEAD_CHANNELS: usize = 16;
/// Width of the layer that value and score share.
pub const HIDDEN: usize = 64;
/// Padding of each convolution of the `paper` tower: with 1 it keeps the board's size, with 0 it
/// drops the rim. The paper has no figures of its net but the number of layers; these and the
/// widths are of the program that its design follows (alpha-zero-general).
pub const PAPER_PADDING: [i64; 4] = [1, 1, 0, 0];
/// Widths of the fully connected layers of the `paper` tower.
pub const PAPER_HIDDEN: [usize; 2] = [1024, 512];

/// What a net is: enough to build it, or to read its weights.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct NetSpec {
    /// The board.
    #[serde(with = "shape_name")]
    pub shape: Shape,
    /// The tower and its heads.
    pub options: TowerOptions,
}

mod shape_name {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::game::Shape;

    pub fn serialize<S: Serializer>(shape: &Shape, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(shape.name())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Shape, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl NetSpec {
    /// Whether a residual block adds what it sees of the whole board: every second one, so that
    /// the first does not (it has seen little yet) and the last of an even number does.
    pub fn pools(&self, block: usize) -> bool {
        self.options.global_pooling && block % 2 == 1
    }

    /// Residual blocks.
    pub fn blocks(&self) -> usize {
        self.options.blocks as usize
    }

    /// Channels of each convolution of the trunk.
    pub fn channels(&self) -> usize {
        self.options.channels as usize
    }

    /// Multiplications and additions of one position's convolutions, as literature counts them:
    /// taps beyond the edge included, heads and pooling left out.
    pub fn flops(&self) -> f64 {
        let cells = self.shape.layout().cells();
        let channels = self.channels() as f64;
        let planes = planes_of(&self.options) as f64;
        // Cells that the convolutions after the first one compute, all together.
        let inner = match self.options.tower {
            Tower::Resnet => 2 * self.blocks() * cells,
            Tower::Paper => (2..=PAPER_PADDING.len()).map(|count| self.cells_after(count)).sum(),
        };
        2.0 * 9.0 * channels * (planes * cells as f64 + channels * inner as f64)
    }

    /// Cells that are left after so many convolutions of the `paper` tower.
    fn cells_after(&self, convolutions: usize) -> usize {
        let dropping = PAPER_PADDING[..convolutions].iter().filter(|&&padding| padding == 0);
        (self.shape.layout().width - 2 * dropping.count()).pow(2)
    }

    /// Numbers that the `paper` tower's convolutions hand to its fully connected layers.
    pub fn paper_features(&self) -> usize {
        self.channels() * self.cells_after(PAPER_PADDING.len())
    }
}

/// What an array is for, which decides how it is trained and stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// A factor of the bulk of the work: computed in the pass's precision, decayed.
    Factor,
    /// A factor of the last layers: computed in float32, decayed.
    Last,
    /// A bias or a batch norm's scale: computed in float32, not decayed.
    Offset,
    /// A batch norm's running mean or variance: not trained but tracked.
    Statistic,
}

/// How an array starts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Start {
    /// One number everywhere.
    Constant(f32),
    /// Normally distributed with this standard deviation.
    Normal(f32),
}

/// An array of a net.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// Its name, unique within the net.
    pub name: String,
    /// Its sizes, outermost first.
    pub shape: Vec<usize>,
    /// What it is for.
    pub role: Role,
    /// How it starts.
    pub start: Start,
}

/// The arrays of a net in the order in which they are stored.
pub fn parts(spec: &NetSpec) -> Vec<Part> {
    let mut list = List(Vec::new());
    match spec.options.tower {
        Tower::Resnet => list.resnet(spec),
        Tower::Paper => list.paper(spec),
    }
    list.0
}

struct List(Vec<Part>);

impl List {
    fn push(&mut self, name: String, shape: &[usize], role: Role, start: Start) {
        self.0.push(Part { name, shape: shape.to_vec(), role, start });
    }

    /// A factor that starts so that it keeps the size of what flows through a ReLU (He et al.
    /// 2015), times `gain`.
    fn factor(&mut self, name: &str, shape: &[usize], role: Role, gain: f32) {
        let inputs: usize = shape[1..].iter().product();
        let deviation = gain * (2.0 / inputs as f32).sqrt();
        self.push(format!("{name}.weight"), shape, role, Start::Normal(deviation));
    }

    fn bias(&mut self, name: &str, size: usize) {
        self.push(format!("{name}.bias"), &[size], Role::Offset, Start::Constant(0.0));
    }

    /// A convolution with its batch norm.
    fn convolution(&mut self, conv: &str, norm: &str, shape: [usize; 4], scale: f32) {
        self.factor(conv, &shape, Role::Factor, 1.0);
        let size = &shape[..1];
        self.push(format!("{norm}.scale"), size, Role::Offset, Start::Constant(scale));
        self.push(format!("{norm}.shift"), size, Role::Offset, Start::Constant(0.0));
        self.push(format!("{norm}.mean"), size, Role::Statistic, Start::Constant(0.0));
        self.push(format!("{norm}.variance"), size, Role::Statistic, Start::Constant(1.0));
    }

    fn last(&mut self, name: &str, inputs: usize) {
        self.factor(name, &[1, inputs], Role::Last, 0.3);
        self.bias(name, 1);
    }

    fn resnet(&mut self, spec: &NetSpec) {
        let layout = spec.shape.layout();
        let channels = spec.channels();
        self.convolution("stem.conv", "stem.norm", [channels, planes_of(&spec.options), 3, 3], 1.0);
        for block in 0..spec.blocks() {
            let name = |part| format!("block.{block}.{part}");
            let shape = [channels, channels, 3, 3];
            self.convolution(&name("conv1"), &name("norm1"), shape, 1.0);
            if spec.pools(block) {
                self.factor(&name("pool"), &[channels, 2 * channels], Role::Factor, 0.5);
            }
            // A block that starts as the identity lets a deep net learn at once.
            self.convolution(&name("conv2"), &name("norm2"), shape, 0.0);
        }
        for head in ["policy", "value"] {
            let shape = [HEAD_CHANNELS, channels, 1, 1];
            self.convolution(&format!("{head}.conv"), &format!("{head}.norm"), shape, 1.0);
        }
        self.factor("policy.out", &[1, HEAD_CHANNELS], Role::Last, 0.3);
        self.bias("policy.out", layout.squares);
        let flat = HEAD_CHANNELS * layout.cells();
        self.factor("value.hidden", &[HIDDEN, flat], Role::Factor, 1.0);
        self.bias("value.hidden", HIDDEN);
        self.last("value.out", HIDDEN);
        if spec.options.score_head {
            self.last("score.out", HIDDEN);
        }
        if spec.options.owner_head {
            self.last("owner.out", HEAD_CHANNELS);
        }
    }

    fn paper(&mut self, spec: &NetSpec) {
        let layout = spec.shape.layout();
        let channels = spec.channels();
        for index in 0..PAPER_PADDING.len() {
            let planes = if index == 0 { planes_of(&spec.options) } else { channels };
            let shape = [channels, planes, 3, 3];
            self.convolution(&format!("conv.{index}"), &format!("norm.{index}"), shape, 1.0);
        }
        let mut inputs = spec.paper_features();
        for (index, width) in PAPER_HIDDEN.into_iter().enumerate() {
            let name = format!("hidden.{index}");
            self.factor(&name, &[width, inputs], Role::Factor, 1.0);
            self.bias(&name, width);
            inputs = width;
        }
        self.factor("policy.out", &[layout.squares, inputs], Role::Last, 0.3);
        self.bias("policy.out", layout.squares);
        self.last("value.out", inputs);
        if spec.options.score_head {
            self.last("score.out", inputs);
        }
        if spec.options.owner_head {
            self.factor("owner.out", &[layout.squares, inputs], Role::Last, 0.3);
            self.bias("owner.out", layout.squares);
        }
    }
}
