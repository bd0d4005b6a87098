//! The net on libtorch: float32 variables, and the forward pass from planes to heads.
//!
//! Training uses it, and tests compare every faster implementation with it.

use tch::{Device, Kind, Tensor};

use super::encode::Encoding;
use super::options::Tower;
use super::plan::{
    NORM_EPSILON, NORM_MOMENTUM, NetSpec, PAPER_HIDDEN, PAPER_PADDING, array_specs, check,
};
use super::variables::{Slices, TRAINED, Variables};
use crate::model::weights::{Weights, WeightsError};

/// Settings of a forward pass.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pass {
    /// Whether this is a pass for training. Then batch norms use the statistics of the batch and
    /// update their running statistics, and dropout is on.
    pub train: bool,
    /// The number format of activations and weights: `Float`, `BFloat16`, or on a GPU `Half`.
    pub kind: Kind,
}

impl Pass {
    /// A pass for predictions, in float32.
    pub const INFERENCE: Pass = Pass { train: false, kind: Kind::Float };

    /// A pass for training. Dropout uses libtorch's random generator of the device: seed it with
    /// `tch::manual_seed` if `dropout` is above 0.
    pub fn train(kind: Kind) -> Pass {
        Pass { train: true, kind }
    }
}

/// A net's predictions for `n` positions, in float32, from the view of the side to move.
#[derive(Debug)]
pub struct Heads {
    /// `[n, squares]`: a logit for each square in the order of their numbers, legal or not.
    pub policy: Tensor,
    /// `[n]`: the expected result, -1 (loss) to 1 (win).
    pub value: Tensor,
    /// `[n]`: the final disc difference divided by the number of squares.
    pub score: Option<Tensor>,
    /// `[n, squares]`: the final owner of each square, -1 (other side) to 1 (side to move).
    pub owner: Option<Tensor>,
}

/// A net with its float32 variables.
#[derive(Debug)]
pub struct Net {
    spec: NetSpec,
    device: Device,
    variables: Variables,
    /// `[cells]`: 1 on squares, 0 on holes. `None` for boards without holes.
    mask: Option<Tensor>,
    /// `[squares]`: the cell of each square. `None` for boards without holes.
    cells: Option<Tensor>,
}

impl Net {
    /// A net with random initial weights. The same seed gives the same weights everywhere.
    pub fn new(spec: &NetSpec, seed: u64, device: Device) -> Net {
        let layout = spec.shape.layout();
        let holes = layout.squares < layout.cells();
        let mut mask = vec![0f32; layout.cells()];
        layout.cell_of.iter().for_each(|&cell| mask[cell as usize] = 1.0);
        let cells: Vec<i64> = layout.cell_of.iter().map(|&cell| cell as i64).collect();
        Net {
            spec: spec.clone(),
            device,
            variables: Variables::new(spec, seed, device),
            mask: holes.then(|| Tensor::from_slice(&mask).to_device(device)),
            cells: holes.then(|| Tensor::from_slice(&cells).to_device(device)),
        }
    }

    /// A net with given weights.
    ///
    /// # Errors
    ///
    /// The weights belong to another net.
    pub fn with_weights(
        spec: &NetSpec,
        weights: &Weights,
        device: Device,
    ) -> Result<Net, WeightsError> {
        // A file may describe a huge net: check its arrays before allocating memory.
        check(&array_specs(spec), weights)?;
        let mut net = Net::new(spec, 0, device);
        net.load(weights)?;
        Ok(net)
    }

    /// The board and architecture.
    pub fn spec(&self) -> &NetSpec {
        &self.spec
    }

    /// The device that holds the variables.
    pub fn device(&self) -> Device {
        self.device
    }

    /// A copy of the variables and the running statistics.
    pub fn weights(&self) -> Weights {
        self.variables.export(self.variables.vectors())
    }

    /// Replaces the variables by `weights`.
    ///
    /// # Errors
    ///
    /// `weights` belong to another net. Nothing has changed then.
    pub fn load(&mut self, weights: &Weights) -> Result<(), WeightsError> {
        self.variables.load(weights)
    }

    /// Takes the variables and running statistics of another net of the same spec.
    pub fn copy_from(&mut self, net: &Net) {
        tch::no_grad(|| {
            for (own, other) in self.variables.vectors().iter().zip(net.variables.vectors()) {
                own.shallow_clone().copy_(other);
            }
        });
    }

    /// Replaces the running statistics by a weighted mean of them and those of other nets of the same
    /// spec. The weights add up to 1.
    pub fn average_statistics<'a>(
        &mut self,
        share: f64,
        others: impl IntoIterator<Item = (&'a Net, f64)>,
    ) {
        tch::no_grad(|| {
            let mut own = self.variables.vectors()[TRAINED].shallow_clone();
            let mut mean = &own * share;
            for (net, share) in others {
                mean += &net.variables.vectors()[TRAINED] * share;
            }
            own.copy_(&mean);
        });
    }

    /// The trained variables as a few long vectors.
    pub fn parameters(&self) -> &[Tensor] {
        self.variables.trained()
    }

    /// The gradient of a scalar `loss` for each of [`Net::parameters`].
    pub fn gradients(&self, loss: &Tensor) -> Vec<Tensor> {
        Tensor::run_backward(&[loss], self.parameters(), false, false)
    }

    /// The arrays that lie in a long vector like the parameters with this index.
    pub(super) fn arrays_of(&self, index: usize, vector: &Tensor) -> Vec<Tensor> {
        self.variables.arrays_of(index, vector)
    }

    pub(super) fn variables(&self) -> &Variables {
        &self.variables
    }

    /// The input planes `[n, planes, width, width]` of positions, for a pass in `kind`.
    pub fn planes(&self, inputs: &[crate::predict::Input], kind: Kind) -> Tensor {
        Encoding::new(&self.spec).planes(inputs, kind, self.device)
    }

    /// The predictions for positions given as [`Net::planes`].
    ///
    /// # Panics
    ///
    /// The planes were made for another board, tower or device.
    pub fn forward(&self, planes: &Tensor, pass: Pass) -> Heads {
        let slices = self.variables.slices(pass.kind);
        let planes = planes.to_kind(pass.kind);
        let forward = ForwardPass { net: self, slices, pass, mask: self.mask(pass.kind) };
        match self.spec.options.tower {
            Tower::Resnet => forward.resnet(&planes),
            Tower::Paper => forward.paper(&planes),
        }
    }

    fn mask(&self, kind: Kind) -> Option<Tensor> {
        let width = self.spec.shape.layout().width as i64;
        self.mask.as_ref().map(|mask| mask.to_kind(kind).view([1, 1, width, width]))
    }
}

/// A forward pass in progress.
struct ForwardPass<'a> {
    net: &'a Net,
    slices: Slices<'a>,
    pass: Pass,
    mask: Option<Tensor>,
}

impl ForwardPass<'_> {
    fn get(&self, name: &str) -> &Tensor {
        self.slices.get(name)
    }

    /// A convolution that keeps the board's size, then its batch norm.
    fn convolve(&self, x: &Tensor, conv: &str, norm: &str) -> Tensor {
        let padding = self.get(&format!("{conv}.weight")).size()[2] / 2;
        self.convolve_padded(x, conv, norm, padding)
    }

    /// A convolution, then its batch norm.
    fn convolve_padded(&self, x: &Tensor, conv: &str, norm: &str, padding: i64) -> Tensor {
        let weight = self.get(&format!("{conv}.weight"));
        let y = x.conv2d(weight, None::<&Tensor>, 1, padding, 1, 1);
        let part = |part: &str| Some(self.get(&format!("{norm}.{part}")));
        y.batch_norm(
            part("scale"),
            part("shift"),
            part("mean"),
            part("variance"),
            self.pass.train,
            NORM_MOMENTUM,
            NORM_EPSILON,
            false,
        )
    }

    /// ReLU; holes are set to 0.
    fn activate(&self, mut x: Tensor) -> Tensor {
        let y = x.relu_();
        match &self.mask {
            Some(mask) => y * mask,
            None => y,
        }
    }

    /// Global pooling: what a block adds to every cell, `[n, channels, 1, 1]`.
    fn pool(&self, x: &Tensor, name: &str) -> Tensor {
        let layout = self.net.spec.shape.layout();
        let width = layout.width as i64;
        // Holes hold 0 and no value is negative, so holes change neither sum nor maximum.
        let correction = layout.cells() as f64 / layout.squares as f64;
        let mean = x.avg_pool2d([width, width], 1, 0, false, true, None) * correction;
        let top = x.max_pool2d([width, width], 1, 0, 1, false);
        let both = Tensor::cat(&[mean, top], 1).flatten(1, -1);
        let added = both.linear(self.get(&format!("{name}.weight")), None::<&Tensor>);
        added.unsqueeze(-1).unsqueeze(-1)
    }

    fn resnet(&self, planes: &Tensor) -> Heads {
        let mut x = self.activate(self.convolve(planes, "stem.conv", "stem.norm"));
        for block in 0..self.net.spec.blocks() {
            let name = |part| format!("block.{block}.{part}");
            let mut y = self.convolve(&x, &name("conv1"), &name("norm1"));
            if self.net.spec.pools(block) {
                y += self.pool(&x, &name("pool"));
            }
            let y = self.activate(y);
            let y = self.convolve(&y, &name("conv2"), &name("norm2"));
            x = self.activate(y + x);
        }
        let policy = self.activate(self.convolve(&x, "policy.conv", "policy.norm"));
        let features = self.activate(self.convolve(&x, "value.conv", "value.norm"));
        let policy = self.per_square(&policy, "policy.out") + self.get("policy.out.bias");
        let mut hidden = features
            .permute([0, 2, 3, 1])
            .flatten(1, -1)
            .linear(self.get("value.hidden.weight"), None::<&Tensor>)
            .to_kind(Kind::Float)
            + self.get("value.hidden.bias");
        let hidden = hidden.relu_();
        let options = &self.net.spec.options;
        Heads {
            policy,
            value: self.scalar(&hidden, "value.out").tanh(),
            score: options.score_head.then(|| self.scalar(&hidden, "score.out")),
            owner: options.owner_head.then(|| {
                (self.per_square(&features, "owner.out") + self.get("owner.out.bias")).tanh()
            }),
        }
    }

    /// A linear map from the channels of each cell to one number, `[n, squares]` in float32.
    fn per_square(&self, x: &Tensor, name: &str) -> Tensor {
        // Channels are last in memory, so the permutation copies nothing.
        let rows = x.permute([0, 2, 3, 1]).flatten(1, 2).to_kind(Kind::Float);
        let cells =
            rows.linear(self.get(&format!("{name}.weight")), None::<&Tensor>).squeeze_dim(2);
        match &self.net.cells {
            Some(squares) => cells.index_select(1, squares),
            None => cells,
        }
    }

    fn linear(&self, x: &Tensor, name: &str) -> Tensor {
        x.linear(self.get(&format!("{name}.weight")), Some(self.get(&format!("{name}.bias"))))
    }

    fn scalar(&self, x: &Tensor, name: &str) -> Tensor {
        self.linear(x, name).squeeze_dim(1)
    }

    fn paper(&self, planes: &Tensor) -> Heads {
        let mut x = planes.shallow_clone();
        for (index, padding) in PAPER_PADDING.into_iter().enumerate() {
            let (conv, norm) = (format!("conv.{index}"), format!("norm.{index}"));
            let mut y = self.convolve_padded(&x, &conv, &norm, padding);
            // All holes are on the rim, which a convolution without padding drops.
            x = if padding == 0 { y.relu_() } else { self.activate(y) };
        }
        let mut x = x.permute([0, 2, 3, 1]).flatten(1, -1);
        let options = &self.net.spec.options;
        for index in 0..PAPER_HIDDEN.len() {
            let weight = self.get(&format!("hidden.{index}.weight"));
            let bias = self.get(&format!("hidden.{index}.bias")).to_kind(self.pass.kind);
            x = x.linear(weight, Some(&bias)).relu_();
            if self.pass.train && options.dropout > 0.0 {
                x = x.dropout(options.dropout, true);
            }
        }
        let x = x.to_kind(Kind::Float);
        Heads {
            policy: self.linear(&x, "policy.out"),
            value: self.scalar(&x, "value.out").tanh(),
            score: options.score_head.then(|| self.scalar(&x, "score.out")),
            owner: options.owner_head.then(|| self.linear(&x, "owner.out").tanh()),
        }
    }
}
