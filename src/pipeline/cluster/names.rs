//! Names of runs and workers, and the subjects, streams and buckets that follow from them.

use std::fmt;
use std::str::FromStr;

use super::wire::NetId;

/// The bucket with one entry for each run: its [`Announcement`](super::wire::Announcement).
pub const RUNS_BUCKET: &str = "outflank-runs";

/// The bucket of the nets of all runs. A server's permissions cannot have a part of a name, so it is
/// one bucket.
pub const NETS_BUCKET: &str = "outflank-nets";

/// The longest name of a run or worker.
const LONGEST: usize = 32;

/// The name of a run or worker: 1 to 32 of `a-z`, `0-9` and `-`. It is a part of subjects.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Name(Box<str>);

/// A text that is not a name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{text}` is not a name; allowed: 1 to {LONGEST} of a-z, 0-9 and -")]
pub struct NameError {
    text: Box<str>,
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Name, NameError> {
        let is_allowed =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let fits = (1..=LONGEST).contains(&text.len()) && text.bytes().all(is_allowed);
        if fits {
            Ok(Name(text.into()))
        } else {
            let text = crate::game::notation::plain_excerpt(text, LONGEST);
            Err(NameError { text })
        }
    }
}

impl Name {
    /// A name from any text: other characters become `-`, and it is cut to its first characters.
    pub fn like(text: &str) -> Name {
        let letter = |letter: char| match letter.to_ascii_lowercase() {
            letter @ ('a'..='z' | '0'..='9') => letter,
            _ => '-',
        };
        let name: String = text.chars().take(LONGEST - 4).map(letter).collect();
        Name(if name.is_empty() { "x".into() } else { name.into() })
    }

    /// This name with a number.
    pub fn numbered(&self, number: u32) -> Name {
        let number = number.to_string();
        let kept = self.0.len().min(LONGEST - 1 - number.len());
        Name(format!("{}-{number}", &self.0[..kept]).into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The stream of a run's games.
pub fn games_stream(run: &Name) -> String {
    format!("outflank-{run}-games")
}

/// The object of a run's net.
pub fn net(run: &Name, id: NetId) -> String {
    format!("{run}-{}-{}", id.start, id.version)
}

/// The subject on which a worker sends games. `*` as the worker stands for all.
pub fn games(run: &Name, worker: impl fmt::Display) -> String {
    format!("outflank.{run}.games.{worker}")
}

/// The subject on which a worker asks for numbers of games.
pub fn lease(run: &Name, worker: impl fmt::Display) -> String {
    format!("outflank.{run}.lease.{worker}")
}

/// The subject on which a worker reports what it does.
pub fn report(run: &Name, worker: impl fmt::Display) -> String {
    format!("outflank.{run}.report.{worker}")
}

/// The subject on which the learner says which of a worker's games are stored.
pub fn stored(run: &Name, worker: impl fmt::Display) -> String {
    format!("outflank.{run}.stored.{worker}")
}

/// The subject on which the learner says what it wants.
pub fn state(run: &Name) -> String {
    format!("outflank.{run}.state")
}

/// The worker of a subject of [`games`], [`lease`] or [`report`].
pub fn worker_of(subject: &str) -> Option<Name> {
    subject.rsplit('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_as_parts_of_subjects() {
        for good in ["a", "lab-7", "0123456789-abcdefghijklmnopqrstu"] {
            assert_eq!(good.parse::<Name>().expect("a name").as_str(), good);
        }
        for bad in ["", "A", "a.b", "*", ">", "a b", "ä", "\n", &"a".repeat(33)] {
            let error = bad.parse::<Name>().expect_err(bad).to_string();
            assert!(
                error.ends_with("is not a name; allowed: 1 to 32 of a-z, 0-9 and -"),
                "{error}"
            );
        }
        assert_eq!(Name::like("Ada's PC").as_str(), "ada-s-pc");
        assert_eq!(Name::like("").as_str(), "x");
        for text in ["ÄÖÜ", &"z".repeat(99)] {
            let name = Name::like(text).numbered(u32::MAX);
            assert_eq!(name.as_str().parse(), Ok(name));
        }
    }

    #[test]
    fn the_worker_of_a_subject_is_its_last_part() {
        let (run, worker) = ("run-1".parse().expect("a name"), Name::like("w"));
        assert_eq!(worker_of(&games(&run, &worker)), Some(worker));
        assert_eq!(worker_of(&games(&run, "*")), None);
    }
}
