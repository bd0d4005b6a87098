//! Results as text for people and as JSON, one object a line, for programs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::matches::{Outcome, tally};
use super::rating::PRIOR_GAMES;
use super::standings::{Standing, Standings};
use super::tally::{Outcomes, Ruling, Tally, Verdict, elo};
use crate::game::{Colour, Geometry};

/// The version of the JSON objects.
const VERSION: u32 = 1;

/// A match's result from the view of its first player.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// The first player's name.
    pub first: String,
    /// The second player's name.
    pub second: String,
    /// The count, each game once.
    pub tally: Tally,
    /// Games that repeated another one and are not counted.
    pub repeated: u32,
    /// How many games there can be, if that is less than was asked for, and what was asked for.
    pub limited: Option<[u32; 2]>,
    /// Games that the first and the second player forfeited.
    pub forfeits: [u32; 2],
    /// Why each of them did, each reason once.
    pub reasons: [Vec<String>; 2],
    /// What the sequential test says, if there is one.
    pub ruling: Option<Ruling>,
    /// Whether the match was stopped before its end.
    pub stopped: bool,
}

impl Report {
    /// Counts a match between two players of these names.
    pub fn new<G: Geometry>(first: &str, second: &str, outcome: &Outcome<G>) -> Report {
        let (tally, repeated) = tally(&outcome.games);
        let mut report = Report {
            first: first.into(),
            second: second.into(),
            tally,
            repeated,
            limited: None,
            forfeits: [0; 2],
            reasons: [const { Vec::new() }; 2],
            ruling: outcome.ruling,
            stopped: outcome.stopped,
        };
        for played in &outcome.games {
            let Some(forfeit) = &played.forfeit else { continue };
            let player = usize::from(forfeit.by != played.first);
            report.forfeits[player] += 1;
            if !report.reasons[player].contains(&forfeit.reason) {
                report.reasons[player].push(forfeit.reason.clone());
            }
        }
        report
    }

    /// Notes that there can be only `possible` games where `asked` were asked for.
    pub fn limited_to(mut self, possible: u32, asked: u32) -> Report {
        self.limited = (possible < asked).then_some([possible, asked]);
        self
    }

    /// The score and its 95 % interval, 0 to 1.
    pub fn score(&self) -> (f64, f64, f64) {
        let (low, high) = self.tally.interval();
        let score = self.tally.score();
        (score, low.min(score), high.max(score))
    }

    /// The members that every JSON object of a match has.
    fn members(&self) -> serde_json::Map<String, Value> {
        let (score, low, high) = self.score();
        let tally = &self.tally;
        let Value::Object(members) = json!({
            "version": VERSION,
            "games": tally.games(),
            "score": score,
            "low": low,
            "high": high,
            "black": tally.black,
            "white": tally.white,
            "mean_discs": tally.mean_discs(),
            "repeated": self.repeated,
            "forfeits": { "own": self.forfeits[0], "opponent": self.forfeits[1] },
            "stopped": self.stopped,
        }) else {
            return serde_json::Map::new();
        };
        members
    }

    /// The result of an evaluated player against one opponent, which the user named `opponent`.
    pub fn opponent_json(&self, opponent: &str) -> Value {
        let mut members = self.members();
        members.insert("opponent".into(), opponent.into());
        Value::Object(members)
    }

    /// The result of a match of an arena.
    pub fn match_json(&self) -> Value {
        let (score, low, high) = self.score();
        let finite = |score: f64| Some(elo(score)).filter(|elo| elo.is_finite());
        let mut members = self.members();
        members.insert("kind".into(), "match".into());
        members.insert("first".into(), self.first.as_str().into());
        members.insert("second".into(), self.second.as_str().into());
        members.insert("elo".into(), finite(score).into());
        members.insert("elo_low".into(), finite(low).into());
        members.insert("elo_high".into(), finite(high).into());
        let verdict = self.ruling.map(|ruling| verdict_name(ruling.verdict));
        members.insert("sprt".into(), verdict.into());
        Value::Object(members)
    }

    /// What is not in the table's row: forfeits, repeated games, an early end.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if let Some([possible, asked]) = self.limited {
            remarks.push(format!(
                "{possible} games instead of {asked}: both players always move alike, so each opening gives one game for each colour; more openings give more games"
            ));
        }
        if self.repeated > 0 {
            remarks.push(format!(
                "{} games repeated another one move by move and are not counted",
                self.repeated
            ));
        }
        let names = [&self.first, &self.second];
        for ((name, forfeits), reasons) in names.into_iter().zip(self.forfeits).zip(&self.reasons) {
            if forfeits > 0 {
                let reasons = reasons.join("; ");
                remarks.push(format!("{name} forfeited {forfeits} games ({reasons})"));
            }
        }
        if self.stopped {
            remarks.push("the match was stopped before its end".into());
        }
        remarks
    }
}

/// The name of a sequential test's verdict.
pub fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Undecided => "undecided",
        Verdict::Accepted => "accepted",
        Verdict::Rejected => "rejected",
    }
}

/// A table of one player's matches against others.
pub fn opponents_table(reports: &[(String, Report)]) -> String {
    let head = ["opponent", "games", "score", "95 %", "black W-D-L", "white W-D-L", "discs"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for (opponent, report) in reports {
        let (score, low, high) = report.score();
        let tally = &report.tally;
        let discs = tally.mean_discs().map_or("-".into(), |discs| format!("{discs:+.1}"));
        rows.push(vec![
            opponent.clone(),
            tally.games().to_string(),
            percent(score),
            format!("{} to {}", percent(low), percent(high)),
            record(tally.black),
            record(tally.white),
            discs,
        ]);
    }
    let mut text = table(&rows, 1);
    for (opponent, report) in reports {
        for remark in report.remarks() {
            let _ = writeln!(text, "{opponent}: {remark}");
        }
    }
    text
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn record(outcomes: Outcomes) -> String {
    format!("{}-{}-{}", outcomes.wins, outcomes.draws, outcomes.losses)
}

/// Rows as columns of text: the first `left` columns flush left, the others flush right.
pub fn table(rows: &[Vec<String>], left: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let length =
        |row: &Vec<String>, column: usize| row.get(column).map_or(0, |c| c.chars().count());
    let widths: Vec<_> = (0..columns)
        .map(|column| rows.iter().map(|row| length(row, column)).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = widths[column];
            let _ = match column < left {
                true => write!(line, "{cell:<width$}  "),
                false => write!(line, "{cell:>width$}  "),
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

impl Standings {
    /// The crosstable with ratings: a row for each player, a column of points for each opponent.
    pub fn text(&self) -> String {
        let mut head: Vec<String> =
            ["", "player", "rating", "+-", "games", "score"].map(String::from).to_vec();
        head.extend((1..=self.players.len()).map(|place| place.to_string()));
        let mut rows = vec![head];
        for (place, player) in self.players.iter().enumerate() {
            let (rating, games) = (player.rating, player.total.games());
            let mut row = vec![
                (place + 1).to_string(),
                player.name.clone(),
                format!("{:.0}", rating.elo),
                format!("{:.0}", rating.half_width()),
                games.to_string(),
                percent(player.total.points() / f64::from(games.max(1))),
            ];
            row.extend(player.against.iter().map(|met| points(*met)));
            rows.push(row);
        }
        let mut text = table(&rows, 2);
        let against = match &self.zero {
            Some(name) if self.anchored => format!("of the difference to {name}"),
            _ => "against the mean of all".into(),
        };
        let _ = writeln!(
            text,
            "Board {}, goal {}. Maximum-likelihood ratings, {} being 0; +- is half a 95 % interval {against}.",
            self.board,
            self.goal,
            self.zero.as_deref().unwrap_or("the mean of all"),
        );
        let _ = writeln!(
            text,
            "Each player is given {PRIOR_GAMES} of a drawn game against the middle of the field, and nothing else is assumed."
        );
        if self.repeated > 0 {
            let _ = writeln!(text, "{} repeated games do not count.", self.repeated);
        }
        if self.broken > 0 {
            let _ = writeln!(text, "{} games that break the rules do not count.", self.broken);
        }
        text
    }

    /// One JSON object for each player, best first.
    pub fn json(&self) -> Vec<Value> {
        self.players.iter().map(|player| self.player_json(player)).collect()
    }

    fn player_json(&self, player: &Standing) -> Value {
        let met = self.players.iter().zip(&player.against).filter(|(_, met)| met.games() > 0);
        let against: serde_json::Map<_, _> =
            met.map(|(other, met)| (other.name.clone(), json!(met))).collect();
        json!({
            "version": VERSION,
            "kind": "rating",
            "board": self.board.name(),
            "goal": self.goal.name(),
            "zero": self.zero,
            "player": player.name,
            "rating": player.rating.elo,
            "error": player.rating.error,
            "games": player.total.games(),
            "score": player.total.points() / f64::from(player.total.games().max(1)),
            "against": against,
            "step": player.origin.as_ref().map(|origin| origin.step),
        })
    }
}

/// `7.5/10`, or nothing where two players have not met.
pub fn points(met: Outcomes) -> String {
    if met.games() == 0 { String::new() } else { format!("{}/{}", met.points(), met.games()) }
}

/// The colour's letter in a table: `B` or `W`.
pub fn letter(colour: Colour) -> char {
    if colour == Colour::Black { 'B' } else { 'W' }
}
