//! `outflank book export`: the positions of a book as lines of text.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use super::super::success_on_broken_pipe;
use super::show::position_json;
use super::{read, score};
use crate::game::notation::{obf, square_name, transcript};
use crate::game::{Colour, Geometry};
use crate::store::book::{Book, DISC, Header, Step};

/// The form of the lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Form {
    /// A transcript for each line of play, with its score in discs for black
    Transcripts,
    /// An OBF line for each position, with the scores of its moves in whole discs
    Obf,
    /// A JSON object for each position, as `show --json` prints it
    Json,
}

/// Prints the positions of a book that can be reached from the start position.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The file of the book
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The form of the lines. All lines of play together lead to every position of the book
    #[arg(long, value_name = "FORM", default_value = "transcripts")]
    to: Form,
}

/// Runs the subcommand.
///
/// # Errors
///
/// The book cannot be read, or standard output cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let header = Header::read(&args.file)?;
    dispatch!(header.shape, G => export::<G>(args, header))
}

fn export<G: Geometry>(args: &Args, header: Header) -> anyhow::Result<ExitCode> {
    let book = read::<G>(&args.file, header)?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for step in book.walk() {
        let line = match args.to {
            Form::Transcripts if step.goes_on => continue,
            Form::Transcripts => line_of_play(&book, &step),
            Form::Obf => obf_line(&step),
            Form::Json => {
                let mut line = position_json(&book, step.position, &step.moves);
                line["line"] = transcript::<G>(step.line.iter().copied()).into();
                line.to_string()
            }
        };
        if let Err(error) = writeln!(out, "{line}") {
            return success_on_broken_pipe(error);
        }
    }
    match out.flush() {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => success_on_broken_pipe(error),
    }
}

fn line_of_play<G: Geometry>(book: &Book<G>, step: &Step<G>) -> String {
    let line = match step.line.is_empty() {
        true => "start".into(),
        false => transcript::<G>(step.line.iter().copied()),
    };
    match book.value(step.position.board) {
        Some(value) if step.position.side == Colour::Black => {
            format!("{line} {}", score(value.low))
        }
        Some(value) => format!("{line} {}", score(-value.low)),
        None => line,
    }
}

fn obf_line<G: Geometry>(step: &Step<G>) -> String {
    let mut line = format!("{};", obf(step.position));
    for one in &step.moves {
        if let Some(value) = one.value {
            let whole = (f32::from(value.low) / f32::from(DISC)).round() as i32;
            let _ = write!(line, " {}:{whole:+};", square_name::<G>(one.square));
        }
    }
    line
}
