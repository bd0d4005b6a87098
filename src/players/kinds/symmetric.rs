//! A net whose prediction for a position is the mean of its predictions for several images of it.
//!
//! A position and its mirror images have the same value, but a net has learnt this only roughly.
//! The images are made from one canonical image. So positions that differ by a symmetry only get
//! the same prediction. With all eight images this always holds; with fewer it does not hold for
//! positions that are symmetric themselves.

use std::marker::PhantomData;

use crate::game::{Bitboard, Board, Geometry, SquareSet, Symmetry};
use crate::model::weights::Weights;
use crate::predict::Input;
use crate::predict::{Backend, PredictError, Predictions};

/// A net that is applied to several images of each position.
pub struct SymmetricNet<G: Geometry> {
    net: Box<dyn Backend>,
    symmetries: &'static [Symmetry],
    images: Vec<Input>,
    image_predictions: Predictions,
    geometry: PhantomData<G>,
}

impl<G: Geometry> SymmetricNet<G> {
    /// The net, applied to `count` images of each position, 1 to 8.
    pub fn new(net: Box<dyn Backend>, count: usize) -> SymmetricNet<G> {
        let symmetries = &Symmetry::ALL[..count.clamp(1, Symmetry::ALL.len())];
        let (images, image_predictions) = (Vec::new(), Predictions::default());
        SymmetricNet { net, symmetries, images, image_predictions, geometry: PhantomData }
    }
}

/// The symmetry that maps a position to its canonical image, the least of all images.
fn to_canonical<G: Geometry>(input: &Input) -> Symmetry {
    let board = Board::<G> {
        mine: G::Bitboard::narrow(input.mine),
        theirs: G::Bitboard::narrow(input.theirs),
    };
    let image = |symmetry: &Symmetry| symmetry.board(board);
    Symmetry::ALL.into_iter().min_by_key(image).unwrap_or(Symmetry::IDENTITY)
}

fn image_of<G: Geometry>(input: &Input, symmetry: Symmetry) -> Input {
    let turn = |set| symmetry.set(SquareSet::<G>(G::Bitboard::narrow(set))).0.widen();
    Input { mine: turn(input.mine), theirs: turn(input.theirs), legal: turn(input.legal) }
}

impl<G: Geometry> Backend for SymmetricNet<G> {
    fn predict(
        &mut self,
        inputs: &[Input],
        predictions: &mut Predictions,
    ) -> Result<(), PredictError> {
        let first: Vec<Symmetry> = inputs.iter().map(to_canonical::<G>).collect();
        self.images.clear();
        for (input, &first) in inputs.iter().zip(&first) {
            let canonical = image_of::<G>(input, first);
            let images = self.symmetries.iter().map(|&then| image_of::<G>(&canonical, then));
            self.images.extend(images);
        }
        self.net.predict(&self.images, &mut self.image_predictions)?;
        let count = self.symmetries.len();
        let mean = |all: &[f32]| -> Vec<f32> {
            all.chunks(count).map(|some| some.iter().sum::<f32>() / count as f32).collect()
        };
        predictions.value = mean(&self.image_predictions.value);
        predictions.score = mean(&self.image_predictions.score);
        predictions.policy.clear();
        for (index, &first) in first.iter().enumerate() {
            // The mean of the logits is the geometric mean of the policies, up to a factor.
            let rows =
                &self.image_predictions.policy[index * count * G::SQUARES..][..count * G::SQUARES];
            predictions.policy.extend(SquareSet::<G>(G::PLAYABLE).map(|square| {
                let canonical = first.square::<G>(square);
                let images = self.symmetries.iter().zip(rows.chunks(G::SQUARES));
                let logit =
                    |(then, row): (&Symmetry, &[f32])| row[then.square::<G>(canonical).index()];
                images.map(logit).sum::<f32>() / count as f32
            }));
        }
        Ok(())
    }

    fn load(&mut self, weights: &Weights) -> Result<(), PredictError> {
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

    /// A net that counts the positions that it is given.
    struct CountingNet(Box<dyn Backend>, Arc<AtomicUsize>);

    impl Backend for CountingNet {
        fn predict(
            &mut self,
            inputs: &[Input],
            predictions: &mut Predictions,
        ) -> Result<(), PredictError> {
            self.1.fetch_add(inputs.len(), Ordering::Relaxed);
            self.0.predict(inputs, predictions)
        }

        fn load(&mut self, weights: &Weights) -> Result<(), PredictError> {
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
        let input_count = Arc::new(AtomicUsize::new(0));
        (Box::new(CountingNet(net, input_count.clone())), input_count)
    }

    /// Positions of a game in which the first legal move is always played.
    fn boards<G: Geometry>() -> Vec<Board<G>> {
        let mut position = Position::<G>::start();
        let mut boards = Vec::new();
        while let Some(square) = position.board.legal().next() {
            boards.push(position.board);
            position = position.play(square).expect("legal").pass_if_forced();
        }
        boards
    }

    fn close(found: f32, wanted: f32) -> bool {
        (found - wanted).abs() < 1e-4 * (1.0 + wanted.abs())
    }

    fn images_have_the_same_prediction<G: Geometry>(count: usize) {
        let (net, input_count) = net(G::SHAPE);
        let mut net = SymmetricNet::<G>::new(net, count);
        let mut predictions = Predictions::default();
        for board in boards::<G>().into_iter().step_by(5) {
            let is_image_of_itself =
                Symmetry::ALL[1..].iter().any(|symmetry| symmetry.board(board) == board);
            if is_image_of_itself && count < 8 {
                continue;
            }
            let images = Symmetry::ALL.map(|symmetry| symmetry.board(board));
            let inputs = images.map(|image| Input::new(image, image.legal()));
            input_count.store(0, Ordering::Relaxed);
            net.predict(&inputs, &mut predictions).expect("it computes");
            assert_eq!(input_count.load(Ordering::Relaxed), 8 * count);
            for (index, symmetry) in Symmetry::ALL.into_iter().enumerate() {
                assert!(close(predictions.value[index], predictions.value[0]));
                assert!(close(predictions.score[index], predictions.score[0]));
                for square in SquareSet::<G>(G::PLAYABLE) {
                    let there = symmetry.square::<G>(square).index();
                    let (found, wanted) = (
                        predictions.policy[index * G::SQUARES + there],
                        predictions.policy[square.index()],
                    );
                    assert!(close(found, wanted), "{found} {wanted}");
                }
            }
        }
    }

    #[test]
    fn images_of_a_position_have_the_same_prediction() {
        for shape in Shape::ALL {
            dispatch!(shape, G => images_have_the_same_prediction::<G>(8));
        }
        images_have_the_same_prediction::<crate::game::Square8>(2);
        images_have_the_same_prediction::<crate::game::Square8>(4);
    }

    #[test]
    fn the_prediction_is_the_mean_over_the_images() {
        type G = crate::game::Square8;
        let (mut alone, _) = net(G::SHAPE);
        let (net, _) = net(G::SHAPE);
        let mut mean = SymmetricNet::<G>::new(net, 8);
        let board = boards::<G>()[7];
        let (mut found, mut each) = (Predictions::default(), Predictions::default());
        mean.predict(&[Input::new(board, board.legal())], &mut found).expect("it computes");
        let images = Symmetry::ALL.map(|symmetry| symmetry.board(board));
        let inputs = images.map(|image| Input::new(image, image.legal()));
        alone.predict(&inputs, &mut each).expect("it computes");
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
