//! `outflank library`: searches the games of a folder.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use serde::Serialize;

use super::screen::{self, Layout};
use super::span::Span;
use crate::game::notation::{plain_excerpt, square_name, transcript};
use crate::game::{Geometry, Goal, Position, Shape};
use crate::store::import::text;
use crate::store::library::{Changes, Found, Library, Query, Row, Sort, Winner};

/// Searches the games of a folder by player, event, year, opening, result and position.
///
/// The folder and those inside it may have files of WTHOR (with the lists of names beside them), GGF,
/// JSON and transcripts, and runs. An index of them is made at the first time and kept in the folder,
/// in outflank-library.db; later only files that have changed are read. The index can be removed at
/// any time.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The file of the index; by default in the folder
    #[arg(long, value_name = "FILE")]
    index: Option<PathBuf>,
    /// Only games of a player whose name has this text, in upper or lower case; by default of all
    #[arg(long, value_name = "TEXT")]
    player: Option<String>,
    /// Only games against a player whose name has this text; by default against all
    #[arg(long, value_name = "TEXT")]
    opponent: Option<String>,
    /// Only games of an event whose name has this text; by default of all
    #[arg(long, value_name = "TEXT")]
    event: Option<String>,
    /// Only games whose opening's name has this text, such as tiger; by default all
    #[arg(long, value_name = "TEXT")]
    opening: Option<String>,
    /// Only games of a year, such as 1999, or of several, such as 1990..2005; by default of all
    #[arg(long, value_name = "YEARS")]
    years: Option<Span>,
    /// Only games with this final score for black, such as 2..64 or -6..6; by default all
    #[arg(long, value_name = "SCORES", allow_hyphen_values = true)]
    score: Option<Span>,
    /// Only games that black, white, the player of --player, or the opponent won, or a draw; by
    /// default all
    #[arg(long, value_name = "WINNER")]
    winner: Option<Winner>,
    /// Only games that had this position, as moves such as f5d6c3 or as 64 characters and a side, or
    /// an image of it; by default all
    #[arg(long, value_name = "POSITION")]
    position: Option<String>,
    /// What was played in the position of --position, or at the start, instead of games
    #[arg(long)]
    explore: bool,
    /// Print one game whole, by its number in the list; by default a list is printed
    #[arg(long, value_name = "N", conflicts_with_all = ["explore", "position"])]
    game: Option<i64>,
    /// Only games that were played on the page
    #[arg(long)]
    own: bool,
    /// Only games on this board; by default on all, and 8x8 for --position and --explore
    #[arg(long, value_name = "BOARD")]
    shape: Option<Shape>,
    /// Only games with this goal, most or fewest; by default with both, and most for --position and
    /// --explore
    #[arg(long, value_name = "GOAL")]
    goal: Option<Goal>,
    /// The order: year, black, white, event, opening or score
    #[arg(long, value_name = "ORDER", default_value_t = Sort::Year)]
    sort: Sort,
    /// The order turned round
    #[arg(long)]
    reverse: bool,
    /// The most games that are printed
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  outflank library wthor --player tastet --years 1990..1999 --winner player
  outflank library wthor --opening rose --sort score --limit 5
  outflank library wthor --position f5d6c3d3c4 --explore
  outflank library wthor --game 137000";

/// Runs the subcommand.
///
/// # Errors
///
/// The folder or the index cannot be used, the position is wrong, or there is no such game.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut library = Library::open(&args.folder, args.index.as_deref())?;
    let changes = library.refresh(|done, files| {
        if done > 0 && done % 100 == 0 {
            tell!("{done} of {files} files");
        }
    })?;
    tell_changes(&changes);
    if let Some(id) = args.game {
        let (row, record) = library.game(id)?;
        let moves = record.moves.iter().map(|made| made.square);
        let moves = dispatch!(record.shape, G => transcript::<G>(moves));
        let line = Line { moves: Some(moves), ..Line::of(&row) };
        print!("{}", if args.json { json(&line)? } else { line.text() });
        return Ok(ExitCode::SUCCESS);
    }
    if args.position.is_some() || args.explore {
        return dispatch!(args.shape.unwrap_or(Shape::Square8), G => at_position::<G>(args, &library));
    }
    list(args, &library.search(&args.query())?)
}

impl Args {
    fn query(&self) -> Query {
        Query {
            player: self.player.clone(),
            opponent: self.opponent.clone(),
            event: self.event.clone(),
            opening: self.opening.clone(),
            years: self.years.map(Span::ends),
            scores: self.score.map(Span::ends),
            winner: self.winner,
            board: self.shape,
            goal: self.goal,
            is_own: self.own,
            sort: self.sort,
            reversed: self.reverse,
            skip: 0,
            most: self.limit,
        }
    }
}

fn tell_changes(changes: &Changes) {
    if changes.read + changes.removed > 0 {
        let Changes { read, removed, games, faults, .. } = changes;
        let gone = if *removed > 0 { format!(", {removed} are gone") } else { String::new() };
        tell!("{read} new or changed files{gone}; {games} games, {faults} left out as unreadable");
    }
    for problem in &changes.problems {
        tell!("not read: {}", plain_excerpt(&problem.message, 400));
    }
}

/// The search at a position.
fn at_position<G: Geometry>(args: &Args, library: &Library) -> anyhow::Result<ExitCode> {
    let goal = args.goal.unwrap_or_default();
    let position = match &args.position {
        Some(text) => text::read::<G>(text).context("--position")?.position(),
        None => Position::start(),
    };
    if !args.explore {
        return list(args, &library.search_position(&args.query(), position, goal)?);
    }
    let explored = library.explore(position, goal, library.among(&args.query())?.as_ref())?;
    let moves: Vec<Move> = explored
        .moves
        .iter()
        .map(|next| Move {
            version: 1,
            name: square_name::<G>(next.square),
            games: next.games,
            black: next.black,
            white: next.white,
            draws: next.draws,
            mean: next.mean(),
        })
        .collect();
    if args.json {
        for next in &moves {
            print!("{}", json(next)?);
        }
        return Ok(ExitCode::SUCCESS);
    }
    println!("{} games", explored.games);
    if !moves.is_empty() {
        let mut rows = vec![MOVES.map(String::from).to_vec()];
        rows.extend(moves.iter().map(Move::row));
        print!("{}", screen::table(&rows, MOVES_LAYOUT, screen::columns()));
    }
    Ok(ExitCode::SUCCESS)
}

const MOVES: [&str; 6] = ["move", "games", "black wins", "white wins", "draws", "mean score"];
const MOVES_LAYOUT: Layout = Layout { texts: &[0], left_out: &[] };

/// How games went on with a move. Scores are for black.
#[derive(Serialize)]
struct Move {
    version: u32,
    #[serde(rename = "move")]
    name: String,
    games: u64,
    black: u64,
    white: u64,
    draws: u64,
    mean: Option<f64>,
}

impl Move {
    fn row(&self) -> Vec<String> {
        let mean = self.mean.map_or("-".into(), |mean| format!("{mean:+.1}"));
        let counts =
            [self.games, self.black, self.white, self.draws].map(|count| count.to_string());
        std::iter::once(self.name.clone()).chain(counts).chain([mean]).collect()
    }
}

const HEAD: [&str; 7] = ["game", "date", "black", "score", "white", "opening", "event"];
const LAYOUT: Layout = Layout { texts: &[1, 2, 4, 5, 6], left_out: &[6, 5, 1] };
/// The most characters of a name in the list.
const NAME: usize = 28;

fn list(args: &Args, found: &Found) -> anyhow::Result<ExitCode> {
    let lines: Vec<Line> = found.rows.iter().map(Line::of).collect();
    if args.json {
        for line in &lines {
            print!("{}", json(line)?);
        }
        return Ok(ExitCode::SUCCESS);
    }
    if !lines.is_empty() {
        let mut rows = vec![HEAD.map(String::from).to_vec()];
        rows.extend(lines.iter().map(Line::row));
        print!("{}", screen::table(&rows, LAYOUT, screen::columns()));
    }
    match found.total {
        1 => println!("1 game"),
        total if total > lines.len() => println!("{} of {total} games", lines.len()),
        total => println!("{total} games"),
    }
    Ok(ExitCode::SUCCESS)
}

/// A game as `--json` prints it.
#[derive(Serialize)]
struct Line<'a> {
    version: u32,
    #[serde(flatten)]
    game: &'a Row,
    #[serde(skip_serializing_if = "Option::is_none")]
    moves: Option<String>,
}

impl Line<'_> {
    fn of(game: &Row) -> Line<'_> {
        Line { version: 1, game, moves: None }
    }

    fn score(&self) -> String {
        self.game.score.map_or("?".into(), |score| format!("{score:+}"))
    }

    fn row(&self) -> Vec<String> {
        let short =
            |text: &Option<String>| plain_excerpt(text.as_deref().unwrap_or("-"), NAME).to_string();
        let [date, black, white] = [&self.game.date, &self.game.black, &self.game.white].map(short);
        let [opening, event] = [&self.game.opening, &self.game.event].map(short);
        vec![self.game.id.to_string(), date, black, self.score(), white, opening, event]
    }

    /// All that is known, a line for each.
    fn text(&self) -> String {
        let text = |text: &Option<String>| plain_excerpt(text.as_deref().unwrap_or("-"), 200);
        let file = format!("{}, game {}", plain_excerpt(&self.game.file, 1000), self.game.number);
        let lines = [
            ("black", text(&self.game.black)),
            ("white", text(&self.game.white)),
            ("score", self.score().into()),
            ("date", text(&self.game.date)),
            ("event", text(&self.game.event)),
            ("opening", text(&self.game.opening)),
            ("board", format!("{}, goal {}", self.game.board, self.game.goal).into()),
            ("file", file.into()),
            ("moves", self.moves.as_deref().unwrap_or_default().into()),
        ];
        lines.iter().map(|(name, text)| format!("{name:<9}{text}\n")).collect()
    }
}

fn json(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(value).map(|line| line + "\n")
}
