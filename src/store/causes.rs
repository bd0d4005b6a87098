//! The text of an error with its causes.

use std::error::Error;

/// An error and its causes in one line, in the format of the program's error messages. A cause that
/// the text has already is left out: errors of other crates often repeat theirs.
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let (mut text, mut next) = (error.to_string(), error.source());
    while let Some(cause) = next {
        let more = cause.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Layer {
        text: &'static str,
        source: Option<Box<Layer>>,
    }

    #[test]
    fn causes_are_named_once() {
        let texts = ["the disk is full", "disk is full", "a.txt: the disk is full", "not saved"];
        let cause =
            texts.into_iter().fold(None, |source, text| Some(Box::new(Layer { text, source })));
        assert_eq!(with_causes(&*cause.expect("an error")), "not saved: a.txt: the disk is full");
    }
}
