//! The games of a match that are in progress.

use super::{Forfeit, MatchGame, first_colour};
use crate::arena::openings::Opening;
use crate::game::notation::square_name;
use crate::game::{Colour, Geometry, Goal, Position, Square};
use crate::players::player::{Choice, Player, PlayerError, Turn};

/// A game in progress.
pub(super) struct RunningGame<G: Geometry> {
    /// Its number in the match.
    pub(super) number: u32,
    /// The colour of the match's first player.
    first: Colour,
    opening: Opening<G>,
    position: Position<G>,
    moves: Vec<Square>,
    pub(super) choices: Vec<Choice>,
    forfeit: Option<Forfeit>,
}

impl<G: Geometry> RunningGame<G> {
    /// The game of this number after its opening moves. The games `2n` and `2n + 1` have the same
    /// opening; the list of openings is used again from its start when it ends.
    pub(super) fn new(number: u32, openings: &[Opening<G>]) -> RunningGame<G> {
        let opening = openings[(number / 2) as usize % openings.len()].clone();
        let first = first_colour(number);
        let (position, moves) = (opening.position, opening.moves.clone());
        RunningGame { number, first, opening, position, moves, choices: Vec::new(), forfeit: None }
    }

    /// The player to move: 0 for the match's first player, 1 for the second.
    fn player_to_move(&self) -> usize {
        usize::from(self.position.side != self.first)
    }

    pub(super) fn is_forfeit(&self) -> bool {
        self.forfeit.is_some()
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_forfeit() || self.position.board.legal().is_empty()
    }

    fn turn(&self) -> Turn<'_, G> {
        Turn {
            game: self.number,
            start: self.opening.start,
            moves: &self.moves,
            position: self.position,
        }
    }

    /// Plays the player's move. An error or an illegal move forfeits the game.
    fn apply(&mut self, answer: Result<Choice, PlayerError>) {
        let by = self.position.side;
        let result = answer.and_then(|choice| {
            let illegal = || PlayerError::IllegalMove {
                shown: if choice.square.index() < G::SQUARES {
                    square_name::<G>(choice.square).into()
                } else {
                    "a square that is not on the board".into()
                },
            };
            Ok((choice, self.position.play(choice.square).ok_or_else(illegal)?))
        });
        match result {
            Ok((choice, position)) => {
                self.position = position.pass_if_forced();
                self.moves.push(choice.square);
                self.choices.push(choice);
            }
            Err(error) => self.forfeit = Some(Forfeit { by, reason: error.to_string() }),
        }
    }

    pub(super) fn finish(self, goal: Goal) -> MatchGame<G> {
        let all = G::SQUARES as i32;
        let score = match &self.forfeit {
            Some(forfeit) if forfeit.by == Colour::Black => -all,
            Some(_) => all,
            None => self.position.black_view().final_score(goal),
        };
        let RunningGame { number, first, opening, choices, forfeit, .. } = self;
        MatchGame { game: number, first, opening, choices, score, forfeit }
    }
}

/// Plays one move in every game where the player of this index is to move, in batches of
/// [`Player::batch`]. Before each batch it checks `is_ending`, since a player that takes one
/// position at a time may need long for each.
pub(super) fn play_turns<'a, G: Geometry>(
    games: impl Iterator<Item = &'a mut RunningGame<G>>,
    index: usize,
    player: &mut dyn Player<G>,
    is_ending: impl Fn() -> bool,
) {
    let mut waiting: Vec<_> =
        games.filter(|game| !game.is_over() && game.player_to_move() == index).collect();
    for games in waiting.chunks_mut(player.batch().max(1)) {
        if is_ending() {
            return;
        }
        let turns: Vec<_> = games.iter().map(|game| game.turn()).collect();
        let answers = player.choose(&turns);
        assert_eq!(answers.len(), turns.len(), "a player answers every turn");
        drop(turns);
        for (game, answer) in games.iter_mut().zip(answers) {
            game.apply(answer);
        }
    }
}
