//! The kinds of players: a table with one line each, and a file for each kind that is part of this
//! program.

mod alphabeta;
mod copies;
mod hints;
mod net;
mod net_copies;
mod policy;
mod rollouts;
mod simple;
mod symmetric;

use std::fmt;
use std::path::PathBuf;

use super::contestant::{OpenError, PlayerContext};
pub use super::external::{ExternalSpec, Protocol};
use super::grammar::{Fields, SpecError, SpecKind};
use super::kind::{Kind, Opened, PlayerOptions, write_canonical};
use crate::game::Geometry;
pub use crate::search::rollouts::Options as RolloutsSpec;
pub use alphabeta::{
    AlphaBetaPlayer, AlphaBetaSpec, EvaluatorKind, EvaluatorSource, ThinkingLimit,
};
pub use net::{NetPlayer, NetPlayerSettings, NetPlayerSpec, Time};
pub use net_copies::NetCopies;
pub use policy::PolicySpec;
pub use rollouts::RolloutsPlayer;
pub use simple::{GreedyPlayer, GreedySpec, RandomPlayer, RandomSpec};
pub use symmetric::SymmetricNet;

/// Reads the options of a kind of player.
pub(super) type ReadKind = fn(&mut Fields) -> Result<PlayerKind, SpecError>;

/// Declares the kinds of players with one line for each: the options, and their name as a variant.
macro_rules! player_kinds {
    ($($(#[$meaning:meta])* $variant:ident($options:ty);)*) => {
        /// A kind of player with its settings.
        #[derive(Clone, PartialEq, Debug)]
        pub enum PlayerKind {
            $($(#[$meaning])* $variant($options),)*
        }

        impl PlayerKind {
            /// The kinds, in the order of the page of players.
            pub const ROWS: &'static [SpecKind] = &[$(<$options as Kind>::ROW),*];

            /// What reads the options of each kind, in the order of [`PlayerKind::ROWS`].
            pub(super) const READERS: &'static [ReadKind] =
                &[$(|fields| Kind::read(fields).map(PlayerKind::$variant)),*];

            fn row(&self) -> &'static SpecKind {
                match self {
                    $(PlayerKind::$variant(_) => const { &<$options as Kind>::ROW },)*
                }
            }

            fn options(&self) -> &dyn PlayerOptions {
                match self {
                    $(PlayerKind::$variant(options) => options,)*
                }
            }

            fn options_mut(&mut self) -> &mut dyn PlayerOptions {
                match self {
                    $(PlayerKind::$variant(options) => options,)*
                }
            }

            pub(super) fn open<G: Geometry>(
                self,
                context: &PlayerContext,
            ) -> Result<Opened<PlayerKind, G>, OpenError> {
                Ok(match self {
                    $(PlayerKind::$variant(options) => {
                        options.open(context)?.map(PlayerKind::$variant)
                    })*
                })
            }
        }
    };
}

player_kinds! {
    /// Any legal move.
    Random(RandomSpec);
    /// The move that flips the most discs.
    Greedy(GreedySpec);
    /// Alpha-beta search.
    AlphaBeta(AlphaBetaSpec);
    /// Tree search with random rollouts, without a net.
    Rollouts(RolloutsSpec);
    /// Tree search with a net.
    Net(NetPlayerSpec);
    /// A net's policy without search.
    Policy(PolicySpec);
    /// An external engine.
    External(ExternalSpec);
}

impl PlayerKind {
    /// The net file, checkpoint or run directory of a player with a net.
    pub fn checkpoint(&self) -> Option<&PathBuf> {
        self.options().checkpoint()
    }

    /// Whether the player always plays the same move after the same moves, in every match and with
    /// any seed.
    pub fn is_deterministic(&self) -> bool {
        self.options().is_deterministic()
    }

    /// Positions with at most this many empty squares are solved exactly. A net player with a time
    /// limit gives up a solve that takes too long.
    pub fn solve_empties(&self) -> u32 {
        self.options().solve_empties()
    }

    /// The value of a key as a specification writes it; `None` if it is not set or has no effect.
    pub(super) fn value(&self, key: &str) -> Option<String> {
        self.options().value(key)
    }

    /// Fills in the default of `threads`, on a machine that has `cores` for the player.
    pub(super) fn set_cores(&mut self, cores: usize) {
        self.options_mut().set_cores(cores);
    }
}

/// The canonical form.
impl fmt::Display for PlayerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_canonical(f, self.row(), self.options())
    }
}
