//! A net's arrays as tensors. All arrays of one role lie in one long vector, each as a slice.
//!
//! With long vectors an optimiser's step, a cast to bf16 and an average take only a few tensor
//! operations each, for any number of layers. The gradient of the split is one concatenation.

use std::collections::HashMap;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use tch::{Device, Kind, Tensor};

use super::plan::{ArraySpec, NetSpec, Role, array_specs, check};
use crate::model::weights::{Weights, WeightsError};

/// The roles, in the order of [`Variables::vectors`].
pub(super) const ROLES: [Role; 4] =
    [Role::Factor, Role::OutputFactor, Role::Offset, Role::Statistic];

/// The number of roles that are trained by gradients: the first ones of [`ROLES`].
pub(super) const TRAINED: usize = 3;

/// Where an array lies: the index of the long vector, and of the slice within it.
#[derive(Clone, Copy, Debug)]
struct SliceIndex {
    vector: usize,
    slice: usize,
}

/// The arrays of one net, on one device.
#[derive(Debug)]
pub(super) struct Variables {
    arrays: Vec<ArraySpec>,
    by_name: HashMap<String, SliceIndex>,
    sizes: [Vec<i64>; 4],
    shapes: [Vec<Vec<i64>>; 4],
    /// One vector per role, float32. The first [`TRAINED`] require gradients.
    vectors: [Tensor; 4],
}

impl Variables {
    /// The initial arrays of `spec`. The same `seed` gives the same numbers on every device and
    /// with every version of libtorch.
    pub(super) fn new(spec: &NetSpec, seed: u64, device: Device) -> Variables {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let arrays = array_specs(spec);
        let mut values = [const { Vec::new() }; 4];
        let (mut sizes, mut shapes) = ([const { Vec::new() }; 4], [const { Vec::new() }; 4]);
        let mut by_name = HashMap::new();
        for array in &arrays {
            let vector = vector_of(array.role);
            let start = array.initial(&mut random);
            by_name.insert(array.name.clone(), SliceIndex { vector, slice: sizes[vector].len() });
            sizes[vector].push(start.len() as i64);
            shapes[vector].push(array.shape.iter().map(|&size| size as i64).collect());
            values[vector].extend(start);
        }
        let vectors = ROLES.map(|role| {
            let values: &Vec<f32> = &values[vector_of(role)];
            let vector = Tensor::from_slice(values).to_device(device);
            if role == Role::Statistic { vector } else { vector.set_requires_grad(true) }
        });
        Variables { arrays, by_name, sizes, shapes, vectors }
    }

    /// The long vectors that are trained by gradients.
    pub(super) fn trained(&self) -> &[Tensor] {
        &self.vectors[..TRAINED]
    }

    /// All long vectors, in the order of [`ROLES`].
    pub(super) fn vectors(&self) -> &[Tensor; 4] {
        &self.vectors
    }

    /// The arrays as slices for one pass. Arrays of [`Role::Factor`] are cast to `kind`.
    pub(super) fn slices(&self, kind: Kind) -> Slices<'_> {
        let tensors = std::array::from_fn(|vector| {
            let cast = ROLES[vector] == Role::Factor && kind != Kind::Float;
            let long = if cast {
                self.vectors[vector].to_kind(kind)
            } else {
                self.vectors[vector].shallow_clone()
            };
            self.arrays_of(vector, &long)
        });
        Slices { variables: self, tensors }
    }

    /// The arrays of the long vector `index`, as slices of `long`.
    pub(super) fn arrays_of(&self, index: usize, long: &Tensor) -> Vec<Tensor> {
        let slices = long.split_with_sizes(&self.sizes[index], 0);
        let shapes = self.shapes[index].iter();
        slices.into_iter().zip(shapes).map(|(slice, shape)| slice.view(&shape[..])).collect()
    }

    /// A copy of `vectors` as named arrays. `vectors` are this net's, or an average of them.
    pub(super) fn export(&self, vectors: &[Tensor; 4]) -> Weights {
        let values = vectors.each_ref().map(to_vec);
        let mut starts = [0; 4];
        let mut weights = Weights::default();
        for array in &self.arrays {
            let vector = vector_of(array.role);
            let end = starts[vector] + array.shape.iter().product::<usize>();
            let slice = values[vector][starts[vector]..end].to_vec();
            weights.insert(array.name.clone(), array.shape.clone(), slice);
            starts[vector] = end;
        }
        weights
    }

    /// `weights` as long vectors in the order of [`ROLES`].
    ///
    /// # Errors
    ///
    /// An array is missing, has another shape, or does not belong to this net.
    pub(super) fn import(&self, weights: &Weights) -> Result<[Vec<f32>; 4], WeightsError> {
        check(&self.arrays, weights)?;
        let mut values = [const { Vec::new() }; 4];
        for array in &self.arrays {
            values[vector_of(array.role)].extend(weights.get(&array.name, &array.shape)?);
        }
        Ok(values)
    }

    /// Replaces the numbers by `weights`.
    ///
    /// # Errors
    ///
    /// `weights` belong to another net. Nothing has changed then.
    pub(super) fn load(&mut self, weights: &Weights) -> Result<(), WeightsError> {
        let values = self.import(weights)?;
        tch::no_grad(|| {
            for (vector, values) in self.vectors.iter_mut().zip(&values) {
                vector.copy_(&Tensor::from_slice(values));
            }
        });
        Ok(())
    }
}

/// The index of the long vector that holds the arrays of a role.
pub(super) fn vector_of(role: Role) -> usize {
    match role {
        Role::Factor => 0,
        Role::OutputFactor => 1,
        Role::Offset => 2,
        Role::Statistic => 3,
    }
}

/// A tensor's numbers as float32, in row-major order.
pub(super) fn to_vec(tensor: &Tensor) -> Vec<f32> {
    let flat = tensor.detach().to_device(Device::Cpu).to_kind(Kind::Float).contiguous();
    let mut values = vec![0.0; flat.numel()];
    flat.copy_data(&mut values, flat.numel());
    values
}

/// A net's arrays, ready for one pass.
pub(super) struct Slices<'a> {
    variables: &'a Variables,
    tensors: [Vec<Tensor>; 4],
}

impl Slices<'_> {
    /// The array called `name`.
    ///
    /// # Panics
    ///
    /// The net has no such array.
    pub(super) fn get(&self, name: &str) -> &Tensor {
        let index = self.variables.by_name[name];
        &self.tensors[index.vector][index.slice]
    }
}
