//! `outflank book show`: a position of a book with its moves.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::{Value as Json, json};

use super::super::solve::parse_text;
use super::{count_open, discs, read, score};
use crate::game::notation::{diagram, obf, square_name};
use crate::game::{Geometry, Position};
use crate::store::book::{Book, BookMove, DISC, Header, Leaf, Next, Source, Value};

/// Shows a position of a book with its moves and their scores.
///
/// Scores are in discs for the side to move. The exit code is 1 if the book does not have the
/// position.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The file of the book
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The position: a transcript such as f5d6, or an OBF line
    #[arg(value_name = "POSITION", default_value = "start", allow_hyphen_values = true)]
    position: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
///
/// # Errors
///
/// The book cannot be read, or the position is none of its board.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let header = Header::read(&args.file)?;
    dispatch!(header.shape, G => show::<G>(args, header))
}

fn show<G: Geometry>(args: &Args, header: Header) -> anyhow::Result<ExitCode> {
    let (position, _) = parse_text::<G>(args.position.trim())
        .with_context(|| format!("`{}` is no position", args.position))?;
    let position = position.pass_if_forced();
    let book = read::<G>(&args.file, header)?;
    let moves = book.ranked_moves(position.board);
    let found = moves.is_some();
    let moves = moves.unwrap_or_default();
    if args.json {
        let mut line = position_json(&book, position, &moves);
        line["shape"] = G::SHAPE.name().into();
        line["goal"] = header.goal.name().into();
        line["positions"] = book.len().into();
        line["open"] = count_open(&book).into();
        line["found"] = found.into();
        println!("{line}");
    } else {
        let (file, count) = (args.file.display(), book.len());
        println!("{file}: {}, goal {}, {count} positions", G::SHAPE, header.goal);
        println!("\n{}\n", diagram(position));
        match found {
            true => print!("{}", table(&book, position, &moves)),
            false => println!("{} to move: not in the book", position.side),
        }
    }
    Ok(ExitCode::from(u8::from(!found)))
}

/// The value of a position and a table of its moves.
fn table<G: Geometry>(book: &Book<G>, position: Position<G>, moves: &[BookMove<G>]) -> String {
    let side = position.side;
    let mut text = match book.value(position.board) {
        Some(value) => format!("{side} to move, value {}\n", discs(value)),
        None => format!("{side} to move; its moves were never searched\n"),
    };
    text += "move    score  depth  positions\n";
    for one in moves {
        let value = one.value.map_or("-".into(), |value| score(value.low));
        let depth = match one.source {
            Source::Book => "book".into(),
            Source::End | Source::Leaf(Leaf::EXACT) => "exact".into(),
            Source::Leaf(depth) => depth.to_string(),
            Source::Unknown => "-".into(),
        };
        let name = square_name::<G>(one.square);
        text += &format!("{name:>4} {value:>8}  {depth:>5}  {:>9}\n", below(book, one));
    }
    text
}

/// The positions of the book after a move.
fn below<G: Geometry>(book: &Book<G>, one: &BookMove<G>) -> usize {
    match one.next {
        Next::Position { board, .. } => book.count_from(board),
        Next::End(_) => 0,
    }
}

/// A position with its moves, as `show` and `export` print it.
pub fn position_json<G: Geometry>(
    book: &Book<G>,
    position: Position<G>,
    moves: &[BookMove<G>],
) -> Json {
    let in_discs = |hundredths: i16| f64::from(hundredths) / f64::from(DISC);
    let low = |value: Option<Value>| value.map(|value| in_discs(value.low));
    let high = |value: Option<Value>| value.map(|value| in_discs(value.high));
    let move_json = |one: &BookMove<G>| {
        let (source, depth) = match one.source {
            Source::Book => ("book", None),
            Source::End => ("end", None),
            Source::Leaf(Leaf::EXACT) => ("exact", None),
            Source::Leaf(depth) => ("search", Some(depth)),
            Source::Unknown => ("unknown", None),
        };
        json!({
            "move": square_name::<G>(one.square),
            "score": low(one.value),
            "at_most": high(one.value),
            "source": source,
            "depth": depth,
            "positions": below(book, one),
        })
    };
    let value = book.value(position.board);
    json!({
        "version": 1,
        "position": obf(position),
        "score": low(value),
        "at_most": high(value),
        "moves": moves.iter().map(move_json).collect::<Vec<_>>(),
    })
}
