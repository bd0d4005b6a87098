//! A batch of positions through a residual net.
//!
//! A batch goes through a layer in groups, and then through the next one: the filters of a layer at
//! all points take 11 times the memory of its weights, and must not be fetched anew too often. They
//! come from the third-level cache, in time; what the second one is to keep is the batch's
//! activations and a group's points. A small batch takes as long as its filters take to come, which
//! is why they are in f16 where that can be read; all sums are in float32. Nothing is allocated after
//! the start.

use super::pack::{Matrix, Packed, Points, Storage};
use super::{AnyKernel, unsupported};
use crate::game::Layout;
use crate::net::encode::{Encoding, Input};
use crate::net::fold::Folded;
use crate::net::inference::InferenceError;
use crate::net::plan::{HIDDEN, NetSpec};
use crate::net::vector::{LANES, Vector, flat, flat_mut};
#[cfg(target_arch = "x86_64")]
use crate::net::winograd::product::Halves;
use crate::net::winograd::product::{Rows, multiply};
use crate::net::winograd::{Board, Channels, Plane, Workspace};

/// Positions that go through the layers together.
pub(super) const BATCH: usize = 32;
/// Positions of a group.
const GROUP: usize = 16;

/// Vectors of the hidden layer.
const HIDDEN_VECTORS: usize = HIDDEN / LANES;

/// Where a batch's answers go.
pub(super) struct Answers<'a> {
    /// Rows of a logit for each square.
    pub policy: &'a mut [f32],
    /// The expected outcome.
    pub value: &'a mut [f32],
    /// The final disc difference in discs.
    pub score: &'a mut [f32],
}

/// A net and room for one batch on boards of `W` rows.
pub(super) struct Kernel<const W: usize, const PAIRS: usize> {
    layout: &'static Layout,
    net: Packed,
    storage: Storage,
    workspace: Workspace<W, PAIRS>,
    /// 1 on squares, 0 on holes.
    mask: Vec<Vector>,
    /// Vectors of channels.
    depth: usize,
    encoding: Encoding,
    /// `[position][cell]` of planes.
    planes: Vec<Vector>,
    /// `[position][channel vector][cell]`: the trunk, and inside a block.
    trunk: Vec<Vector>,
    inner: Vec<Vector>,
    /// The trunk's result as `[position][cell][channel vector]`.
    rows: Vec<Vector>,
    /// `[position][means, then maxima]`, and what they add, `[position][channel vector]`.
    pooled: Vec<Vector>,
    added: Vec<Vector>,
    /// `[position][cell][policy, features]`, and the features by themselves.
    heads: Vec<Vector>,
    features: Vec<Vector>,
    hidden: Vec<Vector>,
}

fn packed<const W: usize, const PAIRS: usize>(
    net: &Folded,
    board: &Board<W, PAIRS>,
    storage: Storage,
) -> Result<Packed, InferenceError> {
    match net {
        Folded::Resnet(net) => Ok(Packed::new(net, board, storage)),
        Folded::Paper(_) => Err(unsupported()),
    }
}

impl<const W: usize, const PAIRS: usize> Kernel<W, PAIRS> {
    /// Room for nets like `net`.
    ///
    /// # Errors
    ///
    /// It is no residual net.
    pub(super) fn new(
        spec: &NetSpec,
        net: &Folded,
        storage: Storage,
    ) -> Result<Kernel<W, PAIRS>, InferenceError> {
        let layout = spec.shape.layout();
        let net = packed(net, &Board::<W, PAIRS>::new(), storage)?;
        let depth = net.stem.bias.len();
        let cells = BATCH * Board::<W, PAIRS>::CELLS;
        let room = |vectors: usize| vec![Vector::ZERO; vectors];
        let mut mask = room(Board::<W, PAIRS>::CELLS);
        layout.cell_of.iter().for_each(|&cell| mask[cell as usize] = Vector::ONE);
        Ok(Kernel {
            layout,
            net,
            storage,
            workspace: Workspace::new(GROUP, depth),
            mask,
            depth,
            encoding: Encoding::new(spec),
            planes: room(cells),
            trunk: room(cells * depth),
            inner: room(cells * depth),
            rows: room(cells * depth),
            pooled: room(BATCH * 2 * depth),
            added: room(BATCH * depth),
            heads: room(cells * 2),
            features: room(cells),
            hidden: room(BATCH * HIDDEN_VECTORS),
        })
    }

    fn encode(&mut self, inputs: &[Input]) {
        let numbers = flat_mut(&mut self.planes);
        let rows = numbers.chunks_exact_mut(Board::<W, PAIRS>::CELLS * LANES);
        for (input, row) in inputs.iter().zip(rows) {
            self.encoding.write(input, row, LANES);
        }
    }

    /// From planes to the trunk.
    fn tower(&mut self, positions: usize) {
        let (depth, cells) = (self.depth, Board::<W, PAIRS>::CELLS);
        let Kernel { net, workspace, mask, planes, trunk, inner, pooled, added, .. } = self;
        let at = |position: usize, c: usize| (position * depth + c) * cells;
        let channels = Channels { inputs: self.encoding.planes, outputs: depth };
        let filter = &net.stem.points;
        for (first, positions) in groups(positions) {
            let read = |position: usize, _, plane: &mut Plane<W>| {
                let from = &planes[(first + position) * cells..][..cells];
                plane.as_flattened_mut().copy_from_slice(from);
            };
            convolve(workspace, filter, channels, positions, read, |position, c, sums| {
                let into = &mut trunk[at(first + position, c)..];
                leave(sums, net.stem.bias[c], mask, into);
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
            let filter = &block.first.points;
            for (first, positions) in groups(positions) {
                let read = |position: usize, c: usize, plane: &mut Plane<W>| {
                    let from = &trunk[at(first + position, c)..][..cells];
                    plane.as_flattened_mut().copy_from_slice(from);
                };
                convolve(workspace, filter, channels, positions, read, |position, c, sums| {
                    let position = first + position;
                    let into = &mut inner[at(position, c)..];
                    leave(sums, added[position * depth + c], mask, into);
                });
            }
            let filter = &block.second.points;
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

    /// From the trunk to the answers.
    fn heads(&mut self, positions: usize, answers: Answers<'_>) {
        let (depth, cells) = (self.depth, Board::<W, PAIRS>::CELLS);
        let Packed { heads, hidden, policy, policy_bias, last, last_bias, .. } = &self.net;
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
            let logits = &mut answers.policy[position * squares..][..squares];
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
        for ((row, value), score) in rows.zip(answers.value).zip(answers.score) {
            let dot = |Matrix { bias, .. }: &Matrix, factors: &[Vector]| {
                let terms = row.iter().zip(bias).zip(factors);
                let sum = terms.fold(Vector::ZERO, |sum, ((&hidden, &bias), &factor)| {
                    (hidden + bias).fast_max(Vector::ZERO).mul_add(factor, sum)
                });
                sum.reduce_add()
            };
            *value = (dot(hidden, &last[0]) + last_bias[0]).tanh();
            *score = (dot(hidden, &last[1]) + last_bias[1]) * squares as f32;
        }
    }
}

/// [`Workspace::convolve`] with filters as they are kept.
#[inline(always)]
fn convolve<const W: usize, const PAIRS: usize>(
    workspace: &mut Workspace<W, PAIRS>,
    filter: &Points,
    channels: Channels,
    positions: usize,
    read: impl FnMut(usize, usize, &mut Plane<W>),
    put: impl FnMut(usize, usize, &Plane<W>),
) {
    match filter {
        Points::Full(filter) => workspace.convolve(&filter[..], channels, positions, read, put),
        #[cfg(target_arch = "x86_64")]
        Points::Half(numbers, avx512) => {
            let filter = Halves { numbers, avx512: *avx512 };
            workspace.convolve(filter, channels, positions, read, put);
        }
    }
}

/// A batch in groups: the first position of each, and how many.
fn groups(positions: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..positions).step_by(GROUP).map(move |first| (first, GROUP.min(positions - first)))
}

/// Sums on their way into a layer's result: bias, ReLU, and 0 on holes.
#[inline(always)]
fn leave<const W: usize>(sums: &Plane<W>, bias: Vector, mask: &[Vector], into: &mut [Vector]) {
    for ((sum, mask), into) in sums.as_flattened().iter().zip(mask).zip(into) {
        *into = (*sum + bias).fast_max(Vector::ZERO) * *mask;
    }
}

/// Means over the squares and maxima of each channel.
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
            // Holes hold 0 and nothing is below it, so they change neither sum nor maximum.
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
    fn run(&mut self, inputs: &[Input], answers: Answers<'_>) {
        self.encode(inputs);
        self.tower(inputs.len());
        self.heads(inputs.len(), answers);
    }

    fn load(&mut self, packed: Packed) {
        self.net = packed;
    }

    fn pack(&self, weights: &Folded) -> Result<Packed, InferenceError> {
        packed(weights, self.workspace.board(), self.storage)
    }
}
