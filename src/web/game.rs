//! Games as requests name them, and as the page gets them: every position of a line of moves.
//!
//! The page knows no rules. It sends a start and moves, and gets for each ply the discs, the legal
//! moves and the discs that were turned.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::error::ApiError;
use crate::game::notation::{obf, parse_obf, square_name, transcript};
use crate::game::{Bitboard, Colour, Geometry, Goal, Position, Shape, Square, SquareSet};
use crate::protocol::session::Session;
use crate::store::import::text;
use crate::store::openings;

/// The most characters of a text of moves. The longest game has 88 moves of three characters.
const MOST_MOVES_TEXT: usize = 1_000;

/// A game in a request.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(super) struct Game {
    /// The board's name; by default 8x8.
    #[serde(default = "default_board")]
    pub board: Box<str>,
    /// Which score wins: `most`, the default, or `fewest`.
    #[serde(default = "default_goal")]
    pub goal: Box<str>,
    /// The first position as an OBF line; by default the board's own start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Box<str>>,
    /// The moves as a transcript.
    #[serde(default)]
    pub moves: Box<str>,
}

pub(super) fn default_board() -> Box<str> {
    Shape::Square8.name().into()
}

pub(super) fn default_goal() -> Box<str> {
    Goal::Most.name().into()
}

impl Game {
    /// The board.
    pub fn shape(&self) -> Result<Shape, ApiError> {
        let names: Vec<_> = Shape::ALL.iter().map(|shape| shape.name()).collect();
        let unknown = |_| ApiError::bad("there is no such board").at("board");
        let shape = Shape::from_str(&self.board);
        shape.map_err(|error| unknown(error).allowing(names.join(", ")))
    }

    /// Which score wins.
    pub fn goal(&self) -> Result<Goal, ApiError> {
        let unknown = |_| ApiError::bad("there is no such goal").at("goal");
        Goal::from_str(&self.goal).map_err(|error| unknown(error).allowing("most, fewest"))
    }

    /// The game on the board `G`, checked against the rules.
    pub fn session<G: Geometry>(&self) -> Result<Session<G>, ApiError> {
        let start = match &self.start {
            None => Position::start(),
            Some(line) => start_of(line)?,
        };
        if self.moves.len() > MOST_MOVES_TEXT {
            return Err(ApiError::bad("the text of the moves is too long")
                .at("moves")
                .allowing(format!("at most {MOST_MOVES_TEXT} characters")));
        }
        let moves = text::moves(&self.moves, start)
            .map_err(|error| ApiError::bad(error.to_string()).at("moves"))?;
        let mut session = Session::new(start);
        for square in moves {
            // It has been checked.
            let _ = session.play(square);
        }
        Ok(session)
    }

    /// The game as a request would name it.
    pub fn of<G: Geometry>(start: Position<G>, moves: &[Square], goal: Goal) -> Game {
        let is_own_start = start == Position::start();
        Game {
            board: G::SHAPE.name().into(),
            goal: goal.name().into(),
            start: (!is_own_start).then(|| obf(start).into()),
            moves: transcript::<G>(moves.iter().copied()).into(),
        }
    }
}

/// A start position. It must be one that a game can have: some discs of each side are not needed,
/// but no square may have two.
fn start_of<G: Geometry>(line: &str) -> Result<Position<G>, ApiError> {
    let bad = |error: String| ApiError::bad(error).at("start");
    let position = parse_obf::<G>(line).map_err(|error| bad(error.to_string()))?.position;
    if position.board.discs() == 0 {
        return Err(bad("the position has no disc".into()));
    }
    Ok(position)
}

/// A game with all its positions, for the page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Line {
    /// The game as it was asked for.
    #[serde(flatten)]
    pub game: Game,
    /// The positions: before the first move, and after each.
    pub plies: Vec<Ply>,
    /// Whether neither side can move.
    pub over: bool,
    /// Black's final score under the goal, if the game is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<i32>,
}

/// A position of a line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Ply {
    /// One character for each playable square, as in OBF.
    pub discs: Box<str>,
    /// The side to move; at the end of a game it has no meaning.
    pub side: &'static str,
    /// The legal moves.
    pub legal: Vec<String>,
    /// The move that led here.
    #[serde(rename = "move", skip_serializing_if = "Option::is_none")]
    pub square: Option<String>,
    /// The side that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mover: Option<&'static str>,
    /// The discs that it turned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flipped: Vec<String>,
    /// The side that had to pass before this position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<&'static str>,
    /// Black's discs.
    pub black: u32,
    /// White's discs.
    pub white: u32,
    /// The name of the opening so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opening: Option<&'static str>,
    /// The same in Japanese.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opening_ja: Option<&'static str>,
}

impl Ply {
    /// The number of empty squares.
    pub fn empties(&self) -> u32 {
        self.discs.len() as u32 - self.black - self.white
    }
}

/// The name of a side in JSON.
pub(super) fn side_name(side: Colour) -> &'static str {
    match side {
        Colour::Black => "black",
        Colour::White => "white",
    }
}

/// All positions of a game.
pub(super) fn line(game: &Game) -> Result<Line, ApiError> {
    let goal = game.goal()?;
    dispatch!(game.shape()?, G => {
        let whole = game.session::<G>()?;
        let mut session = Session::new(whole.start());
        let mut plies = vec![ply(&session, None)];
        for &square in whole.moves() {
            let before = session.position();
            // It was legal in `whole`.
            let _ = session.play(square);
            plies.push(ply(&session, Some((before, square))));
        }
        let over = whole.is_over();
        Ok(Line {
            game: Game::of(whole.start(), whole.moves(), goal),
            plies,
            over,
            score: over.then(|| whole.black_view().final_score(goal)),
        })
    })
}

fn ply<G: Geometry>(session: &Session<G>, made: Option<(Position<G>, Square)>) -> Ply {
    let position = session.position();
    let names = |squares: SquareSet<G>| squares.map(square_name::<G>).collect::<Vec<_>>();
    let opening = openings::in_all_languages(session.start(), session.moves());
    let view = session.black_view();
    let count = |set: G::Bitboard| set.count();
    let flipped = made.map_or(Vec::new(), |(before, _)| {
        let was = before.black_view();
        // A turned disc was there before, of the other colour.
        names(SquareSet((was.mine & view.theirs) | (was.theirs & view.mine)))
    });
    let mut discs = obf(position);
    discs.truncate(G::SQUARES);
    Ply {
        discs: discs.into(),
        side: side_name(position.side),
        legal: names(position.board.legal()),
        square: made.map(|(_, square)| square_name::<G>(square)),
        mover: made.map(|(before, _)| side_name(before.side)),
        flipped,
        passed: session.unannounced_pass().map(side_name),
        black: count(view.mine),
        white: count(view.theirs),
        opening: opening.english,
        opening_ja: opening.japanese,
    }
}

/// A board for the page: where its squares are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct BoardShape {
    name: &'static str,
    /// Columns, and rows, of the bounding box.
    width: usize,
    /// For each square its name, and its cell `row * width + column`, in reading order.
    squares: Vec<(String, u8)>,
}

/// Every board that the program knows.
pub(super) fn boards() -> Vec<BoardShape> {
    let board = |shape: Shape| {
        let layout = shape.layout();
        let square =
            |(number, &cell): (usize, &u8)| (layout.square_name(Square(number as u8)), cell);
        let squares = layout.cell_of.iter().enumerate().map(square).collect();
        BoardShape { name: shape.name(), width: layout.width, squares }
    };
    Shape::ALL.into_iter().map(board).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(board: &str, moves: &str) -> Game {
        Game { board: board.into(), goal: "most".into(), start: None, moves: moves.into() }
    }

    #[test]
    fn a_ply_has_the_name_of_its_opening() {
        let found = line(&game("8x8", "f5d6c3d3c4f4")).expect("a game");
        let names: Vec<_> = found.plies.iter().map(|ply| ply.opening).collect();
        assert_eq!(names[..2], [None, None]);
        assert_eq!(names[2], Some("Perpendicular"));
        assert_eq!(names[5..], [Some("Tiger"), Some("Tiger")]);
        let other = line(&game("6x6", "e4")).expect("a game");
        assert!(other.plies.iter().all(|ply| ply.opening.is_none()));
    }

    /// The discs of each ply follow from those before it, the move and the turned discs.
    #[test]
    fn the_discs_of_a_ply_are_those_before_it_with_the_turned_ones() {
        for shape in Shape::ALL {
            let mut asked = game(shape.name(), "");
            let mut found = line(&asked).expect("a game");
            while !found.over {
                let legal = &found.plies.last().expect("a ply").legal;
                let next = &legal[found.plies.len() * 7 % legal.len()];
                asked.moves = format!("{}{next}", asked.moves).into();
                found = line(&asked).expect("a legal game");
            }
            let layout = shape.layout();
            for pair in found.plies.windows(2) {
                let mut discs: Vec<char> = pair[0].discs.chars().collect();
                let own = if pair[1].mover == Some("black") { 'X' } else { 'O' };
                assert_eq!(pair[1].mover, Some(pair[0].side));
                for name in pair[1].flipped.iter().chain(&pair[1].square) {
                    let square = layout.parse_square(name).expect("a square");
                    assert_ne!(discs[square.index()], own, "{shape} {name}");
                    discs[square.index()] = own;
                }
                assert_eq!(discs.iter().collect::<String>(), &*pair[1].discs, "{shape}");
                assert!(!pair[1].flipped.is_empty());
                let passed = pair[1].passed.is_some();
                assert_eq!(passed, pair[1].side == pair[0].side && !pair[1].legal.is_empty());
            }
            let last = found.plies.last().expect("a ply");
            assert_eq!(last.black, last.discs.matches('X').count() as u32);
            assert!(found.score.is_some());
        }
    }

    #[test]
    fn wrong_games_name_the_field() {
        let wrong =
            |asked: Game| serde_json::to_value(line(&asked).expect_err("wrong")).expect("JSON");
        assert_eq!(wrong(game("9x9", ""))["field"], "board");
        assert_eq!(wrong(Game { goal: "least".into(), ..game("8x8", "") })["field"], "goal");
        assert_eq!(wrong(game("8x8", "f5f5"))["field"], "moves");
        assert_eq!(wrong(game("8x8", &"f5".repeat(600)))["field"], "moves");
        let start = Some("XO".into());
        assert_eq!(wrong(Game { start, ..game("8x8", "") })["field"], "start");
        let start = Some(format!("{} X", "-".repeat(64)).into());
        assert_eq!(wrong(Game { start, ..game("8x8", "") })["field"], "start");
    }

    #[test]
    fn every_board_has_its_squares_in_its_box() {
        for board in boards() {
            let cells: Vec<u8> = board.squares.iter().map(|(_, cell)| *cell).collect();
            assert!(cells.is_sorted() && usize::from(cells[cells.len() - 1]) < board.width.pow(2));
        }
    }
}
