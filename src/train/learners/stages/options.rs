//! The keys of training stage by stage from minimax scores.

use super::fit::Fit;
use crate::choices::UnknownChoice;
use crate::eval::linear::{Between, Feature};
use crate::keys::{keys, texts, whole, within};

/// The largest gap that minimax spans if the configuration does not say so.
const DEEPEST_GAP: u32 = 6;

keys! {
    /// How minimax scores train a linear evaluator, stage by stage.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Options {
        /// Empty squares of the last stage (Engel's N counts discs instead). Its boards are solved
        /// exactly, so each further one takes about three times as long.
        key empties: u32 = 10, whole(1, 24);

        /// Discs between two stages (Engel's M). The boards of an earlier stage are scored by
        /// minimax, with the model of the next stage at the leaves.
        key gap: u32 = 4, whole(1, 92);

        /// Plies of that minimax, at most `gap`; 0 means `gap` up to 6, and half of a larger one.
        ///
        /// If there are fewer plies than discs between the stages, the leaves lie between them, and
        /// their weights are interpolated. The earlier stage then begins with the weights of the
        /// next one, and is scored and fitted again until its weights stay the same.
        key depth: u32 = 0, whole(0, 20);

        /// The most fits of a stage whose `depth` is below `gap`.
        key rounds: u32 = 8, whole(1, 1000);

        /// Boards for each stage.
        key boards: u32 = 2000, whole(10, 10_000_000);

        /// The model of a stage: least squares of the scores, or a classifier of their signs.
        key fit: Fit = Fit::Svm;

        /// Whether a classifier tells scores above the mean of their stage from those below it,
        /// and not wins from losses. Minimax is biased, and the more so the earlier the stage.
        key centred: bool = false;

        /// The features of a board, each named once. One of them is `parity` or `constant`, the
        /// offset of the fit.
        key features: Vec<String> = engel_features(),
            texts("a list of names of features", check_feature);

        /// The weights for a number of discs between those of two stages: interpolated, or those of
        /// the stage with more discs.
        key between: Between = Between::Interpolated;

        /// How often all stages are trained. The boards of the first time come from random moves,
        /// those of the others from the play of the model of the time before.
        key passes: u32 = 1, whole(1, 100);

        /// Plies of the search in that play.
        key play_depth: u32 = 1, whole(1, 8);

        /// Random moves at the start of that play; so many that matches begin with other boards.
        key play_opening: u32 = 12, whole(0, 60);

        /// Share of random moves in that play after the opening.
        key play_random: f32 = 0.1, within(0.0, 1.0);

        /// Learn from these games instead of minimax: run directories, and files or folders of games
        /// (WTHOR, GGF, JSON, transcripts). The score of a board is the final score of its game.
        key games: Vec<String> = Vec::new(), texts("a list of paths", |_| Ok(()));
    }
}

/// The features of Engel's models for 88 squares.
fn engel_features() -> Vec<String> {
    use Feature::{Flippable, Frontier, MirrorClasses, Mobility, Parity};
    [Parity, Mobility, Frontier, Flippable, MirrorClasses].map(|it| it.name().into()).into()
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

    /// The plies of minimax.
    pub fn search_depth(&self) -> u32 {
        match self.depth {
            0 if self.gap <= DEEPEST_GAP => self.gap,
            0 => self.gap.div_ceil(2),
            depth => depth.min(self.gap),
        }
    }

    /// The numbers of discs of the stages on a board of `squares` squares, from the last stage to
    /// the first, which has at least five discs.
    pub fn discs_of_stages(&self, squares: usize) -> Vec<u32> {
        let last = (squares as u32).saturating_sub(self.empties);
        (5..=last).rev().step_by(self.gap as usize).collect()
    }
}
