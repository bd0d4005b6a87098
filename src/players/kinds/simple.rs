//! The two players without a search. They are the weakest players of most ladders.

use crate::game::{Bitboard, Geometry, Square, SquareSet};
use crate::players::player::{Choice, Player, PlayerError, Turn, random_square, stream};

/// Plays a random legal move; all are equally likely.
pub struct RandomPlayer {
    seed: u64,
}

impl RandomPlayer {
    /// A player whose moves depend on the seed.
    pub fn new(seed: u64) -> RandomPlayer {
        RandomPlayer { seed }
    }
}

impl<G: Geometry> Player<G> for RandomPlayer {
    fn name(&self) -> String {
        "random".into()
    }

    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
        let choose = |turn: &Turn<'_, G>| {
            random_square(turn.position.board.legal(), &mut stream(self.seed, turn))
        };
        turns.iter().map(|turn| choice(choose(turn))).collect()
    }

    fn end_game(&mut self, _game: u32) {}
}

/// Plays the move that turns the most discs. Among equal moves it chooses at random.
pub struct GreedyPlayer {
    seed: u64,
}

impl GreedyPlayer {
    /// A player whose choices among equal moves depend on the seed.
    pub fn new(seed: u64) -> GreedyPlayer {
        GreedyPlayer { seed }
    }
}

impl<G: Geometry> Player<G> for GreedyPlayer {
    fn name(&self) -> String {
        "greedy".into()
    }

    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
        let choose = |turn: &Turn<'_, G>| {
            let board = turn.position.board;
            let most = board.legal().map(|square| board.flips(square).len()).max()?;
            let best = board.legal().filter(|&square| board.flips(square).len() == most);
            let best = best.fold(G::Bitboard::ZERO, |set, square| set | G::mask(square));
            random_square(SquareSet::<G>(best), &mut stream(self.seed, turn))
        };
        turns.iter().map(|turn| choice(choose(turn))).collect()
    }

    fn end_game(&mut self, _game: u32) {}
}

fn choice(square: Option<Square>) -> Result<Choice, PlayerError> {
    let none = || PlayerError::IllegalMove { shown: "nothing".into() };
    square.map(Choice::plain).ok_or_else(none)
}
