//! A net's arrays as tensors: a few long vectors of which every array is a slice.
//!
//! Long vectors make an optimiser's step, a cast to bf16 and an average each a handful of tensor
//! operations, whatever the number of layers; the gradient of a split is one concatenation.

use std::collections::HashMap;

use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use tch::{Device, Kind, Tensor};

use super::plan::{NetSpec, Part, Role, Start, parts};
use super::weights::{Weights, WeightsError};

/// The roles, in the order of [`Variables::vectors`].
pub(super) const ROLES: [Role; 4] = [Role::Factor, Role::Last, Role::Offset, Role::Statistic];

/// How many of [`ROLES`] are trained.
pub(super) const TRAINED: usize = 3;

/// Where an array lies: which vector, and which of its slices.
#[derive(Clone, Copy, Debug)]
struct Place {
    vector: usize,
    slice: usize,
}

/// The arrays of one net, on one device.
#[derive(Debug)]
pub(super) struct Variables {
    parts: Vec<Part>,
    places: HashMap<String, Place>,
    sizes: [Vec<i64>; 4],
    shapes: [Vec<Vec<i64>>; 4],
    /// One vector per role, float32; the first three require gradients.
    vectors: [Tensor; 4],
}

impl Variables {
    /// The arrays of `spec` as drawn from `seed`; the same on every device and with every
    /// version of libtorch.
    pub(super) fn new(spec: &NetSpec, seed: u64, device: Device) -> Variables {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut draw = |part: &Part| {
            let count = part.shape.iter().product();
            match part.start {
                Start::Constant(value) => vec![value; count],
                Start::Normal(deviation) => (0..count)
                    .map(|_| {
                        let normal: f32 = StandardNormal.sample(&mut random);
                        deviation * normal
                    })
                    .collect::<Vec<f32>>(),
            }
        };
        let parts = parts(spec);
        let mut values = [const { Vec::new() }; 4];
        let (mut sizes, mut shapes) = ([const { Vec::new() }; 4], [const { Vec::new() }; 4]);
        let mut places = HashMap::new();
        for part in &parts {
            let vector = vector_of(part.role);
            let start = draw(part);
            places.insert(part.name.clone(), Place { vector, slice: sizes[vector].len() });
            sizes[vector].push(start.len() as i64);
            shapes[vector].push(part.shape.iter().map(|&size| size as i64).collect());
            values[vector].extend(start);
        }
        let vectors = ROLES.map(|role| {
            let values: &Vec<f32> = &values[vector_of(role)];
            let vector = Tensor::from_slice(values).to_device(device);
            if role == Role::Statistic { vector } else { vector.set_requires_grad(true) }
        });
        Variables { parts, places, sizes, shapes, vectors }
    }

    /// The long vectors that gradients are taken of.
    pub(super) fn trained(&self) -> &[Tensor] {
        &self.vectors[..TRAINED]
    }

    /// All long vectors, in the order of [`ROLES`].
    pub(super) fn vectors(&self) -> &[Tensor; 4] {
        &self.vectors
    }

    /// The arrays as slices for one pass, the factors cast to `kind`.
    pub(super) fn slices(&self, kind: Kind) -> Slices<'_> {
        let tensors = std::array::from_fn(|vector| {
            let cast = ROLES[vector] == Role::Factor && kind != Kind::Float;
            let long = if cast {
                self.vectors[vector].to_kind(kind)
            } else {
                self.vectors[vector].shallow_clone()
            };
            let slices = long.split_with_sizes(&self.sizes[vector], 0);
            let shapes = self.shapes[vector].iter();
            slices.into_iter().zip(shapes).map(|(slice, shape)| slice.view(&shape[..])).collect()
        });
        Slices { variables: self, tensors }
    }

    /// A copy as plain data. `vectors` are this net's, or an average of them.
    pub(super) fn export(&self, vectors: &[Tensor; 4]) -> Weights {
        let values = vectors.each_ref().map(to_vec);
        let mut starts = [0; 4];
        let mut weights = Weights::default();
        for part in &self.parts {
            let vector = vector_of(part.role);
            let end = starts[vector] + part.shape.iter().product::<usize>();
            let slice = values[vector][starts[vector]..end].to_vec();
            weights.insert(part.name.clone(), part.shape.clone(), slice);
            starts[vector] = end;
        }
        weights
    }

    /// `weights` as long vectors in the order of [`ROLES`].
    ///
    /// # Errors
    ///
    /// An array is missing, has another shape, or is none of this net's.
    pub(super) fn import(&self, weights: &Weights) -> Result<[Vec<f32>; 4], WeightsError> {
        check(&self.parts, weights)?;
        let mut values = [const { Vec::new() }; 4];
        for part in &self.parts {
            values[vector_of(part.role)].extend(weights.get(&part.name, &part.shape)?);
        }
        Ok(values)
    }

    /// Takes over `weights`.
    ///
    /// # Errors
    ///
    /// They are of another net; then nothing changes.
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

/// Which of the long vectors holds arrays of a role.
pub(super) fn vector_of(role: Role) -> usize {
    match role {
        Role::Factor => 0,
        Role::Last => 1,
        Role::Offset => 2,
        Role::Statistic => 3,
    }
}

/// Whether `weights` are exactly those of the net whose parts are given.
pub(super) fn check(parts: &[Part], weights: &Weights) -> Result<(), WeightsError> {
    for part in parts {
        weights.get(&part.name, &part.shape)?;
    }
    match weights.iter().find(|(name, _)| parts.iter().all(|part| part.name != *name)) {
        Some((name, _)) => Err(WeightsError::Unknown { name: name.into() }),
        None => Ok(()),
    }
}

/// A tensor's numbers in reading order.
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
    /// The array called `name`, which must be one of the net's.
    pub(super) fn get(&self, name: &str) -> &Tensor {
        let place = self.variables.places[name];
        &self.tensors[place.vector][place.slice]
    }
}
