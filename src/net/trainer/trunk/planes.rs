//! The planes that a block's convolutions read, computed from the outputs of the layers before.

use super::Layer;
use crate::game::Layout;
use crate::net::trainer::GROUP;
use crate::net::trainer::convolver::StoredVector;
use crate::net::trainer::pool::Pool;
use crate::net::vector::Vector;
use crate::net::winograd::Plane;

/// The sizes of a batch. Its activations lie as `[position][channel vector][cell]`, so that a plane
/// is contiguous in memory.
pub(super) struct Cells {
    pub layout: &'static Layout,
    /// 1 on squares, 0 on holes.
    pub mask: Vec<Vector>,
    /// Channel vectors.
    pub depth: usize,
    /// Positions of the batch.
    pub positions: usize,
}

impl Cells {
    /// The groups of the batch: the first position of each, and the number of positions.
    pub(super) fn groups(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let positions = self.positions;
        (0..positions).step_by(GROUP).map(move |first| (first, GROUP.min(positions - first)))
    }

    /// The plane of channel vector `c` of a position.
    #[inline(always)]
    pub(super) fn plane<'a, T>(&self, from: &'a [T], position: usize, c: usize) -> &'a [T] {
        &from[(position * self.depth + c) * self.mask.len()..][..self.mask.len()]
    }

    /// The same, for writing.
    #[inline(always)]
    pub(super) fn plane_mut<'a, T>(
        &self,
        into: &'a mut [T],
        position: usize,
        c: usize,
    ) -> &'a mut [T] {
        &mut into[(position * self.depth + c) * self.mask.len()..][..self.mask.len()]
    }

    /// The number of cells of all positions.
    pub(super) fn count(&self) -> usize {
        self.positions * self.mask.len()
    }
}

/// The activations between a block's two convolutions.
pub(super) struct InnerActivations<'a, S> {
    pub cells: &'a Cells,
    pub layer: &'a Layer<S>,
    pub pool: Option<&'a Pool>,
}

impl<S: StoredVector> InnerActivations<'_, S> {
    /// Computes the plane of channel vector `c` of a position of the batch.
    #[inline(always)]
    pub(super) fn fill<const W: usize>(&self, position: usize, c: usize, plane: &mut Plane<W>) {
        let InnerActivations { cells, layer, pool } = self;
        let forward = layer.norm.forward(c);
        let added = pool.map_or(Vector::ZERO, |pool| pool.added[position * cells.depth + c]);
        let outputs = cells.plane(&layer.outputs, position, c);
        for ((to, y), mask) in plane.as_flattened_mut().iter_mut().zip(outputs).zip(&cells.mask) {
            *to = (forward.apply(y.to_vector()) + added).fast_max(Vector::ZERO) * *mask;
        }
    }
}

/// The input of a block, which is the result of the block before: ReLU of the last norm's outputs
/// plus the input of that block.
pub(super) struct BlockInput<'a, S> {
    cells: &'a Cells,
    /// The layer before the block.
    layer: &'a Layer<S>,
    /// The input of the block before. `None` after the stem.
    before: Option<&'a [S]>,
    /// The memory where the input is stored.
    into: &'a mut [S],
}

impl<'a, S: StoredVector> BlockInput<'a, S> {
    /// The input of block number `block`, to be stored in `results[block]`.
    pub(super) fn new(
        cells: &'a Cells,
        layer: &'a Layer<S>,
        results: &'a mut [Vec<S>],
        block: usize,
    ) -> BlockInput<'a, S> {
        let (before, after) = results.split_at_mut(block);
        let before = before.last().map(|before| &before[..]);
        BlockInput { cells, layer, before, into: &mut after[0] }
    }

    /// Computes the plane of channel vector `c` of a position of the batch, and stores it. `plane`
    /// gets the numbers before they are rounded for storing.
    #[inline(always)]
    pub(super) fn fill<const W: usize>(&mut self, position: usize, c: usize, plane: &mut Plane<W>) {
        let BlockInput { cells, layer, before, into } = self;
        let forward = layer.norm.forward(c);
        let outputs = cells.plane(&layer.outputs, position, c);
        let into = cells.plane_mut(into, position, c);
        let places =
            plane.as_flattened_mut().iter_mut().zip(into).zip(outputs.iter().zip(&cells.mask));
        match before {
            Some(before) => {
                let before = cells.plane(before, position, c);
                for (((to, into), (y, mask)), residual) in places.zip(before) {
                    let sum = forward.apply(y.to_vector()) + residual.to_vector();
                    *to = sum.fast_max(Vector::ZERO) * *mask;
                    *into = S::store(*to);
                }
            }
            None => {
                for ((to, into), (y, mask)) in places {
                    *to = forward.apply(y.to_vector()).fast_max(Vector::ZERO) * *mask;
                    *into = S::store(*to);
                }
            }
        }
    }
}
