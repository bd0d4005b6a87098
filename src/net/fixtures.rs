//! Nets and positions that the tests of this folder share.

use std::io::Write;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) use super::bench::positions;
use super::plan::{NetSpec, Role, parts};
use super::weights::Weights;
use super::{Net, TowerOptions};
use crate::game::Shape;

/// Says aloud what a test does not look at here, and why: past the runner, which keeps what passing
/// tests print to itself.
pub(crate) fn skipped(what: &str) {
    // Who cannot be told does not matter to the test.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}");
}

/// Weights of a net as it might be after training: no batch norm is left at its start.
pub(crate) fn trained(spec: &NetSpec, seed: u64) -> Weights {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0xABCD);
    let fresh = Net::new(spec, seed, tch::Device::Cpu).weights();
    let mut weights = Weights::default();
    for part in parts(spec) {
        let mut values = fresh.get(&part.name, &part.shape).expect("a part of the net").to_vec();
        for value in &mut values {
            let number: f32 = random.random_range(-1.0..1.0);
            match part.role {
                Role::Statistic if part.name.ends_with("variance") => *value = 1.0 + 0.6 * number,
                Role::Statistic => *value = 0.3 * number,
                Role::Offset if part.name.ends_with("scale") => *value = 0.8 + 0.4 * number,
                Role::Offset => *value = 0.3 * number,
                Role::Factor | Role::Last => {}
            }
        }
        weights.insert(part.name, part.shape, values);
    }
    weights
}

/// A residual net's description.
pub(crate) fn resnet(shape: Shape, blocks: u32, channels: u32) -> NetSpec {
    NetSpec { shape, options: TowerOptions { blocks, channels, ..TowerOptions::default() } }
}
