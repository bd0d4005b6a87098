//! Text for the terminal: the board, the moves, hints. A pipe gets plain text.

use std::env;
use std::fmt::Write as _;
use std::io::{self, IsTerminal};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use crate::arena::report::table;
use crate::game::notation::{diagram, obf, plain_excerpt, square_name, transcript};
use crate::game::{Bitboard, Colour, Geometry, Position, Square, SquareSet};
use crate::players::player::{Choice, Hint};
use crate::protocol::session::Session;
use crate::store::openings;

/// Longer text from files and players is cut.
const LONGEST_TEXT: usize = 40;

/// How the board marks the last move and the discs that it turned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BoardStyle {
    /// Not at all: for a pipe or a file.
    Plain,
    /// By brackets and small letters: for a terminal without colours.
    Marks,
    /// By colours.
    Colours,
}

impl BoardStyle {
    /// The style for standard output. Respects `NO_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE` and
    /// `TERM=dumb`.
    pub fn of_stdout() -> BoardStyle {
        let stdout = io::stdout();
        let choice = match AutoStream::choice(&stdout) {
            // With the variable `CI` set, the library assumes colours on every terminal.
            _ if is_dumb() && env::var_os("CLICOLOR_FORCE").is_none() => ColorChoice::Never,
            choice => choice,
        };
        match choice {
            ColorChoice::Never if stdout.is_terminal() => BoardStyle::Marks,
            ColorChoice::Never => BoardStyle::Plain,
            _ => BoardStyle::Colours,
        }
    }

    /// An explanation of the marks.
    pub fn legend(self) -> &'static str {
        match self {
            BoardStyle::Plain => "",
            BoardStyle::Marks => {
                "The last move is in brackets; x and o are discs that it turned.\n"
            }
            BoardStyle::Colours => {
                "The last move is inverted; the discs that it turned are underlined.\n"
            }
        }
    }
}

/// Whether `TERM` names a terminal without control sequences.
pub fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

// Both are readable on dark and on light backgrounds.
const BLACK: Style = AnsiColor::Green.on_default();
const WHITE: Style = AnsiColor::Magenta.on_default();

/// The board, the counts of discs and the side to move. On a terminal the newest moves stand beside
/// the board, and a bar shows the `expected` final disc difference for black, if it is known.
pub fn screen<G: Geometry>(
    session: &Session<G>,
    expected: Option<f32>,
    style: BoardStyle,
) -> String {
    let (board, status) = (board(session, style), status(session));
    if style == BoardStyle::Plain {
        return format!("{board}{status}\n");
    }
    let words = move_words(session);
    let rows = board.lines().count() - 1;
    let pairs: Vec<&[String]> = words.chunks(2).collect();
    let hidden = pairs.len().saturating_sub(rows);
    let mut text = String::new();
    for (row, line) in board.lines().enumerate() {
        text.push_str(line);
        // The first line has the letters of the columns.
        if let Some(pair) = row.checked_sub(1).and_then(|row| pairs.get(hidden + row)) {
            let number = 2 * (hidden + row) - 1;
            let _ = write!(text, "   {number:2} {}", pair.join(" "));
        }
        text.push('\n');
    }
    let bar = expected.map_or(String::new(), |score| score_bar::<G>(score, style));
    format!("{text}{status}\n{bar}")
}

/// The cells of the bar.
const BAR: usize = 32;

/// The share of the discs that each side is expected to have at the end, as a bar of `X` and `O`.
fn score_bar<G: Geometry>(score: f32, style: BoardStyle) -> String {
    let most = G::SQUARES as f32;
    let share = (0.5 + 0.5 * score / most).clamp(0.0, 1.0);
    let black = (share * BAR as f32).round() as usize;
    let [black, white] = ["X".repeat(black), "O".repeat(BAR - black)];
    let bar = match style {
        BoardStyle::Colours => format!("{BLACK}{black}{BLACK:#}{WHITE}{white}{WHITE:#}"),
        BoardStyle::Marks | BoardStyle::Plain => black + &white,
    };
    let leader = match score {
        ..0.0 => format!("white by {:.1}", -score),
        0.0 => "a draw".into(),
        _ => format!("black by {score:.1}"),
    };
    format!("{bar} expected: {leader}\n")
}

/// A cell of the board as it is shown.
struct Cell {
    mark: char,
    is_last: bool,
    is_turned: bool,
}

impl Cell {
    fn style(&self) -> Style {
        let style = match self.mark {
            'X' => BLACK.bold(),
            'O' => WHITE.bold(),
            _ => Style::new().dimmed(),
        };
        match (self.is_last, self.is_turned) {
            (true, _) => style.invert(),
            (false, true) => style.underline(),
            (false, false) => style,
        }
    }
}

/// The current board, with the last move marked.
pub fn board<G: Geometry>(session: &Session<G>, style: BoardStyle) -> String {
    let row_of = match style {
        BoardStyle::Plain => return diagram(session.position()),
        BoardStyle::Marks => marked_row,
        BoardStyle::Colours => coloured_row,
    };
    let layout = G::SHAPE.layout();
    let (last, turned) = last_move(session);
    let legal = session.position().board.legal();
    let line = obf(session.position());
    let cell = |index: usize| match layout.cell_of.iter().position(|&c| c as usize == index) {
        None => Cell { mark: ' ', is_last: false, is_turned: false },
        Some(index) => {
            let square = Square(index as u8);
            let disc = line.as_bytes()[index] as char;
            let mark = if legal.contains(square) { '.' } else { disc };
            Cell { mark, is_last: last == Some(square), is_turned: turned.contains(square) }
        }
    };
    let columns = (0..layout.width).map(|column| [' ', (b'a' + column as u8) as char]);
    let mut text: String = "  ".chars().chain(columns.flatten()).collect();
    for row in 0..layout.width {
        let first = row * layout.width;
        let cells: Vec<_> = (first..first + layout.width).map(cell).collect();
        let _ = write!(text, "\n{:2}{}", row + 1, row_of(&cells));
    }
    text.push('\n');
    text
}

/// Brackets round the last move, small letters for the discs that it turned.
fn marked_row(cells: &[Cell]) -> String {
    let mut row = vec![' '; 2 * cells.len() + 1];
    for (column, cell) in cells.iter().enumerate() {
        let place = 2 * column + 1;
        row[place] = if cell.is_turned { cell.mark.to_ascii_lowercase() } else { cell.mark };
        if cell.is_last {
            (row[place - 1], row[place + 1]) = ('[', ']');
        }
    }
    row.into_iter().collect()
}

fn coloured_row(cells: &[Cell]) -> String {
    let coloured = |cell: &Cell| format!(" {0}{1}{0:#}", cell.style(), cell.mark);
    cells.iter().map(coloured).collect()
}

/// The last move and the discs that it turned.
fn last_move<G: Geometry>(session: &Session<G>) -> (Option<Square>, SquareSet<G>) {
    let mut position = session.start().pass_if_forced();
    let mut last = (None, SquareSet(G::Bitboard::ZERO));
    for &square in session.moves() {
        last = (Some(square), position.board.flips(square));
        position = after(position, square).pass_if_forced();
    }
    last
}

/// The position after a move of a session. The session has checked the move.
fn after<G: Geometry>(position: Position<G>, square: Square) -> Position<G> {
    position.play(square).unwrap_or(position)
}

/// The disc counts and the side to move.
pub fn status<G: Geometry>(session: &Session<G>) -> String {
    let black = session.black_view();
    let count = |set: G::Bitboard| SquareSet::<G>(set).len();
    let mut text = format!("black (X) {}, white (O) {}", count(black.mine), count(black.theirs));
    if session.is_over() {
        return text;
    }
    if let Some(passed) = session.unannounced_pass() {
        let _ = write!(text, "; {passed} must pass");
    }
    let _ = write!(text, "; {} to move", session.position().side);
    text
}

/// The moves so far, passes as `pa`.
fn move_words<G: Geometry>(session: &Session<G>) -> Vec<String> {
    let mut words = Vec::new();
    let mut position = session.start();
    let mut moves = session.moves().iter();
    loop {
        let settled = position.pass_if_forced();
        if settled.side != position.side {
            words.push("pa".to_string());
        }
        let Some(&square) = moves.next() else { break };
        words.push(square_name::<G>(square));
        position = after(settled, square);
    }
    words
}

/// The moves so far, passes included, ten a line. Each line begins with the number of its first
/// move.
pub fn moves_list<G: Geometry>(session: &Session<G>) -> String {
    let words = move_words(session);
    let mut text = String::new();
    for (line, words) in words.chunks(10).enumerate() {
        let _ = writeln!(text, "{:3}  {}", 10 * line + 1, words.join(" "));
    }
    if let Some(name) = openings::name(session.start(), session.moves()) {
        let _ = writeln!(text, "opening: {name}");
    }
    text
}

/// A move of the opponent, with its expected score and its time.
pub fn move_made<G: Geometry>(side: Colour, choice: &Choice) -> String {
    let mut text = format!("{side} plays {}", square_name::<G>(choice.square));
    if let Some(score) = choice.score {
        let _ = write!(text, ", expects {score:+.1} discs");
    }
    let _ = write!(text, " ({:.2} s)", choice.seconds);
    text
}

/// The result of a finished game; `score` is for black.
pub fn result(score: i32) -> String {
    match score {
        0 => "a draw".to_string(),
        1.. => format!("black wins by {score}"),
        _ => format!("white wins by {}", -score),
    }
}

/// A row for each hint.
pub fn hints_table<G: Geometry>(hints: &[Hint]) -> String {
    let mut rows = vec![["move", "win", "discs", "searched", "line"].map(String::from).to_vec()];
    for hint in hints {
        let chance = hint.win_chance.map(|chance| format!("{:.0} %", 100.0 * chance));
        let score = hint.score.map(|score| format!("{}{score:+.1}", hint.bound.mark()));
        rows.push(vec![
            hint.line.first().map_or(String::new(), |&square| square_name::<G>(square)),
            chance.unwrap_or("-".into()),
            score.unwrap_or("-".into()),
            hint.effort().map_or("-".into(), |depth| depth.to_string()),
            transcript::<G>(hint.line.iter().copied()),
        ]);
    }
    table(&rows, 1)
}

/// Text from files and players: cut, and without control characters.
pub fn printable(text: &str) -> Box<str> {
    plain_excerpt(text, LONGEST_TEXT)
}
