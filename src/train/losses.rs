//! The losses of the net's heads.

/// Mean losses over some steps, each before it is multiplied by its weight.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Losses {
    /// The weighted sum of the others, which training minimises.
    pub total: f64,
    /// Cross-entropy against the search's policy, in nats.
    pub policy: f64,
    /// Squared error of the value, on the scale -1 to 1.
    pub value: f64,
    /// Squared error of the final disc difference over the number of squares.
    pub score: f64,
    /// Squared error of the squares' final owners, on the scale -1 to 1, mean over the squares.
    pub owner: f64,
}

impl Losses {
    /// The mean over both: these losses over `steps` steps, and `later` over `later_steps` steps.
    pub fn joined(self, steps: u64, later: Losses, later_steps: u64) -> Losses {
        let share = later_steps as f64 / (steps + later_steps).max(1) as f64;
        let mean = |a: f64, b: f64| a + share * (b - a);
        Losses {
            total: mean(self.total, later.total),
            policy: mean(self.policy, later.policy),
            value: mean(self.value, later.value),
            score: mean(self.score, later.score),
            owner: mean(self.owner, later.owner),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_losses_are_over_all_steps() {
        let of = |x: f64| Losses { total: x, policy: 2.0 * x, value: 0.0, score: -x, owner: 1.0 };
        let mut mean = (of(3.0), 10);
        for (later, steps) in [(6.0, 20), (0.0, 30)] {
            mean = (mean.0.joined(mean.1, of(later), steps), mean.1 + steps);
        }
        let wanted = of((3.0 * 10.0 + 6.0 * 20.0) / 60.0);
        for (found, wanted) in [(mean.0.total, wanted.total), (mean.0.policy, wanted.policy)] {
            assert!((found - wanted).abs() < 1e-12, "{found}, {wanted}");
        }
        assert_eq!((mean.0.value, mean.0.owner, mean.1), (0.0, 1.0, 60));
    }
}
