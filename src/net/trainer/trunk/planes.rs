//! Planes of a batch as convolutions read them: what goes into a block, and what lies inside it.

use super::Layer;
use crate::game::Layout;
use crate::net::trainer::GROUP;
use crate::net::trainer::pool::Pool;
use crate::net::trainer::unit::Kept;
use crate::net::vector::Vector;
use crate::net::winograd::Plane;

/// What is known about the boards. What is kept of a batch lies as `[position][channel
/// vector][cell]`, so that a plane is a run of memory.
pub(super) struct Cells {
    pub layout: &'static Layout,
    /// 1 on squares, 0 on holes.
    pub mask: Vec<Vector>,
    /// Vectors of channels.
    pub depth: usize,
    /// Positions of the batch.
    pub positions: usize,
}

impl Cells {
    /// The batch in groups: the first position, and how many.
    pub(super) fn groups(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let positions = self.positions;
        (0..positions).step_by(GROUP).map(move |first| (first, GROUP.min(positions - first)))
    }

    /// The cells of channel vector `c` of a position.
    #[inline(always)]
    pub(super) fn plane<'a, T>(&self, from: &'a [T], position: usize, c: usize) -> &'a [T] {
        &from[(position * self.depth + c) * self.mask.len()..][..self.mask.len()]
    }

    /// The same, to be written.
    #[inline(always)]
    pub(super) fn plane_mut<'a, T>(
        &self,
        into: &'a mut [T],
        position: usize,
        c: usize,
    ) -> &'a mut [T] {
        &mut into[(position * self.depth + c) * self.mask.len()..][..self.mask.len()]
    }

    /// Cells of the whole batch.
    pub(super) fn count(&self) -> usize {
        self.positions * self.mask.len()
    }
}

/// What lies between a block's two convolutions.
pub(super) struct Inside<'a, K> {
    pub cells: &'a Cells,
    pub layer: &'a Layer<K>,
    pub pool: Option<&'a Pool>,
}

impl<K: Kept> Inside<'_, K> {
    /// Fills a plane of a position of the batch.
    #[inline(always)]
    pub(super) fn fill<const W: usize>(&self, position: usize, c: usize, plane: &mut Plane<W>) {
        let Inside { cells, layer, pool } = self;
        let forward = layer.norm.forward(c);
        let added = pool.map_or(Vector::ZERO, |pool| pool.added[position * cells.depth + c]);
        let outputs = cells.plane(&layer.outputs, position, c);
        for ((to, y), mask) in plane.as_flattened_mut().iter_mut().zip(outputs).zip(&cells.mask) {
            *to = (forward.apply(y.vector()) + added).fast_max(Vector::ZERO) * *mask;
        }
    }
}

/// What goes into a block: the norm's outputs plus what went into the block before, through a ReLU.
pub(super) struct Entry<'a, K> {
    cells: &'a Cells,
    layer: &'a Layer<K>,
    before: Option<&'a [K]>,
    into: &'a mut [K],
}

impl<'a, K: Kept> Entry<'a, K> {
    /// The entry of block `block`, whose place in `results` is filled.
    pub(super) fn new(
        cells: &'a Cells,
        layer: &'a Layer<K>,
        results: &'a mut [Vec<K>],
        block: usize,
    ) -> Entry<'a, K> {
        let (before, after) = results.split_at_mut(block);
        let before = before.last().map(|before| &before[..]);
        Entry { cells, layer, before, into: &mut after[0] }
    }

    /// Computes a plane of a position of the batch and keeps it; `plane` gets it before it is rounded
    /// for that.
    #[inline(always)]
    pub(super) fn fill<const W: usize>(&mut self, position: usize, c: usize, plane: &mut Plane<W>) {
        let Entry { cells, layer, before, into } = self;
        let forward = layer.norm.forward(c);
        let outputs = cells.plane(&layer.outputs, position, c);
        let into = cells.plane_mut(into, position, c);
        let places =
            plane.as_flattened_mut().iter_mut().zip(into).zip(outputs.iter().zip(&cells.mask));
        match before {
            Some(before) => {
                let before = cells.plane(before, position, c);
                for (((to, into), (y, mask)), residual) in places.zip(before) {
                    let sum = forward.apply(y.vector()) + residual.vector();
                    *to = sum.fast_max(Vector::ZERO) * *mask;
                    *into = K::keep(*to);
                }
            }
            None => {
                for ((to, into), (y, mask)) in places {
                    *to = forward.apply(y.vector()).fast_max(Vector::ZERO) * *mask;
                    *into = K::keep(*to);
                }
            }
        }
    }
}
