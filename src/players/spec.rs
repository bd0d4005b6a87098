//! Player specifications: one grammar on the command line, in configurations and in protocols.
//!
//! `random`, `greedy`, `alphabeta:depth=6,eval=positional`, `rollouts:simulations=200`,
//! `net:CHECKPOINT,simulations=100`, `policy:CHECKPOINT`,
//! `external:protocol=nboard,command="..."`. A specification is written back in one canonical
//! form. It leaves out keys with their default value, except the keys that limit the thinking (such
//! as depth and simulations). Without `name=`, which any player may have, that form identifies the
//! player in ratings. Any player may have a book as well (`book=FILE`).

use std::fmt;
use std::str::FromStr;

mod page;

use super::book::BookChoice;
pub(super) use super::grammar::is_printable;
use super::grammar::{Fields, NAME, Quoted, SHOWN, SpecError};
pub use super::grammar::{PlayerName, SpecKind};
pub use super::kinds::{
    AlphaBetaSpec, EvaluatorKind, EvaluatorSource, ExternalSpec, GreedySpec, NetPlayerSpec,
    PlayerKind, PolicySpec, Protocol, RandomSpec, RolloutsSpec, ThinkingLimit, Time,
};
use crate::game::notation::plain_excerpt;
use crate::keys::Value;
pub use page::reference;

/// A player specification.
///
/// ```
/// use outflank::players::spec::PlayerSpec;
///
/// let spec: PlayerSpec = "alphabeta: depth=6, eval=positional, name=Club".parse()?;
/// assert_eq!(spec.to_string(), "alphabeta:depth=6,eval=positional,name=Club");
/// assert_eq!(spec.identity(), "alphabeta:depth=6,eval=positional");
/// let error = "alphabeta:depht=6".parse::<PlayerSpec>().expect_err("a key is misspelt");
/// assert!(error.to_string().contains("depht"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct PlayerSpec {
    /// The kind with its settings.
    pub kind: PlayerKind,
    /// Its opening book, if it has one.
    pub book: Option<BookChoice>,
    /// The name that the user gives it.
    pub name: Option<PlayerName>,
}

impl PlayerSpec {
    /// The same player with the default of `threads` filled in, on a machine that has `cores` for
    /// it. With a time limit that is one thread for each core, up to four.
    #[must_use]
    pub fn on_cores(mut self, cores: usize) -> PlayerSpec {
        self.kind.set_cores(cores);
        self
    }

    /// The text that identifies the player: the canonical form without its name.
    pub fn identity(&self) -> String {
        let kind = self.kind.to_string();
        match &self.book {
            Some(book) => format!("{kind}{}{book}", separator(&kind)),
            None => kind,
        }
    }
}

/// What stands between a specification and a further key.
fn separator(text: &str) -> char {
    if text.contains(':') { ',' } else { ':' }
}

impl From<PlayerKind> for PlayerSpec {
    fn from(kind: PlayerKind) -> PlayerSpec {
        PlayerSpec { kind, book: None, name: None }
    }
}

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let identity = self.identity();
        f.write_str(&identity)?;
        let Some(name) = &self.name else { return Ok(()) };
        write!(f, "{}{}={}", separator(&identity), NAME.name, Quoted(&name.to_string()))
    }
}

impl FromStr for PlayerSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<PlayerSpec, SpecError> {
        let text = text.trim();
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let rows = PlayerKind::ROWS;
        let mut kinds = rows.iter().zip(PlayerKind::READERS);
        let Some((row, read)) = kinds.find(|(row, _)| row.name == kind.trim()) else {
            let names: Vec<_> = rows.iter().map(|row| row.name).collect();
            return Err(SpecError::UnknownKind {
                found: plain_excerpt(kind, SHOWN),
                allowed: names.join(", ").into(),
            });
        };
        let mut fields = Fields::parse(row, rest)?;
        let name = match fields.common(&NAME)? {
            Some(Value::Text(name)) => PlayerName::new(&name),
            _ => None,
        };
        let book = BookChoice::read(&fields)?;
        let kind = read(&mut fields)?;
        Ok(PlayerSpec { kind, book, name })
    }
}

/// The identity of a player whose name in a ladder is this text.
///
/// An alpha-beta player without the key `eval` has the positional evaluator there: it was the
/// default before the program had better ones. Identities that are written now always have the key.
///
/// ```
/// use outflank::players::spec::identity_of_ladder;
///
/// let old = "alphabeta:depth=4".to_string();
/// assert_eq!(identity_of_ladder(old), "alphabeta:depth=4,eval=positional");
/// ```
pub fn identity_of_ladder(name: String) -> String {
    if !name.starts_with("alphabeta") || name.contains("eval=") {
        return name;
    }
    match name.parse().map(|spec: PlayerSpec| spec.kind) {
        Ok(PlayerKind::AlphaBeta(spec)) => {
            let evaluator = EvaluatorSource::Named(EvaluatorKind::Positional);
            PlayerKind::AlphaBeta(AlphaBetaSpec { evaluator, ..spec }).to_string()
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests;
