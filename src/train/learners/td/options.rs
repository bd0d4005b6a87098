//! The keys of learning by temporal differences.

use crate::choices::UnknownChoice;
use crate::eval::linear::Feature;
use crate::keys::{keys, texts, whole, within};

keys! {
    /// How play trains a linear evaluator by temporal differences, stage by stage.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Options {
        /// Discs of a stage: each stage has weights of its own for this many numbers of discs.
        key gap: u32 = 4, whole(1, 46);

        /// Boards for each stage. Each is the start of a short game from which the stage learns.
        key boards: u32 = 300, whole(1, 10_000_000);

        /// The share of random moves in the games that draw the boards.
        key random: f32 = 0.15, within(0.0, 1.0);

        /// Depth of the search that plays the other moves of those games.
        key play_depth: u32 = 2, whole(1, 20);

        /// Moves of each short game, by both sides together.
        key moves: u32 = 6, whole(2, 100);

        /// Depth of the search that plays the short games.
        key depth: u32 = 4, whole(1, 20);

        /// Depth of the search that values a position to learn from, two moves later; 0 means that
        /// the evaluator values it without a search.
        key target_depth: u32 = 0, whole(0, 20);

        /// The learning rate.
        key rate: f32 = 0.04, within(0.0, 1.0);

        /// The learning rate of the last game of a stage, as a share of `rate`. From game to game it
        /// falls on a straight line.
        key final_rate: f32 = 1.0, within(0.0, 1.0);

        /// How often a stage learns from its boards, one time after the other.
        key repeats: u32 = 1, whole(1, 1000);

        /// How often all stages are trained. Each time the boards come from play with what the time
        /// before has learnt.
        key passes: u32 = 1, whole(1, 100);

        /// The features of a board, each named once.
        key features: Vec<String> = perversi_features(),
            texts("a list of names of features", check_feature);
    }
}

/// Perversi's features. From the view of the side to move, its feature for the side is the constant.
fn perversi_features() -> Vec<String> {
    use Feature::{
        BesideEmptyCorners, BesideOwnCorners, Constant, CornerRuns, Corners, DiscShare,
        MobilityShare, Parity,
    };
    let features = [
        DiscShare,
        MobilityShare,
        Corners,
        BesideEmptyCorners,
        BesideOwnCorners,
        CornerRuns,
        Constant,
        Parity,
    ];
    features.map(|feature| feature.name().into()).into()
}

fn check_feature(name: &str) -> Result<(), Box<str>> {
    let read: Result<Feature, UnknownChoice> = name.parse();
    read.map(drop).map_err(|error| error.to_string().into())
}

impl Options {
    /// The features; unknown names, which a configuration cannot have, are left out.
    pub fn feature_list(&self) -> Vec<Feature> {
        self.features.iter().filter_map(|name| name.parse().ok()).collect()
    }

    /// The largest number of discs of each stage, from the first stage to the last, on a board of
    /// `squares` squares that starts with `start` discs.
    pub fn discs_of_stages(&self, squares: u32, start: u32) -> Vec<u32> {
        let mut stages: Vec<u32> = (start..=squares).rev().step_by(self.gap as usize).collect();
        stages.reverse();
        stages
    }
}
