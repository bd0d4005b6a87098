//! The features of the linear evaluator: numbers that a side wants to be large or small.
//!
//! A search follows the sums of the classes of squares from move to move ([`ClassSums`]), and counts
//! the other features at its leaves. It uses the features in the order of [`Layout`], which does not
//! depend on the order in which a model lists them.

use super::corners::Corners;
use super::options::Feature;
use crate::eval::{ModelError, Step};
use crate::game::{Bitboard, Board, Geometry, MAX_SQUARES, Square, SquareSet, Symmetry};

/// The most classes of squares of any shape; a whole number of vectors.
const MAX_CLASSES: usize = 24;
/// The most features that are not classes; a whole number of vectors.
const MAX_OTHERS: usize = 16;
/// The most features of a model.
pub const MAX_FEATURES: usize = MAX_OTHERS + MAX_CLASSES;

/// The features in the order in which a search uses them: first those that are no classes, then the
/// classes. Those that a model does not have are 0.
pub(super) type Layout = [f32; MAX_FEATURES];

/// The mirrors along the rows and the columns, and the identity.
const MIRRORS: [Symmetry; 4] =
    [Symmetry::ALL[0], Symmetry::ALL[1], Symmetry::ALL[2], Symmetry::ALL[3]];

/// For each class of squares, the discs of the side to move on them minus those of the opponent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(8))]
pub struct ClassSums([i8; MAX_CLASSES]);

impl ClassSums {
    /// The sums for the other side.
    #[inline(always)]
    pub(super) fn reversed(self) -> ClassSums {
        ClassSums(self.0.map(|sum| -sum))
    }
}

/// Computes the features of boards.
#[derive(Clone, Debug)]
pub struct Features<G: Geometry> {
    list: Box<[Feature]>,
    /// The features that are no classes, in the order of the list.
    others: Box<[Feature]>,
    /// The class of each square; 0 for all without a feature of classes.
    class_of: [u8; MAX_SQUARES],
    /// The number of classes; 0 without a feature of classes.
    classes: usize,
    corners: Corners<G>,
}

impl<G: Geometry> Features<G> {
    /// Computes these features on the shape.
    ///
    /// # Errors
    ///
    /// There is none, a feature is given twice, or there are two kinds of classes.
    pub fn new(list: &[Feature]) -> Result<Self, ModelError> {
        let refused = |problem: String| Err(ModelError::Options { problem: problem.into() });
        let mut pairs = list.iter().enumerate();
        if let Some((_, feature)) = pairs.find(|&(index, it)| list[..index].contains(it)) {
            return refused(format!("feature `{feature}` is given twice"));
        }
        if list.iter().filter(|feature| symmetries_of(**feature).is_some()).count() > 1 {
            return refused("only one of `classes` and `mirror-classes` can be used".into());
        }
        if list.is_empty() {
            return refused("there are no features; at least one is needed".into());
        }
        Ok(Features::of_list(list))
    }

    /// The same without checks.
    fn of_list(list: &[Feature]) -> Self {
        let symmetries = list.iter().find_map(|&feature| symmetries_of(feature));
        let (class_of, classes) = symmetries.map_or(([0; MAX_SQUARES], 0), classes::<G>);
        let others = list.iter().copied().filter(|&feature| symmetries_of(feature).is_none());
        Features {
            list: list.into(),
            others: others.collect(),
            class_of,
            classes,
            corners: Corners::new(),
        }
    }

    /// How many numbers the features of a board are.
    pub fn count(&self) -> usize {
        self.others.len() + self.classes
    }

    /// The index of the first number of the first feature that passes a test.
    pub fn first_of(&self, wanted: impl Fn(Feature) -> bool) -> Option<usize> {
        let place = self.list.iter().position(|&feature| wanted(feature))?;
        Some(self.list[..place].iter().map(|&feature| self.numbers(feature)).sum())
    }

    /// The class of a square, from 0; 0 for all squares without a feature of classes.
    pub fn class_of(&self, square: Square) -> usize {
        usize::from(self.class_of[square.index()])
    }

    /// How many numbers a feature is.
    pub fn numbers(&self, feature: Feature) -> usize {
        if symmetries_of(feature).is_some() { self.classes } else { 1 }
    }

    /// The features of a board in the order of the list.
    pub fn of(&self, board: Board<G>) -> Vec<f32> {
        let layout = self.layout(board, board.legal_of_both(), &self.sums(board));
        self.places().map(|place| layout[place]).collect()
    }

    /// Numbers that belong to the features in the order of the list, such as their weights.
    pub(super) fn to_layout(&self, numbers: &[f32]) -> Layout {
        let mut layout = [0.0; MAX_FEATURES];
        self.places().zip(numbers).for_each(|(place, &number)| layout[place] = number);
        layout
    }

    /// The place in the layout of each feature of the list.
    fn places(&self) -> impl Iterator<Item = usize> + '_ {
        let mut other = 0;
        self.list.iter().flat_map(move |&feature| match symmetries_of(feature) {
            Some(_) => MAX_OTHERS..MAX_OTHERS + self.classes,
            None => {
                other += 1;
                other - 1..other
            }
        })
    }

    /// The sums of the classes.
    pub(super) fn sums(&self, board: Board<G>) -> ClassSums {
        let mut sums = ClassSums([0; MAX_CLASSES]);
        if self.classes > 0 {
            self.add(&mut sums, SquareSet(board.mine), 1);
            self.add(&mut sums, SquareSet(board.theirs), -1);
        }
        sums
    }

    #[inline(always)]
    fn add(&self, sums: &mut ClassSums, squares: SquareSet<G>, times: i8) {
        squares.for_each(|square| sums.0[usize::from(self.class_of[square.index()])] += times);
    }

    /// The sums after a move, from the view of the opponent.
    #[inline(always)]
    pub(super) fn follow(&self, sums: &ClassSums, step: &Step<G>) -> ClassSums {
        let mut sums = *sums;
        if self.classes > 0 {
            sums.0[usize::from(self.class_of[step.square.index()])] += 1;
            self.add(&mut sums, step.flips, 2);
        }
        sums.reversed()
    }

    /// The features of a board, whose legal moves of both sides and sums of classes are known.
    #[inline(always)]
    pub(super) fn layout(
        &self,
        board: Board<G>,
        [own, other]: [SquareSet<G>; 2],
        sums: &ClassSums,
    ) -> Layout {
        let difference = |mine: G::Bitboard, theirs: G::Bitboard| {
            (mine.count() as i32 - theirs.count() as i32) as f32
        };
        let empty = board.empty().0;
        let beside = |discs: G::Bitboard| {
            let discs = SquareSet::<G>(discs);
            empty & (discs.beside_orthogonally().0 | discs.beside_diagonally().0)
        };
        let mut found = [0.0; MAX_FEATURES];
        for (found, feature) in found.iter_mut().zip(&self.others) {
            *found = match feature {
                Feature::Mobility => difference(own.0, other.0),
                Feature::Frontier => difference(beside(board.mine), beside(board.theirs)),
                Feature::Parity if empty.count().is_multiple_of(2) => -1.0,
                Feature::Discs => difference(board.mine, board.theirs),
                Feature::Flippable => {
                    let [turned_by_own, turned_by_other] = board.flippable();
                    (turned_by_other as i32 - turned_by_own as i32) as f32
                }
                Feature::DiscShare => {
                    let discs = (board.mine | board.theirs).count();
                    difference(board.mine, board.theirs) / discs as f32
                }
                Feature::MobilityShare => {
                    let fringe = beside(board.mine | board.theirs).count();
                    difference(own.0, other.0) / fringe.max(1) as f32
                }
                Feature::Corners => self.corners.owned(board),
                Feature::BesideEmptyCorners => self.corners.beside_empty(board),
                Feature::BesideOwnCorners => self.corners.beside_own(board),
                Feature::CornerRuns => self.corners.runs(board),
                // Classes are not among them.
                Feature::Constant | Feature::Parity | Feature::Classes | Feature::MirrorClasses => {
                    1.0
                }
            };
        }
        for (found, &sum) in found[MAX_OTHERS..].iter_mut().zip(&sums.0) {
            *found = f32::from(sum);
        }
        found
    }
}

impl<G: Geometry> Default for Features<G> {
    /// The features of a model whose description names none.
    fn default() -> Self {
        Features::of_list(&super::Options::default().features)
    }
}

/// The symmetries that map the squares of a class onto each other, if the feature is one of classes.
fn symmetries_of(feature: Feature) -> Option<&'static [Symmetry]> {
    match feature {
        Feature::Classes => Some(&Symmetry::ALL),
        Feature::MirrorClasses => Some(&MIRRORS),
        _ => None,
    }
}

/// The class of each square under these symmetries, and the number of classes. Classes are in the
/// order of their first squares.
fn classes<G: Geometry>(symmetries: &[Symmetry]) -> ([u8; MAX_SQUARES], usize) {
    let (mut class_of, mut seen, mut count) = ([0; MAX_SQUARES], G::Bitboard::ZERO, 0);
    for square in (0..G::SQUARES as u8).map(Square) {
        if !(seen & G::mask(square)).is_zero() {
            continue;
        }
        for image in symmetries.iter().map(|symmetry| symmetry.square::<G>(square)) {
            class_of[image.index()] = count;
            seen |= G::mask(image);
        }
        count += 1;
    }
    (class_of, count.into())
}
