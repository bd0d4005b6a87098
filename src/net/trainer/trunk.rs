//! The stem and the residual blocks, forward and backward.
//!
//! Kept of a batch: each convolution's outputs before their norm, and each block's result. What
//! lies inside a block is computed again where it is needed.

mod backward;
mod planes;

use planes::{Cells, Entry, Inside};

use super::arrays::{Places, Vectors};
use super::filter::Convolution;
use super::norm::Norm;
use super::pool::Pool;
use super::unit::{Kept, Unit};
use crate::game::Layout;
use crate::net::encode::{Encoding, Input};
use crate::net::plan::NetSpec;
use crate::net::vector::{LANES, Vector, flat_mut};
use crate::net::winograd::Plane;

/// A convolution, its norm, and its outputs before the norm.
struct Layer<K> {
    convolution: Convolution,
    norm: Norm,
    outputs: Vec<K>,
}

impl<K> Layer<K> {
    fn new(conv: String, norm: String, read: usize, made: usize, first: bool) -> Layer<K> {
        let convolution = Convolution::new(conv, read, made, first);
        let norm = Norm::new(norm, convolution.channels.outputs);
        Layer { convolution, norm, outputs: Vec::new() }
    }
}

/// What the heads read, and what they say about it.
pub(super) struct Last<'a> {
    /// The last block's result as `[position][cell][channel vector]`.
    pub cells: &'a [Vector],
    /// Gradients of it likewise.
    pub gradients: &'a mut [Vector],
    /// Positions of the batch.
    pub positions: usize,
}

/// The trunk of a net on boards of `W` rows, whose convolutions `U` computes.
pub(super) struct Trunk<const W: usize, U: Unit<W>> {
    cells: Cells,
    unit: U,
    encoding: Encoding,
    planes: Vec<Vector>,
    /// The stem, then two for each block.
    layers: Vec<Layer<U::Kept>>,
    pools: Vec<Option<Pool>>,
    /// What goes into each block, and the last one's result.
    results: Vec<Vec<U::Kept>>,
    /// The last block's result and its gradients as the heads want them.
    rows: Vec<Vector>,
    row_gradients: Vec<Vector>,
    /// Gradients of a block's result, and of what lies inside it.
    outer: Vec<U::Kept>,
    inner: Vec<U::Kept>,
    /// Sums of a filter's gradients, and room for its taps.
    sums: Vec<Vector>,
    taps: Vec<Vector>,
}

impl<const W: usize, U: Unit<W>> Trunk<W, U> {
    /// The trunk of `spec`.
    pub(super) fn new(spec: &NetSpec, layout: &'static Layout) -> Self {
        let channels = spec.channels();
        let encoding = Encoding::new(spec);
        let (conv, norm) = ("stem.conv".into(), "stem.norm".into());
        let mut layers = vec![Layer::new(conv, norm, encoding.planes, channels, true)];
        let mut pools = Vec::new();
        for block in 0..spec.blocks() {
            let name = |part: &str| format!("block.{block}.{part}");
            for part in ["1", "2"] {
                let (conv, norm) = (name("conv") + part, name("norm") + part);
                layers.push(Layer::new(conv, norm, channels, channels, false));
            }
            pools.push(spec.pools(block).then(|| Pool::new(&name("pool"), channels)));
        }
        let depth = layers[0].convolution.channels.outputs;
        let mut mask = vec![Vector::ZERO; W * W];
        layout.cell_of.iter().for_each(|&cell| mask[cell as usize] = Vector::ONE);
        Trunk {
            cells: Cells { layout, mask, depth, positions: 0 },
            unit: U::new(depth),
            encoding,
            planes: Vec::new(),
            results: vec![Vec::new(); pools.len() + 1],
            layers,
            pools,
            rows: Vec::new(),
            row_gradients: Vec::new(),
            outer: Vec::new(),
            inner: Vec::new(),
            sums: Vec::new(),
            taps: Vec::new(),
        }
    }

    fn load(&mut self, places: &Places, vectors: &Vectors, inputs: &[Input]) {
        let positions = inputs.len();
        self.cells.positions = positions;
        let room = self.cells.count() * self.cells.depth;
        for layer in &mut self.layers {
            layer.convolution.load(&self.unit, places, vectors, &mut self.taps);
            layer.outputs.resize(room, U::Kept::ZERO);
        }
        for pool in self.pools.iter_mut().flatten() {
            pool.load(places, vectors, positions);
        }
        self.results.iter_mut().for_each(|result| result.resize(room, U::Kept::ZERO));
        for rows in [&mut self.rows, &mut self.row_gradients] {
            rows.resize(room, Vector::ZERO);
        }
        for gradients in [&mut self.outer, &mut self.inner] {
            gradients.resize(room, U::Kept::ZERO);
        }
        self.planes.resize(positions * self.cells.mask.len(), Vector::ZERO);
        let rows = flat_mut(&mut self.planes).chunks_exact_mut(self.cells.mask.len() * LANES);
        for (input, row) in inputs.iter().zip(rows) {
            self.encoding.write(input, row, LANES);
        }
    }

    /// Brings a batch through all convolutions.
    pub(super) fn forward(&mut self, places: &Places, vectors: &mut Vectors, inputs: &[Input]) {
        self.load(places, vectors, inputs);
        let Trunk { cells, unit, planes, layers, pools, results, .. } = self;
        let board = cells.mask.len();
        for (first, positions) in cells.groups() {
            let read = |position: usize, _, plane: &mut Plane<W>| {
                let from = &planes[(first + position) * board..][..board];
                plane.as_flattened_mut().copy_from_slice(from);
            };
            convolve(unit, &mut layers[0], cells, (first, positions), read);
        }
        layers[0].norm.finish(places, vectors, cells.count());
        for (block, pool) in pools.iter_mut().enumerate() {
            let [previous, one, two] = &mut layers[2 * block..2 * block + 3] else { return };
            for (first, positions) in cells.groups() {
                let mut entry = Entry::new(cells, previous, results, block);
                let read = |position: usize, c: usize, plane: &mut Plane<W>| {
                    entry.fill(first + position, c, plane);
                    if let Some(pool) = pool.as_mut() {
                        let squares = cells.layout.squares;
                        pool.look(first + position, c, plane.as_flattened(), squares);
                    }
                };
                convolve(unit, one, cells, (first, positions), read);
            }
            one.norm.finish(places, vectors, cells.count());
            if let Some(pool) = pool.as_mut() {
                pool.add();
            }
            for (first, positions) in cells.groups() {
                let inside = Inside { cells, layer: one, pool: pool.as_ref() };
                let read = |position: usize, c: usize, plane: &mut Plane<W>| {
                    inside.fill(first + position, c, plane);
                };
                convolve(unit, two, cells, (first, positions), read);
            }
            two.norm.finish(places, vectors, cells.count());
        }
    }

    /// Computes the last block's result.
    pub(super) fn finish(&mut self) -> Last<'_> {
        let blocks = self.pools.len();
        let mut plane = [[Vector::ZERO; W]; W];
        let mut entry =
            Entry::new(&self.cells, &self.layers[2 * blocks], &mut self.results, blocks);
        let (depth, board) = (self.cells.depth, self.cells.mask.len());
        for (position, rows) in self.rows.chunks_exact_mut(board * depth).enumerate() {
            for c in 0..depth {
                entry.fill(position, c, &mut plane);
                let column = rows[c..].iter_mut().step_by(depth);
                column.zip(plane.as_flattened()).for_each(|(to, value)| *to = *value);
            }
        }
        self.last()
    }

    /// The last block's result, and where its gradients go.
    pub(super) fn last(&mut self) -> Last<'_> {
        Last {
            cells: &self.rows,
            gradients: &mut self.row_gradients,
            positions: self.cells.positions,
        }
    }
}

/// Convolves a group, given by its first position and their number, into its layer's outputs, and
/// counts them.
#[inline(always)]
fn convolve<const W: usize, U: Unit<W>>(
    unit: &mut U,
    layer: &mut Layer<U::Kept>,
    cells: &Cells,
    (first, positions): (usize, usize),
    read: impl FnMut(usize, usize, &mut Plane<W>),
) {
    let Layer { convolution, norm, outputs } = layer;
    let Convolution { channels, filter, .. } = convolution;
    unit.convolve(filter, *channels, positions, read, |position, c, plane| {
        let sums = plane.as_flattened();
        norm.count(c, sums.iter());
        let outputs = cells.plane_mut(outputs, first + position, c);
        outputs.iter_mut().zip(sums).for_each(|(to, sum)| *to = Kept::keep(*sum));
    });
    norm.close_group();
}
