//! The n-tuple perceptron in training.

use rand::RngExt;

use super::{Student, UNIT, target};
use crate::eval::ModelError;
use crate::eval::ntuple::{MAX_WEIGHT, Options, Tuples};
use crate::game::{Board, Geometry, Goal};
use crate::model::{Description, Weights, WeightsError};
use crate::store::labels::Label;
use crate::train::seeds::Random;

/// The size of the first weights. They only make the play of the first round less uniform.
const INITIAL: f32 = 0.01;

/// A perceptron that learns. Its numbers are the weights of the tuples, then those of the counts.
pub struct Perceptron {
    options: Options,
    tuples: Tuples,
}

impl Perceptron {
    /// The perceptron of a board.
    ///
    /// # Errors
    ///
    /// The tuples do not fit the board.
    pub fn new<G: Geometry>(stable: bool) -> Result<Perceptron, ModelError> {
        let options = Options::of_board::<G>(stable);
        let tuples = Tuples::read::<G>(&options)?;
        Ok(Perceptron { options, tuples })
    }

    /// The shapes of the arrays `weights` and `counts`.
    fn shapes<G: Geometry>(&self) -> [Vec<usize>; 2] {
        [vec![self.tuples.patterns().weights()], vec![self.tuples.counts(), G::SQUARES + 1]]
    }
}

impl<G: Geometry> Student<G> for Perceptron {
    fn description(&self, goal: Goal) -> Description {
        self.options.description::<G>(goal)
    }

    fn initial(&self, random: &mut Random) -> Vec<f32> {
        let count: usize = self.shapes::<G>().iter().map(|it| it.iter().product::<usize>()).sum();
        (0..count).map(|_| random.random_range(-INITIAL..INITIAL)).collect()
    }

    fn arrays(&self, numbers: &[f32]) -> Weights {
        let [weights, counts] = self.shapes::<G>();
        let discs: Vec<f32> = numbers.iter().map(|number| UNIT * number).collect();
        let (of_tuples, of_counts) = discs.split_at(weights[0]);
        let mut model = Weights::default();
        model.insert("weights", weights, of_tuples.to_vec());
        model.insert("counts", counts, of_counts.to_vec());
        model
    }

    fn numbers(&self, model: &Weights) -> Result<Vec<f32>, WeightsError> {
        let [weights, counts] = self.shapes::<G>();
        let discs = [model.get("weights", &weights)?, model.get("counts", &counts)?].concat();
        Ok(discs.into_iter().map(|weight| weight / UNIT).collect())
    }

    fn spread(&self, numbers: &[f32]) -> Vec<f32> {
        numbers.to_vec()
    }

    fn gather(&self, spread: &[f32]) -> Vec<f32> {
        spread.to_vec()
    }

    fn value(&self, spread: &[f32], board: Board<G>) -> f32 {
        self.tuples.places(board).map(|place| spread[place as usize]).sum()
    }

    fn learn(&self, spread: &[f32], label: &Label<G>, sums: &mut [f32]) -> f32 {
        let error = Student::<G>::value(self, spread, label.board) - target(label);
        self.tuples.places(label.board).for_each(|place| sums[place as usize] += error);
        error
    }

    fn limit(&self, numbers: &mut [f32]) {
        let most = MAX_WEIGHT / UNIT;
        numbers.iter_mut().for_each(|number| *number = number.clamp(-most, most));
    }
}
