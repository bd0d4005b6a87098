//! The utility that the search maximises: a weighted mean of value and final disc difference.

/// The utility as a function of value and score.
///
/// It is `(1 - score_weight) * value + score_weight * score / squares`, from -1 to 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct UtilityFunction {
    value_weight: f32,
    disc_weight: f32,
    squares: f32,
}

/// The result of a simulation, for one side. It begins as that of the side to move at the leaf.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct LeafValue {
    pub utility: f32,
    /// Win 1, draw 0, loss -1, or the expectation of it.
    pub value: f32,
}

impl LeafValue {
    /// The same result for the other side.
    #[inline(always)]
    pub fn reversed(self) -> LeafValue {
        LeafValue { utility: -self.utility, value: -self.value }
    }
}

impl UtilityFunction {
    pub fn new(score_weight: f32, squares: usize) -> UtilityFunction {
        let squares = squares as f32;
        UtilityFunction {
            value_weight: 1.0 - score_weight,
            disc_weight: score_weight / squares,
            squares,
        }
    }

    /// The result at a leaf with a predicted value and score. They are clamped to their ranges. NaN
    /// counts as 0, so that it cannot spread through the tree.
    #[inline]
    pub fn estimated(self, value: f32, score: f32) -> LeafValue {
        let number = |x: f32, most: f32| if x.is_nan() { 0.0 } else { x.clamp(-most, most) };
        let (value, score) = (number(value, 1.0), number(score, self.squares));
        LeafValue { utility: self.value_weight * value + self.disc_weight * score, value }
    }

    /// The utility of an exact final score. It increases strictly with the score, unless the score
    /// has no weight.
    #[inline(always)]
    pub fn exact(self, score: i8) -> f32 {
        self.value_weight * score.signum() as f32 + self.disc_weight * score as f32
    }

    /// The disc difference of a utility; `None` unless the utility is the disc difference alone.
    pub fn score_of(self, utility: f32) -> Option<f32> {
        (self.value_weight == 0.0).then(|| utility / self.disc_weight)
    }

    /// The value, -1 to 1, of a utility whose expected disc difference is `score`; `None` if the
    /// utility is the disc difference alone.
    pub fn value_of(self, utility: f32, score: f32) -> Option<f32> {
        let value = (utility - self.disc_weight * score) / self.value_weight;
        (self.value_weight > 0.0).then(|| value.clamp(-1.0, 1.0))
    }

    /// The result at a leaf with an exact final score.
    pub fn proven(self, score: i8) -> LeafValue {
        LeafValue { utility: self.exact(score), value: score.signum() as f32 }
    }

    /// The result clamped to what bounds on the exact final score allow.
    #[inline(never)]
    pub fn within(self, leaf_value: LeafValue, lower: i8, upper: i8) -> LeafValue {
        let (least, most) = (self.proven(lower), self.proven(upper));
        LeafValue {
            utility: leaf_value.utility.clamp(least.utility, most.utility),
            value: leaf_value.value.clamp(least.value, most.value),
        }
    }
}
