//! A net's arrays by name, as slices of the long vectors that hold them.

use std::collections::HashMap;
use std::ops::Range;

use crate::net::plan::{Role, parts};
use crate::net::variables::vector_of;
use crate::net::{NetSpec, Part};

/// Long vectors of plain numbers, one for each role (see [`crate::net::variables`]).
pub(super) type Vectors = [Vec<f32>; 4];

/// Where each array lies.
#[derive(Debug)]
pub(super) struct Places(HashMap<String, (usize, Range<usize>)>);

impl Places {
    /// The places of a net's arrays.
    pub(super) fn new(spec: &NetSpec) -> Places {
        let mut ends = [0; 4];
        let place = |Part { name, shape, role, .. }: Part| {
            let vector = vector_of(role);
            let start = ends[vector];
            ends[vector] += shape.iter().product::<usize>();
            (name, (vector, start..ends[vector]))
        };
        Places(parts(spec).into_iter().map(place).collect())
    }

    /// The array called `name`; an empty one if the net has none.
    pub(super) fn get<'a>(&self, vectors: &'a Vectors, name: &str) -> &'a [f32] {
        self.0.get(name).map_or(&[], |(vector, range)| &vectors[*vector][range.clone()])
    }

    /// The array called `name`, to be written.
    pub(super) fn get_mut<'a>(&self, vectors: &'a mut Vectors, name: &str) -> &'a mut [f32] {
        match self.0.get(name) {
            Some((vector, range)) => &mut vectors[*vector][range.clone()],
            None => &mut [],
        }
    }

    /// Vectors of zeros as long as the net's.
    pub(super) fn zeros(&self) -> Vectors {
        let length = |role| {
            let ends = self.0.values().filter(|(vector, _)| *vector == vector_of(role));
            ends.map(|(_, range)| range.end).max().unwrap_or(0)
        };
        [Role::Factor, Role::Last, Role::Offset, Role::Statistic].map(|role| vec![0.0; length(role)])
    }
}
