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
use crate::net::winograd::{Board, LANES, Plane, Vector, Workspace, flat_mut};

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

    /// The cells of channel vector `c` of a position.
    #[inline(always)]
    fn plane<'a>(
        &self,
        from: &'a [Vector],
        position: usize,
        c: usize,
    ) -> impl Iterator<Item = &'a Vector> + use<'a> {
        from[position * self.size..][..self.size][c..].iter().step_by(self.depth)
    }

    /// The same, to be written.
    #[inline(always)]
    fn plane_mut<'a>(
        &self,
        into: &'a mut [Vector],
        position: usize,
        c: usize,
    ) -> impl Iterator<Item = &'a mut Vector> + use<'a> {
        into[position * self.size..][..self.size][c..].iter_mut().step_by(self.depth)
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
        let board = cells.mask.len();
        for (first, positions) in cells.groups() {
            let read = |position: usize, _, plane: &mut Plane<W>| {
                let from = &planes[(first + position) * board..][..board];
                plane.as_flattened_mut().copy_from_slice(from);
            };
            convolve(workspace, &mut layers[0], cells, (first, positions), read);
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
                convolve(workspace, one, cells, (first, positions), read);
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
                convolve(workspace, two, cells, (first, positions), read);
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
        for position in 0..self.cells.positions {
            (0..self.cells.depth).for_each(|c| entry.fill(position, c, &mut plane));
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
        self.through_last();
        for block in (0..self.pools.len()).rev() {
            self.second(block, places, gradients);
            self.first(block, places, gradients);
        }
        let Trunk { cells, workspace, planes, layers, outer, sums, taps, .. } = self;
        let board = cells.mask.len();
        let Layer { convolution, norm, outputs } = &mut layers[0];
        norm.finish_gradients(places, gradients, cells.count());
        sums.clear();
        sums.resize(convolution.filter.len(), Vector::ZERO);
        for (first, positions) in cells.groups() {
            workspace.filter_gradients(
                sums,
                convolution.channels,
                positions,
                |position, _, plane| {
                    let from = &planes[(first + position) * board..][..board];
                    plane.as_flattened_mut().copy_from_slice(from);
                },
                |position, c, plane| {
                    before_norm(cells, (norm, outputs), outer, (first + position, c), plane);
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
            for (position, c) in
                (first..first + positions).flat_map(|p| (0..cells.depth).map(move |c| (p, c)))
            {
                let outer = cells.plane_mut(outer, position, c);
                let alive = cells.plane(result, position, c);
                let outputs = cells.plane(outputs, position, c);
                let gradients = outer.zip(alive).zip(outputs).map(|((outer, result), y)| {
                    *outer = *outer & result.simd_gt(Vector::ZERO);
                    (*y, *outer)
                });
                norm.count_gradients(c, gradients);
            }
            norm.close_group();
        }
    }

    /// Back through a block's second convolution: from `outer` to `inner`.
    fn second(&mut self, block: usize, places: &Places, gradients: &mut Vectors) {
        let Trunk { cells, workspace, layers, pools, outer, inner, sums, taps, .. } = self;
        let pool = &mut pools[block];
        let [one, two] = &mut layers[2 * block + 1..2 * block + 3] else { return };
        let Layer { convolution, norm, outputs } = two;
        norm.finish_gradients(places, gradients, cells.count());
        sums.clear();
        sums.resize(convolution.filter.len(), Vector::ZERO);
        for (first, positions) in cells.groups() {
            let inside = Inside { cells, layer: one, pool: pool.as_ref() };
            workspace.filter_gradients(
                sums,
                convolution.channels,
                positions,
                |position, c, plane| inside.fill(first + position, c, plane),
                |position, c, plane| {
                    before_norm(cells, (norm, outputs), outer, (first + position, c), plane);
                },
            );
            let Convolution { back, channels, .. } = &*convolution;
            workspace.input_gradients(back, *channels, positions, |position, c, plane| {
                let position = first + position;
                let (forward, added) = (one.norm.forward(c), added(pool, cells, position, c));
                let into = cells.plane_mut(inner, position, c);
                let outputs = cells.plane(&one.outputs, position, c);
                let planes = plane.as_flattened().iter().zip(into).zip(outputs).zip(&cells.mask);
                let mut sum = Vector::ZERO;
                let gradients = planes.map(|(((value, into), y), mask)| {
                    let before = (forward.apply(*y) + added) * *mask;
                    *into = *value & before.simd_gt(Vector::ZERO);
                    sum += *into;
                    (*y, *into)
                });
                one.norm.count_gradients(c, gradients);
                if let Some(pool) = pool.as_mut() {
                    pool.added[position * cells.depth + c] = sum;
                }
            });
            one.norm.close_group();
        }
        convolution.store(workspace.board(), sums, (places, gradients), taps);
        one.norm.finish_gradients(places, gradients, cells.count());
        if let Some(pool) = pool {
            pool.backward(places, gradients);
        }
    }

    /// Back through a block's first convolution and around the block: from `inner` and `outer` to
    /// the `outer` of the result before.
    fn first(&mut self, block: usize, places: &Places, gradients: &mut Vectors) {
        let Trunk { cells, workspace, layers, pools, results, outer, inner, sums, taps, .. } = self;
        let [previous, one] = &mut layers[2 * block..2 * block + 2] else { return };
        let Layer { convolution, norm, outputs } = one;
        let (result, pool) = (&results[block], &pools[block]);
        sums.clear();
        sums.resize(convolution.filter.len(), Vector::ZERO);
        for (first, positions) in cells.groups() {
            workspace.filter_gradients(
                sums,
                convolution.channels,
                positions,
                |position, c, plane| {
                    let from = cells.plane(result, first + position, c);
                    plane.as_flattened_mut().iter_mut().zip(from).for_each(|(to, x)| *to = *x);
                },
                |position, c, plane| {
                    before_norm(cells, (norm, outputs), inner, (first + position, c), plane);
                },
            );
            let Convolution { back, channels, .. } = &*convolution;
            workspace.input_gradients(back, *channels, positions, |position, c, plane| {
                let position = first + position;
                let into = cells.plane_mut(outer, position, c);
                let result = cells.plane(result, position, c);
                let outputs = cells.plane(&previous.outputs, position, c);
                let planes = plane.as_flattened().iter().zip(into).zip(result.zip(outputs));
                let spread = pool.as_ref().map(|p| p.spread(position, c, cells.layout.squares));
                let gradients = planes.enumerate().map(|(cell, ((value, into), (result, y)))| {
                    let sum = *into + *value;
                    let sum = spread.map_or(sum, |spread| sum + spread.to(cell));
                    *into = sum & result.simd_gt(Vector::ZERO);
                    (*y, *into)
                });
                previous.norm.count_gradients(c, gradients);
            });
            previous.norm.close_group();
        }
        convolution.store(workspace.board(), sums, (places, gradients), taps);
    }
}

/// What a block's pooling adds to the cells of a position.
#[inline(always)]
fn added(pool: &Option<Pool>, cells: &Cells, position: usize, c: usize) -> Vector {
    pool.as_ref().map_or(Vector::ZERO, |pool| pool.added[position * cells.depth + c])
}

/// Fills a plane with gradients before a norm, from those after it.
#[inline(always)]
fn before_norm<const W: usize>(
    cells: &Cells,
    (norm, outputs): (&Norm, &[Vector]),
    gradients: &[Vector],
    (position, c): (usize, usize),
    plane: &mut Plane<W>,
) {
    let backward = norm.backward(c);
    let outputs = cells.plane(outputs, position, c);
    let from = outputs.zip(cells.plane(gradients, position, c));
    for (to, (y, gradient)) in plane.as_flattened_mut().iter_mut().zip(from) {
        *to = backward.apply(*y, *gradient);
    }
}

/// What lies between a block's two convolutions.
struct Inside<'a> {
    cells: &'a Cells,
    layer: &'a Layer,
    pool: Option<&'a Pool>,
}

impl Inside<'_> {
    /// Fills a plane of a position of the batch.
    #[inline(always)]
    fn fill<const W: usize>(&self, position: usize, c: usize, plane: &mut Plane<W>) {
        let Inside { cells, layer, pool } = self;
        let forward = layer.norm.forward(c);
        let added = pool.map_or(Vector::ZERO, |pool| pool.added[position * cells.depth + c]);
        let outputs = cells.plane(&layer.outputs, position, c);
        for ((to, y), mask) in plane.as_flattened_mut().iter_mut().zip(outputs).zip(&cells.mask) {
            *to = (forward.apply(*y) + added).fast_max(Vector::ZERO) * *mask;
        }
    }
}

/// What goes into a block: the norm's outputs plus what went into the block before, through a ReLU.
struct Entry<'a> {
    cells: &'a Cells,
    layer: &'a Layer,
    before: Option<&'a [Vector]>,
    into: &'a mut [Vector],
}

impl<'a> Entry<'a> {
    /// The entry of block `block`, whose place in `results` is filled.
    fn new(
        cells: &'a Cells,
        layer: &'a Layer,
        results: &'a mut [Vec<Vector>],
        block: usize,
    ) -> Entry<'a> {
        let (before, after) = results.split_at_mut(block);
        let before = before.last().map(|before| &before[..]);
        Entry { cells, layer, before, into: &mut after[0] }
    }

    /// Computes a plane of a position of the batch, and copies it to `plane`.
    #[inline(always)]
    fn fill<const W: usize>(&mut self, position: usize, c: usize, plane: &mut Plane<W>) {
        let Entry { cells, layer, before, into } = self;
        let forward = layer.norm.forward(c);
        let outputs = cells.plane(&layer.outputs, position, c);
        let into = cells.plane_mut(into, position, c);
        let places = plane.as_flattened_mut().iter_mut().zip(into).zip(outputs.zip(&cells.mask));
        match before {
            Some(before) => {
                let before = cells.plane(before, position, c);
                for (((to, into), (y, mask)), residual) in places.zip(before) {
                    *to = (forward.apply(*y) + *residual).fast_max(Vector::ZERO) * *mask;
                    *into = *to;
                }
            }
            None => {
                for ((to, into), (y, mask)) in places {
                    *to = forward.apply(*y).fast_max(Vector::ZERO) * *mask;
                    *into = *to;
                }
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
    read: impl FnMut(usize, usize, &mut Plane<W>),
) {
    let Layer { convolution, norm, outputs } = layer;
    let Convolution { channels, filter, .. } = convolution;
    workspace.convolve(filter, *channels, positions, read, |position, c, plane| {
        let sums = plane.as_flattened();
        norm.count(c, sums.iter());
        let into = cells.plane_mut(outputs, first + position, c);
        into.zip(sums).for_each(|(into, sum)| *into = *sum);
    });
    norm.close_group();
}
