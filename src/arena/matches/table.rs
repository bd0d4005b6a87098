//! The games of a match that are being played.

use super::{Forfeit, Played, first_colour};
use crate::arena::openings::Opening;
use crate::arena::player::{Choice, Player, PlayerError, Turn};
use crate::game::notation::square_name;
use crate::game::{Colour, Geometry, Goal, Position, Square};

/// A running game.
pub(super) struct Table<G: Geometry> {
    pub(super) game: u32,
    first: Colour,
    opening: Opening<G>,
    position: Position<G>,
    moves: Vec<Square>,
    pub(super) choices: Vec<Choice>,
    forfeit: Option<Forfeit>,
}

impl<G: Geometry> Table<G> {
    pub(super) fn set_up(game: u32, openings: &[Opening<G>]) -> Table<G> {
        let opening = openings[(game / 2) as usize % openings.len()].clone();
        let first = first_colour(game);
        let (position, moves) = (opening.position, opening.moves.clone());
        Table { game, first, opening, position, moves, choices: Vec::new(), forfeit: None }
    }

    fn seat(&self) -> usize {
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
            game: self.game,
            start: self.opening.start,
            moves: &self.moves,
            position: self.position,
        }
    }

    fn make(&mut self, answer: Result<Choice, PlayerError>) {
        let by = self.position.side;
        let made = answer.and_then(|choice| {
            let illegal = || PlayerError::IllegalMove {
                shown: if choice.square.index() < G::SQUARES {
                    square_name::<G>(choice.square).into()
                } else {
                    "a square that is not on the board".into()
                },
            };
            Ok((choice, self.position.play(choice.square).ok_or_else(illegal)?))
        });
        match made {
            Ok((choice, position)) => {
                self.position = position.settled();
                self.moves.push(choice.square);
                self.choices.push(choice);
            }
            Err(error) => self.forfeit = Some(Forfeit { by, reason: error.to_string() }),
        }
    }

    pub(super) fn finish(self, goal: Goal) -> Played<G> {
        let all = G::SQUARES as i32;
        let score = match &self.forfeit {
            Some(forfeit) if forfeit.by == Colour::Black => -all,
            Some(_) => all,
            None => self.position.black_view().final_score(goal),
        };
        let Table { game, first, opening, choices, forfeit, .. } = self;
        Played { game, first, opening, choices, score, forfeit }
    }
}

/// Lets the player in a seat move wherever it is its turn, so many tables at once as it likes,
/// until `over`: a player that likes one may take long at each.
pub(super) fn move_all<'a, G: Geometry>(
    tables: impl Iterator<Item = &'a mut Table<G>>,
    seat: usize,
    player: &mut dyn Player<G>,
    over: impl Fn() -> bool,
) {
    let mut waiting: Vec<_> =
        tables.filter(|table| !table.is_over() && table.seat() == seat).collect();
    for tables in waiting.chunks_mut(player.batch().max(1)) {
        if over() {
            return;
        }
        let turns: Vec<_> = tables.iter().map(|table| table.turn()).collect();
        let answers = player.choose(&turns);
        assert_eq!(answers.len(), turns.len(), "a player answers every turn");
        drop(turns);
        for (table, answer) in tables.iter_mut().zip(answers) {
            table.make(answer);
        }
    }
}
