//! Gradients through the blocks, from the last one back to the stem.

use super::planes::{Cells, Inside};
use super::{Layer, Trunk};
use crate::net::trainer::arrays::{Places, Vectors};
use crate::net::trainer::filter::Convolution;
use crate::net::trainer::norm::Norm;
use crate::net::trainer::pool::Pool;
use crate::net::trainer::unit::{Kept, Unit};
use crate::net::vector::Vector;
use crate::net::winograd::Plane;

impl<const W: usize, U: Unit<W>> Trunk<W, U> {
    /// Brings the gradients that [`Trunk::last`] was given back through all layers.
    pub(in crate::net::trainer) fn backward(&mut self, places: &Places, gradients: &mut Vectors) {
        self.through_last();
        for block in (0..self.pools.len()).rev() {
            self.second(block, places, gradients);
            self.first(block, places, gradients);
        }
        let Trunk { cells, unit, planes, layers, outer, sums, taps, .. } = self;
        let board = cells.mask.len();
        let Layer { convolution, norm, outputs } = &mut layers[0];
        norm.finish_gradients(places, gradients, cells.count());
        sums.clear();
        sums.resize(U::sums(convolution.channels), Vector::ZERO);
        for (first, positions) in cells.groups() {
            unit.filter_gradients(
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
        convolution.store(&*unit, sums, (places, gradients), taps);
    }

    /// Through the ReLU that made the last result, from the heads' gradients to `outer`.
    fn through_last(&mut self) {
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
                        let gradient = *gradient & result.vector().simd_gt(Vector::ZERO);
                        *into = Kept::keep(gradient);
                        (y.vector(), gradient)
                    });
                    norm.count_gradients(c, counted);
                }
            }
            norm.close_group();
        }
    }

    /// Back through a block's second convolution: from `outer` to `inner`.
    fn second(&mut self, block: usize, places: &Places, gradients: &mut Vectors) {
        let Trunk { cells, unit, layers, pools, outer, inner, sums, taps, .. } = self;
        let pool = &mut pools[block];
        let [one, two] = &mut layers[2 * block + 1..2 * block + 3] else { return };
        let Layer { convolution, norm, outputs } = two;
        norm.finish_gradients(places, gradients, cells.count());
        sums.clear();
        sums.resize(U::sums(convolution.channels), Vector::ZERO);
        for (first, positions) in cells.groups() {
            let inside = Inside { cells, layer: one, pool: pool.as_ref() };
            unit.filter_gradients(
                sums,
                convolution.channels,
                positions,
                |position, c, plane| inside.fill(first + position, c, plane),
                |position, c, plane| {
                    before_norm(cells, (norm, outputs), outer, (first + position, c), plane);
                },
            );
            let Convolution { back, channels, .. } = &*convolution;
            unit.input_gradients(back, *channels, positions, |position, c, plane| {
                let position = first + position;
                let (forward, added) = (one.norm.forward(c), added(pool, cells, position, c));
                let into = cells.plane_mut(inner, position, c);
                let outputs = cells.plane(&one.outputs, position, c);
                let planes = plane.as_flattened().iter().zip(into).zip(outputs).zip(&cells.mask);
                let mut sum = Vector::ZERO;
                let gradients = planes.map(|(((value, into), y), mask)| {
                    let y = y.vector();
                    let before = (forward.apply(y) + added) * *mask;
                    let gradient = *value & before.simd_gt(Vector::ZERO);
                    *into = Kept::keep(gradient);
                    sum += gradient;
                    (y, gradient)
                });
                one.norm.count_gradients(c, gradients);
                if let Some(pool) = pool.as_mut() {
                    pool.added[position * cells.depth + c] = sum;
                }
            });
            one.norm.close_group();
        }
        convolution.store(&*unit, sums, (places, gradients), taps);
        one.norm.finish_gradients(places, gradients, cells.count());
        if let Some(pool) = pool {
            pool.backward(places, gradients);
        }
    }

    /// Back through a block's first convolution and around the block: from `inner` and `outer` to
    /// the `outer` of the result before.
    fn first(&mut self, block: usize, places: &Places, gradients: &mut Vectors) {
        let Trunk { cells, unit, layers, pools, results, outer, inner, sums, taps, .. } = self;
        let [previous, one] = &mut layers[2 * block..2 * block + 2] else { return };
        let Layer { convolution, norm, outputs } = one;
        let (result, pool) = (&results[block], &pools[block]);
        sums.clear();
        sums.resize(U::sums(convolution.channels), Vector::ZERO);
        for (first, positions) in cells.groups() {
            unit.filter_gradients(
                sums,
                convolution.channels,
                positions,
                |position, c, plane| {
                    let from = cells.plane(result, first + position, c);
                    let cells = plane.as_flattened_mut().iter_mut().zip(from);
                    cells.for_each(|(to, from)| *to = from.vector());
                },
                |position, c, plane| {
                    before_norm(cells, (norm, outputs), inner, (first + position, c), plane);
                },
            );
            let Convolution { back, channels, .. } = &*convolution;
            unit.input_gradients(back, *channels, positions, |position, c, plane| {
                let position = first + position;
                let into = cells.plane_mut(outer, position, c);
                let result = cells.plane(result, position, c);
                let outputs = cells.plane(&previous.outputs, position, c);
                let planes = plane.as_flattened().iter().zip(into).zip(result.iter().zip(outputs));
                let spread = pool.as_ref().map(|p| p.spread(position, c, cells.layout.squares));
                let gradients = planes.enumerate().map(|(cell, ((value, into), (result, y)))| {
                    let sum = into.vector() + *value;
                    let sum = spread.map_or(sum, |spread| sum + spread.to(cell));
                    let gradient = sum & result.vector().simd_gt(Vector::ZERO);
                    *into = Kept::keep(gradient);
                    (y.vector(), gradient)
                });
                previous.norm.count_gradients(c, gradients);
            });
            previous.norm.close_group();
        }
        convolution.store(&*unit, sums, (places, gradients), taps);
    }
}

/// What a block's pooling adds to the cells of a position.
#[inline(always)]
fn added(pool: &Option<Pool>, cells: &Cells, position: usize, c: usize) -> Vector {
    pool.as_ref().map_or(Vector::ZERO, |pool| pool.added[position * cells.depth + c])
}

/// Fills a plane with gradients before a norm, from those after it.
#[inline(always)]
fn before_norm<const W: usize, K: Kept>(
    cells: &Cells,
    (norm, outputs): (&Norm, &[K]),
    gradients: &[K],
    (position, c): (usize, usize),
    plane: &mut Plane<W>,
) {
    let backward = norm.backward(c);
    let outputs = cells.plane(outputs, position, c);
    let from = outputs.iter().zip(cells.plane(gradients, position, c));
    for (to, (y, gradient)) in plane.as_flattened_mut().iter_mut().zip(from) {
        *to = backward.apply(y.vector(), gradient.vector());
    }
}
