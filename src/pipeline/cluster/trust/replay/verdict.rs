//! The verdict on a game that was played again.

use std::ops::Range;

use super::Replay;
use super::distance::{Distance, Thresholds, joined, steps};
use crate::game::Square;
use crate::game::record::GameRecord;

/// The result of a replay.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Verdict {
    /// All moves and search results are the same, bit by bit. Where the solver plays, all moves are
    /// best ones.
    Same,
    /// The search results are near to those of the replay.
    Close {
        /// How near.
        distance: Distance,
    },
    /// The game is not the one that its net plays.
    Different {
        /// The first difference that decides.
        what: Difference,
        /// How far the search results are from those of the replay.
        distance: Distance,
    },
    /// The game cannot be judged.
    NotPossible(Impossible),
}

/// What differs between a game and its replay. Moves are counted from 0 here, and from 1 in
/// messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Difference {
    /// The opening.
    #[error("the opening is another one")]
    Opening,
    /// The exact score of a position.
    #[error("move {} has another exact score", index + 1)]
    Exact {
        /// The move.
        index: usize,
    },
    /// The value of a position.
    #[error("move {} has another value", index + 1)]
    Value {
        /// The move.
        index: usize,
    },
    /// The policy of a position.
    #[error("move {} has another policy", index + 1)]
    Policy {
        /// The move.
        index: usize,
    },
    /// The move that was chosen.
    #[error("move {} is not the one that the search chooses", index + 1)]
    Move {
        /// The move.
        index: usize,
    },
    /// A move that the solver would not play.
    #[error("from move {} on the game is not played perfectly", index + 1)]
    End {
        /// The first move whose exact score is wrong.
        index: usize,
    },
    /// The mean distance is above a threshold.
    #[error("the search results are too far from those of the net")]
    Distance,
}

/// Why a game cannot be judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Impossible {
    /// It breaks the rules; such games are refused before.
    #[error("the game breaks the rules")]
    BreaksRules,
    /// Its first or last net is not at hand.
    #[error("a net of the game is not at hand")]
    UnknownNet,
    /// Too few of its moves were searched for a mean distance.
    #[error("only {compared} moves were searched, which is too few for a mean distance")]
    TooShort {
        /// The searched moves.
        compared: usize,
    },
}

/// The fewest searched moves whose mean distance decides.
pub(super) const LEAST_COMPARED: usize = 8;

/// A game and its replays.
pub(super) struct Comparison<'a> {
    pub claim: &'a GameRecord,
    /// The moves after the opening and before the solver plays.
    pub searched: Range<usize>,
    /// The first move of the solver whose exact score is wrong.
    pub wrong_end: Option<usize>,
    /// The replay with the net of the first move.
    pub first: &'a Replay,
    /// The replay with the net of the last move, if it is another one.
    pub last: Option<&'a Replay>,
    /// Whether the game must be the same bit by bit.
    pub must_agree: bool,
}

impl Comparison<'_> {
    pub fn verdict(&self, thresholds: &Thresholds) -> Verdict {
        if !std::iter::once(self.first).chain(self.last).all(|replay| self.is_followed(replay)) {
            let distance = Distance::default();
            return Verdict::Different { what: Difference::Opening, distance };
        }
        let first = steps(self.claim, self.first, self.searched.clone());
        let distance = Distance::of(&match self.last {
            Some(last) => joined(&first, &steps(self.claim, last, self.searched.clone())),
            None => first,
        });
        let what = self.searched.clone().find_map(|index| self.difference(index));
        let what = what.or(self.wrong_end.map(|index| Difference::End { index }));
        match what {
            Some(what) => Verdict::Different { what, distance },
            None if self.must_agree => Verdict::Same,
            None if distance.compared < LEAST_COMPARED => {
                Verdict::NotPossible(Impossible::TooShort { compared: distance.compared })
            }
            None if thresholds.allow(&distance) => Verdict::Close { distance },
            None => Verdict::Different { what: Difference::Distance, distance },
        }
    }

    /// Whether a replay has the opening of the game and could follow its searched moves. With the
    /// same kernel it also chooses the same opening.
    fn is_followed(&self, replay: &Replay) -> bool {
        let (claim, opening) = (self.claim, self.searched.start);
        let moves = |record: &GameRecord| -> Option<Vec<Square>> {
            let moves = record.moves.get(..self.searched.end)?;
            Some(moves.iter().map(|played| played.square).collect())
        };
        let chooses_opening = replay.departures.first().is_none_or(|&first| first >= opening);
        replay.record.opening_moves == claim.opening_moves
            && moves(&replay.record) == moves(claim)
            && (chooses_opening || !self.must_agree)
    }

    /// What differs at a searched move, if that must not be.
    fn difference(&self, index: usize) -> Option<Difference> {
        let (claim, replay) = (&self.claim.moves[index], &self.first.record.moves[index]);
        if !self.must_agree {
            // Two different scores of one position cannot both be exact, whatever the kernel.
            let both = claim.exact.zip(replay.exact);
            return both
                .filter(|(claim, replay)| claim != replay)
                .map(|_| Difference::Exact { index });
        }
        match () {
            () if claim.exact != replay.exact => Some(Difference::Exact { index }),
            () if claim.value.map(f32::to_bits) != replay.value.map(f32::to_bits) => {
                Some(Difference::Value { index })
            }
            () if claim.policy != replay.policy => Some(Difference::Policy { index }),
            () if self.first.departures.contains(&index) => Some(Difference::Move { index }),
            () => None,
        }
    }
}
