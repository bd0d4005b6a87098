//! The keys of training stage by stage from minimax scores.

use super::fit::Fit;
use crate::choices::UnknownChoice;
use crate::eval::linear::{Between, Feature};
use crate::keys::{keys, texts, whole};

keys! {
    /// How minimax scores train a linear evaluator, stage by stage.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Options {
        /// Empty squares of the last stage (Engel's N counts discs instead). Its boards are solved
        /// exactly, so each further one takes about three times as long.
        key empties: u32 = 10, whole(1, 24);

        /// Discs between two stages (Engel's M). The boards of an earlier stage are scored by
        /// minimax of this depth, with the model of the next stage at the leaves.
        key gap: u32 = 4, whole(1, 20);

        /// Boards for each stage.
        key boards: u32 = 2000, whole(10, 10_000_000);

        /// The model of a stage: least squares of the scores, or a classifier of their signs.
        key fit: Fit = Fit::Svm;

        /// The features of a board, each named once. One of them is `parity` or `constant`, the
        /// offset of the fit.
        key features: Vec<String> = engel_features(),
            texts("a list of names of features", check_feature);

        /// The weights for a number of discs between those of two stages: interpolated, or those of
        /// the stage with more discs.
        key between: Between = Between::Interpolated;
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

    /// The numbers of discs of the stages on a board of `squares` squares, from the last stage to
    /// the first, which has at least five discs.
    pub fn discs_of_stages(&self, squares: usize) -> Vec<u32> {
        let last = (squares as u32).saturating_sub(self.empties);
        (5..=last).rev().step_by(self.gap as usize).collect()
    }
}
