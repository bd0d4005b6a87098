//! The weights before learning.
//!
//! Perversi's paper gives no numbers, only three rules: mobility counts much and the same throughout;
//! corners are key, above all in the middle of the game; discs are a disadvantage early and decide at
//! the end. The numbers here follow these rules, and all other features begin with 0. They are in
//! discs of the final score, so at the full board the share of discs has as many discs as the board
//! has squares.

use crate::eval::linear::Feature;
use crate::game::Goal;

/// The share of the squares that are filled when discs begin to count for their side.
const DISCS_RISE: f32 = 0.75;
/// The weight of the share of discs before that.
const DISCS_EARLY: f32 = -10.0;
/// The part of the game in which corners count most, as shares of the squares that are filled.
const MIDDLE_GAME: std::ops::Range<f32> = 0.25..0.75;

/// The weight of a feature, in discs, when `filled` of the board's `squares` squares have discs.
pub(super) fn weight(feature: Feature, goal: Goal, filled: f32, squares: f32) -> f32 {
    let filled = filled / squares;
    let is_middle = MIDDLE_GAME.contains(&filled);
    let of_discs = match feature {
        Feature::DiscShare => {
            let risen = ((filled - DISCS_RISE) / (1.0 - DISCS_RISE)).max(0.0);
            DISCS_EARLY + risen * (squares - DISCS_EARLY)
        }
        Feature::Corners if is_middle => 90.0,
        Feature::Corners => 45.0,
        // Moves are good for both goals.
        Feature::MobilityShare => return 40.0,
        _ => return 0.0,
    };
    match goal {
        Goal::Most => of_discs,
        Goal::Fewest => -of_discs,
    }
}
