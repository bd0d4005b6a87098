//! Checks of the arrays from which evaluators are read.

use super::WinScale;
use crate::model::Weights;
use crate::model::weights::Array;

/// Why a model cannot be used as an evaluator.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ModelError {
    /// No evaluator is of this kind.
    #[error("no evaluator is a model of kind `{found}`; allowed: {allowed}")]
    UnknownKind {
        /// The kind of the model.
        found: Box<str>,
        /// The kinds that are evaluators.
        allowed: Box<str>,
    },
    /// The options of the description do not fit.
    #[error("the options of the model: {problem}")]
    Options {
        /// What is wrong, and what is allowed.
        problem: Box<str>,
    },
    /// An array is missing.
    #[error("array `{name}` is missing; its shape must be {allowed}")]
    Missing {
        /// The array.
        name: &'static str,
        /// The shapes that it may have.
        allowed: Box<str>,
    },
    /// An array has a shape that does not fit.
    #[error("array `{name}` has shape {found:?}; allowed: {allowed}")]
    Shape {
        /// The array.
        name: &'static str,
        /// Its shape.
        found: Vec<usize>,
        /// The shapes that it may have.
        allowed: Box<str>,
    },
    /// A number of an array is out of range.
    #[error("array `{name}` has {found} at index {index}; allowed: {allowed}")]
    Number {
        /// The array.
        name: &'static str,
        /// The index in row-major order, from 0.
        index: usize,
        /// The number.
        found: f32,
        /// The numbers that it may be.
        allowed: Box<str>,
    },
    /// The evaluator has no array of this name.
    #[error("unknown array `{found}`; allowed: {allowed}")]
    UnknownArray {
        /// The array.
        found: Box<str>,
        /// The evaluator's arrays.
        allowed: Box<str>,
    },
}

/// Checks that the model has no arrays but those named.
pub(super) fn check_names(weights: &Weights, names: &[&str]) -> Result<(), ModelError> {
    match weights.iter().find(|(name, _)| !names.contains(name)) {
        None => Ok(()),
        Some((name, _)) => {
            Err(ModelError::UnknownArray { found: name.into(), allowed: names.join(", ").into() })
        }
    }
}

/// The numbers of an array whose shape passes the test `fits`; `allowed` describes such shapes.
pub(super) fn array<'a>(
    weights: &'a Weights,
    name: &'static str,
    fits: impl Fn(&[usize]) -> bool,
    allowed: &str,
) -> Result<&'a [f32], ModelError> {
    match weights.array(name) {
        None => Err(ModelError::Missing { name, allowed: allowed.into() }),
        Some(Array { shape, .. }) if !fits(shape) => {
            Err(ModelError::Shape { name, found: shape.clone(), allowed: allowed.into() })
        }
        Some(Array { values, .. }) => Ok(values),
    }
}

/// Checks that all numbers of an array pass the test `fits`; `allowed` describes such numbers.
pub(super) fn check_numbers(
    name: &'static str,
    numbers: &[f32],
    fits: impl Fn(f32) -> bool,
    allowed: &str,
) -> Result<(), ModelError> {
    match numbers.iter().position(|&number| !fits(number)) {
        None => Ok(()),
        Some(index) => {
            let found = numbers[index];
            Err(ModelError::Number { name, index, found, allowed: allowed.into() })
        }
    }
}

/// The array `win_scale`, which every model has.
pub(super) fn win_scale(weights: &Weights) -> Result<WinScale, ModelError> {
    let found = array(weights, "win_scale", |found| found == [1], "[1]")?;
    let is_scale = |scale: f32| scale > 0.0 && scale.is_finite();
    check_numbers("win_scale", found, is_scale, "a finite number above 0")?;
    Ok(WinScale(found[0]))
}
