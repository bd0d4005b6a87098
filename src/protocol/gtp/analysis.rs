//! `lz-analyze` and `kata-analyze`: hints that improve until the next line comes.
//!
//! The form is that of Leela Zero and KataGo. The arguments are `[COLOUR] [INTERVAL]` and pairs of
//! a key and a value. Each report is one line with all moves: `info move F5 visits 12 winrate 0.53
//! ... order 0 pv F5 D6`. Values are for the side to move.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

use super::{Server, colour, shown};
use crate::game::notation::square_name;
use crate::game::{Colour, Geometry};
use crate::players::control::{Analysis, Control, Effort};
use crate::protocol::inbox::{Inbox, Urgency};

/// The time between two reports if the controller does not say.
const INTERVAL: Duration = Duration::from_millis(500);

/// The program whose number format is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// Leela Zero's: whole numbers; 10,000 is a certain win.
    Leela,
    /// KataGo's: fractions, and scores.
    Kata,
}

/// An analysis command with its arguments.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Request {
    form: Form,
    side: Option<Colour>,
    interval: Duration,
    most: usize,
}

impl Request {
    /// The request behind a command; `None` if it is another command.
    pub fn of(command: &str, arguments: &[String]) -> Option<Result<Request, String>> {
        let form = match command {
            "lz-analyze" => Form::Leela,
            "kata-analyze" => Form::Kata,
            _ => return None,
        };
        Some(Request::read(form, arguments))
    }

    fn read(form: Form, arguments: &[String]) -> Result<Request, String> {
        let mut request = Request { form, side: None, interval: INTERVAL, most: usize::MAX };
        let mut words = arguments.iter().map(String::as_str).peekable();
        if let Some(side) = words.peek().and_then(|word| colour(word).ok()) {
            request.side = Some(side);
            words.next();
        }
        if let Some(interval) = words.peek().and_then(|word| centiseconds(word)) {
            request.interval = interval;
            words.next();
        }
        while let Some(key) = words.next() {
            let value =
                words.next().ok_or_else(|| format!("syntax error: `{key}` has no value"))?;
            let wrong = || format!("syntax error: `{key}` cannot be `{value}`");
            match key {
                "interval" => request.interval = centiseconds(value).ok_or_else(wrong)?,
                "maxmoves" => {
                    request.most = value.parse().ok().filter(|&most| most > 0).ok_or_else(wrong)?;
                }
                // All moves are shown anyway.
                "minmoves" => drop(value.parse::<usize>().map_err(|_| wrong())?),
                _ => {
                    return Err(format!(
                        "syntax error: unknown key `{key}`; allowed: interval, maxmoves, minmoves"
                    ));
                }
            }
        }
        Ok(request)
    }
}

/// A time in hundredths of a second, an hour at most. 0 counts as 1: otherwise the player would
/// only write reports.
fn centiseconds(text: &str) -> Option<Duration> {
    let number: u64 = text.parse().ok()?;
    (number <= 360_000).then(|| Duration::from_millis(10 * number.max(1)))
}

impl<G: Geometry> Server<'_, G> {
    /// Analyzes the position until the next line comes, and writes the whole answer. A refused
    /// request is returned as the inner error; the caller writes it.
    pub(super) fn analyze(
        &mut self,
        request: &Request,
        id: Option<u64>,
        inbox: &mut Inbox,
        output: &mut impl Write,
    ) -> io::Result<Result<(), String>> {
        if let Err(error) = self.turn_of(request.side) {
            return Ok(Err(error));
        }
        writeln!(output, "={}", shown(id))?;
        output.flush()?;
        let stop = inbox.stop_at(Urgency::NewSearch);
        let mut written = Ok(());
        let mut sink = |analysis: &Analysis| {
            written = info::<G>(output, request.form, analysis);
            if written.is_err() {
                // The reader is gone.
                stop.set();
            }
        };
        let effort = Effort { endless: true, ..Effort::default() };
        let mut control = Control::new(stop.clone(), effort).reporting(request.interval, &mut sink);
        let turn = self.session.turn(self.games);
        let analysis = self.player.analyze(&turn, request.most, &mut control);
        written?;
        match analysis {
            Ok(analysis) => info::<G>(output, request.form, &analysis)?,
            Err(error) => writeln!(output, "info error {error}")?,
        }
        output.flush()?;
        inbox.wait();
        writeln!(output)?;
        output.flush()?;
        Ok(Ok(()))
    }
}

/// One line with all moves.
fn info<G: Geometry>(output: &mut impl Write, form: Form, analysis: &Analysis) -> io::Result<()> {
    let mut line = String::new();
    for (order, hint) in analysis.hints.iter().enumerate() {
        let name = |square: &_| square_name::<G>(*square).to_ascii_uppercase();
        let Some(first) = hint.line.first().map(name) else { continue };
        let visits = hint.effort().unwrap_or(0);
        let blank = if line.is_empty() { "" } else { " " };
        // Writing to a string does not fail.
        let _ = write!(line, "{blank}info move {first} visits {visits}");
        let chance = hint.win_chance.unwrap_or(0.5);
        let _ = match form {
            Form::Leela => write!(line, " winrate {:.0}", 10_000.0 * chance),
            Form::Kata => write!(line, " winrate {chance:.4}"),
        };
        if form == Form::Kata
            && let Some(score) = hint.score
        {
            let bound = hint.bound.name();
            let _ = write!(line, " scoreLead {score:.2} scoreBound {bound}");
        }
        let pv: Vec<_> = hint.line.iter().map(name).collect();
        let _ = write!(line, " order {order} pv {}", pv.join(" "));
    }
    if line.is_empty() {
        return Ok(());
    }
    writeln!(output, "{line}")?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_at_least_a_hundredth_of_a_second() {
        for (text, wanted) in [("0", Some(10)), ("1", Some(10)), ("50", Some(500))] {
            assert_eq!(centiseconds(text), wanted.map(Duration::from_millis), "{text}");
        }
        assert_eq!(centiseconds("360000"), Some(Duration::from_secs(3600)));
        for text in ["360001", "-1", "1.5", ""] {
            assert_eq!(centiseconds(text), None, "{text}");
        }
    }
}
