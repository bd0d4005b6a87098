//! Why a game of a worker does not count.

use crate::game::record::Source;
use crate::game::{Goal, Shape};

/// Declares the reasons: for each a name for counters and a message.
macro_rules! refusals {
    ($(
        $(#[$doc:meta])*
        $kind:ident $({ $($(#[$field_doc:meta])* $field:ident: $type:ty,)+ })?
            = $name:literal, $message:literal $(, $argument:expr)*;
    )+) => {
        /// Why a game does not count. Moves are counted from 0 here, and from 1 in messages.
        #[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
        pub enum Refusal {
            $(
                $(#[$doc])*
                #[error($message $(, $argument)*)]
                $kind $({ $($(#[$field_doc])* $field: $type,)+ })?,
            )+
        }

        impl Refusal {
            /// The names of all kinds of refusal.
            pub const NAMES: &'static [&'static str] = &[$($name,)+];

            /// The name of this kind of refusal, for counters. It never changes.
            pub fn name(self) -> &'static str {
                match self { $(Refusal::$kind { .. } => $name,)+ }
            }
        }
    };
}

refusals! {
    /// It is on another board than the run.
    Board {
        /// The board of the record.
        found: Shape,
        /// The board of the run.
        wanted: Shape,
    } = "board", "the game is on board {found}, the run on {wanted}";

    /// It has another goal than the run.
    Goal {
        /// The goal of the record.
        found: Goal,
        /// The goal of the run.
        wanted: Goal,
    } = "goal", "the game has goal `{found}`, the run `{wanted}`";

    /// It is not of self-play.
    Source {
        /// The source in the record.
        found: Source,
    } = "source", "the game is of source `{found}`, not of self-play";

    /// It does not start at the board's start position.
    Start = "start", "the game does not begin at the start position of its board";

    /// A side resigned. Self-play never does.
    Resigned = "resigned", "the game ends by a resignation; self-play plays to the end";

    /// Its number was not leased to the worker.
    NumberNotLeased {
        /// The number.
        number: u64,
    } = "number-not-leased", "the worker may not use game number {number}";

    /// It is said to be of a net that does not exist.
    NoSuchNet {
        /// The version in the record.
        version: u32,
    } = "no-such-net", "the run has no net of version {version}";

    /// It has more moves than its board has empty squares.
    TooManyMoves {
        /// The moves of the record.
        found: usize,
        /// The empty squares of the start position.
        most: u32,
    } = "too-many-moves", "the game has {found} moves; allowed: at most {most}";

    /// Its number of opening moves is not the one that follows from its number.
    OpeningLength {
        /// The opening moves of the record.
        found: u16,
        /// Those that follow from the number.
        wanted: u32,
    } = "opening-length", "the game has {found} opening moves; its number gives {wanted}";

    /// An opening move is not the one that follows from its number.
    OpeningMove {
        /// The move.
        index: usize,
    } = "opening-move", "opening move {} is not the one that the game's number gives", index + 1;

    /// An opening move has a policy.
    OpeningPolicy {
        /// The move.
        index: usize,
    } = "opening-policy", "opening move {} has a policy, but was not searched", index + 1;

    /// An opening move has a value.
    OpeningValue {
        /// The move.
        index: usize,
    } = "opening-value", "opening move {} has a value, but was not searched", index + 1;

    /// An opening move has an exact score.
    OpeningExact {
        /// The move.
        index: usize,
    } = "opening-exact", "opening move {} has an exact score, but was not searched", index + 1;

    /// A move is not legal.
    IllegalMove {
        /// The move.
        index: usize,
    } = "illegal-move", "move {} is not legal", index + 1;

    /// A move follows the end of the game.
    MoveAfterEnd {
        /// The move.
        index: usize,
    } = "move-after-end", "the game is over before move {}", index + 1;

    /// The moves end before the game does.
    Unfinished = "unfinished", "the moves end before the game does";

    /// The score is not that of the last position.
    Score {
        /// The score of the record.
        found: i16,
        /// The score of the last position.
        wanted: i16,
    } = "score", "the score is {found}, but the last position gives {wanted}";


    /// A searched move has no value.
    NoValue {
        /// The move.
        index: usize,
    } = "no-value", "move {} was searched, but has no value", index + 1;

    /// A value is not a number from -1 to 1.
    Value {
        /// The move.
        index: usize,
    } = "value", "the value of move {} is not a number from -1 to 1", index + 1;

    /// A searched move has no policy.
    NoPolicy {
        /// The move.
        index: usize,
    } = "no-policy", "move {} has no policy; all searches of this run give one", index + 1;

    /// The only legal move has a policy.
    ForcedPolicy {
        /// The move.
        index: usize,
    } = "forced-policy", "move {} has a policy, but it is the only legal move", index + 1;

    /// A policy does not have one weight for each legal move.
    PolicyLength {
        /// The move.
        index: usize,
        /// The number of weights.
        found: usize,
        /// The number of legal moves.
        wanted: usize,
    } = "policy-length", "the policy of move {} has {found} weights; there are {wanted} legal moves",
        index + 1;

    /// The greatest weight of a policy is not 65,535.
    PolicyScale {
        /// The move.
        index: usize,
        /// The greatest weight.
        found: u16,
    } = "policy-scale", "the greatest weight of the policy of move {} is {found}; it must be 65535",
        index + 1;

    /// A move has no exact score, although the solver played it.
    NoExact {
        /// The move.
        index: usize,
        /// The empty squares.
        empties: u32,
    } = "no-exact", "move {} has no exact score; with {empties} empty squares this run solves",
        index + 1;

    /// No game can end with the exact score.
    ExactRange {
        /// The move.
        index: usize,
        /// The score.
        found: i8,
    } = "exact-range", "the exact score {found} of move {} is impossible", index + 1;

    /// The value of a position with an exact score is not its result.
    ExactValue {
        /// The move.
        index: usize,
        /// The value.
        found: f32,
        /// The exact score.
        exact: i8,
    } = "exact-value", "move {} has value {found}, but its exact score is {exact}", index + 1;

    /// The policy of a position with an exact score has other moves than the best ones, or not the
    /// move that was played.
    ExactPolicy {
        /// The move.
        index: usize,
    } = "exact-policy", "the policy of move {} is not that of a position with an exact score",
        index + 1;

    /// An exact score contradicts an earlier one.
    ExactChain {
        /// The move.
        index: usize,
        /// The exact score, for black.
        found: i16,
        /// The least score that is possible after the earlier exact scores, for black.
        least: i16,
        /// The greatest score that is possible after them, for black.
        most: i16,
    } = "exact-chain",
        "move {} has the exact score {found} for black; earlier ones allow {least} to {most}",
        index + 1;

    /// The final score contradicts the exact scores.
    ExactEnd {
        /// The final score, for black.
        found: i16,
        /// The least score that is possible after the exact scores.
        least: i16,
        /// The greatest score that is possible after them.
        most: i16,
    } = "exact-end", "the final score is {found}; the exact scores allow {least} to {most}";
}
