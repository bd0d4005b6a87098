//! A player that uses a net's policy: one prediction for each move, no search.

use std::time::Instant;

use super::net::{GAMES_PER_BATCH, network_error, set_times};
use crate::game::{Board, Geometry, Square};
use crate::players::player::{Choice, Player, PlayerError, Turn, stream};
use crate::predict::Input;
use crate::predict::{Backend, Predictions};
use crate::search::draw::draw;

/// Plays the move with the highest policy of a net, without a search.
pub struct PolicyPlayer {
    name: String,
    seed: u64,
    temperature_plies: u32,
    backend: Box<dyn Backend>,
    predictions: Predictions,
}

impl PolicyPlayer {
    /// A player that draws its moves from the policy in the first `temperature_plies` plies of a
    /// game. Later it plays the move with the highest policy.
    pub fn new(
        name: String,
        backend: Box<dyn Backend>,
        temperature_plies: u32,
        seed: u64,
    ) -> PolicyPlayer {
        PolicyPlayer { name, seed, temperature_plies, backend, predictions: Predictions::default() }
    }

    fn pick<G: Geometry>(&self, turn: &Turn<'_, G>, index: usize) -> Option<Square> {
        let legal = turn.position.board.legal();
        let logits = self.predictions.get(index, G::SQUARES).policy;
        let logit = |square: Square| logits[square.index()];
        let best = legal.max_by(|&a, &b| logit(a).total_cmp(&logit(b)))?;
        if turn.ply() >= self.temperature_plies {
            return Some(best);
        }
        let weight = |square: Square| (logit(square) - logit(best)).exp();
        let drawn = draw(legal.map(weight), &mut stream(self.seed, turn));
        drawn.and_then(|place| legal.into_iter().nth(place)).or(Some(best))
    }
}

impl<G: Geometry> Player<G> for PolicyPlayer {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
        let begun = Instant::now();
        let input = |board: Board<G>| Input::new(board, board.legal());
        let inputs: Vec<Input> = turns.iter().map(|turn| input(turn.position.board)).collect();
        if let Err(error) = self.backend.predict(&inputs, &mut self.predictions) {
            return vec![Err(network_error(error)); turns.len()];
        }
        let nothing = || PlayerError::IllegalMove { shown: "nothing".into() };
        let mut choices: Vec<_> = turns
            .iter()
            .enumerate()
            .map(|(index, turn)| self.pick(turn, index).map(Choice::plain).ok_or_else(nothing))
            .collect();
        set_times(&mut choices, begun);
        choices
    }

    fn end_game(&mut self, _game: u32) {}

    fn batch(&self) -> usize {
        GAMES_PER_BATCH
    }
}
