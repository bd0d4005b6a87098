//! Why a game of a file is not used.

use super::json::LineFault;
use super::text::TextFault;
use super::wthor::GameFault;
use crate::game::record::RecordError;
use crate::store::games::SkippedRecord;
use crate::store::ggf::GgfError;
use crate::store::lines::LineError;

/// Why a game is not used.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Fault {
    /// The game breaks the rules, or its record contradicts itself.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A game of WTHOR breaks the rules.
    #[error(transparent)]
    Wthor(#[from] GameFault),
    /// A text is no game in GGF.
    #[error(transparent)]
    Ggf(#[from] GgfError),
    /// A game in GGF is longer than this program reads.
    #[error("the game has more than {most} bytes")]
    TooLong {
        /// The longest game that is read, in bytes.
        most: usize,
    },
    /// A game in GGF is cut off.
    #[error("the game has no `;)` at its end")]
    NoEnd,
    /// A text is no game or position.
    #[error(transparent)]
    Text(Box<TextFault>),
    /// A line is no text.
    #[error(transparent)]
    Line(#[from] LineError),
    /// A line of JSON is no game.
    #[error(transparent)]
    Json(#[from] LineFault),
    /// A stored record is damaged.
    #[error(transparent)]
    Damaged(#[from] SkippedRecord),
}

impl From<TextFault> for Fault {
    fn from(fault: TextFault) -> Fault {
        Fault::Text(Box::new(fault))
    }
}

impl Fault {
    /// Whether the game breaks the rules. Otherwise it cannot be read.
    pub fn is_illegal(&self) -> bool {
        match self {
            Fault::Record(_) | Fault::Wthor(_) => true,
            Fault::Ggf(error) => matches!(error, GgfError::IllegalMove { .. }),
            Fault::Text(fault) => fault.is_illegal,
            Fault::Json(fault) => fault.is_illegal(),
            Fault::TooLong { .. } | Fault::NoEnd | Fault::Line(_) | Fault::Damaged(_) => false,
        }
    }
}
