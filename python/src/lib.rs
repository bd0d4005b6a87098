//! The compiled part of the Python package: positions, and a desk that answers queries of analysis.
//!
//! `python/outflank/__init__.py` wraps it. Queries and answers are the JSON of `docs/analysis.md`, so
//! that both know the same players, limits and fields.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use outflank::dispatch;
use outflank::game::notation;
use outflank::game::{self, Board, Colour, Goal, Shape};
use outflank::protocol::json::{self, DeskOptions, Problem, Request, Terms};
use outflank::search::stop::Stop;
use outflank::store::import::text::{self, Form, Written};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// How often a running analysis looks whether it has ended or the user has pressed Ctrl-C.
const LOOK_EVERY: Duration = Duration::from_millis(1);

fn value_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The error of a query, with the field, its value and what is allowed.
fn query_error(problem: Problem) -> PyErr {
    let Problem { error, field, value, allowed, .. } = problem;
    let field = field.map_or(String::new(), |field| format!("{field}: "));
    let value = value.map_or(String::new(), |value| format!("; the value is {value}"));
    let allowed = allowed.map_or(String::new(), |allowed| format!("; allowed: {allowed}"));
    value_error(format!("{field}{error}{value}{allowed}"))
}

/// A board with the side to move. It never changes: `play` returns another one.
#[pyclass(frozen, eq, hash, module = "outflank")]
#[derive(Clone, PartialEq, Eq, Hash)]
struct Position {
    shape: Shape,
    goal: Goal,
    mine: u128,
    theirs: u128,
    side: Colour,
}

impl Position {
    fn of<G: game::Geometry>(position: game::Position<G>, goal: Goal) -> Position {
        use game::Bitboard as _;
        let Board { mine, theirs } = position.board;
        let (mine, theirs) = (mine.widen(), theirs.widen());
        Position { shape: G::SHAPE, goal, mine, theirs, side: position.side }
    }

    fn on<G: game::Geometry>(&self) -> game::Position<G> {
        use game::Bitboard as _;
        let board = Board {
            mine: G::Bitboard::narrow(self.mine),
            theirs: G::Bitboard::narrow(self.theirs),
        };
        game::Position { board, side: self.side }
    }
}

#[pymethods]
impl Position {
    /// A position after moves from the start, such as `Position("f5d6c3")`, or in any other form of
    /// docs/games.md: 64 squares (`X`, `O`, `-`) and the side to move, rows, ...
    #[new]
    #[pyo3(signature = (text = "", *, board = "8x8", goal = "most"))]
    fn new(text: &str, board: &str, goal: &str) -> PyResult<Position> {
        let shape: Shape = board.parse().map_err(value_error)?;
        let goal: Goal = goal.parse().map_err(value_error)?;
        dispatch!(shape, G => {
            let position = match text.trim().is_empty() {
                true => game::Position::<G>::start(),
                false => text::read::<G>(text).map_err(value_error)?.position(),
            };
            Ok(Position::of(position, goal))
        })
    }

    /// The position after moves, such as `play("f5")` or `play("f5d6")`. A side that has no move
    /// passes by itself.
    fn play(&self, moves: &str) -> PyResult<Position> {
        dispatch!(self.shape, G => {
            let start = self.on::<G>();
            let moves = text::moves::<G>(moves, start).map_err(value_error)?;
            let played = Written { form: Form::Transcript, start, moves };
            Ok(Position::of(played.position(), self.goal))
        })
    }

    /// The names of the legal moves, in reading order.
    #[getter]
    fn legal_moves(&self) -> Vec<String> {
        dispatch!(self.shape, G => {
            self.on::<G>().board.legal().map(notation::square_name::<G>).collect()
        })
    }

    /// `black` or `white`: the side to move.
    #[getter]
    fn side(&self) -> &'static str {
        match self.side {
            Colour::Black => "black",
            Colour::White => "white",
        }
    }

    /// The name of the board, such as `8x8`.
    #[getter]
    fn board(&self) -> &'static str {
        self.shape.name()
    }

    /// `most` or `fewest`: what wins.
    #[getter]
    fn goal(&self) -> String {
        self.goal.to_string()
    }

    /// The numbers of black and white discs.
    #[getter]
    fn discs(&self) -> (u32, u32) {
        let (mine, theirs) = (self.mine.count_ones(), self.theirs.count_ones());
        if self.side == Colour::Black { (mine, theirs) } else { (theirs, mine) }
    }

    /// Whether neither side can move.
    #[getter]
    fn is_over(&self) -> bool {
        dispatch!(self.shape, G => self.on::<G>().board.is_over())
    }

    /// The result for black if the game ended here: the disc difference, with the empty squares
    /// for the winner; its negative if fewest discs win.
    #[getter]
    fn score(&self) -> i32 {
        dispatch!(self.shape, G => self.on::<G>().black_view().final_score(self.goal))
    }

    /// The squares in rows: 1 black, -1 white, 0 empty; `None` where the board has no square.
    fn rows(&self) -> Vec<Vec<Option<i8>>> {
        let text = self.text();
        let layout = self.shape.layout();
        let mut discs = text.chars().map(|disc| match disc {
            'X' => 1,
            'O' => -1,
            _ => 0,
        });
        let mut rows = vec![vec![None; layout.width]; layout.width];
        for &cell in &layout.cell_of {
            let cell = usize::from(cell);
            rows[cell / layout.width][cell % layout.width] = discs.next();
        }
        rows
    }

    /// The squares in reading order, a blank and the side to move.
    #[getter]
    fn text(&self) -> String {
        dispatch!(self.shape, G => notation::obf(self.on::<G>()))
    }

    fn __str__(&self) -> String {
        dispatch!(self.shape, G => notation::diagram(self.on::<G>()))
    }

    fn __repr__(&self) -> String {
        let options = match (self.shape, self.goal) {
            (Shape::Square8, Goal::Most) => String::new(),
            (shape, goal) => format!(", board={:?}, goal={:?}", shape.name(), goal.to_string()),
        };
        format!("Position({:?}{options})", self.text())
    }
}

/// Players that stay open from query to query.
#[pyclass(frozen, module = "outflank")]
struct Desk {
    desk: Mutex<json::Desk>,
}

#[pymethods]
impl Desk {
    /// A desk whose players use up to `cores` cores and draw their random moves from `seed`.
    #[new]
    #[pyo3(signature = (*, cores = 1, seed = 0))]
    fn new(cores: usize, seed: u64) -> PyResult<Desk> {
        if !(1..=1024).contains(&cores) {
            return Err(value_error(format!("cores = {cores}; allowed: 1 to 1024")));
        }
        let options = DeskOptions { device: "cpu".into(), cores, seed };
        Ok(Desk { desk: Mutex::new(json::Desk::new(options)) })
    }

    /// Answers a query (a line of JSON, docs/analysis.md) with a line for each of its positions.
    /// Ctrl-C ends it.
    fn answer(&self, py: Python<'_>, query: &str) -> PyResult<Vec<String>> {
        let terms = Terms {
            shape: Shape::Square8,
            goal: Goal::Most,
            player: None,
            allows: |_| Ok(()),
            bounds: None,
        };
        let Request::Analyse(query) = Request::read(query, &terms).map_err(query_error)? else {
            return Err(value_error("the query has an action; allowed: an analysis"));
        };
        let stop = Stop::default();
        let work = || {
            let mut desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
            let mut lines = Vec::new();
            for &turn in &query.turns {
                let mut sink = |answer| lines.extend(serde_json::to_string(&answer));
                desk.answer(&query, turn, &stop, &mut sink)?;
            }
            Ok::<_, Problem>(lines)
        };
        std::thread::scope(|scope| {
            let worker = scope.spawn(work);
            let mut interrupt = Ok(());
            while !worker.is_finished() {
                py.detach(|| std::thread::sleep(LOOK_EVERY));
                if interrupt.is_ok() {
                    interrupt = py.check_signals();
                    if interrupt.is_err() {
                        stop.set();
                    }
                }
            }
            let lines = worker.join().map_err(|_| value_error("the player failed"))?;
            interrupt.and(lines.map_err(query_error))
        })
    }
}

/// The module `outflank._outflank`.
#[pymodule]
fn _outflank(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Position>()?;
    module.add_class::<Desk>()
}
