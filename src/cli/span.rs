//! A range of whole numbers on the command line.

use std::str::FromStr;

/// A number, or a range with both ends, as text `LOW..HIGH`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub low: i32,
    pub high: i32,
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        let (low, high) = text.split_once("..").unwrap_or((text, text));
        let number = |text: &str| text.trim().parse().ok();
        match (number(low), number(high)) {
            (Some(low), Some(high)) if low <= high => Ok(Span { low, high }),
            _ => Err("allowed: a number, or LOW..HIGH with LOW at most HIGH".into()),
        }
    }
}

impl Span {
    pub fn ends(self) -> (i32, i32) {
        (self.low, self.high)
    }

    pub fn has(self, number: i32) -> bool {
        (self.low..=self.high).contains(&number)
    }
}
