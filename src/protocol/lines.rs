//! Reading lines of bounded length.

use std::io::{BufRead, Read};

/// Bytes of a line that are read; no sensible line is longer.
pub const LONGEST: usize = 1 << 16;

/// Something read from a peer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Line {
    /// A line without its end. Bytes that are not UTF-8 are replaced.
    Text(String),
    /// A line of more than [`LONGEST`] bytes, which was thrown away.
    TooLong,
}

/// The next line; `None` at the end.
///
/// # Errors
///
/// The reader fails.
pub fn next_line(input: &mut impl BufRead) -> std::io::Result<Option<Line>> {
    let mut bytes = Vec::new();
    input.by_ref().take(LONGEST as u64 + 1).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.last() != Some(&b'\n') && bytes.len() > LONGEST {
        input.skip_until(b'\n')?;
        return Ok(Some(Line::TooLong));
    }
    Ok(Some(Line::Text(String::from_utf8_lossy(&bytes).trim_end().to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_thrown_away_whole() {
        let text = format!("one\n{}\r\ntwo\r\n\u{fffd}", "x".repeat(3 * LONGEST));
        let mut input = text.as_bytes();
        let mut next = || next_line(&mut input).expect("memory does not fail");
        assert_eq!(next(), Some(Line::Text("one".into())));
        assert_eq!(next(), Some(Line::TooLong));
        assert_eq!(next(), Some(Line::Text("two".into())));
        assert_eq!(next(), Some(Line::Text("\u{fffd}".into())));
        assert_eq!(next(), None);
    }
}
