//! A game in progress, as protocols and the terminal see it: moves, passes, undo.
//!
//! Passes are forced, so a session makes them by itself; but a peer may say them aloud, or
//! want them said. So a session knows whether a pass that it has made is still unspoken.

use crate::arena::player::Turn;
use crate::game::{Board, Colour, Geometry, Position, Square};

/// A game in progress.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Session<G: Geometry> {
    start: Position<G>,
    moves: Vec<Square>,
    position: Position<G>,
    unspoken: Option<Colour>,
    /// After how many moves a forced pass was spoken of, rising: what was said is taken back
    /// by itself.
    spoken: Vec<usize>,
    /// Passes spoken after the end of the game.
    closing: u32,
}

/// Why a move or pass is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MoveError {
    /// The move is not legal.
    #[error("the move is not legal")]
    Illegal,
    /// The other side is to move.
    #[error("it is the other side's turn")]
    OtherSide,
    /// The side that passes has a move, or its pass was spoken of before.
    #[error("there is no pass here")]
    NoPass,
}

impl<G: Geometry> Default for Session<G> {
    fn default() -> Self {
        Session::new(Position::start())
    }
}

impl<G: Geometry> Session<G> {
    /// A game that begins at `start`.
    pub fn new(start: Position<G>) -> Session<G> {
        let position = start.settled();
        let unspoken = (position.side != start.side).then_some(start.side);
        Session { start, moves: Vec::new(), position, unspoken, spoken: Vec::new(), closing: 0 }
    }

    /// A game that has been checked against the rules: moves, and passes (`None`) that were said.
    pub fn replay(start: Position<G>, moves: &[Option<Square>]) -> Session<G> {
        let mut session = Session::new(start);
        for &made in moves {
            // The rules allow them.
            let _ = match (made, session.unspoken) {
                (Some(square), _) => session.play(square),
                (None, Some(side)) => session.pass(side),
                (None, None) => Ok(()),
            };
        }
        session
    }

    /// Where the game stands; the side to move has a move unless the game is over.
    pub fn position(&self) -> Position<G> {
        self.position
    }

    /// The moves so far, passes left out.
    pub fn moves(&self) -> &[Square] {
        &self.moves
    }

    /// Where it began.
    pub fn start(&self) -> Position<G> {
        self.start
    }

    /// The side whose forced pass nobody has spoken of yet.
    pub fn unspoken_pass(&self) -> Option<Colour> {
        self.unspoken
    }

    /// Whether neither side can move.
    pub fn is_over(&self) -> bool {
        self.position.board.legal().is_empty()
    }

    /// Makes a move for the side to move.
    ///
    /// # Errors
    ///
    /// It is not legal.
    pub fn play(&mut self, square: Square) -> Result<(), MoveError> {
        let next = self.position.play(square).ok_or(MoveError::Illegal)?;
        self.position = next.settled();
        self.unspoken = (self.position.side != next.side).then_some(next.side);
        self.moves.push(square);
        Ok(())
    }

    /// Makes a move for `side`.
    ///
    /// # Errors
    ///
    /// It is not legal, or the other side is to move.
    pub fn play_as(&mut self, side: Colour, square: Square) -> Result<(), MoveError> {
        if side != self.position.side {
            return Err(MoveError::OtherSide);
        }
        self.play(square)
    }

    /// Takes note that somebody says that `side` passes. Once the game is over either side may
    /// say so, as often as it likes.
    ///
    /// # Errors
    ///
    /// It does not, or that was said before.
    pub fn pass(&mut self, side: Colour) -> Result<(), MoveError> {
        if self.is_over() {
            self.closing = self.closing.saturating_add(1);
            return Ok(());
        }
        match self.unspoken {
            Some(passed) if passed == side => {
                self.unspoken = None;
                self.spoken.push(self.moves.len());
                Ok(())
            }
            _ => Err(MoveError::NoPass),
        }
    }

    /// Takes back what was said last: a spoken pass, which is unspoken then, or else the last
    /// move with the unspoken pass that followed it. False if there is nothing.
    pub fn undo(&mut self) -> bool {
        if self.closing > 0 {
            self.closing -= 1;
            return true;
        }
        let made = self.moves.len();
        if self.spoken.pop_if(|after| *after == made).is_some() {
            self.unspoken = Some(!self.position.side);
            return true;
        }
        let (mut moves, spoken) =
            (std::mem::take(&mut self.moves), std::mem::take(&mut self.spoken));
        let undone = moves.pop().is_some();
        *self = Session::new(self.start);
        for square in moves {
            // They were legal before.
            let _ = self.play(square);
        }
        if spoken.last() == Some(&self.moves.len()) {
            self.unspoken = None;
        }
        self.spoken = spoken;
        undone
    }

    /// The turn of the side to move, as players see it: a pass that is due at the start is made.
    pub fn turn(&self, game: u32) -> Turn<'_, G> {
        Turn { game, start: self.start.settled(), moves: &self.moves, position: self.position }
    }

    /// The board as black sees it.
    pub fn black_view(&self) -> Board<G> {
        self.position.black_view()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Square6;
    use crate::game::notation::parse_transcript;

    /// A game on 6x6 with a pass in it: found by playing the first move each time.
    fn game_with_pass() -> (Vec<Square>, usize) {
        for skip in 0..200usize {
            let mut session = Session::<Square6>::default();
            while !session.is_over() {
                let legal: Vec<_> = session.position().board.legal().collect();
                let square = legal[(skip * 7 + session.moves().len() * skip) % legal.len()];
                session.play(square).expect("a legal move");
                if session.unspoken_pass().is_some() {
                    return (session.moves().to_vec(), session.moves().len());
                }
            }
        }
        panic!("no pass in 200 games");
    }

    /// That game after its last move, and how it stood before and after each.
    fn played() -> (Session<Square6>, Vec<Session<Square6>>) {
        let mut session = Session::default();
        let mut states = vec![session.clone()];
        for square in game_with_pass().0 {
            session.play(square).expect("a legal move");
            states.push(session.clone());
        }
        (session, states)
    }

    #[test]
    fn passes_are_made_and_may_be_spoken_once() {
        let (moves, _) = game_with_pass();
        let mut session = Session::<Square6>::default();
        for &square in &moves {
            session.play(square).expect("a legal move");
        }
        let passed = session.unspoken_pass().expect("a pass");
        assert_eq!(session.position().side, !passed);
        assert_eq!(session.pass(!passed), Err(MoveError::NoPass));
        assert_eq!(session.pass(passed), Ok(()));
        assert_eq!(session.pass(passed), Err(MoveError::NoPass));
    }

    #[test]
    fn undo_goes_back_to_the_start() {
        let (mut session, mut before) = played();
        while let Some(state) = before.pop() {
            assert_eq!(session, state);
            assert_eq!(session.undo(), !before.is_empty());
        }
    }

    /// After black's pass at the start it is white's c1 that players are to look at.
    #[test]
    fn players_see_a_start_that_begins_with_a_pass_after_it() {
        let text = format!("OX-----{} X", "-".repeat(29));
        let start =
            crate::game::notation::parse_obf::<Square6>(&text).expect("a position").position;
        let mut session = Session::new(start);
        assert_eq!(session.unspoken_pass(), Some(Colour::Black));
        let square = session.position().board.legal().next().expect("a move");
        session.play(square).expect("a legal move");
        let turn = session.turn(0);
        assert_eq!((turn.start.side, turn.moves), (Colour::White, &[square][..]));
        assert_eq!(turn.start.play(square).expect("a legal move").settled(), turn.position);
    }

    /// A game in which all passes are said, also at its end, is taken back word by word.
    #[test]
    fn undo_takes_back_one_spoken_pass_at_a_time() {
        let (mut session, mut before) = played();
        while !session.is_over() {
            match session.unspoken_pass() {
                Some(passed) => session.pass(passed).expect("it passes"),
                None => {
                    let square = session.position().board.legal().next().expect("a move");
                    session.play(square).expect("a legal move");
                }
            }
            before.push(session.clone());
        }
        assert!(before.len() > session.moves().len() + 1, "passes were said");
        let over = session.position();
        for side in [Colour::White, Colour::White, Colour::Black] {
            assert_eq!(session.pass(side), Ok(()));
            before.push(session.clone());
            assert_eq!((session.position(), session.unspoken_pass()), (over, None));
        }
        while let Some(state) = before.pop() {
            assert_eq!(session, state);
            assert_eq!(session.undo(), !before.is_empty());
        }
    }

    #[test]
    fn wrong_moves_change_nothing() {
        let mut session = Session::<Square6>::default();
        let fresh = session.clone();
        assert_eq!(session.play(Square(0)), Err(MoveError::Illegal));
        assert_eq!(session.play(Square(255)), Err(MoveError::Illegal));
        assert_eq!(session.pass(Colour::Black), Err(MoveError::NoPass));
        let (moves, _) = parse_transcript("c2", Position::<Square6>::start()).expect("legal");
        assert_eq!(session.play_as(Colour::White, moves[0]), Err(MoveError::OtherSide));
        assert_eq!(session, fresh);
    }
}
