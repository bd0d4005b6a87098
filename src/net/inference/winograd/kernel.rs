//! The kernel: computes a residual net for a batch of positions.
//!
//! A whole batch is computed layer by layer, each layer in groups of positions. At all points the
//! filters of a layer take 11 times the memory of its weights, so they must not be loaded too
//! often. They come from the third-level cache and are prefetched. The second-level cache holds the
//! batch's activations and a group's numbers at the points.
//!
//! The time of a small batch is the time to load the filters. Therefore they are stored in f16
//! where the processor can read that. All sums are in float32. Computing a batch allocates no
//! memory.

use super::pack::{Matrix, Packed, PointFilters, Storage};
use super::{AnyKernel, unsupported};
use crate::game::Layout;
use crate::net::encode::Encoding;
use crate::net::fold::FoldedNet;
use crate::net::inference::InferenceError;
use crate::net::plan::{HIDDEN, NetSpec};
use crate::net::vector::{LANES, Vector, flat, flat_mut};
#[cfg(target_arch = "x86_64")]
use crate::net::winograd::product::HalfFactors;
use crate::net::winograd::product::{Rows, multiply};
use crate::net::winograd::{BoardTransform, Channels, Plane, Workspace};
use crate::predict::Input;

/// Positions that are computed layer by layer together.
pub(super) const BATCH: usize = 32;
/// Positions that are convolved together.
const GROUP: usize = 16;

/// Vectors of the hidden layer.
const HIDDEN_VECTORS: usize = HIDDEN / LANES;

/// The slices of [`Predictions`](crate::net::inference::Predictions) for one batch.
pub(super) struct OutputSlices<'a> {
    /// A row of logits of all squares for each position.
    pub policy: &'a mut [f32],
    /// The expected result of each position.
    pub value: &'a mut [f32],
    /// The final disc difference of each position, in discs.
    pub score: &'a mut [f32],
}

/// A packed net, and memory for one batch on boards of `W` rows.
pub(super) struct Kernel<const W: usize, const PAIRS: usize> {
    layout: &'static Layout,
    net: Packed,
    storage: Storage,
    workspace: Workspace<W, PAIRS>,
    /// 1 on squares, 0 on holes.
    mask: Vec<Vector>,
    /// Channel vectors of the trunk.
    depth: usize,
    encoding: Encoding,
    /// Input planes, `[position][cell]`.
    planes: Vec<Vector>,
    /// The trunk, `[position][channel vector][cell]`.
    trunk: Vec<Vector>,
    /// Between a block's convolutions, `[position][channel vector][cell]`.
    inner: Vec<Vector>,
    /// The trunk's result as `[position][cell][channel vector]`.
    rows: Vec<Vector>,
    /// `[position][means, then maxima]`.
    pooled: Vec<Vector>,
    /// Bias plus global pooling of a block, `[position][channel vector]`.
    added: Vec<Vector>,
    /// Sums of the 1x1 convolutions, `[position][cell][policy, features]`.
    heads: Vec<Vector>,
    /// The features after ReLU, `[position][cell]`.
    features: Vec<Vector>,
    /// Sums of the hidden layer without bias, `[position][vector]`.
    hidden: Vec<Vector>,
}

fn packed<const W: usize, const PAIRS: usize>(
    net: &FoldedNet,
    board: &BoardTransform<W, PAIRS>,
    storage: Storage,
) -> Result<Packed, InferenceError> {
    match net {
        FoldedNet::Resnet(net) => Ok(Packed::new(net, board, storage)),
        FoldedNet::Paper(_) => Err(unsupported()),
    }
}

impl<const W: usize, const PAIRS: usize> Kernel<W, PAIRS> {
    /// The kernel for `net`.
    ///
    /// # Errors
    ///
    /// It is not a residual net.
    pub(super) fn new(
        spec: &NetSpec,
        net: &FoldedNet,
        storage: Storage,
    ) -> Result<Kernel<W, PAIRS>, InferenceError> {
        let layout = spec.shape.layout();
        let net = packed(net, &BoardTransform::<W, PAIRS>::new(), storage)?;
        let depth = net.stem.bias.len();
        let cells = BATCH * BoardTransform::<W, PAIRS>::CELLS;
        let zeros = |vectors: usize| vec![Vector::ZERO; vectors];
        let mut mask = zeros(BoardTransform::<W, PAIRS>::CELLS);
        layout.cell_of.iter().for_each(|&cell| mask[cell as usize] = Vector::ONE);
        Ok(Kernel {
            layout,
            net,
            storage,
            workspace: Workspace::new(GROUP, depth),
            mask,
            depth,
            encoding: Encoding::new(spec),
            planes: zeros(cells),
            trunk: zeros(cells * depth),
            inner: zeros(cells * depth),
            rows: zeros(cells * depth),
            pooled: zeros(BATCH * 2 * depth),
            added: zeros(BATCH * depth),
            heads: zeros(cells * 2),
            features: zeros(cells),
            hidden: zeros(BATCH * HIDDEN_VECTORS),
        })
    }

    fn encode(&mut self, inputs: &[Input]) {
        let numbers = flat_mut(&mut self.planes);
        let rows = numbers.chunks_exact_mut(BoardTransform::<W, PAIRS>::CELLS * LANES);
        for (input, row) in inputs.iter().zip(rows) {
            self.encoding.write(input, row, LANES);
        }
    }

    /// Stem and residual blocks: from `planes` to `trunk`.
    fn tower(&mut self, positions: usize) {
        let (depth, cells) = (self.depth, BoardTransform::<W, PAIRS>::CELLS);
        let Kernel { net, workspace, mask, planes, trunk, inner, pooled, added, .. } = self;
        let at = |position: usize, c: usize| (position * depth + c) * cells;
        let channels = Channels { inputs: self.encoding.planes, outputs: depth };
        let filter = &net.stem.filters;
        for (first, positions) in groups(positions) {
            let read = |position: usize, _, plane: &mut Plane<W>| {
                let from = &planes[(first + position) * cells..][..cells];
                plane.as_flattened_mut().copy_from_slice(from);
            };
            convolve(workspace, filter, channels, positions, read, |position, c, sums| {
                let into = &mut trunk[at(first + position, c)..];
                bias_relu(sums, net.stem.bias[c], mask, into);
            });
        }
        let channels = Channels { inputs: depth * LANES, outputs: depth };
        for block in &net.blocks {
            match &block.pool {
                Some(pool) => {
                    pool_cells(trunk, pooled, (positions, cells, depth), self.layout.squares);
                    let left = Rows { numbers: flat(pooled), stride: 2 * depth * LANES };
                    let sizes = (positions, 2 * depth * LANES, depth);
                    multiply(left, &pool.factors, added, sizes);
                }
                None => added.fill(Vector::ZERO),
            }
            for added in added.chunks_exact_mut(depth) {
                added.iter_mut().zip(&block.first.bias).for_each(|(added, bias)| *added += *bias);
            }
            let filter = &block.first.filters;
            for (first, positions) in groups(positions) {
                let read = |position: usize, c: usize, plane: &mut Plane<W>| {
                    let from = &trunk[at(first + position, c)..][..cells];
                    plane.as_flattened_mut().copy_from_slice(from);
                };
                convolve(workspace, filter, channels, positions, read, |position, c, sums| {
                    let position = first + position;
                    let into = &mut inner[at(position, c)..];
                    bias_relu(sums, added[position * depth + c], mask, into);
                });
            }
            let filter = &block.second.filters;
            for (first, positions) in groups(positions) {
                let read = |position: usize, c: usize, plane: &mut Plane<W>| {
                    let from = &inner[at(first + position, c)..][..cells];
                    plane.as_flattened_mut().copy_from_slice(from);
                };
                convolve(workspace, filter, channels, positions, read, |position, c, sums| {
                    let bias = block.second.bias[c];
                    let old = &mut trunk[at(first + position, c)..][..cells];
                    let sums = sums.as_flattened().iter();
                    for ((old, sum), mask) in old.iter_mut().zip(sums).zip(mask.iter()) {
                        *old = (*sum + bias + *old).fast_max(Vector::ZERO) * *mask;
                    }
                });
            }
        }
    }

    /// The heads: from `trunk` to the outputs.
    fn heads(&mut self, positions: usize, outputs: OutputSlices<'_>) {
        let (depth, cells) = (self.depth, BoardTransform::<W, PAIRS>::CELLS);
        let Packed { heads, hidden, policy, policy_bias, output_weights, output_bias, .. } =
            &self.net;
        let size = cells * depth;
        let boards = self.trunk.chunks_exact(size).zip(self.rows.chunks_exact_mut(size));
        for (planes, rows) in boards.take(positions) {
            for (c, plane) in planes.chunks_exact(cells).enumerate() {
                let column = rows[c..].iter_mut().step_by(depth);
                column.zip(plane).for_each(|(to, value)| *to = *value);
            }
        }
        let left = Rows { numbers: flat(&self.rows), stride: depth * LANES };
        let sizes = (positions * cells, depth * LANES, 2);
        multiply(left, &heads.factors, &mut self.heads, sizes);
        let squares = self.layout.squares;
        for position in 0..positions {
            let from = &self.heads[position * cells * 2..][..cells * 2];
            let features = &mut self.features[position * cells..][..cells];
            for (cell, feature) in features.iter_mut().enumerate() {
                let sum = (from[2 * cell + 1] + heads.bias[1]).fast_max(Vector::ZERO);
                *feature = sum * self.mask[cell];
            }
            let logits = &mut outputs.policy[position * squares..][..squares];
            for (square, logit) in logits.iter_mut().enumerate() {
                let cell = usize::from(self.layout.cell_of[square]);
                let sum = (from[2 * cell] + heads.bias[0]).fast_max(Vector::ZERO);
                *logit = (sum * *policy).reduce_add() + policy_bias[square];
            }
        }
        let left = Rows { numbers: flat(&self.features), stride: cells * LANES };
        let sizes = (positions, cells * LANES, HIDDEN_VECTORS);
        multiply(left, &hidden.factors, &mut self.hidden, sizes);
        let rows = self.hidden.chunks_exact(HIDDEN_VECTORS);
        for ((row, value), score) in rows.zip(outputs.value).zip(outputs.score) {
            let dot = |Matrix { bias, .. }: &Matrix, factors: &[Vector]| {
                let terms = row.iter().zip(bias).zip(factors);
                let sum = terms.fold(Vector::ZERO, |sum, ((&hidden, &bias), &factor)| {
                    (hidden + bias).fast_max(Vector::ZERO).mul_add(factor, sum)
                });
                sum.reduce_add()
            };
            *value = (dot(hidden, &output_weights[0]) + output_bias[0]).tanh();
            *score = (dot(hidden, &output_weights[1]) + output_bias[1]) * squares as f32;
        }
    }
}

/// [`Workspace::convolve`] with filters in either format.
#[inline(always)]
fn convolve<const W: usize, const PAIRS: usize>(
    workspace: &mut Workspace<W, PAIRS>,
    filter: &PointFilters,
    channels: Channels,
    positions: usize,
    read: impl FnMut(usize, usize, &mut Plane<W>),
    put: impl FnMut(usize, usize, &Plane<W>),
) {
    match filter {
        PointFilters::Full(filter) => {
            workspace.convolve(&filter[..], channels, positions, read, put)
        }
        #[cfg(target_arch = "x86_64")]
        PointFilters::Half(numbers, avx512) => {
            let filter = HalfFactors { numbers, avx512: *avx512 };
            workspace.convolve(filter, channels, positions, read, put);
        }
    }
}

/// The groups of a batch: the first position of each, and the number of positions.
fn groups(positions: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..positions).step_by(GROUP).map(move |first| (first, GROUP.min(positions - first)))
}

/// Writes sums plus bias, after ReLU and with holes set to 0.
#[inline(always)]
fn bias_relu<const W: usize>(sums: &Plane<W>, bias: Vector, mask: &[Vector], into: &mut [Vector]) {
    for ((sum, mask), into) in sums.as_flattened().iter().zip(mask).zip(into) {
        *into = (*sum + bias).fast_max(Vector::ZERO) * *mask;
    }
}

/// Computes the mean over the squares and the maximum of each channel.
fn pool_cells(
    trunk: &[Vector],
    pooled: &mut [Vector],
    (positions, cells, depth): (usize, usize, usize),
    squares: usize,
) {
    let share = Vector::splat(1.0 / squares as f32);
    let boards = trunk.chunks_exact(cells * depth).take(positions);
    for (board, pooled) in boards.zip(pooled.chunks_exact_mut(2 * depth)) {
        for (c, plane) in board.chunks_exact(cells).enumerate() {
            // Holes hold 0 and no value is negative, so holes change neither sum nor maximum.
            let (mut sum, mut top) = (Vector::ZERO, Vector::ZERO);
            for cell in plane {
                sum += *cell;
                top = top.fast_max(*cell);
            }
            (pooled[c], pooled[depth + c]) = (sum * share, top);
        }
    }
}

impl<const W: usize, const PAIRS: usize> AnyKernel for Kernel<W, PAIRS> {
    fn run(&mut self, inputs: &[Input], outputs: OutputSlices<'_>) {
        self.encode(inputs);
        self.tower(inputs.len());
        self.heads(inputs.len(), outputs);
    }

    fn load(&mut self, packed: Packed) {
        self.net = packed;
    }

    fn pack(&self, weights: &FoldedNet) -> Result<Packed, InferenceError> {
        packed(weights, self.workspace.board(), self.storage)
    }
}
