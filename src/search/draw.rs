//! Drawing a move by weights.

use rand::{Rng, RngExt as _};

/// The place of one of the weights, drawn in proportion to them; `None` if none is above 0.
///
/// Weights are finite and not below 0. One number is taken from `random`, whatever they are.
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
    fn draws_come_in_proportion_to_the_weights() {
        const DRAWS: usize = 10_000;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let weights = [0.0, 3.0, 0.0, 1.0];
        let mut counts = [0; 4];
        for _ in 0..DRAWS {
            counts[draw(weights.into_iter(), &mut random).expect("something weighs")] += 1;
        }
        assert_eq!([counts[0], counts[2]], [0, 0]);
        // Three standard deviations of a binomial with p = 1/4.
        let deviation = counts[3] as f64 - DRAWS as f64 / 4.0;
        assert!(deviation.abs() < 3.0 * (DRAWS as f64 * 3.0 / 16.0).sqrt(), "{counts:?}");
    }

    #[test]
    fn nothing_is_drawn_where_nothing_weighs() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        assert_eq!(draw([0.0; 3].into_iter(), &mut random), None);
        assert_eq!(draw([].into_iter(), &mut random), None);
    }
}
