//! The output of `outflank solve`: a line for each position, and the total.

use std::fmt;

use serde_json::json;

use super::Args;
use crate::game::notation::{square_name, transcript};
use crate::game::{Geometry, Square};
use crate::search::endgame::SolveResult;

/// The result for one position, solved or not.
pub struct Solved {
    /// The position as an OBF line.
    pub position: String,
    pub empties: u32,
    /// The best score in its line, if it has scores.
    pub expected: Option<i32>,
    pub found: Found,
    /// How many of the moves are solved, and how many there are.
    pub moves_done: (u32, u32),
    pub nodes: u64,
    pub seconds: f64,
}

/// The bounds of a position's score. They are equal if it is solved.
pub struct Found {
    /// The score is at least this, if known.
    lower: Option<i32>,
    /// The score is at most this, if known.
    upper: Option<i32>,
    solved: bool,
    /// If the score is only probable, with how much confidence in percent.
    confidence: Option<f64>,
    /// The best line of play, or the move that reaches the bound.
    line: String,
}

impl Found {
    /// The bounds of a result, with moves as text.
    pub fn new<G: Geometry>(result: SolveResult) -> Found {
        match result {
            SolveResult::Solved { score, line } => Found {
                lower: Some(score),
                upper: Some(score),
                solved: true,
                confidence: None,
                line: transcript::<G>(line),
            },
            SolveResult::Unsolved { lower, upper, best } => Found {
                lower,
                upper,
                solved: false,
                confidence: None,
                line: best.map(square_name::<G>).unwrap_or_default(),
            },
        }
    }

    /// A score that is right with this confidence in percent.
    pub fn probable<G: Geometry>(score: i32, line: Vec<Square>, confidence: f64) -> Found {
        let (lower, upper) = (Some(score), Some(score));
        let (confidence, line) = (Some(confidence), transcript::<G>(line));
        Found { lower, upper, solved: true, confidence, line }
    }

    fn score(&self) -> Option<i32> {
        self.lower.filter(|_| self.solved)
    }

    /// Whether `stated` is the score; `None` if unknown.
    fn agrees(&self, stated: i32) -> Option<bool> {
        let excluded = self.lower.is_some_and(|lower| stated < lower)
            || self.upper.is_some_and(|upper| stated > upper);
        if excluded { Some(false) } else { self.solved.then_some(true) }
    }
}

impl Solved {
    fn agrees(&self) -> Option<bool> {
        self.found.agrees(self.expected?)
    }

    fn rate(&self) -> f64 {
        self.nodes as f64 / self.seconds.max(1e-9)
    }

    /// The output line of position `number`, counted from 1.
    pub fn to_line(&self, args: &Args, number: u32) -> String {
        if args.json { self.json(args).to_string() } else { self.text(number) }
    }

    fn json(&self, args: &Args) -> serde_json::Value {
        let Found { lower, upper, solved, confidence, line } = &self.found;
        json!({
            "version": 1,
            "shape": args.shape.name(),
            "goal": args.goal.name(),
            "wld": args.wld,
            "position": self.position,
            "empties": self.empties,
            "solved": *solved && confidence.is_none(),
            "confidence": confidence,
            "score": self.found.score(),
            "at_least": lower,
            "at_most": upper,
            "expected": self.expected,
            "agrees": self.agrees(),
            "line": line,
            "moves_done": self.moves_done.0,
            "moves": self.moves_done.1,
            "nodes": self.nodes,
            "seconds": self.seconds,
            "nodes_per_second": self.rate(),
        })
    }

    fn text(&self, number: u32) -> String {
        let verdict = match (self.expected, self.agrees()) {
            (Some(_), Some(true)) => " as stated".into(),
            (Some(expected), Some(false)) => format!(" BUT {expected:+} is stated"),
            (Some(expected), None) => format!(" ({expected:+} is stated)"),
            (None, _) => String::new(),
        };
        let Solved { empties, nodes, seconds, .. } = self;
        let rate = self.rate() / 1e6;
        let (known, line) = (self.known(), if self.found.solved { &self.found.line } else { "" });
        let text = format!(
            "{number:>3}: {empties:>2} empties, {known}{verdict}, {nodes} nodes, {seconds:.3} s, \
             {rate:.1} M nodes/s, {line}"
        );
        text.trim_end_matches(", ").to_owned()
    }

    fn known(&self) -> String {
        let Found { lower, upper, line, .. } = &self.found;
        if let Some(score) = self.found.score() {
            let confidence = self.found.confidence.map(|percent| format!(" at {percent} %"));
            return format!("score {score:+}{}", confidence.unwrap_or_default());
        }
        let (done, moves) = self.moves_done;
        let bound = match (lower, upper) {
            (Some(lower), _) => format!("at least {lower:+} by {line}, "),
            // The side to move must pass. The bound comes from the other side's move.
            (None, Some(upper)) => format!("at most {upper:+} after {line}, "),
            (None, None) => String::new(),
        };
        format!("NOT SOLVED in time: {bound}{done} of {moves} moves done")
    }
}

/// Counts over all positions.
#[derive(Default)]
pub struct Total {
    /// The number of positions.
    pub positions: u32,
    /// The number of lines that are not a position.
    pub bad: usize,
    unsolved: u32,
    stated: u32,
    agreeing: u32,
    different: u32,
    nodes: u64,
    seconds: f64,
}

impl Total {
    /// Counts a position.
    pub fn add(&mut self, solved: &Solved) {
        self.positions += 1;
        self.unsolved += u32::from(!solved.found.solved);
        self.stated += u32::from(solved.expected.is_some());
        self.agreeing += u32::from(solved.agrees() == Some(true));
        self.different += u32::from(solved.agrees() == Some(false));
        self.nodes += solved.nodes;
        self.seconds += solved.seconds;
    }

    /// The exit code; see the help of `solve`.
    pub fn exit_code(&self) -> u8 {
        match (self.bad, self.different, self.unsolved) {
            (0, 0, 0) => 0,
            (0, _, _) => 1,
            _ => 2,
        }
    }
}

impl fmt::Display for Total {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Total { positions, bad, unsolved, stated, agreeing, nodes, seconds, .. } = self;
        let rate = *nodes as f64 / seconds.max(1e-9) / 1e6;
        write!(f, "total: {positions} positions, {agreeing} of {stated} stated scores agree")?;
        if *unsolved > 0 {
            write!(f, ", {unsolved} not solved in time")?;
        }
        if *bad > 0 {
            write!(f, ", {bad} bad lines")?;
        }
        write!(f, ", {nodes} nodes, {seconds:.3} s, {rate:.1} M nodes/s")
    }
}
