//! The losses of a learner.

/// Mean losses over some steps.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Losses {
    /// The weighted sum of the parts, which training minimises.
    pub total: f64,
    /// The parts by name, each before it is multiplied by its weight. A learner always has the same
    /// names in the same order.
    pub parts: Vec<(&'static str, f64)>,
}

impl Losses {
    /// The part of this name; 0 if there is none.
    pub fn part(&self, name: &str) -> f64 {
        self.parts.iter().find(|part| part.0 == name).map_or(0.0, |part| part.1)
    }

    /// The mean over both: these losses over `steps` steps, and `later` over `later_steps` steps.
    pub fn joined(&self, steps: u64, later: &Losses, later_steps: u64) -> Losses {
        let share = later_steps as f64 / (steps + later_steps).max(1) as f64;
        let mean = |a: f64, b: f64| a + share * (b - a);
        let parts = later.parts.iter().map(|&(name, loss)| (name, mean(self.part(name), loss)));
        Losses { total: mean(self.total, later.total), parts: parts.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_losses_are_over_all_steps() {
        let of = |x: f64| Losses { total: x, parts: vec![("value", 2.0 * x), ("score", 1.0)] };
        let mut mean = (of(3.0), 10);
        for (later, steps) in [(6.0, 20), (0.0, 30)] {
            mean = (mean.0.joined(mean.1, &of(later), steps), mean.1 + steps);
        }
        let wanted = of((3.0 * 10.0 + 6.0 * 20.0) / 60.0);
        let close = |found: f64, wanted: f64| (found - wanted).abs() < 1e-12;
        assert!(close(mean.0.total, wanted.total), "{mean:?}");
        assert!(close(mean.0.part("value"), wanted.part("value")), "{mean:?}");
        assert_eq!((mean.0.part("score"), mean.0.part("owner"), mean.1), (1.0, 0.0, 60));
    }
}
