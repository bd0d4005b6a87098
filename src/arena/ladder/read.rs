//! Reads a ladder line by line in bounded memory, whatever the file contains.

use std::fmt;
use std::io::{BufRead, Read};

/// The longest line, in bytes. A game on the largest board takes about 5,000 bytes and the
/// identities of its players.
pub(super) const LONGEST_LINE: usize = 1 << 20;

/// The lines of a file, one at a time.
pub(super) struct Lines<R> {
    input: R,
    bytes: Vec<u8>,
    /// Whether the last line that was read ends with a line feed.
    pub ended: bool,
}

impl<R: BufRead> Lines<R> {
    pub fn new(input: R) -> Lines<R> {
        Lines { input, bytes: Vec::new(), ended: true }
    }

    /// The next line with its line feed; an empty line instead of a line that is too long. `None`
    /// at the end of the file.
    pub fn next(&mut self) -> std::io::Result<Option<&[u8]>> {
        self.bytes.clear();
        let mut limited = self.input.by_ref().take(LONGEST_LINE as u64 + 1);
        limited.read_until(b'\n', &mut self.bytes)?;
        if self.bytes.is_empty() {
            return Ok(None);
        }
        self.ended = self.bytes.ends_with(b"\n");
        if !self.ended && self.bytes.len() > LONGEST_LINE {
            self.bytes.clear();
            self.skip_rest()?;
        }
        Ok(Some(&self.bytes))
    }

    fn skip_rest(&mut self) -> std::io::Result<()> {
        loop {
            let known = self.input.fill_buf()?;
            let end = known.iter().position(|&byte| byte == b'\n');
            let length = end.map_or(known.len(), |end| end + 1);
            self.input.consume(length);
            self.ended = end.is_some();
            if self.ended || length == 0 {
                return Ok(());
            }
        }
    }
}

/// The lines of a ladder that could not be read.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct SkippedLines {
    /// Their number.
    pub count: u64,
    /// The line numbers of the first ones, counted from 1.
    pub first: Vec<u64>,
}

impl SkippedLines {
    /// The most line numbers that are kept.
    const NAMED: usize = 10;

    pub(super) fn add(&mut self, line: u64) {
        self.count += 1;
        if self.first.len() < Self::NAMED {
            self.first.push(line);
        }
    }
}

impl fmt::Display for SkippedLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first: Vec<_> = self.first.iter().map(u64::to_string).collect();
        f.write_str(&first.join(", "))?;
        match self.count - first.len() as u64 {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_skipped_and_not_kept_in_memory() {
        for buffer in [1, 7, 8192] {
            let long = "x".repeat(3 * LONGEST_LINE);
            let text = format!("one\n{long}\n\ntwo\n{long}");
            let mut lines = Lines::new(std::io::BufReader::with_capacity(buffer, text.as_bytes()));
            for wanted in ["one\n", "", "\n", "two\n", ""] {
                let found = lines.next().expect("memory does not fail");
                assert_eq!(found, Some(wanted.as_bytes()));
            }
            assert!(!lines.ended);
            assert!(lines.bytes.capacity() <= 4 * LONGEST_LINE);
            assert_eq!(lines.next().expect("memory does not fail"), None);
        }
    }

    #[test]
    fn the_longest_line_is_still_read() {
        let text = "x".repeat(LONGEST_LINE - 1) + "\n";
        let mut lines = Lines::new(text.as_bytes());
        assert_eq!(lines.next().expect("memory does not fail"), Some(text.as_bytes()));
        assert!(lines.ended);
    }

    #[test]
    fn only_the_first_bad_lines_are_listed() {
        let mut skipped = SkippedLines::default();
        (3..=5).for_each(|line| skipped.add(line));
        assert_eq!(skipped.to_string(), "3, 4, 5");
        (6..=1_000_000).for_each(|line| skipped.add(line));
        assert_eq!(skipped.to_string(), "3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 999988 more");
    }
}
