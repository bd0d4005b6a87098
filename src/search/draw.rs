//! Random choice in proportion to weights.

use rand::{Rng, RngExt as _};

/// Draws an index with probability proportional to its weight; `None` if no weight is above 0.
///
/// Weights must be finite and at least 0. Each call takes exactly one number from `random`.
///
/// ```
/// use outflank::search::draw::draw;
/// use rand::SeedableRng;
///
/// let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
/// assert_eq!(draw([0.0, 2.0, 0.0].into_iter(), &mut random), Some(1));
/// assert_eq!(draw([0.0].into_iter(), &mut random), None);
/// ```
pub fn draw<R: Rng>(
    mut weights: impl Iterator<Item = f32> + Clone,
    random: &mut R,
) -> Option<usize> {
    let total: f32 = weights.clone().sum();
    let mut left = random.random::<f32>() * total;
    weights.position(|weight| {
        left -= weight;
        left < 0.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn draws_are_proportional_to_the_weights() {
        const DRAWS: usize = 10_000;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let weights = [0.0, 3.0, 0.0, 1.0];
        let mut counts = [0; 4];
        for _ in 0..DRAWS {
            counts[draw(weights.into_iter(), &mut random).expect("a positive weight")] += 1;
        }
        assert_eq!([counts[0], counts[2]], [0, 0]);
        // Three standard deviations of a binomial with p = 1/4.
        let deviation = counts[3] as f64 - DRAWS as f64 / 4.0;
        assert!(deviation.abs() < 3.0 * (DRAWS as f64 * 3.0 / 16.0).sqrt(), "{counts:?}");
    }

    #[test]
    fn without_a_positive_weight_nothing_is_drawn() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        assert_eq!(draw([0.0; 3].into_iter(), &mut random), None);
        assert_eq!(draw([].into_iter(), &mut random), None);
    }
}
