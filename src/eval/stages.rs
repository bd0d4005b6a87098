//! Weights by stage of the game: a model has them for some numbers of discs.

use super::model::{array, check_numbers};
use super::{ModelError, SCALE};
use crate::game::Geometry;
use crate::model::Weights;

/// The numbers of discs of the stages, checked.
pub(super) fn discs_of_stages<G: Geometry>(model: &Weights) -> Result<&[f32], ModelError> {
    let squares = G::SQUARES;
    let fits = |shape: &[usize]| matches!(shape, [stages] if (1..=squares).contains(stages));
    let discs = array(model, "discs", fits, &format!("[stages], with 1 to {squares} stages"))?;
    let is_count = |number: f32| number.fract() == 0.0 && (1.0..=squares as f32).contains(&number);
    check_numbers("discs", discs, is_count, &format!("whole numbers from 1 to {squares}"))?;
    match discs.windows(2).position(|pair| pair[0] >= pair[1]) {
        None => Ok(discs),
        Some(index) => Err(ModelError::Number {
            name: "discs",
            index: index + 1,
            found: discs[index + 1],
            allowed: format!("more than {}, the number before it", discs[index]).into(),
        }),
    }
}

/// The weights of the features at a number of discs, in units of the evaluation. `weights` has those
/// of each stage, and `stages` the numbers of discs of the stages. Between two stages they are
/// interpolated, or with `larger` those of the stage with more discs.
pub(super) fn weights_at(
    weights: &[f32],
    (stages, larger): (&[f32], bool),
    discs: f32,
) -> Vec<f32> {
    let above = stages.partition_point(|&stage| stage < discs).min(stages.len() - 1);
    let below = if stages[above] > discs { above.saturating_sub(1) } else { above };
    let share = match stages[above] - stages[below] {
        0.0 => 0.0,
        _ if larger => 1.0,
        span => (discs - stages[below]) / span,
    };
    let count = weights.len() / stages.len();
    let of = |stage: usize| &weights[stage * count..][..count];
    let pairs = of(below).iter().zip(of(above));
    pairs.map(|(low, high)| SCALE as f32 * (low + share * (high - low))).collect()
}
