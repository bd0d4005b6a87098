//! What an outcome is worth to the search.

/// Weighs the expected outcome against the final disc difference.
///
/// The utility is `(1 - score_weight) * value + score_weight * score / squares`, from -1 to 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Utility {
    of_value: f32,
    of_disc: f32,
    squares: f32,
}

/// What a leaf says about the outcome, seen by the side to move there.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Worth {
    pub utility: f32,
    /// Win, draw or loss as 1, 0 or -1, or an expectation of it.
    pub value: f32,
}

impl Worth {
    /// The same for the other side.
    #[inline(always)]
    pub fn reversed(self) -> Worth {
        Worth { utility: -self.utility, value: -self.value }
    }
}

impl Utility {
    pub fn new(score_weight: f32, squares: usize) -> Utility {
        let squares = squares as f32;
        Utility { of_value: 1.0 - score_weight, of_disc: score_weight / squares, squares }
    }

    /// The worth of a net's estimate, brought within what an outcome can be. An estimate that is
    /// no number counts as a draw, so that it cannot spread through a tree.
    #[inline]
    pub fn estimated(self, value: f32, score: f32) -> Worth {
        let number = |x: f32, most: f32| if x.is_nan() { 0.0 } else { x.clamp(-most, most) };
        let (value, score) = (number(value, 1.0), number(score, self.squares));
        Worth { utility: self.of_value * value + self.of_disc * score, value }
    }

    /// The utility of an exact final score. It rises strictly with the score as long as the
    /// score has a weight.
    #[inline(always)]
    pub fn exact(self, score: i8) -> f32 {
        self.of_value * score.signum() as f32 + self.of_disc * score as f32
    }

    /// The disc difference that a utility stands for, where nothing but that counts.
    pub fn score_of(self, utility: f32) -> Option<f32> {
        (self.of_value == 0.0).then(|| utility / self.of_disc)
    }

    /// The expected outcome, -1 to 1, behind a utility that such an expected disc difference has a
    /// share in; `None` where nothing but that counts.
    pub fn value_of(self, utility: f32, score: f32) -> Option<f32> {
        let value = (utility - self.of_disc * score) / self.of_value;
        (self.of_value > 0.0).then(|| value.clamp(-1.0, 1.0))
    }

    /// The worth of an exact final score.
    pub fn proven(self, score: i8) -> Worth {
        Worth { utility: self.exact(score), value: score.signum() as f32 }
    }

    /// The nearest to `worth` that bounds on the exact final score allow.
    #[inline(never)]
    pub fn within(self, worth: Worth, lower: i8, upper: i8) -> Worth {
        let (least, most) = (self.proven(lower), self.proven(upper));
        Worth {
            utility: worth.utility.clamp(least.utility, most.utility),
            value: worth.value.clamp(least.value, most.value),
        }
    }
}
