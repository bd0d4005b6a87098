//! The stem and the residual blocks, forward and backward.
//!
//! Kept of a batch: each convolution's outputs before their norm, and each block's result. What
//! lies inside a block is computed again where it is needed.

use super::GROUP;
use super::arrays::{Places, Vectors};
use super::filter::Convolution;
use super::norm::Norm;
use super::pool::Pool;
use crate::game::Layout;
use crate::net::encode::Input;
use crate::net::plan::NetSpec;
use crate::net::winograd::{Board, LANES, Vector, Workspace, flat_mut};

/// Planes of the stem's input.
const PLANES: usize = 4;

/// A convolution, its norm, and its outputs before the norm: `[position][cell][channel vector]`.
struct Layer {
    convolution: Convolution,
    norm: Norm,
    outputs: Vec<Vector>,
}

impl Layer {
    fn new(conv: String, norm: String, read: usize, made: usize, first: bool) -> Layer {
        let convolution = Convolution::new(conv, read, made, first);
        let norm = Norm::new(norm, convolution.channels.outputs);
        Layer { convolution, norm, outputs: Vec::new() }
    }
}

/// What is known about the boards.
#[derive(Clone)]
struct Cells {
    layout: &'static Layout,
    /// 1 on squares, 0 on holes.
    mask: Vec<Vector>,
    /// Vectors of channels, and of a position.
    depth: usize,
    size: usize,
    /// Positions of the batch.
    positions: usize,
}

impl Cells {
    /// The batch in groups: the first position, and how many.
    fn groups(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let positions = self.positions;
        (0..positions).step_by(GROUP).map(move |first| (first, GROUP.min(positions - first)))
    }

    /// Where a vector of a group lies.
    #[inline(always)]
    fn at(&self, position: usize, cell: usize, c: usize) -> usize {
        position * self.size + cell * self.depth + c
    }

    /// Cells of the whole batch.
    fn count(&self) -> usize {
        self.positions * self.mask.len()
    }
}

/// What the heads read, and what they say about it.
pub(super) struct Last<'a> {
    /// The last block's result.
    pub cells: &'a [Vector],
    /// Gradients of it.
    pub gradients: &'a mut [Vector],
    /// Positions of the batch.
    pub positions: usize,
}

/// The trunk of a net on boards of `W` rows.
pub(super) struct Trunk<const W: usize, const PAIRS: usize> {
    cells: Cells,
    workspace: Workspace<W, PAIRS>,
    planes: Vec<Vector>,
    /// The stem, then two for each block.
    layers: Vec<Layer>,
    pools: Vec<Option<Pool>>,
    /// What goes into each block, and the last one's result.
    results: Vec<Vec<Vector>>,
    /// Gradients of a block's result, and of what lies inside it.
    outer: Vec<Vector>,
    inner: Vec<Vector>,
    /// Gradients of a filter at all points, and room for its taps.
    sums: Vec<Vector>,
    taps: Vec<Vector>,
}

impl<const W: usize, const PAIRS: usize> Trunk<W, PAIRS> {
    /// The trunk of `spec`.
    pub(super) fn new(spec: &NetSpec, layout: &'static Layout) -> Self {
        let channels = spec.channels();
        let mut layers =
            vec![Layer::new("stem.conv".into(), "stem.norm".into(), PLANES, channels, true)];
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
        let mut mask = vec![Vector::ZERO; Board::<W, PAIRS>::CELLS];
        layout.cell_of.iter().for_each(|&cell| mask[cell as usize] = Vector::ONE);
        let size = mask.len() * depth;
        Trunk {
            cells: Cells { layout, mask, depth, size, positions: 0 },
            workspace: Workspace::new(GROUP, depth),
            planes: Vec::new(),
            results: vec![Vec::new(); pools.len() + 1],
            layers,
            pools,
            outer: Vec::new(),
            inner: Vec::new(),
            sums: Vec::new(),
            taps: Vec::new(),
        }
    }

    fn load(&mut self, places: &Places, vectors: &Vectors, inputs: &[Input]) {
        let positions = inputs.len();
        self.cells.positions = positions;
        let room = positions * self.cells.size;
        for layer in &mut self.layers {
            layer.convolution.load(self.workspace.board(), places, vectors, &mut self.taps);
            layer.outputs.resize(room, Vector::ZERO);
        }
        for pool in self.pools.iter_mut().flatten() {
            pool.load(places, vectors, positions);
        }
        self.results.iter_mut().for_each(|result| result.resize(room, Vector::ZERO));
        self.outer.resize(room, Vector::ZERO);
        self.inner.resize(room, Vector::ZERO);
        self.planes.resize(positions * self.cells.mask.len(), Vector::ZERO);
        let layout = self.cells.layout;
        let rows = flat_mut(&mut self.planes).chunks_exact_mut(self.cells.mask.len() * LANES);
        for (input, row) in inputs.iter().zip(rows) {
            for (&bit, &cell) in layout.bit_of.iter().zip(&layout.cell_of) {
                let has = |set: u128| (set >> bit & 1) as u8 as f32;
                let planes = [has(input.mine), has(input.theirs), has(input.legal), 1.0];
                row[cell as usize * LANES..][..PLANES].copy_from_slice(&planes);
            }
        }
    }

    /// Brings a batch through all convolutions.
    pub(super) fn forward(&mut self, places: &Places, vectors: &mut Vectors, inputs: &[Input]) {
        self.load(places, vectors, inputs);
        let Trunk { cells, workspace, planes, layers, pools, results, .. } = self;
        let (size, board) = (cells.size, cells.mask.len());
        for (first, positions) in cells.groups() {
            let from = &planes[first * board..];
            let read = |position: usize, cell: usize, _: usize| from[position * board + cell];
            convolve(workspace, &mut layers[0], cells, (first, positions), read);
        }
        layers[0].norm.finish(places, vectors, cells.count());
        for block in 0..pools.len() {
            let index = 1 + 2 * block;
            for (first, positions) in cells.groups() {
                block_input(cells, &layers[index - 1], results, block, first, positions);
                let from = &results[block][first * size..][..positions * size];
                if let Some(pool) = &mut pools[block] {
                    for (position, cells_of) in from.chunks_exact(size).enumerate() {
                        pool.look(first + position, cells_of, cells.layout.squares);
                    }
                }
                let read = |position, cell, c| from[cells.at(position, cell, c)];
                convolve(workspace, &mut layers[index], cells, (first, positions), read);
            }
            layers[index].norm.finish(places, vectors, cells.count());
            if let Some(pool) = &mut pools[block] {
                pool.add();
            }
            let (before, after) = layers.split_at_mut(index + 1);
            let (one, two) = (&before[index], &mut after[0]);
            for (first, positions) in cells.groups() {
                let inside = Inside::new(cells, one, pools[block].as_ref(), first);
                let read = |position, cell, c| inside.value(position, cell, c);
                convolve(workspace, two, cells, (first, positions), read);
            }
            two.norm.finish(places, vectors, cells.count());
        }
    }

    /// Computes the last block's result.
    pub(super) fn finish(&mut self) -> Last<'_> {
        let blocks = self.pools.len();
        for (first, positions) in self.cells.groups() {
            let layer = &self.layers[2 * blocks];
            block_input(&self.cells, layer, &mut self.results, blocks, first, positions);
        }
        self.last()
    }

    /// The last block's result, and where its gradients go.
    pub(super) fn last(&mut self) -> Last<'_> {
        Last {
            cells: &self.results[self.pools.len()],
            gradients: &mut self.outer,
            positions: self.cells.positions,
        }
    }

    /// Brings the gradients that [`Trunk::last`] was given back through all layers.
    pub(super) fn backward(&mut self, places: &Places, gradients: &mut Vectors) {
        let blocks = self.pools.len();
        self.through_last();
        for block in (0..blocks).rev() {
            self.second(block, places, gradients);
            self.first(block, places, gradients);
        }
        let Trunk { cells, workspace, planes, layers, outer, sums, taps, .. } = self;
        let (size, board) = (cells.size, cells.mask.len());
        let Layer { convolution, norm, outputs } = &mut layers[0];
        norm.finish_gradients(places, gradients, cells.count());
        sums.clear();
        sums.resize(convolution.filter.len(), Vector::ZERO);
        for (first, positions) in cells.groups() {
            let (from, at) = (&planes[first * board..], first * size);
            workspace.filter_gradients(
                sums,
                convolution.channels,
                positions,
                |position, cell, _| from[position * board + cell],
                |position, cell, c| {
                    let index = at + cells.at(position, cell, c);
                    norm.gradient(c, outputs[index], outer[index])
                },
            );
        }
        convolution.store(workspace.board(), sums, (places, gradients), taps);
    }

    /// Through the ReLU that made the last result.
    fn through_last(&mut self) {
        let Trunk { cells, layers, results, outer, .. } = self;
        let (Some(Layer { norm, outputs, .. }), Some(result)) = (layers.last_mut(), results.last())
        else {
            return;
        };
        for (first, positions) in cells.groups() {
            let range = first * cells.size..(first + positions) * cells.size;
            let outer = &mut outer[range.clone()];
            for (gradient, value) in outer.iter_mut().zip(&result[range.clone()]) {
                *gradient = *gradient & value.simd_gt(Vector::ZERO);
            }
            count_gradients(norm, &outputs[range], outer, cells.depth);
        }
    }

    /// Back through a block's second convolution: from `outer` to `inner`.
    fn second(&mut self, block: usize, places: &Places, gradients: &mut Vectors) {
        let Trunk { cells, workspace, layers, pools, outer, inner, sums, taps, .. } = self;
        let (depth, size) = (cells.depth, cells.size);
        let (before, after) = layers.split_at_mut(2 + 2 * block);
        let (one, two) = (&mut before[1 + 2 * block], &mut after[0]);
        let Layer { convolution, norm, outputs } = two;
        norm.finish_gradients(places, gradients, cells.count());
        sums.clear();
        sums.resize(convolution.filter.len(), Vector::ZERO);
        for (first, positions) in cells.groups() {
            let at = first * size;
            let inside = Inside::new(cells, one, pools[block].as_ref(), first);
            workspace.filter_gradients(
                sums,
                convolution.channels,
                positions,
                |position, cell, c| inside.value(position, cell, c),
                |position, cell, c| {
                    let index = at + cells.at(position, cell, c);
                    norm.gradient(c, outputs[index], outer[index])
                },
            );
            let into = &mut inner[at..][..positions * size];
            workspace.input_gradients(
                &convolution.back,
                convolution.channels,
                positions,
                |position, cell, c, value| {
                    let alive = inside.value(position, cell, c).simd_gt(Vector::ZERO);
                    into[cells.at(position, cell, c)] = value & alive;
                },
            );
            count_gradients(&mut one.norm, &one.outputs[at..], into, depth);
            if let Some(pool) = &mut pools[block] {
                let added = &mut pool.added[first * depth..][..positions * depth];
                added.fill(Vector::ZERO);
                for (added, board) in added.chunks_exact_mut(depth).zip(into.chunks_exact(size)) {
                    for cell in board.chunks_exact(depth) {
                        added.iter_mut().zip(cell).for_each(|(added, cell)| *added += *cell);
                    }
                }
            }
        }
        convolution.store(workspace.board(), sums, (places, gradients), taps);
        one.norm.finish_gradients(places, gradients, cells.count());
        if let Some(pool) = &mut pools[block] {
            pool.backward(places, gradients);
        }
    }

    /// Back through a block's first convolution and around the block: from `inner` and `outer` to
    /// the `outer` of the result before.
    fn first(&mut self, block: usize, places: &Places, gradients: &mut Vectors) {
        let Trunk { cells, workspace, layers, pools, results, outer, inner, sums, taps, .. } = self;
        let (depth, size) = (cells.depth, cells.size);
        let (before, after) = layers.split_at_mut(1 + 2 * block);
        let previous = &mut before[2 * block];
        let Layer { convolution, norm, outputs } = &mut after[0];
        let result = &results[block];
        sums.clear();
        sums.resize(convolution.filter.len(), Vector::ZERO);
        for (first, positions) in cells.groups() {
            let at = first * size;
            workspace.filter_gradients(
                sums,
                convolution.channels,
                positions,
                |position, cell, c| result[at + cells.at(position, cell, c)],
                |position, cell, c| {
                    let index = at + cells.at(position, cell, c);
                    norm.gradient(c, outputs[index], inner[index])
                },
            );
            let outer = &mut outer[at..][..positions * size];
            if let Some(pool) = &pools[block] {
                for (position, outer) in outer.chunks_exact_mut(size).enumerate() {
                    let numbers = bytemuck::cast_slice_mut(outer);
                    pool.spread(first + position, numbers, cells.layout.squares);
                }
            }
            workspace.input_gradients(
                &convolution.back,
                convolution.channels,
                positions,
                |position, cell, c, value| {
                    let index = cells.at(position, cell, c);
                    let alive = result[at + index].simd_gt(Vector::ZERO);
                    outer[index] = (outer[index] + value) & alive;
                },
            );
            count_gradients(&mut previous.norm, &previous.outputs[at..], outer, depth);
        }
        convolution.store(workspace.board(), sums, (places, gradients), taps);
    }
}

/// Counts a group's gradients after a norm.
fn count_gradients(norm: &mut Norm, outputs: &[Vector], gradients: &[Vector], depth: usize) {
    for (outputs, gradients) in outputs.chunks_exact(depth).zip(gradients.chunks_exact(depth)) {
        for (c, (y, gradient)) in outputs.iter().zip(gradients).enumerate() {
            norm.count_gradient(c, *y, *gradient);
        }
    }
    norm.close_group();
}

/// What lies between a block's two convolutions.
struct Inside<'a> {
    cells: &'a Cells,
    norm: &'a Norm,
    outputs: &'a [Vector],
    added: Option<&'a [Vector]>,
}

impl<'a> Inside<'a> {
    fn new(cells: &'a Cells, layer: &'a Layer, pool: Option<&'a Pool>, first: usize) -> Self {
        Inside {
            cells,
            norm: &layer.norm,
            outputs: &layer.outputs[first * cells.size..],
            added: pool.map(|pool| &pool.added[first * cells.depth..]),
        }
    }

    /// The value in a cell of a position of the group.
    #[inline(always)]
    fn value(&self, position: usize, cell: usize, c: usize) -> Vector {
        let sum = self.norm.apply(c, self.outputs[self.cells.at(position, cell, c)]);
        let sum = match self.added {
            Some(added) => sum + added[position * self.cells.depth + c],
            None => sum,
        };
        sum.fast_max(Vector::ZERO) * self.cells.mask[cell]
    }
}

/// Computes what goes into block `block` for a group: the norm's outputs plus what went into the
/// block before, through a ReLU.
fn block_input(
    cells: &Cells,
    layer: &Layer,
    results: &mut [Vec<Vector>],
    block: usize,
    first: usize,
    positions: usize,
) {
    let range = first * cells.size..(first + positions) * cells.size;
    let (before, after) = results.split_at_mut(block);
    let residual = before.last().map(|before| &before[range.clone()]);
    let into = &mut after[0][range.clone()];
    let outputs = &layer.outputs[range];
    for position in 0..positions {
        for (cell, mask) in cells.mask.iter().enumerate() {
            for c in 0..cells.depth {
                let index = cells.at(position, cell, c);
                let sum = layer.norm.apply(c, outputs[index]);
                let sum = residual.map_or(sum, |residual| sum + residual[index]);
                into[index] = sum.fast_max(Vector::ZERO) * *mask;
            }
        }
    }
}

/// Convolves a group, given by its first position and their number, into its layer's outputs, and
/// counts them.
#[inline(always)]
fn convolve<const W: usize, const PAIRS: usize>(
    workspace: &mut Workspace<W, PAIRS>,
    layer: &mut Layer,
    cells: &Cells,
    (first, positions): (usize, usize),
    read: impl Fn(usize, usize, usize) -> Vector,
) {
    let Layer { convolution, norm, outputs } = layer;
    let into = &mut outputs[first * cells.size..];
    let Convolution { channels, filter, .. } = convolution;
    workspace.convolve(filter, *channels, positions, read, |position, cell, c, sum| {
        into[cells.at(position, cell, c)] = sum;
        norm.count(c, sum);
    });
    norm.close_group();
}
