//! The arrays of a net: their names, shapes, roles and initial values.
//!
//! The trained net, its inference copies and its files use the same list. A residual net of `B`
//! blocks and `C` channels, for a board of `W x W` cells of which `S` are squares:
//!
//! ```text
//! stem            3x3 convolution P -> C, batch norm, ReLU
//! block.0 .. B-1  x -> ReLU(norm2(conv2(ReLU(norm1(conv1(x)) + pool(x)))) + x)
//!                 pool, in every second block (1, 3, ..): a C x 2C matrix times the mean and the
//!                 maximum of each channel over the squares. The result is added to every cell.
//! policy          1x1 convolution C -> 16, norm, ReLU, then 16 -> 1 per cell and a bias per square
//! value           1x1 convolution C -> 16, norm, ReLU (the features), then all cells -> 64, ReLU,
//!                 then 64 -> 1, tanh
//! score           64 -> 1 from the value's hidden layer: the final disc difference over S
//! owner           16 -> 1 per cell from the value's features, tanh: +1 mine, -1 theirs
//! ```
//!
//! `P` is the number of input planes: 4, or 16 with lookahead ([`plane_count`]).
//!
//! Some boards have holes: cells of the bounding square that are not squares of the board. After
//! each ReLU holes are set to 0, like the padding beyond the edge. Global pooling and the score and
//! owner heads are methods of KataGo (Wu 2019); here pooling reads a block's input.

use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize as _;

use super::evaluations::InputEvaluator;
use super::lookahead::{NUMBER_PLANES, SET_PLANES};
use super::options::{Inputs, Tower, TowerOptions};
use crate::game::{Goal, Shape};
use crate::model::{Description, Kind, Weights, WeightsError};

/// Channels of the policy head's and of the value head's 1x1 convolution.
pub const HEAD_CHANNELS: usize = 16;
/// Width of the hidden layer that value and score share.
pub const HIDDEN: usize = 64;
/// Padding of each convolution of the `paper` tower. With 1 a convolution keeps the board's size,
/// with 0 it drops the rim.
///
/// Fu and Xu give only the number of layers. Paddings and widths are those of the program that they
/// followed (alpha-zero-general).
pub const PAPER_PADDING: [i64; 4] = [1, 1, 0, 0];
/// Widths of the fully connected layers of the `paper` tower.
pub const PAPER_HIDDEN: [usize; 2] = [1024, 512];

/// Batch norms add this to a variance before taking its root.
pub(super) const NORM_EPSILON: f64 = 1e-5;
/// Share of the newest batch in the running statistics of a batch norm.
#[cfg(feature = "torch")]
pub(super) const NORM_MOMENTUM: f64 = 0.1;

/// Planes of a `resnet` with [`Inputs::Discs`].
pub(super) const DISC_PLANES: usize = 4;

/// The number of input planes of a net.
///
/// - `resnet` with [`Inputs::Discs`]: 4 planes of 0 and 1: discs of the side to move, discs of the
///   other side, legal moves, squares of the board.
/// - `resnet` with [`Inputs::Lookahead`]: 16 planes: those 4, then 12 of [`super::lookahead`]: 4 of
///   sets, and 4 of numbers at each side's legal moves, the side to move first.
/// - `resnet` with [`Inputs::Evaluations`]: the same 16, but where those of lookahead have the
///   discs that a move of the side to move turns, its evaluation after the best reply, and on all
///   squares of the plane for the other side the evaluation of the position; in units of 16 discs.
/// - `paper`: 1 plane: 1 on discs of the side to move, -1 on the other side's, 0 on empty squares.
pub fn plane_count(options: &TowerOptions) -> usize {
    match (options.tower, options.inputs) {
        (Tower::Paper, _) => 1,
        (Tower::Resnet, Inputs::Discs) => DISC_PLANES,
        (Tower::Resnet, Inputs::Lookahead | Inputs::Evaluations) => {
            DISC_PLANES + SET_PLANES + 2 * NUMBER_PLANES
        }
    }
}

/// The board and architecture of a net: enough to build it or to read its weights.
#[derive(Clone, Debug, PartialEq)]
pub struct NetSpec {
    /// The board.
    pub shape: Shape,
    /// The tower and its heads.
    pub options: TowerOptions,
    /// What evaluates its inputs; only with [`Inputs::Evaluations`].
    pub evaluator: Option<InputEvaluator>,
}

impl NetSpec {
    /// The net of a description, still without what evaluates its inputs.
    ///
    /// # Errors
    ///
    /// An option is missing or not allowed.
    pub fn of(description: &Description) -> Result<NetSpec, serde_json::Error> {
        let options = TowerOptions::deserialize(&description.options)?;
        Ok(NetSpec { shape: description.shape, options, evaluator: None })
    }

    /// The description of a net before its training.
    pub fn description(&self, goal: Goal) -> Description {
        // Options are plain numbers and names, which JSON can always express.
        let options = serde_json::to_value(&self.options).unwrap_or_default();
        let shape = self.shape;
        Description { kind: Kind::Net, shape, options, goal, positions: 0, steps: 0 }
    }

    /// Checks that `weights` are those of this net.
    ///
    /// # Errors
    ///
    /// An array is missing, has another shape, or does not belong to the net.
    pub fn check(&self, weights: &Weights) -> Result<(), WeightsError> {
        check(&array_specs(self), weights)
    }

    /// Whether a residual block has global pooling. Every second block has, from the second on: the
    /// input of the first has few features yet.
    pub fn pools(&self, block: usize) -> bool {
        self.options.global_pooling && block % 2 == 1
    }

    /// The number of residual blocks.
    pub fn blocks(&self) -> usize {
        self.options.blocks as usize
    }

    /// Channels of each convolution of the trunk.
    pub fn channels(&self) -> usize {
        self.options.channels as usize
    }

    /// Multiplications plus additions in the trunk's convolutions for one position. Taps beyond the
    /// edge are counted, as is usual in the literature. Heads and pooling are not.
    pub fn flops(&self) -> f64 {
        let cells = self.shape.layout().cells();
        let channels = self.channels() as f64;
        let planes = plane_count(&self.options) as f64;
        // The total number of cells that all convolutions after the first compute.
        let inner = match self.options.tower {
            Tower::Resnet => 2 * self.blocks() * cells,
            Tower::Paper => (2..=PAPER_PADDING.len()).map(|count| self.cells_after(count)).sum(),
        };
        2.0 * 9.0 * channels * (planes * cells as f64 + channels * inner as f64)
    }

    /// Cells per channel after the first `convolutions` convolutions of the `paper` tower.
    fn cells_after(&self, convolutions: usize) -> usize {
        let dropping = PAPER_PADDING[..convolutions].iter().filter(|&&padding| padding == 0);
        (self.shape.layout().width - 2 * dropping.count()).pow(2)
    }

    /// Inputs of the first fully connected layer of the `paper` tower.
    pub fn paper_features(&self) -> usize {
        self.channels() * self.cells_after(PAPER_PADDING.len())
    }
}

/// The use of an array, which determines its precision and its training.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// Weights of a convolution or a hidden layer. Computed in the precision of the pass, with
    /// weight decay.
    Factor,
    /// Weights of an output layer. Computed in float32, with weight decay.
    OutputFactor,
    /// A bias, or a batch norm's scale or shift. Computed in float32, without weight decay.
    Offset,
    /// A batch norm's running mean or variance: updated by training passes, not by gradients.
    Statistic,
}

/// The initial values of an array.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Start {
    /// One number everywhere.
    Constant(f32),
    /// Normally distributed with mean 0 and this standard deviation.
    Normal(f32),
}

/// An array of a net.
#[derive(Clone, PartialEq, Debug)]
pub struct ArraySpec {
    /// Its name, unique within the net.
    pub name: String,
    /// Its sizes, outermost first.
    pub shape: Vec<usize>,
    /// Its use.
    pub role: Role,
    /// Its initial values.
    pub start: Start,
}

/// The arrays of a net, in the order in which they lie in the long vectors of one role. Saved
/// optimiser states depend on it.
pub fn array_specs(spec: &NetSpec) -> Vec<ArraySpec> {
    let mut list = ArrayList(Vec::new());
    match spec.options.tower {
        Tower::Resnet => list.resnet(spec),
        Tower::Paper => list.paper(spec),
    }
    list.0
}

/// The initial weights of a net. The same seed gives the same numbers everywhere.
pub fn initial_weights(spec: &NetSpec, seed: u64) -> Weights {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut weights = Weights::default();
    for array in array_specs(spec) {
        let values = array.initial(&mut random);
        weights.insert(array.name, array.shape, values);
    }
    weights
}

/// Checks that `weights` are exactly `arrays`.
///
/// # Errors
///
/// An array is missing, has another shape, or is not one of `arrays`.
pub(super) fn check(arrays: &[ArraySpec], weights: &Weights) -> Result<(), WeightsError> {
    for array in arrays {
        weights.get(&array.name, &array.shape)?;
    }
    match weights.iter().find(|(name, _)| arrays.iter().all(|array| array.name != *name)) {
        Some((name, _)) => Err(WeightsError::Unknown { name: name.into() }),
        None => Ok(()),
    }
}

impl ArraySpec {
    /// Draws the array's initial numbers.
    pub(super) fn initial(&self, random: &mut Xoshiro256PlusPlus) -> Vec<f32> {
        let count = self.shape.iter().product();
        match self.start {
            Start::Constant(value) => vec![value; count],
            Start::Normal(deviation) => {
                let normal = |_| deviation * Distribution::<f32>::sample(&StandardNormal, random);
                (0..count).map(normal).collect()
            }
        }
    }
}

struct ArrayList(Vec<ArraySpec>);

impl ArrayList {
    fn push(&mut self, name: String, shape: &[usize], role: Role, start: Start) {
        self.0.push(ArraySpec { name, shape: shape.to_vec(), role, start });
    }

    /// Weights with the initial standard deviation of He et al. 2015, which preserves the variance
    /// of activations through ReLUs, times `gain`.
    fn factor(&mut self, name: &str, shape: &[usize], role: Role, gain: f32) {
        let inputs: usize = shape[1..].iter().product();
        let deviation = gain * (2.0 / inputs as f32).sqrt();
        self.push(format!("{name}.weight"), shape, role, Start::Normal(deviation));
    }

    fn bias(&mut self, name: &str, size: usize) {
        self.push(format!("{name}.bias"), &[size], Role::Offset, Start::Constant(0.0));
    }

    /// A convolution and its batch norm. `scale` is the norm's initial scale.
    fn convolution(&mut self, conv: &str, norm: &str, shape: [usize; 4], scale: f32) {
        self.factor(conv, &shape, Role::Factor, 1.0);
        let size = &shape[..1];
        self.push(format!("{norm}.scale"), size, Role::Offset, Start::Constant(scale));
        self.push(format!("{norm}.shift"), size, Role::Offset, Start::Constant(0.0));
        self.push(format!("{norm}.mean"), size, Role::Statistic, Start::Constant(0.0));
        self.push(format!("{norm}.variance"), size, Role::Statistic, Start::Constant(1.0));
    }

    fn scalar_output(&mut self, name: &str, inputs: usize) {
        self.factor(name, &[1, inputs], Role::OutputFactor, 0.3);
        self.bias(name, 1);
    }

    fn resnet(&mut self, spec: &NetSpec) {
        let layout = spec.shape.layout();
        let channels = spec.channels();
        self.convolution(
            "stem.conv",
            "stem.norm",
            [channels, plane_count(&spec.options), 3, 3],
            1.0,
        );
        for block in 0..spec.blocks() {
            let name = |part| format!("block.{block}.{part}");
            let shape = [channels, channels, 3, 3];
            self.convolution(&name("conv1"), &name("norm1"), shape, 1.0);
            if spec.pools(block) {
                self.factor(&name("pool"), &[channels, 2 * channels], Role::Factor, 0.5);
            }
            // With scale 0 a block starts as the identity, which makes deep nets easier to train.
            self.convolution(&name("conv2"), &name("norm2"), shape, 0.0);
        }
        for head in ["policy", "value"] {
            let shape = [HEAD_CHANNELS, channels, 1, 1];
            self.convolution(&format!("{head}.conv"), &format!("{head}.norm"), shape, 1.0);
        }
        self.factor("policy.out", &[1, HEAD_CHANNELS], Role::OutputFactor, 0.3);
        self.bias("policy.out", layout.squares);
        let flat = HEAD_CHANNELS * layout.cells();
        self.factor("value.hidden", &[HIDDEN, flat], Role::Factor, 1.0);
        self.bias("value.hidden", HIDDEN);
        self.scalar_output("value.out", HIDDEN);
        if spec.options.score_head {
            self.scalar_output("score.out", HIDDEN);
        }
        if spec.options.owner_head {
            self.scalar_output("owner.out", HEAD_CHANNELS);
        }
    }

    fn paper(&mut self, spec: &NetSpec) {
        let layout = spec.shape.layout();
        let channels = spec.channels();
        for index in 0..PAPER_PADDING.len() {
            let planes = if index == 0 { plane_count(&spec.options) } else { channels };
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
        self.factor("policy.out", &[layout.squares, inputs], Role::OutputFactor, 0.3);
        self.bias("policy.out", layout.squares);
        self.scalar_output("value.out", inputs);
        if spec.options.score_head {
            self.scalar_output("score.out", inputs);
        }
        if spec.options.owner_head {
            self.factor("owner.out", &[layout.squares, inputs], Role::OutputFactor, 0.3);
            self.bias("owner.out", layout.squares);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Inputs;
    use crate::net::fixtures::resnet;

    #[test]
    fn a_net_is_read_from_its_description() {
        let spec = resnet(Shape::Cross92, 3, 64);
        let description = spec.description(Goal::Most);
        assert_eq!(NetSpec::of(&description).unwrap(), spec);
        // Older files have no `inputs` key.
        let mut old = description.clone();
        assert_eq!(old.options.as_object_mut().unwrap().remove("inputs").unwrap(), "lookahead");
        assert_eq!(NetSpec::of(&old).unwrap().options.inputs, Inputs::Discs);
        for (name, value) in [("blocks", 0u32), ("blocks", u32::MAX), ("channels", 0)] {
            let mut odd = description.clone();
            odd.options[name] = value.into();
            let error = NetSpec::of(&odd).unwrap_err().to_string();
            assert!(error.contains(&format!("{name} is {value}; allowed: 1 to ")), "{error}");
        }
    }
}
