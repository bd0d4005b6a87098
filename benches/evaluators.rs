//! The time of one evaluation, for each evaluator.
//!
//! `cargo bench --bench evaluators -- [SHAPE] [SECONDS]` evaluates positions of random games, each
//! as a search does after a move, and prints the mean time for an evaluation alone. It is given
//! for the fastest of ten slices, since other programs of the machine only make slices slower.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use outflank::dispatch;
use outflank::eval::linear::{Between, Feature, Features, Options};
use outflank::eval::positional::Positional;
use outflank::eval::{AnyEvaluator, Discs, Evaluator, EvaluatorVisitor, TrackedBoard};
use outflank::game::{Board, Geometry, Goal, Shape};
use outflank::model::{Description, Kind, Weights};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const GAMES: usize = 50;
const SLICES: u32 = 10;

/// The boards of random games in which the side to move has a legal move.
fn boards<G: Geometry>() -> Vec<Board<G>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut boards = Vec::new();
    for _ in 0..GAMES {
        let mut board = Board::<G>::start();
        while !board.is_over() {
            let mut legal = board.legal();
            let count = legal.len();
            if count == 0 {
                board = board.pass();
                continue;
            }
            boards.push(board);
            let chosen = legal.nth(random.random_range(0..count));
            board = chosen.map_or(board, |square| board.play_unchecked(square));
        }
    }
    boards
}

/// A linear evaluator with arbitrary weights, which do not change its speed.
fn linear<G: Geometry>(options: &Options) -> AnyEvaluator<G> {
    let count = Features::<G>::new(&options.features).expect("features").count();
    let mut model = Weights::default();
    let weights = (0..2 * count).map(|index| (index % 7) as f32 - 3.0).collect();
    model.insert("weights", vec![2, count], weights);
    model.insert("discs", vec![2], vec![10.0, 30.0]);
    model.insert("win_scale", vec![1], vec![6.0]);
    let options = serde_json::to_value(options).expect("JSON");
    let (kind, shape, goal) = (Kind::Linear, G::SHAPE, Goal::Most);
    let description = Description { kind, shape, options, goal, positions: 0, steps: 0 };
    AnyEvaluator::from_model(&description, &model).expect("arrays that fit")
}

/// The options of the models of `configs/stages-8x8.toml`.
fn stages() -> Options {
    use Feature::{Classes, Flippable, Frontier, Mobility, Parity};
    let features = vec![Parity, Mobility, Frontier, Flippable, Classes];
    Options { features, between: Between::Interpolated }
}

/// The nanoseconds of an evaluation in the fastest slice.
struct Timed<G: Geometry> {
    boards: Vec<Board<G>>,
    slice: Duration,
}

impl<G: Geometry> EvaluatorVisitor<G> for Timed<G> {
    type Output = f64;

    fn visit<E: Evaluator<G>>(self, evaluator: Arc<E>) -> f64 {
        let tracked = self.boards.iter().map(|&board| TrackedBoard::begin(&*evaluator, board));
        let tracked: Vec<_> = tracked.collect();
        let slice = || {
            let (start, mut rounds) = (Instant::now(), 0);
            while start.elapsed() < self.slice {
                for board in black_box(&tracked) {
                    black_box(board.evaluate(&*evaluator));
                }
                rounds += 1;
            }
            start.elapsed().as_secs_f64() * 1e9 / (rounds * tracked.len()) as f64
        };
        (0..SLICES).map(|_| slice()).fold(f64::INFINITY, f64::min)
    }
}

fn measure<G: Geometry>(seconds: f64) {
    let goal = Goal::Most;
    let evaluators: [(&str, AnyEvaluator<G>); 4] = [
        ("positional", Positional::new(goal).into()),
        ("discs", Discs { goal }.into()),
        ("linear", linear(&Options::default())),
        ("stages", linear(&stages())),
    ];
    let slice = Duration::from_secs_f64(seconds / f64::from(SLICES));
    for (name, evaluator) in evaluators {
        let time = evaluator.visit(Timed { boards: boards(), slice });
        println!("{:<9} {name:<10} {time:>6.1} ns/evaluation", G::SHAPE.name());
    }
}

fn main() {
    // `cargo bench` passes `--bench` along.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let seconds = arguments.get(1).map_or(1.0, |text| text.parse().expect("a number of seconds"));
    let shapes = match arguments.first() {
        Some(shape) => vec![shape.parse().expect("a board shape")],
        None => Shape::ALL.to_vec(),
    };
    for shape in shapes {
        dispatch!(shape, G => measure::<G>(seconds));
    }
}
