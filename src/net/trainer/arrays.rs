//! A net's arrays by name, as slices of long vectors of plain numbers.

use std::collections::HashMap;
use std::ops::Range;

use crate::net::plan::{Role, array_specs};
use crate::net::variables::vector_of;
use crate::net::{ArraySpec, NetSpec};

/// Long vectors, one for each role, with the layout of [`crate::net::variables`].
pub(super) type Vectors = [Vec<f32>; 4];

/// The location of each array by name: the index of its long vector, and its range there.
#[derive(Debug)]
pub(super) struct ArrayMap(HashMap<String, (usize, Range<usize>)>);

impl ArrayMap {
    /// The locations of a net's arrays.
    pub(super) fn new(spec: &NetSpec) -> ArrayMap {
        let mut ends = [0; 4];
        let locate = |ArraySpec { name, shape, role, .. }: ArraySpec| {
            let vector = vector_of(role);
            let start = ends[vector];
            ends[vector] += shape.iter().product::<usize>();
            (name, (vector, start..ends[vector]))
        };
        ArrayMap(array_specs(spec).into_iter().map(locate).collect())
    }

    /// The array called `name`. Empty if the net has no such array.
    pub(super) fn get<'a>(&self, vectors: &'a Vectors, name: &str) -> &'a [f32] {
        self.0.get(name).map_or(&[], |(vector, range)| &vectors[*vector][range.clone()])
    }

    /// The array called `name`, for writing. Empty if the net has no such array.
    pub(super) fn get_mut<'a>(&self, vectors: &'a mut Vectors, name: &str) -> &'a mut [f32] {
        match self.0.get(name) {
            Some((vector, range)) => &mut vectors[*vector][range.clone()],
            None => &mut [],
        }
    }

    /// Vectors of zeros with the lengths of the net's.
    pub(super) fn zeros(&self) -> Vectors {
        let length = |role| {
            let ends = self.0.values().filter(|(vector, _)| *vector == vector_of(role));
            ends.map(|(_, range)| range.end).max().unwrap_or(0)
        };
        [Role::Factor, Role::OutputFactor, Role::Offset, Role::Statistic]
            .map(|role| vec![0.0; length(role)])
    }
}
