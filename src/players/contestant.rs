//! A player that can take part in matches: what identifies it, and how to make it.

use super::models::LoadError;
pub use super::models::Origin;
use super::player::Player;
use crate::game::{Geometry, Goal, Shape};
use crate::net::inference;
use crate::search::memory::NoRoom;
use crate::store::book::BookError;

/// Why a player cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its net cannot be used.
    #[error(transparent)]
    Net(#[from] LoadError),
    /// Its book cannot be used.
    #[error(transparent)]
    Book(#[from] BookError),
    /// The external engine's program does not exist.
    #[error("there is no program `{program}`")]
    NoProgram {
        /// The program as written in the command.
        program: String,
    },
    /// ProbCut is set, but its parameters were not measured for this evaluator, board and goal.
    #[error(
        "evaluator `{evaluation}` has no parameters of `probcut` for {shape} and goal {goal}; leave \
         out this key"
    )]
    NoProbCut {
        /// The player's evaluator.
        evaluation: String,
        /// The board.
        shape: Shape,
        /// Which score wins.
        goal: Goal,
    },
    /// There is no memory for it.
    #[error("not enough memory for `{key}`")]
    Memory {
        /// The key of the player that decides how much it needs.
        key: &'static str,
        /// What it needs and what is free.
        source: NoRoom,
    },
    /// Its net cannot be computed.
    #[error(transparent)]
    Inference(#[from] inference::InferenceError),
}

/// What a player needs besides its specification.
#[derive(Clone, PartialEq, Debug)]
pub struct PlayerContext {
    /// Which score wins.
    pub goal: Goal,
    /// The device for nets: `auto`, `cpu`, `cuda` or `cuda:N`.
    pub device: String,
    /// Options of the inference.
    pub inference: inference::Options,
    /// CPU cores for each player, at least 1.
    pub cores: usize,
}

impl PlayerContext {
    /// For one player on one core, with nets on the fastest device there is.
    pub fn new(goal: Goal) -> PlayerContext {
        let inference = inference::Options::default();
        PlayerContext { goal, device: "auto".into(), inference, cores: 1 }
    }
}

/// Makes a player from a seed; called once in each thread.
pub type PlayerFactory<'a, G> =
    dyn Fn(u64) -> Result<Box<dyn Player<G>>, OpenError> + Send + Sync + 'a;

/// A player that can take part in matches.
///
/// ```
/// use outflank::game::{Geometry, Square6};
/// use outflank::players::contestant::Contestant;
/// use outflank::players::player::{Choice, Player, PlayerError, Turn};
///
/// /// Plays the first legal move in reading order.
/// struct First;
///
/// impl<G: Geometry> Player<G> for First {
///     fn name(&self) -> String {
///         "first".into()
///     }
///     fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
///         let first = |turn: &Turn<'_, G>| turn.position.board.legal().next().expect("a legal move");
///         turns.iter().map(|turn| Ok(Choice::plain(first(turn)))).collect()
///     }
///     fn end_game(&mut self, _game: u32) {}
/// }
///
/// // It can now take part in matches.
/// let first = Contestant::<Square6>::new("first", |_seed| Ok(Box::new(First)));
/// assert!(!first.deterministic, "unless the caller sets it");
/// ```
pub struct Contestant<'a, G: Geometry> {
    /// Its identity: the name in ladders.
    pub name: String,
    /// The name that the user gave it, if any.
    pub label: Option<String>,
    /// Where its net comes from, if it has one.
    pub origin: Option<Origin>,
    /// Whether the same moves of the opponent always get the same replies.
    pub deterministic: bool,
    /// Makes the player. The seed decides its random choices; most players have none.
    pub open: Box<PlayerFactory<'a, G>>,
}

impl<'a, G: Geometry> Contestant<'a, G> {
    /// A player without a label or a net, for which the same moves may get different replies.
    pub fn new(
        name: impl Into<String>,
        open: impl Fn(u64) -> Result<Box<dyn Player<G>>, OpenError> + Send + Sync + 'a,
    ) -> Contestant<'a, G> {
        Contestant {
            name: name.into(),
            label: None,
            origin: None,
            deterministic: false,
            open: Box::new(open),
        }
    }
}
