use std::path::Path;
use std::sync::atomic::AtomicBool;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::eval::patterns::Patterns;
use crate::eval::testing::random_game;
use crate::eval::{Evaluator as _, SCALE};
use crate::game::{Goal, Square6};

/// The numbers after so many steps from 0.
fn fitted(fitter: &Fitter<'_>, steps: u32) -> Vec<f32> {
    let (stop, silent) = (AtomicBool::new(false), |_: f64| ());
    let context = UnitContext::new(Path::new("unused"), &stop, &silent);
    fitter.fit(vec![0.0; fitter.shape.count()], steps, &context).expect("not stopped")
}

fn set() -> PatternSet {
    let texts = ["a1 b1 c1", "b2 c2 d2 e2", "a1 b1 a2 b2"].map(String::from);
    PatternSet::read::<Square6>(&texts).expect("patterns")
}

/// Boards of random games with their values by a random model, and that model.
fn known(shape: &Shape, set: &PatternSet, games: u64) -> (Samples, Vec<f32>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let numbers: Vec<f32> = (0..shape.count()).map(|_| random.random_range(-0.5..0.5)).collect();
    let mut samples = Samples::new(set);
    for board in (0..games).flat_map(random_game::<Square6>).filter(|board| !board.is_over()) {
        samples.push(set, board, 0.0);
        let index = samples.len() - 1;
        let places = &samples.places[index * samples.width..];
        let stage = StageOf::new(shape, board.discs() as f32);
        samples.targets[index].1 = stage.value(&numbers, places);
    }
    (samples, numbers)
}

#[test]
fn the_values_of_a_model_are_found_again() {
    let set = set();
    let shape = Shape::new(&set, vec![8.0, 20.0, 33.0]);
    let (samples, _) = known(&shape, &set, 200);
    let fitter = Fitter { shape: &shape, samples: &samples, ridge: 1e-4 };
    let before = fitter.error(&vec![0.0; shape.count()]);
    let found = fitted(&fitter, 200);
    assert!(fitter.error(&found) < 1e-3 * before, "{} of {before}", fitter.error(&found));
}

#[test]
fn the_fit_is_the_solution_of_the_normal_equations() {
    let set = set();
    let shape = Shape::new(&set, vec![20.0]);
    let (mut samples, _) = known(&shape, &set, 40);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
    samples.targets.iter_mut().for_each(|target| target.1 += random.random_range(-3.0..3.0));
    let ridge = 2.0;
    let found = fitted(&Fitter { shape: &shape, samples: &samples, ridge }, 400);
    // The gradient of the squared errors and the penalty, by its definition.
    let mut gradient: Vec<f64> = found.iter().map(|&number| f64::from(ridge * number)).collect();
    let mut size = 0.0;
    for (places, target) in samples.places.chunks(samples.width).zip(&samples.targets) {
        let value: f64 = places.iter().map(|&place| f64::from(found[place as usize])).sum();
        let error = value - f64::from(target.1);
        size += error.abs();
        places.iter().for_each(|&place| gradient[place as usize] += error);
    }
    let most = gradient.iter().fold(0.0f64, |most, part| most.max(part.abs()));
    assert!(most < 1e-5 * size, "gradient {most}, errors {size}");
}

#[test]
fn the_evaluator_of_the_arrays_has_the_fitted_values() {
    let set = set();
    let shape = Shape::new(&set, vec![8.0, 20.0]);
    let (samples, numbers) = known(&shape, &set, 3);
    let model = shape.arrays(&numbers, 6.0);
    let evaluator = Patterns::<Square6>::new(Goal::Most, set.clone(), &model).expect("a model");
    let boards = (0..3).flat_map(random_game::<Square6>).filter(|board| !board.is_over());
    let allowed = (set.images().len() + 3) as f32 * 0.51 / SCALE as f32;
    for (board, target) in boards.zip(&samples.targets) {
        assert!((evaluator.score(board) - target.1).abs() <= allowed, "{board:?}");
    }
}

#[test]
fn the_fit_does_not_depend_on_the_threads() {
    let set = set();
    let shape = Shape::new(&set, vec![8.0, 20.0, 33.0]);
    let (samples, _) = known(&shape, &set, 30);
    let fitter = Fitter { shape: &shape, samples: &samples, ridge: 1.0 };
    let [one, two] = [1, 2].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| fitted(&fitter, 20))
    });
    assert_eq!(one, two);
}
