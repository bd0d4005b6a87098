//! Nets and positions for tests.

use std::io::Write;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) use super::bench::positions;
use super::plan::{NetSpec, Role, array_specs, initial_weights};
use super::{InputEvaluator, Inputs, TowerOptions};
use crate::eval::positional::Positional;
use crate::game::{Goal, Shape};
use crate::model::weights::Weights;

/// Prints which check is skipped on this machine, and why. Writes to stderr directly, because the
/// test runner hides the output of tests that pass.
pub(crate) fn skipped(what: &str) {
    // A failure to print must not fail the test.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}");
}

/// Weights like those of a trained net: every batch norm differs from its initial state.
pub(crate) fn trained(spec: &NetSpec, seed: u64) -> Weights {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0xABCD);
    let fresh = initial_weights(spec, seed);
    let mut weights = Weights::default();
    for array in array_specs(spec) {
        let mut values =
            fresh.get(&array.name, &array.shape).expect("an array of the net").to_vec();
        for value in &mut values {
            let number: f32 = random.random_range(-1.0..1.0);
            match array.role {
                Role::Statistic if array.name.ends_with("variance") => *value = 1.0 + 0.6 * number,
                Role::Statistic => *value = 0.3 * number,
                Role::Offset if array.name.ends_with("scale") => *value = 0.8 + 0.4 * number,
                Role::Offset => *value = 0.3 * number,
                Role::Factor | Role::OutputFactor => {}
            }
        }
        weights.insert(array.name, array.shape, values);
    }
    weights
}

/// The specification of a residual net.
pub(crate) fn resnet(shape: Shape, blocks: u32, channels: u32) -> NetSpec {
    let options = TowerOptions { blocks, channels, ..TowerOptions::default() };
    NetSpec { shape, options, evaluator: None }
}

/// The same with the positional evaluator's evaluations as input.
pub(crate) fn with_evaluations(spec: NetSpec) -> NetSpec {
    let evaluator = dispatch!(spec.shape, G => {
        InputEvaluator::new::<G>(&Positional::new(Goal::Most).into(), "positional")
    });
    let options = TowerOptions { inputs: Inputs::Evaluations, ..spec.options };
    NetSpec { options, evaluator: Some(evaluator), ..spec }
}
