//! Results of matches and standings, as text tables and as JSON with one object in each line.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::matches::{MatchResult, tally};
use super::rating::PRIOR_GAMES;
use super::standings::{MOST_COLUMNS, Standing, Standings};
use super::tally::{SprtResult, Tally, Verdict, WinDrawLoss, elo};
use super::times::Times;
use crate::game::Geometry;
use crate::players::labels::Labels;

/// The version of the JSON objects.
const VERSION: u32 = 1;

/// The result of a match, from the first player's view.
#[derive(Clone, PartialEq, Debug)]
pub struct MatchReport {
    /// The identities of the first and the second player.
    pub names: [String; 2],
    /// Their labels.
    pub labels: [String; 2],
    /// The tally, without repetitions.
    pub tally: Tally,
    /// The number of repetitions of other games, which do not count.
    pub repeated: u32,
    /// The possible and the requested number of games, if fewer are possible.
    pub limited: Option<[u32; 2]>,
    /// The number of games that each player forfeited.
    pub forfeits: [u32; 2],
    /// The reasons of each player's forfeits, without duplicates.
    pub reasons: [Vec<String>; 2],
    /// The result of the sequential test, if there is one.
    pub sprt: Option<SprtResult>,
    /// Whether the match was stopped before its end.
    pub stopped: bool,
    /// The time that each player has used.
    pub times: [Times; 2],
}

impl MatchReport {
    /// The report of a match between the players with these identities.
    pub fn new<G: Geometry>(
        names: [&str; 2],
        labels: &Labels,
        result: &MatchResult<G>,
    ) -> MatchReport {
        let (tally, repeated) = tally(&result.games);
        let mut report = MatchReport {
            names: names.map(String::from),
            labels: names.map(|name| labels.of(name).into()),
            tally,
            repeated,
            limited: None,
            forfeits: [0; 2],
            reasons: [const { Vec::new() }; 2],
            sprt: result.sprt,
            stopped: result.stopped,
            times: Times::of_match(&result.games),
        };
        for played in &result.games {
            let Some(forfeit) = &played.forfeit else { continue };
            let player = usize::from(forfeit.by != played.first);
            report.forfeits[player] += 1;
            if !report.reasons[player].contains(&forfeit.reason) {
                report.reasons[player].push(forfeit.reason.clone());
            }
        }
        report
    }

    /// Adds the possible and the requested number of games.
    pub fn limited_to(mut self, possible: u32, requested: u32) -> MatchReport {
        self.limited = (possible < requested).then_some([possible, requested]);
        self
    }

    /// The score and its 95 % interval, from 0 to 1.
    pub fn score(&self) -> (f64, f64, f64) {
        let (low, high) = self.tally.interval();
        let score = self.tally.score();
        (score, low.min(score), high.max(score))
    }

    /// The members of all JSON objects about matches.
    fn members(&self) -> serde_json::Map<String, Value> {
        let (score, low, high) = self.score();
        let tally = &self.tally;
        let Value::Object(mut members) = json!({
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
        // Without a time limit the times are no part of the result, which is always the same.
        if self.times.iter().any(Times::is_limited) {
            let [own, opponent] = &self.times;
            members.insert("seconds".into(), json!({ "own": own, "opponent": opponent }));
        }
        members
    }

    /// The JSON object of `outflank eval` for one opponent, with the specification `opponent`.
    pub fn opponent_json(&self, opponent: &str) -> Value {
        let mut members = self.members();
        members.insert("opponent".into(), opponent.into());
        members.insert("label".into(), self.labels[1].as_str().into());
        Value::Object(members)
    }

    /// The JSON object of `outflank arena` for a match.
    pub fn match_json(&self) -> Value {
        let (score, low, high) = self.score();
        let finite = |score: f64| Some(elo(score)).filter(|elo| elo.is_finite());
        let mut members = self.members();
        members.insert("kind".into(), "match".into());
        let names = self.names.iter().chain(&self.labels);
        for (key, name) in ["first", "second", "first_label", "second_label"].iter().zip(names) {
            members.insert((*key).into(), name.as_str().into());
        }
        members.insert("elo".into(), finite(score).into());
        members.insert("elo_low".into(), finite(low).into());
        members.insert("elo_high".into(), finite(high).into());
        let verdict = self.sprt.map(|sprt| verdict_name(sprt.verdict));
        members.insert("sprt".into(), verdict.into());
        Value::Object(members)
    }

    /// Remarks that are not in the table: few games, repetitions, forfeits, an early end.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if let Some([possible, requested]) = self.limited {
            remarks.push(format!(
                "{possible} games instead of {requested}: both players are deterministic, so each \
                 opening gives one game for each colour; use more openings for more games"
            ));
        }
        if self.repeated > 0 {
            remarks.push(format!(
                "{} games are repetitions of other games and do not count",
                self.repeated
            ));
        }
        let forfeits = self.labels.iter().zip(self.forfeits).zip(&self.reasons);
        for ((label, forfeits), reasons) in forfeits {
            if forfeits > 0 {
                let reasons = reasons.join("; ");
                remarks.push(format!("{label} forfeited {forfeits} games ({reasons})"));
            }
        }
        for (label, times) in self.labels.iter().zip(&self.times) {
            let games = self.tally.games() + self.repeated;
            remarks.extend(times.remark(games).map(|remark| format!("{label}: {remark}")));
        }
        if self.stopped {
            remarks.push("the match was stopped before its end".into());
        }
        remarks
    }
}

/// The name of a verdict.
pub fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Undecided => "undecided",
        Verdict::Accepted => "accepted",
        Verdict::Rejected => "rejected",
    }
}

/// A table of one player's matches against several opponents.
pub fn opponents_table(reports: &[MatchReport]) -> String {
    let head = ["opponent", "games", "score", "95 %", "black W-D-L", "white W-D-L", "discs"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for report in reports {
        let (score, low, high) = report.score();
        let tally = &report.tally;
        let discs = tally.mean_discs().map_or("-".into(), |discs| format!("{discs:+.1}"));
        rows.push(vec![
            report.labels[1].clone(),
            tally.games().to_string(),
            percent(score),
            format!("{} to {}", percent(low), percent(high)),
            win_draw_loss(tally.black),
            win_draw_loss(tally.white),
            discs,
        ]);
    }
    let mut text = table(&rows, 1);
    for report in reports {
        for remark in report.remarks() {
            let _ = writeln!(text, "{}: {remark}", report.labels[1]);
        }
    }
    text
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn win_draw_loss(results: WinDrawLoss) -> String {
    format!("{}-{}-{}", results.wins, results.draws, results.losses)
}

/// A text table. The first `left` columns are left-aligned, the others right-aligned.
///
/// ```
/// use outflank::arena::report::table;
///
/// let rows = [["player", "Elo"], ["greedy", "0"], ["Club", "1238"]];
/// let text = table(&rows.map(|row| row.map(String::from).to_vec()), 1);
/// let widths: Vec<usize> = text.lines().map(|line| line.trim_end().len()).collect();
/// assert!(widths.iter().all(|&width| width == widths[0]), "numbers end in one column");
/// ```
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
            if column > 0 {
                line.push_str("  ");
            }
            line.push_str(&pad(cell, widths[column], column < left));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A cell, padded to the width of its column. `format!` is not used here, since it panics for
/// widths above 65,535.
pub fn pad(cell: &str, width: usize, left: bool) -> String {
    let blanks = " ".repeat(width.saturating_sub(cell.chars().count()));
    if left { cell.to_owned() + &blanks } else { blanks + cell }
}

impl Standings {
    /// The table of ratings, with a row for each player. There is a column of points for each
    /// opponent if there are at most [`MOST_COLUMNS`] players.
    pub fn text(&self) -> String {
        let mut head: Vec<String> =
            ["", "player", "rating", "+-", "games", "score"].map(String::from).to_vec();
        let columns = if self.players.len() > MOST_COLUMNS { 0 } else { self.players.len() };
        head.extend((1..=columns).map(|place| place.to_string()));
        let mut rows = vec![head];
        for (place, player) in self.players.iter().enumerate() {
            let (rating, games) = (player.rating, player.total.games());
            let mut row = vec![
                (place + 1).to_string(),
                player.label.clone(),
                format!("{:.0}", rating.elo),
                format!("{:.0}", rating.half_width()),
                games.to_string(),
                percent(player.total.points() / f64::from(games.max(1))),
            ];
            let first = row.len();
            row.resize(first + columns, String::new());
            if columns > 0 {
                player.against.iter().for_each(|&(other, met)| row[first + other] = points(met));
            }
            rows.push(row);
        }
        let mut text = table(&rows, 2);
        let of_difference = match self.anchored {
            true => format!("of the difference to {}", self.zero_label()),
            false => "of the difference to the mean of all players".into(),
        };
        let _ = writeln!(
            text,
            "Board {}, goal {}. Maximum-likelihood ratings; {} has rating 0; +- is half of the 95 % \
             interval {of_difference}.",
            self.board,
            self.goal,
            self.zero_label(),
        );
        let _ = writeln!(
            text,
            "Each player also gets {PRIOR_GAMES} drawn games against an imaginary player in the middle \
             of the field."
        );
        if columns < self.players.len() {
            let _ = writeln!(
                text,
                "There are more than {MOST_COLUMNS} players, so the results of pairs are left out; \
                 --json has them."
            );
        }
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

    /// The JSON object of a player.
    pub fn player_json(&self, player: &Standing) -> Value {
        let met = player.against.iter().map(|&(place, met)| (&self.players[place], met));
        let against: serde_json::Map<_, _> =
            met.map(|(other, met)| (other.name.clone(), json!(met))).collect();
        json!({
            "version": VERSION,
            "kind": "rating",
            "board": self.board.name(),
            "goal": self.goal.name(),
            "zero": self.zero,
            "player": player.name,
            "label": player.label,
            "rating": player.rating.elo,
            "error": player.rating.error,
            "games": player.total.games(),
            "score": player.total.points() / f64::from(player.total.games().max(1)),
            "against": against,
            "step": player.origin.as_ref().map(|origin| origin.step),
        })
    }
}

/// Points and games, such as `7.5/10`; empty if the players have not met.
pub fn points(met: WinDrawLoss) -> String {
    if met.games() == 0 { String::new() } else { format!("{}/{}", met.points(), met.games()) }
}
