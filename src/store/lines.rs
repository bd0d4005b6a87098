//! Text files with one item per line, written by people: positions, transcripts, openings.
//!
//! A file of any size is read line by line. Readers add lines that they cannot use to [`BadLines`],
//! which keeps the first few and counts all, and continue with the next line.

use std::fmt;
use std::io::{self, BufRead, Read};

/// The longest line that is read, in bytes.
pub const LONGEST_LINE: usize = 1 << 16;
/// How many bad lines of a file are kept and shown one by one.
pub const SHOWN: usize = 10;
/// A longer problem is cut to this many characters: it may quote a long line.
const LONGEST_PROBLEM: usize = 300;

/// Why a line cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LineError {
    /// It has too many bytes.
    #[error("the line is longer than {LONGEST_LINE} bytes")]
    TooLong,
    /// It is not in UTF-8.
    #[error("byte {byte:#04x} is not UTF-8 text; save the file as UTF-8 or ASCII")]
    NotText {
        /// Offset of the byte in the line's text, counted from 0.
        offset: usize,
        /// The byte.
        byte: u8,
    },
}

/// A line that is neither blank nor a comment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// Line number, counted from 1.
    pub number: usize,
    /// Bytes of the line before its text.
    pub indent: usize,
    /// The text, without surrounding white space.
    pub text: Result<String, LineError>,
}

/// Iterator over the lines of a file. Skips blank lines and comments, which start with `#` or `%`.
///
/// ```
/// use outflank::store::lines::Lines;
///
/// let text = "# openings\nf5d6c3\n\n f5f6\n";
/// let lines: Result<Vec<_>, _> = Lines::new(text.as_bytes()).collect();
/// let numbers: Vec<usize> = lines?.iter().map(|line| line.number).collect();
/// assert_eq!(numbers, [2, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Lines<R> {
    input: R,
    number: usize,
    bytes: Vec<u8>,
}

/// Whether a line has more than [`LONGEST_LINE`] bytes.
#[derive(Clone, Copy)]
enum Length {
    Allowed,
    TooLong,
}

impl<R: BufRead> Lines<R> {
    /// The lines of `input`.
    pub fn new(input: R) -> Lines<R> {
        Lines { input, number: 0, bytes: Vec::new() }
    }

    /// Reads a line into `bytes`; `None` at the end of the input. Of a line that is too long, only
    /// the start is kept.
    fn read(&mut self) -> io::Result<Option<Length>> {
        self.bytes.clear();
        let limit = LONGEST_LINE as u64 + 1;
        self.input.by_ref().take(limit).read_until(b'\n', &mut self.bytes)?;
        if self.bytes.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        if self.bytes.len() <= LONGEST_LINE || self.bytes.ends_with(b"\n") {
            return Ok(Some(Length::Allowed));
        }
        self.input.skip_until(b'\n')?;
        Ok(Some(Length::TooLong))
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<Line>;

    fn next(&mut self) -> Option<io::Result<Line>> {
        loop {
            let length = match self.read() {
                Ok(Some(length)) => length,
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            };
            let mut whole = &self.bytes[..];
            // Some editors write a byte order mark at the start of a file.
            if self.number == 1 {
                whole = whole.strip_prefix("\u{feff}".as_bytes()).unwrap_or(whole);
            }
            let text = whole.trim_ascii();
            if text.is_empty() || text.starts_with(b"#") || text.starts_with(b"%") {
                continue;
            }
            let indent = self.bytes.len() - whole.trim_ascii_start().len();
            let text = match length {
                Length::Allowed => as_text(text),
                Length::TooLong => Err(LineError::TooLong),
            };
            return Some(Ok(Line { number: self.number, indent, text }));
        }
    }
}

fn as_text(text: &[u8]) -> Result<String, LineError> {
    let not_text = |error: std::str::Utf8Error| {
        let offset = error.valid_up_to();
        LineError::NotText { offset, byte: text[offset] }
    };
    std::str::from_utf8(text).map(str::to_owned).map_err(not_text)
}

/// A line that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadLine<E> {
    /// Line number, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: E,
}

impl<E: fmt::Display> fmt::Display for BadLine<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, shortened(&self.problem))
    }
}

/// A problem as text for a terminal: at most 300 characters and `...`, without control characters.
pub fn shortened(problem: &impl fmt::Display) -> String {
    let text = problem.to_string();
    let plain = text.chars().map(|letter| if letter.is_control() { '?' } else { letter });
    let mut short: String = plain.take(LONGEST_PROBLEM).collect();
    if text.chars().nth(LONGEST_PROBLEM).is_some() {
        short.push_str("...");
    }
    short
}

/// The bad lines of a file: the first few, and the number of all.
///
/// ```
/// use outflank::store::lines::BadLines;
///
/// let mut bad = BadLines::default();
/// for line in 1..=12 {
///     bad.note(line, "it is no position");
/// }
/// assert_eq!((bad.count(), bad.first().len(), bad.more()), (12, 10, 2));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadLines<E> {
    first: Vec<BadLine<E>>,
    count: usize,
}

impl<E> Default for BadLines<E> {
    fn default() -> BadLines<E> {
        BadLines { first: Vec::new(), count: 0 }
    }
}

impl<E: fmt::Display> BadLines<E> {
    /// Adds a line. Returns it if it is among the first [`SHOWN`], otherwise `None`.
    pub fn note(&mut self, line: usize, problem: E) -> Option<&BadLine<E>> {
        self.count += 1;
        if self.first.len() == SHOWN {
            return None;
        }
        self.first.push(BadLine { line, problem });
        self.first.last()
    }

    /// The number of all bad lines.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The first bad lines, at most [`SHOWN`].
    pub fn first(&self) -> &[BadLine<E>] {
        &self.first
    }

    /// The number of bad lines that are not among the first ones.
    pub fn more(&self) -> usize {
        self.count - self.first.len()
    }

    /// Messages for the user: one for each of the first lines, and one for the rest.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<_> = self.first.iter().map(|bad| format!("{bad}; left out")).collect();
        if self.more() > 0 {
            remarks.push(format!("{} more bad lines; left out", self.more()));
        }
        remarks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<Line> {
        Lines::new(bytes).map(|line| line.expect("memory does not fail")).collect()
    }

    #[test]
    fn blank_lines_and_comments_are_skipped_but_numbered() {
        let text = b"\xef\xbb\xbf one \r\n\n# \xff\n\t%\n  two\nthree";
        let found: Vec<_> = lines(text)
            .into_iter()
            .map(|line| (line.number, line.indent, line.text.expect("text")))
            .collect();
        let wanted = [(1, 4, "one"), (5, 2, "two"), (6, 0, "three")];
        assert_eq!(found, wanted.map(|(number, indent, text)| (number, indent, text.to_owned())));
    }

    #[test]
    fn lines_after_an_unreadable_line_are_read() {
        let mut text = b"good\n  ab\xffcd\n".to_vec();
        text.extend(vec![b'x'; 3 * LONGEST_LINE]);
        text.extend(b"\n#");
        text.extend(vec![b'x'; 3 * LONGEST_LINE]);
        text.extend(b"\nlast\n");
        let found: Vec<_> = lines(&text).into_iter().map(|line| (line.number, line.text)).collect();
        let wanted = [
            (1, Ok("good".to_owned())),
            (2, Err(LineError::NotText { offset: 2, byte: 0xff })),
            (3, Err(LineError::TooLong)),
            (5, Ok("last".to_owned())),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn the_longest_line_is_read() {
        for (length, fits) in
            [(LONGEST_LINE - 1, true), (LONGEST_LINE, true), (LONGEST_LINE + 1, false)]
        {
            for end in ["\n", ""] {
                let text = "x".repeat(length) + end;
                let found = lines(text.as_bytes());
                assert_eq!(found.len(), 1);
                assert_eq!(found[0].text.is_ok(), fits, "{length} bytes");
            }
        }
    }

    #[test]
    fn of_many_bad_lines_ten_are_kept() {
        let mut bad = BadLines::default();
        for line in 1..=1_000_000 {
            let shown = bad.note(line, "\u{1b}".repeat(1000)).is_some();
            assert_eq!(shown, line <= SHOWN);
        }
        let remarks = bad.remarks();
        assert_eq!((remarks.len(), bad.count(), bad.more()), (11, 1_000_000, 999_990));
        assert!(remarks.iter().all(|remark| remark.chars().count() < 400));
        assert!(remarks[0].starts_with("line 1: ???") && remarks[0].ends_with("...; left out"));
        assert_eq!(remarks[10], "999990 more bad lines; left out");
    }
}
