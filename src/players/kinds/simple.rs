//! The two players without a search. They are the weakest players of most ladders.

use crate::game::{Bitboard, Geometry, Square, SquareSet};
use crate::keys::Keyed;
use crate::players::contestant::{OpenError, PlayerContext};
use crate::players::grammar::{Fields, SpecError, SpecKind};
use crate::players::kind::{Kind, Opened, PlayerOptions};
use crate::players::player::{Choice, Player, PlayerError, Turn, random_square, stream};

/// The random player: it has no options.
#[derive(Clone, PartialEq, Debug)]
pub struct RandomSpec;

impl Keyed for RandomSpec {}

impl PlayerOptions for RandomSpec {
    fn with_defaults(&self) -> Box<dyn PlayerOptions> {
        Box::new(RandomSpec)
    }

    fn is_deterministic(&self) -> bool {
        false
    }
}

impl Kind for RandomSpec {
    const ROW: SpecKind = SpecKind {
        name: "random",
        description: "plays any legal move",
        subject: None,
        options: || Box::new(RandomSpec),
        shortest: "random",
        variants: &[],
        examples: &[("random:name=chance", "a random player that tables call `chance`")],
    };

    fn read(_: &mut Fields) -> Result<RandomSpec, SpecError> {
        Ok(RandomSpec)
    }

    fn open<G: Geometry>(self, _: &PlayerContext) -> Result<Opened<RandomSpec, G>, OpenError> {
        Ok(Opened::new(self, |_, seed| Ok(RandomPlayer::new(seed))))
    }
}

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

/// The greedy player: it has no options.
#[derive(Clone, PartialEq, Debug)]
pub struct GreedySpec;

impl Keyed for GreedySpec {}

impl PlayerOptions for GreedySpec {
    fn with_defaults(&self) -> Box<dyn PlayerOptions> {
        Box::new(GreedySpec)
    }

    fn is_deterministic(&self) -> bool {
        false
    }
}

impl Kind for GreedySpec {
    const ROW: SpecKind = SpecKind {
        name: "greedy",
        description: "plays the move that flips the most discs; of equal moves it plays any",
        subject: None,
        options: || Box::new(GreedySpec),
        shortest: "greedy",
        variants: &[],
        examples: &[("greedy", "the greedy player")],
    };

    fn read(_: &mut Fields) -> Result<GreedySpec, SpecError> {
        Ok(GreedySpec)
    }

    fn open<G: Geometry>(self, _: &PlayerContext) -> Result<Opened<GreedySpec, G>, OpenError> {
        Ok(Opened::new(self, |_, seed| Ok(GreedyPlayer::new(seed))))
    }
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
