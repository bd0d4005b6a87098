//! Counts of games, and the names of those that are not used.

use serde::Serialize;

use crate::arena::report::pad;
use crate::store::export::LeftOut;
use crate::store::import::{Ending, Fault, Game, GameFile};
use crate::store::lines::{SHOWN, shortened};

/// Counts of the games of a file, or of all.
#[derive(Clone, Default, Debug)]
pub(super) struct Counts {
    pub finished: u64,
    pub resigned: u64,
    pub unfinished: u64,
    /// Games that break the rules.
    pub illegal: u64,
    /// Games that cannot be read.
    pub unreadable: u64,
    /// Games that a format cannot hold.
    pub left_out: u64,
    /// Positions with a move, of games that can be read.
    pub positions: u64,
    /// Games whose source states another score than the rules.
    pub other_score: u64,
    black: u64,
    draws: u64,
    white: u64,
    score_sum: i64,
    years: Option<(u16, u16)>,
}

/// The counts as `--json` prints them.
#[derive(Serialize)]
struct Line<'a> {
    version: u32,
    /// `null` for the sum of all files.
    file: Option<&'a str>,
    games: u64,
    finished: u64,
    resigned: u64,
    unfinished: u64,
    illegal: u64,
    unreadable: u64,
    positions: u64,
    other_score: u64,
    black_wins: u64,
    draws: u64,
    white_wins: u64,
    mean_score: Option<f64>,
    first_year: Option<u16>,
    last_year: Option<u16>,
}

impl Counts {
    fn add_game(&mut self, game: &Game) {
        match game.ending {
            Ending::Finished => self.finished += 1,
            Ending::Resigned => self.resigned += 1,
            Ending::Unfinished => self.unfinished += 1,
        }
        self.positions += game.record.moves.len() as u64;
        if let Some(score) = game.score() {
            match score.signum() {
                1 => self.black += 1,
                0 => self.draws += 1,
                _ => self.white += 1,
            }
            self.score_sum += i64::from(score);
            self.other_score += u64::from(game.stated.is_some());
        }
        if let Some(year) = game.year() {
            let (low, high) = self.years.unwrap_or((year, year));
            self.years = Some((low.min(year), high.max(year)));
        }
    }

    fn add(&mut self, other: &Counts) {
        self.finished += other.finished;
        self.resigned += other.resigned;
        self.unfinished += other.unfinished;
        self.illegal += other.illegal;
        self.unreadable += other.unreadable;
        self.left_out += other.left_out;
        self.positions += other.positions;
        self.other_score += other.other_score;
        self.black += other.black;
        self.draws += other.draws;
        self.white += other.white;
        self.score_sum += other.score_sum;
        for year in other.years.into_iter().flat_map(|(low, high)| [low, high]) {
            let (low, high) = self.years.unwrap_or((year, year));
            self.years = Some((low.min(year), high.max(year)));
        }
    }

    /// The games that keep the rules.
    pub fn games(&self) -> u64 {
        self.finished + self.resigned + self.unfinished
    }

    fn mean_score(&self) -> Option<f64> {
        let games = self.black + self.draws + self.white;
        (games > 0).then(|| self.score_sum as f64 / games as f64)
    }

    fn line<'a>(&self, file: Option<&'a str>) -> Line<'a> {
        Line {
            version: 1,
            file,
            games: self.games(),
            finished: self.finished,
            resigned: self.resigned,
            unfinished: self.unfinished,
            illegal: self.illegal,
            unreadable: self.unreadable,
            positions: self.positions,
            other_score: self.other_score,
            black_wins: self.black,
            draws: self.draws,
            white_wins: self.white,
            mean_score: self.mean_score(),
            first_year: self.years.map(|(low, _)| low),
            last_year: self.years.map(|(_, high)| high),
        }
    }

    fn cells(&self, name: &str) -> Vec<String> {
        let numbers = [
            self.games(),
            self.finished,
            self.resigned,
            self.unfinished,
            self.illegal,
            self.unreadable,
            self.positions,
        ];
        std::iter::once(name.to_string()).chain(numbers.iter().map(u64::to_string)).collect()
    }
}

/// Counts by file. Names games that are not used, or not finished, on standard error.
pub(super) struct Report {
    files: Vec<(String, Counts)>,
    unit: &'static str,
    /// Whether all of them are named, not only the first of a file.
    names_all: bool,
    /// Those of this file so far.
    named: u64,
}

impl Report {
    pub fn new(names_all: bool) -> Report {
        Report { files: Vec::new(), unit: "game", names_all, named: 0 }
    }

    /// Begins a file.
    pub fn begin(&mut self, file: &GameFile) {
        self.end_file();
        self.files.push((file.path.display().to_string(), Counts::default()));
        self.unit = file.unit();
    }

    /// Counts a game.
    pub fn game(&mut self, number: u64, game: &Game) {
        if let Some((_, counts)) = self.files.last_mut() {
            counts.add_game(game);
        }
        if game.ending == Ending::Unfinished {
            let moves = game.record.moves.len();
            self.name(number, &format!("unfinished after move {moves}"));
        }
    }

    /// Counts a game that is not used.
    pub fn fault(&mut self, number: u64, fault: &Fault) {
        if let Some((_, counts)) = self.files.last_mut() {
            match fault.is_illegal() {
                true => counts.illegal += 1,
                false => counts.unreadable += 1,
            }
        }
        self.name(number, &format!("{}; left out", shortened(fault)));
    }

    /// Counts a game that the format cannot hold.
    pub fn left_out(&mut self, number: u64, reason: LeftOut) {
        if let Some((_, counts)) = self.files.last_mut() {
            counts.left_out += 1;
        }
        // An unfinished game has been named.
        if reason != LeftOut::NoResult {
            self.name(number, &format!("left out: {reason}"));
        }
    }

    fn name(&mut self, number: u64, problem: &str) {
        self.named += 1;
        if let Some((file, _)) = self.files.last()
            && (self.names_all || self.named <= SHOWN as u64)
        {
            tell!("{file}: {} {number}: {problem}", self.unit);
        }
    }

    fn end_file(&mut self) {
        let more = std::mem::take(&mut self.named).saturating_sub(SHOWN as u64);
        if let Some((file, _)) = self.files.last()
            && more > 0
            && !self.names_all
        {
            tell!("{file}: {more} more such lines; --all shows them");
        }
    }

    fn total(&self) -> Counts {
        let mut total = Counts::default();
        self.files.iter().for_each(|(_, counts)| total.add(counts));
        total
    }

    /// Prints a table, or lines of JSON.
    pub fn print(mut self, json: bool) -> anyhow::Result<()> {
        self.end_file();
        let total = self.total();
        if json {
            for (file, counts) in &self.files {
                println!("{}", serde_json::to_string(&counts.line(Some(file)))?);
            }
            println!("{}", serde_json::to_string(&total.line(None))?);
            return Ok(());
        }
        let head = [
            "file",
            "games",
            "finished",
            "resigned",
            "unfinished",
            "illegal",
            "unreadable",
            "positions",
        ];
        let mut rows = vec![head.map(String::from).to_vec()];
        rows.extend(self.files.iter().map(|(file, counts)| counts.cells(file)));
        if self.files.len() > 1 {
            rows.push(total.cells("all"));
        }
        print!("{}", table(&rows));
        if let Some(mean) = total.mean_score() {
            let Counts { black, draws, white, .. } = total;
            println!(
                "black wins {black}, draws {draws}, white wins {white}; mean score {mean:+.2}"
            );
        }
        if let Some((low, high)) = total.years {
            println!("years {low} to {high}");
        }
        if total.other_score > 0 {
            println!("{} games have another score than their source states", total.other_score);
        }
        Ok(())
    }

    /// Says on standard error how many games were written and left out.
    pub fn tell(mut self) {
        self.end_file();
        let Counts { unfinished, illegal, unreadable, left_out, .. } = self.total();
        let written = self.total().games() - left_out;
        tell!(
            "{written} games written, {unfinished} unfinished; left out: {illegal} illegal, \
             {unreadable} unreadable, {left_out} that the format cannot hold"
        );
    }
}

fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate();
        let cells: Vec<_> = cells.map(|(at, (cell, &width))| pad(cell, width, at == 0)).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}
