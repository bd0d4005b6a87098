use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

/// Boards whose scores differ by normal errors of known deviation: each ply adds one of 1 disc, and
/// the end of the game adds one of 2.
fn known(count: u32) -> Vec<Searched> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let normal = Normal::new(0.0f32, 1.0).expect("a distribution");
    let board = |_| {
        let empties = random.random_range(10..40);
        let mut scores = vec![0.0];
        for ply in 0..8 {
            let noise: f32 = normal.sample(&mut random);
            scores.push(scores[ply] + noise);
        }
        let exact = scores[8] + 2.0 * normal.sample(&mut random);
        Searched { empties, scores, exact: (empties < 16).then_some(exact) }
    };
    (0..count).map(board).collect()
}

#[test]
fn known_deviations_are_found_again() {
    let found = fit(&known(8000), 60);
    let at = |stage, shallow, deep| {
        let is_wanted =
            |it: &&Regression| (it.stage, it.shallow, it.deep) == (stage, shallow, deep);
        *found.regressions.iter().find(is_wanted).expect("a regression")
    };
    for (shallow, deep) in [(0, 4), (2, 6), (4, 8), (0, 7)] {
        let sigma = at(30, shallow, deep).sigma / SCALE as f32;
        let wanted = ((deep - shallow) as f32).sqrt();
        assert!((sigma / wanted - 1.0).abs() < 0.15, "{shallow} {deep}: {sigma} for {wanted}");
    }
    // The exact scores are 8 - s errors of 1 disc and one of 2 away from depth s.
    let sigma = at(12, 6, 12).sigma / SCALE as f32;
    assert!((2.0..3.0).contains(&sigma), "{sigma}");
    assert!(
        found.regressions.iter().all(|it| Regression::from_numbers(&it.numbers()) == Some(*it))
    );
}

#[test]
fn checks_are_shallower_and_have_the_parity_of_the_deep_search() {
    for deep in LEAST_DEEP..=DEEPEST {
        let depths: Vec<u32> = checks(deep).collect();
        assert_eq!(depths[0], 0, "{deep}");
        assert!(depths.is_sorted_by(|a, b| a < b), "{deep}: {depths:?}");
        assert!(depths[1..].iter().all(|depth| depth % 2 == deep % 2 && depth + 1 < deep));
    }
}
