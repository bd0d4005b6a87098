//! A net whose opinion of a position is the mean of what it says of several images of it.
//!
//! What is true of a position is true of its mirror images, but a net has only learnt that more
//! or less. The images are those of one canonical image, so that positions which differ by a
//! symmetry alone are answered alike: with all eight always, with fewer unless the position is
//! symmetric itself.

use std::marker::PhantomData;

use crate::game::{Board, Geometry, SquareSet, Symmetry, Word};
use crate::net::Input;
use crate::net::inference::{Backend, InferenceError, Outputs};
use crate::net::weights::Weights;

/// Asks a net about several images of each position.
pub struct Symmetric<G: Geometry> {
    net: Box<dyn Backend>,
    symmetries: &'static [Symmetry],
    images: Vec<Input>,
    answers: Outputs,
    geometry: PhantomData<G>,
}

impl<G: Geometry> Symmetric<G> {
    /// The net, asked about `count` images of each position, 1 to 8.
    pub fn new(net: Box<dyn Backend>, count: usize) -> Symmetric<G> {
        let symmetries = &Symmetry::ALL[..count.clamp(1, Symmetry::ALL.len())];
        let (images, answers) = (Vec::new(), Outputs::default());
        Symmetric { net, symmetries, images, answers, geometry: PhantomData }
    }
}

/// The symmetry that leads to the least image of a position.
fn to_canonical<G: Geometry>(input: &Input) -> Symmetry {
    let board =
        Board::<G> { mine: G::Word::narrow(input.mine), theirs: G::Word::narrow(input.theirs) };
    let image = |symmetry: &Symmetry| symmetry.board(board);
    Symmetry::ALL.into_iter().min_by_key(image).unwrap_or(Symmetry::IDENTITY)
}

fn turned<G: Geometry>(input: &Input, symmetry: Symmetry) -> Input {
    let turn = |set| symmetry.set(SquareSet::<G>(G::Word::narrow(set))).0.widen();
    Input { mine: turn(input.mine), theirs: turn(input.theirs), legal: turn(input.legal) }
}

impl<G: Geometry> Backend for Symmetric<G> {
    fn evaluate(&mut self, inputs: &[Input], outputs: &mut Outputs) -> Result<(), InferenceError> {
        let first: Vec<Symmetry> = inputs.iter().map(to_canonical::<G>).collect();
        self.images.clear();
        for (input, &first) in inputs.iter().zip(&first) {
            let canonical = turned::<G>(input, first);
            let images = self.symmetries.iter().map(|&then| turned::<G>(&canonical, then));
            self.images.extend(images);
        }
        self.net.evaluate(&self.images, &mut self.answers)?;
        let count = self.symmetries.len();
        let mean = |all: &[f32]| -> Vec<f32> {
            all.chunks(count).map(|some| some.iter().sum::<f32>() / count as f32).collect()
        };
        outputs.value = mean(&self.answers.value);
        outputs.score = mean(&self.answers.score);
        outputs.policy.clear();
        for (index, &first) in first.iter().enumerate() {
            // The mean of logits: the geometric mean of the policies, up to a factor.
            let rows = &self.answers.policy[index * count * G::SQUARES..][..count * G::SQUARES];
            outputs.policy.extend(SquareSet::<G>(G::PLAYABLE).map(|square| {
                let canonical = first.square::<G>(square);
                let images = self.symmetries.iter().zip(rows.chunks(G::SQUARES));
                let logit =
                    |(then, row): (&Symmetry, &[f32])| row[then.square::<G>(canonical).index()];
                images.map(logit).sum::<f32>() / count as f32
            }));
        }
        Ok(())
    }

    fn load(&mut self, weights: &Weights) -> Result<(), InferenceError> {
        self.net.load(weights)
    }

    fn describe(&self) -> String {
        format!("{}, mean of {} symmetries", self.net.describe(), self.symmetries.len())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::game::{Position, Shape};
    use crate::net::fixtures::{resnet, trained};
    use crate::net::inference;

    /// Counts what a net is asked.
    struct Counting(Box<dyn Backend>, Arc<AtomicUsize>);

    impl Backend for Counting {
        fn evaluate(
            &mut self,
            inputs: &[Input],
            outputs: &mut Outputs,
        ) -> Result<(), InferenceError> {
            self.1.fetch_add(inputs.len(), Ordering::Relaxed);
            self.0.evaluate(inputs, outputs)
        }

        fn load(&mut self, weights: &Weights) -> Result<(), InferenceError> {
            self.0.load(weights)
        }

        fn describe(&self) -> String {
            self.0.describe()
        }
    }

    fn net(shape: Shape) -> (Box<dyn Backend>, Arc<AtomicUsize>) {
        let spec = resnet(shape, 1, 8);
        let options = inference::Options::default();
        let net = inference::open(&spec, &trained(&spec, 3), &options, "cpu").expect("a net");
        let asked = Arc::new(AtomicUsize::new(0));
        (Box::new(Counting(net, asked.clone())), asked)
    }

    /// Positions of a game in which the first legal move is always played.
    fn boards<G: Geometry>() -> Vec<Board<G>> {
        let mut position = Position::<G>::start();
        let mut boards = Vec::new();
        while let Some(square) = position.board.legal().next() {
            boards.push(position.board);
            position = position.play(square).expect("legal").settled();
        }
        boards
    }

    fn close(found: f32, wanted: f32) -> bool {
        (found - wanted).abs() < 1e-4 * (1.0 + wanted.abs())
    }

    fn images_are_answered_alike<G: Geometry>(count: usize) {
        let (net, asked) = net(G::SHAPE);
        let mut net = Symmetric::<G>::new(net, count);
        let mut outputs = Outputs::default();
        for board in boards::<G>().into_iter().step_by(5) {
            let is_image_of_itself =
                Symmetry::ALL[1..].iter().any(|symmetry| symmetry.board(board) == board);
            if is_image_of_itself && count < 8 {
                continue;
            }
            let images = Symmetry::ALL.map(|symmetry| symmetry.board(board));
            let inputs = images.map(|image| Input::new(image, image.legal()));
            asked.store(0, Ordering::Relaxed);
            net.evaluate(&inputs, &mut outputs).expect("it answers");
            assert_eq!(asked.load(Ordering::Relaxed), 8 * count);
            for (index, symmetry) in Symmetry::ALL.into_iter().enumerate() {
                assert!(close(outputs.value[index], outputs.value[0]));
                assert!(close(outputs.score[index], outputs.score[0]));
                for square in SquareSet::<G>(G::PLAYABLE) {
                    let there = symmetry.square::<G>(square).index();
                    let (found, wanted) = (
                        outputs.policy[index * G::SQUARES + there],
                        outputs.policy[square.index()],
                    );
                    assert!(close(found, wanted), "{found} {wanted}");
                }
            }
        }
    }

    #[test]
    fn images_of_a_position_are_answered_alike() {
        for shape in Shape::ALL {
            dispatch!(shape, G => images_are_answered_alike::<G>(8));
        }
        images_are_answered_alike::<crate::game::Square8>(2);
        images_are_answered_alike::<crate::game::Square8>(4);
    }

    #[test]
    fn the_answer_is_the_mean_over_the_images() {
        type G = crate::game::Square8;
        let (mut alone, _) = net(G::SHAPE);
        let (net, _) = net(G::SHAPE);
        let mut mean = Symmetric::<G>::new(net, 8);
        let board = boards::<G>()[7];
        let (mut found, mut each) = (Outputs::default(), Outputs::default());
        mean.evaluate(&[Input::new(board, board.legal())], &mut found).expect("it answers");
        let images = Symmetry::ALL.map(|symmetry| symmetry.board(board));
        let inputs = images.map(|image| Input::new(image, image.legal()));
        alone.evaluate(&inputs, &mut each).expect("it answers");
        let average = |numbers: &mut dyn Iterator<Item = f32>| numbers.sum::<f32>() / 8.0;
        assert!(close(found.value[0], average(&mut each.value.iter().copied())));
        assert!(close(found.score[0], average(&mut each.score.iter().copied())));
        assert!(each.value.iter().any(|&value| (value - each.value[0]).abs() > 1e-3));
        for square in SquareSet::<G>(G::PLAYABLE) {
            let at = |(index, symmetry): (usize, Symmetry)| {
                each.policy[index * G::SQUARES + symmetry.square::<G>(square).index()]
            };
            let wanted = average(&mut Symmetry::ALL.into_iter().enumerate().map(at));
            assert!(close(found.policy[square.index()], wanted));
        }
    }
}
