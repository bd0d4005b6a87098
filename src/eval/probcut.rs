//! The parameters of Multi-ProbCut: they predict the score of a deep search from a shallow one.
//!
//! Buro (1997) models the deep score of a position as a linear function of its shallow score plus
//! a normally distributed error. The coefficients and the error depend on the evaluator, so each
//! evaluator has its own.

use std::borrow::Cow;

/// The linear regression of deep scores on shallow ones: `deep = slope * shallow + offset`, with
/// standard deviation `sigma`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Regression {
    /// The stage of the game: the number of empty squares divided by
    /// [`ProbCut::empties_per_stage`], rounded down.
    pub stage: u32,
    /// Plies of the shallow search; 0 is the evaluation without search.
    pub shallow: u32,
    /// Plies of the deep search.
    pub deep: u32,
    /// The factor of the shallow score.
    pub slope: f32,
    /// The constant term, in units of the evaluation.
    pub offset: f32,
    /// The standard deviation of the deep score from its prediction, in units of the evaluation.
    pub sigma: f32,
}

impl Regression {
    /// The numbers of a regression, in the order of its fields.
    pub const NUMBERS: usize = 6;

    /// The numbers of this regression.
    pub fn numbers(&self) -> [f32; Regression::NUMBERS] {
        let &Regression { stage, shallow, deep, slope, offset, sigma } = self;
        [stage as f32, shallow as f32, deep as f32, slope, offset, sigma]
    }

    /// The regression with these numbers; `None` if they are not allowed. Depths and stages are
    /// whole numbers below 256, and the deep search is deeper.
    pub fn from_numbers(numbers: &[f32]) -> Option<Regression> {
        let &[stage, shallow, deep, slope, offset, sigma] = numbers else { return None };
        let is_whole = |number: f32| number.fract() == 0.0 && (0.0..256.0).contains(&number);
        let is_allowed = [stage, shallow, deep].into_iter().all(is_whole)
            && shallow < deep
            && [slope, sigma].into_iter().all(|number| number > 0.0 && number.is_finite())
            && offset.is_finite();
        let [stage, shallow, deep] = [stage, shallow, deep].map(|number| number as u32);
        is_allowed.then_some(Regression { stage, shallow, deep, slope, offset, sigma })
    }
}

/// The number of standard deviations within which a normally distributed error lies with this
/// probability in percent.
///
/// ```
/// use outflank::eval::probcut::deviations;
///
/// assert!((deviations(95.45) - 2.0).abs() < 0.001);
/// ```
pub fn deviations(percent: f64) -> f32 {
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        let within = 100.0 * libm::erf(middle / std::f64::consts::SQRT_2);
        if within < percent { low = middle } else { high = middle }
    }
    low as f32
}

/// All regressions of one evaluator.
#[derive(Clone, PartialEq, Debug)]
pub struct ProbCut {
    /// How many numbers of empty squares share one stage.
    pub empties_per_stage: u32,
    /// The regressions, in any order. Those of a stage and a deep depth are used only if one of
    /// them has `shallow` 0.
    pub regressions: Cow<'static, [Regression]>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_are_those_of_the_normal_distribution() {
        for (percent, wanted) in [(68.27, 1.0), (95.45, 2.0), (99.73, 3.0), (50.0, 0.6745)] {
            assert!((deviations(percent) - wanted).abs() < 1e-3, "{percent}");
        }
    }
}
