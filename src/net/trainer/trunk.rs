//! The stem and the residual blocks, forward and backward.
//!
//! For a batch the forward pass stores each convolution's outputs before their norm, and each
//! block's result. Activations between a block's convolutions are computed again where needed.

mod backward;
mod planes;

use planes::{BlockInput, Cells, InnerActivations};

use super::arrays::{ArrayMap, Vectors};
use super::convolver::{Convolver, StoredVector};
use super::filter::Convolution;
use super::norm::Norm;
use super::pool::Pool;
use crate::game::Layout;
use crate::net::encode::Encoding;
use crate::net::plan::NetSpec;
use crate::net::vector::{LANES, Vector, flat_mut};
use crate::net::winograd::Plane;
use crate::predict::Input;

/// A convolution, its norm, and its outputs before the norm.
struct Layer<S> {
    convolution: Convolution,
    norm: Norm,
    outputs: Vec<S>,
}

impl<S> Layer<S> {
    fn new(
        conv: String,
        norm: String,
        in_channels: usize,
        out_channels: usize,
        first: bool,
    ) -> Layer<S> {
        let convolution = Convolution::new(conv, in_channels, out_channels, first);
        let norm = Norm::new(norm, convolution.channels.outputs);
        Layer { convolution, norm, outputs: Vec::new() }
    }
}

/// The trunk's output, which the heads read, and its gradients, which they write.
pub(super) struct TrunkOutput<'a> {
    /// The last block's result as `[position][cell][channel vector]`.
    pub cells: &'a [Vector],
    /// The gradients of `cells`, in the same layout.
    pub gradients: &'a mut [Vector],
    /// Positions of the batch.
    pub positions: usize,
}

/// The trunk of a net on boards of `W` rows, whose convolutions `C` computes.
pub(super) struct Trunk<const W: usize, C: Convolver<W>> {
    cells: Cells,
    convolver: C,
    encoding: Encoding,
    planes: Vec<Vector>,
    /// The layer of the stem, then two layers for each block.
    layers: Vec<Layer<C::Stored>>,
    pools: Vec<Option<Pool>>,
    /// The input of each block, and the result of the last one.
    results: Vec<Vec<C::Stored>>,
    /// The last block's result in the layout of [`TrunkOutput`].
    rows: Vec<Vector>,
    /// Gradients of `rows`.
    row_gradients: Vec<Vector>,
    /// Gradients of a block's result.
    outer: Vec<C::Stored>,
    /// Gradients between a block's convolutions.
    inner: Vec<C::Stored>,
    /// Sums of a filter's gradients.
    sums: Vec<Vector>,
    /// Memory for a filter's taps.
    taps: Vec<Vector>,
}

impl<const W: usize, C: Convolver<W>> Trunk<W, C> {
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
            convolver: C::new(depth),
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

    fn load(&mut self, arrays: &ArrayMap, vectors: &Vectors, inputs: &[Input]) {
        let positions = inputs.len();
        self.cells.positions = positions;
        let size = self.cells.count() * self.cells.depth;
        for layer in &mut self.layers {
            layer.convolution.load(&self.convolver, arrays, vectors, &mut self.taps);
            layer.outputs.resize(size, C::Stored::ZERO);
        }
        for pool in self.pools.iter_mut().flatten() {
            pool.load(arrays, vectors, positions);
        }
        self.results.iter_mut().for_each(|result| result.resize(size, C::Stored::ZERO));
        for rows in [&mut self.rows, &mut self.row_gradients] {
            rows.resize(size, Vector::ZERO);
        }
        for gradients in [&mut self.outer, &mut self.inner] {
            gradients.resize(size, C::Stored::ZERO);
        }
        self.planes.resize(positions * self.cells.mask.len(), Vector::ZERO);
        let rows = flat_mut(&mut self.planes).chunks_exact_mut(self.cells.mask.len() * LANES);
        for (input, row) in inputs.iter().zip(rows) {
            self.encoding.write(input, row, LANES);
        }
    }

    /// Computes all convolutions of a batch.
    pub(super) fn forward(&mut self, arrays: &ArrayMap, vectors: &mut Vectors, inputs: &[Input]) {
        self.load(arrays, vectors, inputs);
        let Trunk { cells, convolver, planes, layers, pools, results, .. } = self;
        let board = cells.mask.len();
        for (first, positions) in cells.groups() {
            let read = |position: usize, _, plane: &mut Plane<W>| {
                let from = &planes[(first + position) * board..][..board];
                plane.as_flattened_mut().copy_from_slice(from);
            };
            convolve(convolver, &mut layers[0], cells, (first, positions), read);
        }
        layers[0].norm.finish_statistics(arrays, vectors, cells.count());
        for (block, pool) in pools.iter_mut().enumerate() {
            let [previous, one, two] = &mut layers[2 * block..2 * block + 3] else { return };
            for (first, positions) in cells.groups() {
                let mut block_input = BlockInput::new(cells, previous, results, block);
                let read = |position: usize, c: usize, plane: &mut Plane<W>| {
                    block_input.fill(first + position, c, plane);
                    if let Some(pool) = pool.as_mut() {
                        let squares = cells.layout.squares;
                        pool.pool_plane(first + position, c, plane.as_flattened(), squares);
                    }
                };
                convolve(convolver, one, cells, (first, positions), read);
            }
            one.norm.finish_statistics(arrays, vectors, cells.count());
            if let Some(pool) = pool.as_mut() {
                pool.compute_added();
            }
            for (first, positions) in cells.groups() {
                let activations = InnerActivations { cells, layer: one, pool: pool.as_ref() };
                let read = |position: usize, c: usize, plane: &mut Plane<W>| {
                    activations.fill(first + position, c, plane);
                };
                convolve(convolver, two, cells, (first, positions), read);
            }
            two.norm.finish_statistics(arrays, vectors, cells.count());
        }
    }

    /// Computes the last block's result from the outputs of its second convolution.
    pub(super) fn compute_output(&mut self) -> TrunkOutput<'_> {
        let blocks = self.pools.len();
        let mut plane = [[Vector::ZERO; W]; W];
        let mut block_input =
            BlockInput::new(&self.cells, &self.layers[2 * blocks], &mut self.results, blocks);
        let (depth, board) = (self.cells.depth, self.cells.mask.len());
        for (position, rows) in self.rows.chunks_exact_mut(board * depth).enumerate() {
            for c in 0..depth {
                block_input.fill(position, c, &mut plane);
                let column = rows[c..].iter_mut().step_by(depth);
                column.zip(plane.as_flattened()).for_each(|(to, value)| *to = *value);
            }
        }
        self.output()
    }

    /// The last block's result, and the memory for its gradients.
    pub(super) fn output(&mut self) -> TrunkOutput<'_> {
        TrunkOutput {
            cells: &self.rows,
            gradients: &mut self.row_gradients,
            positions: self.cells.positions,
        }
    }
}

/// Convolves a group, given by its first position and the number of positions. Stores the layer's
/// outputs, and adds them to the sums of its norm.
#[inline(always)]
fn convolve<const W: usize, C: Convolver<W>>(
    convolver: &mut C,
    layer: &mut Layer<C::Stored>,
    cells: &Cells,
    (first, positions): (usize, usize),
    read: impl FnMut(usize, usize, &mut Plane<W>),
) {
    let Layer { convolution, norm, outputs } = layer;
    let Convolution { channels, filter, .. } = convolution;
    convolver.convolve(filter, *channels, positions, read, |position, c, plane| {
        let sums = plane.as_flattened();
        norm.accumulate(c, sums.iter());
        let outputs = cells.plane_mut(outputs, first + position, c);
        outputs.iter_mut().zip(sums).for_each(|(to, sum)| *to = StoredVector::store(*sum));
    });
    norm.end_group();
}
