//! Games of self-play for tests.

use super::Facts;
use crate::config::Config;
use crate::game::record::GameRecord;
use crate::game::{Geometry, Shape};
use crate::model::Weights;
use crate::pipeline::selfplay_settings;
use crate::predict::{Backend, Input, PredictError, Predictions};
use crate::search::endgame::Solver;
use crate::train::game::{GameStatus, SelfPlayGame, SelfPlaySettings};

/// A backend whose predictions are a fixed function of the position.
pub struct Table {
    /// Another number gives another function.
    pub salt: u64,
    pub squares: usize,
}

impl Table {
    pub fn new<G: Geometry>(salt: u64) -> Table {
        Table { salt, squares: G::SQUARES }
    }
}

/// A number from -1 to 1 that follows from the words.
fn hashed(words: impl IntoIterator<Item = u64>) -> f32 {
    let mixed = words.into_iter().fold(0x9E37_79B9_7F4A_7C15u64, |state, word| {
        let mixed = (state ^ word).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        mixed ^ (mixed >> 32)
    });
    (mixed % 2001) as f32 / 1000.0 - 1.0
}

impl Backend for Table {
    fn predict(
        &mut self,
        inputs: &[Input],
        predictions: &mut Predictions,
    ) -> Result<(), PredictError> {
        predictions.resize(inputs.len(), self.squares);
        for (index, input) in inputs.iter().enumerate() {
            let halves = |bits: u128| [bits as u64, (bits >> 64) as u64];
            let [a, b] = halves(input.mine);
            let [c, d] = halves(input.theirs);
            let number = |which: u64| hashed([self.salt, a, b, c, d, which]);
            for square in 0..self.squares {
                predictions.policy[index * self.squares + square] = 2.0 * number(square as u64);
            }
            predictions.value[index] = 0.9 * number(1000);
            predictions.score[index] = 20.0 * number(1001);
        }
        Ok(())
    }

    fn load(&mut self, _: &Weights) -> Result<(), PredictError> {
        Ok(())
    }

    fn describe(&self) -> String {
        "table".to_owned()
    }

    fn is_batch_invariant(&self) -> bool {
        true
    }
}

/// The settings of self-play of this configuration on a board.
pub fn settings(board: Shape, text: &str) -> SelfPlaySettings {
    let text = format!("board = \"{board}\"\n{text}");
    selfplay_settings(&Config::parse("test", &text, &[]).expect("a configuration"))
}

/// Plays games with these numbers one after the other.
pub fn play<G: Geometry>(
    settings: &SelfPlaySettings,
    backend: &mut dyn Backend,
    numbers: impl IntoIterator<Item = u64>,
) -> Vec<GameRecord> {
    let mut solver = Solver::<G>::new(settings.goal, 1 << 16);
    let mut predictions = Predictions::default();
    let mut play = |number| {
        let simulations = settings.simulations(0);
        let mut game = SelfPlayGame::<G>::new(settings, number, 0, simulations);
        while let GameStatus::NeedsPrediction { board, legal } = game.advance(settings, &mut solver)
        {
            backend.predict(&[Input::new(board, legal)], &mut predictions).expect("predictions");
            game.apply(predictions.get(0, G::SQUARES));
        }
        game.record().clone()
    };
    numbers.into_iter().map(&mut play).collect()
}

/// Facts of a run whose worker may use all numbers below 10,000, and that has net 0 only.
pub fn facts(board: Shape, settings: &SelfPlaySettings) -> Facts<'_> {
    Facts {
        board,
        settings,
        is_leased: &|number| number < 10_000,
        has_net: &|version| version == 0,
    }
}
