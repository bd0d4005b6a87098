//! A game in progress, as protocols and the terminal see it: moves, passes, undo.
//!
//! Passes are forced, so a session makes them by itself. A peer may also announce them, or expect
//! an announcement. So a session knows whether its last pass has been announced yet.

use crate::game::{Board, Colour, Geometry, Position, Square};
use crate::players::player::Turn;

/// A game in progress.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Session<G: Geometry> {
    start: Position<G>,
    moves: Vec<Square>,
    position: Position<G>,
    unannounced: Option<Colour>,
    /// The numbers of moves after which a pass was announced, ascending. `undo` takes back an
    /// announcement as a step of its own.
    announced: Vec<usize>,
    /// Passes announced after the end of the game.
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
    /// The side has a move, or its pass has been announced already.
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
        let position = start.pass_if_forced();
        let unannounced = (position.side != start.side).then_some(start.side);
        Session {
            start,
            moves: Vec::new(),
            position,
            unannounced,
            announced: Vec::new(),
            closing: 0,
        }
    }

    /// A game that has been checked against the rules: moves, and announced passes (`None`).
    pub fn replay(start: Position<G>, moves: &[Option<Square>]) -> Session<G> {
        let mut session = Session::new(start);
        for &made in moves {
            // The rules allow them.
            let _ = match (made, session.unannounced) {
                (Some(square), _) => session.play(square),
                (None, Some(side)) => session.pass(side),
                (None, None) => Ok(()),
            };
        }
        session
    }

    /// The current position. Its side to move has a move unless the game is over.
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

    /// The side whose forced pass has not been announced yet.
    pub fn unannounced_pass(&self) -> Option<Colour> {
        self.unannounced
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
        self.position = next.pass_if_forced();
        self.unannounced = (self.position.side != next.side).then_some(next.side);
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

    /// Announces the pass of `side`. After the end of the game each side may do so any number of
    /// times.
    ///
    /// # Errors
    ///
    /// The side has a move, or its pass has been announced already.
    pub fn pass(&mut self, side: Colour) -> Result<(), MoveError> {
        if self.is_over() {
            self.closing = self.closing.saturating_add(1);
            return Ok(());
        }
        match self.unannounced {
            Some(passed) if passed == side => {
                self.unannounced = None;
                self.announced.push(self.moves.len());
                Ok(())
            }
            _ => Err(MoveError::NoPass),
        }
    }

    /// Takes back the last announcement of a pass, or else the last move together with the
    /// unannounced pass that followed it. False if there is nothing to take back.
    pub fn undo(&mut self) -> bool {
        if self.closing > 0 {
            self.closing -= 1;
            return true;
        }
        let made = self.moves.len();
        if self.announced.pop_if(|after| *after == made).is_some() {
            self.unannounced = Some(!self.position.side);
            return true;
        }
        let (mut moves, announced) =
            (std::mem::take(&mut self.moves), std::mem::take(&mut self.announced));
        let undone = moves.pop().is_some();
        *self = Session::new(self.start);
        for square in moves {
            // They were legal before.
            let _ = self.play(square);
        }
        if announced.last() == Some(&self.moves.len()) {
            self.unannounced = None;
        }
        self.announced = announced;
        undone
    }

    /// The turn of the side to move, as players see it. A forced pass at the start is made first.
    pub fn turn(&self, game: u32) -> Turn<'_, G> {
        Turn {
            game,
            start: self.start.pass_if_forced(),
            moves: &self.moves,
            position: self.position,
        }
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
                if session.unannounced_pass().is_some() {
                    return (session.moves().to_vec(), session.moves().len());
                }
            }
        }
        panic!("no pass in 200 games");
    }

    /// That game after its last move, and its states before and after each move.
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
    fn passes_are_made_and_may_be_announced_once() {
        let (moves, _) = game_with_pass();
        let mut session = Session::<Square6>::default();
        for &square in &moves {
            session.play(square).expect("a legal move");
        }
        let passed = session.unannounced_pass().expect("a pass");
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

    /// The start has a forced pass for black, so players see white to move.
    #[test]
    fn players_see_a_start_that_begins_with_a_pass_after_it() {
        let text = format!("OX-----{} X", "-".repeat(29));
        let start =
            crate::game::notation::parse_obf::<Square6>(&text).expect("a position").position;
        let mut session = Session::new(start);
        assert_eq!(session.unannounced_pass(), Some(Colour::Black));
        let square = session.position().board.legal().next().expect("a move");
        session.play(square).expect("a legal move");
        let turn = session.turn(0);
        assert_eq!((turn.start.side, turn.moves), (Colour::White, &[square][..]));
        assert_eq!(turn.start.play(square).expect("a legal move").pass_if_forced(), turn.position);
    }

    /// Every announced pass is a step of its own, also those after the end.
    #[test]
    fn undo_takes_back_one_announced_pass_at_a_time() {
        let (mut session, mut before) = played();
        while !session.is_over() {
            match session.unannounced_pass() {
                Some(passed) => session.pass(passed).expect("it passes"),
                None => {
                    let square = session.position().board.legal().next().expect("a move");
                    session.play(square).expect("a legal move");
                }
            }
            before.push(session.clone());
        }
        assert!(before.len() > session.moves().len() + 1, "passes were announced");
        let over = session.position();
        for side in [Colour::White, Colour::White, Colour::Black] {
            assert_eq!(session.pass(side), Ok(()));
            before.push(session.clone());
            assert_eq!((session.position(), session.unannounced_pass()), (over, None));
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
