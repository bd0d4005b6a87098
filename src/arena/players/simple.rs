//! The two players that think of nothing: the bottom of every rating ladder.

use crate::arena::player::{Choice, Player, PlayerError, Turn, any_of, stream};
use crate::game::{Geometry, Square, SquareSet, Word};

/// Plays any legal move, all equally likely.
pub struct Random {
    seed: u64,
}

impl Random {
    /// A player whose moves follow from the seed.
    pub fn new(seed: u64) -> Random {
        Random { seed }
    }
}

impl<G: Geometry> Player<G> for Random {
    fn name(&self) -> String {
        "random".into()
    }

    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
        let choose =
            |turn: &Turn<'_, G>| any_of(turn.position.board.legal(), &mut stream(self.seed, turn));
        turns.iter().map(|turn| choice(choose(turn))).collect()
    }

    fn end_game(&mut self, _game: u32) {}
}

/// Plays the move that turns the most discs; of equal ones any, all equally likely.
pub struct Greedy {
    seed: u64,
}

impl Greedy {
    /// A player that breaks ties by the seed.
    pub fn new(seed: u64) -> Greedy {
        Greedy { seed }
    }
}

impl<G: Geometry> Player<G> for Greedy {
    fn name(&self) -> String {
        "greedy".into()
    }

    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
        let choose = |turn: &Turn<'_, G>| {
            let board = turn.position.board;
            let most = board.legal().map(|square| board.flips(square).len()).max()?;
            let best = board.legal().filter(|&square| board.flips(square).len() == most);
            let best = best.fold(G::Word::ZERO, |set, square| set | G::mask(square));
            any_of(SquareSet::<G>(best), &mut stream(self.seed, turn))
        };
        turns.iter().map(|turn| choice(choose(turn))).collect()
    }

    fn end_game(&mut self, _game: u32) {}
}

fn choice(square: Option<Square>) -> Result<Choice, PlayerError> {
    let none = || PlayerError::IllegalMove { shown: "nothing".into() };
    square.map(Choice::plain).ok_or_else(none)
}
