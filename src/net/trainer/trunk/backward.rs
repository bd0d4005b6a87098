//! The backward pass of the trunk, from the last block to the stem.

use super::planes::{Cells, InnerActivations};
use super::{Layer, Trunk};
use crate::net::trainer::arrays::{ArrayMap, Vectors};
use crate::net::trainer::convolver::{Convolver, StoredVector};
use crate::net::trainer::filter::Convolution;
use crate::net::trainer::norm::Norm;
use crate::net::trainer::pool::Pool;
use crate::net::vector::Vector;
use crate::net::winograd::Plane;

impl<const W: usize, C: Convolver<W>> Trunk<W, C> {
    /// Computes the gradients of all arrays of the trunk from those in [`Trunk::output`].
    pub(in crate::net::trainer) fn backward(&mut self, arrays: &ArrayMap, gradients: &mut Vectors) {
        self.backward_output();
        for block in (0..self.pools.len()).rev() {
            self.backward_second(block, arrays, gradients);
            self.backward_first(block, arrays, gradients);
        }
        let Trunk { cells, convolver, planes, layers, outer, sums, taps, .. } = self;
        let board = cells.mask.len();
        let Layer { convolution, norm, outputs } = &mut layers[0];
        norm.finish_gradients(arrays, gradients, cells.count());
        sums.clear();
        sums.resize(C::sums(convolution.channels), Vector::ZERO);
        for (first, positions) in cells.groups() {
            convolver.filter_gradients(
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
        convolution.store(&*convolver, sums, (arrays, gradients), taps);
    }

    /// Backward through the last block's ReLU: from the heads' gradients to `outer`.
    fn backward_output(&mut self) {
        let Trunk { cells, layers, results, row_gradients, outer, .. } = self;
        let (Some(Layer { norm, outputs, .. }), Some(result)) = (layers.last_mut(), results.last())
        else {
            return;
        };
        let (depth, size) = (cells.depth, cells.depth * cells.mask.len());
        for (first, positions) in cells.groups() {
            for position in first..first + positions {
                for c in 0..depth {
                    let rows = &row_gradients[position * size..][..size];
                    let gradients = rows[c..].iter().step_by(depth);
                    let into = cells.plane_mut(outer, position, c);
                    let result = cells.plane(result, position, c);
                    let outputs = cells.plane(outputs, position, c);
                    let planes = into.iter_mut().zip(gradients).zip(result).zip(outputs);
                    let counted = planes.map(|(((into, gradient), result), y)| {
                        let gradient = *gradient & result.to_vector().simd_gt(Vector::ZERO);
                        *into = StoredVector::store(gradient);
                        (y.to_vector(), gradient)
                    });
                    norm.accumulate_gradients(c, counted);
                }
            }
            norm.end_group();
        }
    }

    /// Backward through a block's second convolution: from `outer` to `inner`.
    fn backward_second(&mut self, block: usize, arrays: &ArrayMap, gradients: &mut Vectors) {
        let Trunk { cells, convolver, layers, pools, outer, inner, sums, taps, .. } = self;
        let pool = &mut pools[block];
        let [one, two] = &mut layers[2 * block + 1..2 * block + 3] else { return };
        let Layer { convolution, norm, outputs } = two;
        norm.finish_gradients(arrays, gradients, cells.count());
        sums.clear();
        sums.resize(C::sums(convolution.channels), Vector::ZERO);
        for (first, positions) in cells.groups() {
            let activations = InnerActivations { cells, layer: one, pool: pool.as_ref() };
            convolver.filter_gradients(
                sums,
                convolution.channels,
                positions,
                |position, c, plane| activations.fill(first + position, c, plane),
                |position, c, plane| {
                    before_norm(cells, (norm, outputs), outer, (first + position, c), plane);
                },
            );
            let Convolution { back, channels, .. } = &*convolution;
            convolver.input_gradients(back, *channels, positions, |position, c, plane| {
                let position = first + position;
                let (forward, added) = (one.norm.forward(c), added(pool, cells, position, c));
                let into = cells.plane_mut(inner, position, c);
                let outputs = cells.plane(&one.outputs, position, c);
                let planes = plane.as_flattened().iter().zip(into).zip(outputs).zip(&cells.mask);
                let mut sum = Vector::ZERO;
                let gradients = planes.map(|(((value, into), y), mask)| {
                    let y = y.to_vector();
                    let before = (forward.apply(y) + added) * *mask;
                    let gradient = *value & before.simd_gt(Vector::ZERO);
                    *into = StoredVector::store(gradient);
                    sum += gradient;
                    (y, gradient)
                });
                one.norm.accumulate_gradients(c, gradients);
                if let Some(pool) = pool.as_mut() {
                    pool.added[position * cells.depth + c] = sum;
                }
            });
            one.norm.end_group();
        }
        convolution.store(&*convolver, sums, (arrays, gradients), taps);
        one.norm.finish_gradients(arrays, gradients, cells.count());
        if let Some(pool) = pool {
            pool.backward(arrays, gradients);
        }
    }

    /// Backward through a block's first convolution and its residual connection: from `inner` and
    /// `outer` to the `outer` of the block before.
    fn backward_first(&mut self, block: usize, arrays: &ArrayMap, gradients: &mut Vectors) {
        let Trunk { cells, convolver, layers, pools, results, outer, inner, sums, taps, .. } = self;
        let [previous, one] = &mut layers[2 * block..2 * block + 2] else { return };
        let Layer { convolution, norm, outputs } = one;
        let (result, pool) = (&results[block], &pools[block]);
        sums.clear();
        sums.resize(C::sums(convolution.channels), Vector::ZERO);
        for (first, positions) in cells.groups() {
            convolver.filter_gradients(
                sums,
                convolution.channels,
                positions,
                |position, c, plane| {
                    let from = cells.plane(result, first + position, c);
                    let cells = plane.as_flattened_mut().iter_mut().zip(from);
                    cells.for_each(|(to, from)| *to = from.to_vector());
                },
                |position, c, plane| {
                    before_norm(cells, (norm, outputs), inner, (first + position, c), plane);
                },
            );
            let Convolution { back, channels, .. } = &*convolution;
            convolver.input_gradients(back, *channels, positions, |position, c, plane| {
                let position = first + position;
                let into = cells.plane_mut(outer, position, c);
                let result = cells.plane(result, position, c);
                let outputs = cells.plane(&previous.outputs, position, c);
                let planes = plane.as_flattened().iter().zip(into).zip(result.iter().zip(outputs));
                let spread =
                    pool.as_ref().map(|p| p.cell_gradients(position, c, cells.layout.squares));
                let gradients = planes.enumerate().map(|(cell, ((value, into), (result, y)))| {
                    let sum = into.to_vector() + *value;
                    let sum = spread.map_or(sum, |spread| sum + spread.at(cell));
                    let gradient = sum & result.to_vector().simd_gt(Vector::ZERO);
                    *into = StoredVector::store(gradient);
                    (y.to_vector(), gradient)
                });
                previous.norm.accumulate_gradients(c, gradients);
            });
            previous.norm.end_group();
        }
        convolution.store(&*convolver, sums, (arrays, gradients), taps);
    }
}

/// What a block's global pooling adds to the cells of a position.
#[inline(always)]
fn added(pool: &Option<Pool>, cells: &Cells, position: usize, c: usize) -> Vector {
    pool.as_ref().map_or(Vector::ZERO, |pool| pool.added[position * cells.depth + c])
}

/// Fills a plane with gradients of a norm's inputs, computed from those of its outputs.
#[inline(always)]
fn before_norm<const W: usize, S: StoredVector>(
    cells: &Cells,
    (norm, outputs): (&Norm, &[S]),
    gradients: &[S],
    (position, c): (usize, usize),
    plane: &mut Plane<W>,
) {
    let backward = norm.backward(c);
    let outputs = cells.plane(outputs, position, c);
    let from = outputs.iter().zip(cells.plane(gradients, position, c));
    for (to, (y, gradient)) in plane.as_flattened_mut().iter_mut().zip(from) {
        *to = backward.apply(y.to_vector(), gradient.to_vector());
    }
}
