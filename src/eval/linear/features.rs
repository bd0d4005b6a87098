//! The features of the linear evaluator: numbers that a side wants to be large or small.

use super::options::Feature;
use crate::eval::ModelError;
use crate::game::{Bitboard, Board, Geometry, Square, SquareSet, Symmetry};

/// The most features of a model; a whole number of vectors.
pub const MAX_FEATURES: usize = 32;

/// The mirrors along the rows and the columns, and the identity.
const MIRRORS: [Symmetry; 4] =
    [Symmetry::ALL[0], Symmetry::ALL[1], Symmetry::ALL[2], Symmetry::ALL[3]];

/// Computes the features of boards, in the order in which [`Feature`]s were given.
#[derive(Clone, Debug)]
pub struct Features<G: Geometry> {
    list: Box<[Feature]>,
    /// The squares of each class of the board.
    classes: Box<[G::Bitboard]>,
    /// The same for [`Feature::MirrorClasses`].
    mirror_classes: Box<[G::Bitboard]>,
    count: usize,
}

impl<G: Geometry> Features<G> {
    /// Computes these features on the shape.
    ///
    /// # Errors
    ///
    /// A feature is given twice, or there are more than [`MAX_FEATURES`] numbers.
    pub fn new(list: &[Feature]) -> Result<Self, ModelError> {
        let refused = |problem: String| Err(ModelError::Options { problem: problem.into() });
        let mut pairs = list.iter().enumerate();
        if let Some((_, feature)) = pairs.find(|&(index, it)| list[..index].contains(it)) {
            return refused(format!("feature `{feature}` is given twice"));
        }
        let features = Features::of_list(list);
        let (count, most, shape) = (features.count, MAX_FEATURES, G::SHAPE);
        if !(1..=most).contains(&count) {
            return refused(format!("{count} features on {shape}; allowed: 1 to {most}"));
        }
        Ok(features)
    }

    /// The same without checks.
    fn of_list(list: &[Feature]) -> Self {
        let (classes, mirror_classes) = (classes::<G>(&Symmetry::ALL), classes::<G>(&MIRRORS));
        let mut features = Features { list: list.into(), classes, mirror_classes, count: 0 };
        features.count = list.iter().map(|&feature| features.numbers(feature)).sum();
        features
    }

    /// How many numbers the features of a board are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The index of the first number of the first feature that passes a test.
    pub fn first_of(&self, wanted: impl Fn(Feature) -> bool) -> Option<usize> {
        let mut next = 0;
        for &feature in &self.list {
            if wanted(feature) {
                return Some(next);
            }
            next += self.numbers(feature);
        }
        None
    }

    /// How many numbers a feature is.
    fn numbers(&self, feature: Feature) -> usize {
        match feature {
            Feature::Classes => self.classes.len(),
            Feature::MirrorClasses => self.mirror_classes.len(),
            _ => 1,
        }
    }

    /// The features of a board; those after the last one are 0.
    pub fn of(&self, board: Board<G>) -> [f32; MAX_FEATURES] {
        self.with_moves(board, board.legal_of_both())
    }

    /// The same, if the legal moves of both sides are known.
    #[inline(always)]
    pub(super) fn with_moves(
        &self,
        board: Board<G>,
        [own, other]: [SquareSet<G>; 2],
    ) -> [f32; MAX_FEATURES] {
        let difference = |mine: G::Bitboard, theirs: G::Bitboard| {
            mine.count() as i32 as f32 - theirs.count() as i32 as f32
        };
        let empty = board.empty().0;
        let beside = |discs: G::Bitboard| {
            let discs = SquareSet::<G>(discs);
            empty & (discs.beside_orthogonally().0 | discs.beside_diagonally().0)
        };
        let mut found = [0.0; MAX_FEATURES];
        let mut next = 0;
        for &feature in &self.list {
            let classes = match feature {
                Feature::Classes => &self.classes,
                Feature::MirrorClasses => &self.mirror_classes,
                _ => {
                    found[next] = match feature {
                        Feature::Mobility => difference(own.0, other.0),
                        Feature::Frontier => difference(beside(board.mine), beside(board.theirs)),
                        Feature::Parity if empty.count().is_multiple_of(2) => -1.0,
                        Feature::Discs => difference(board.mine, board.theirs),
                        Feature::Flippable => {
                            flips(board.pass(), other) as f32 - flips(board, own) as f32
                        }
                        _ => 1.0,
                    };
                    next += 1;
                    continue;
                }
            };
            for (found, &class) in found[next..].iter_mut().zip(classes) {
                *found = difference(board.mine & class, board.theirs & class);
            }
            next += classes.len();
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

/// The number of discs that turn, summed over the legal moves of the side to move.
#[inline(always)]
fn flips<G: Geometry>(board: Board<G>, legal: SquareSet<G>) -> usize {
    legal.map(|square| board.flips(square).len()).sum()
}

/// The classes of squares that these symmetries map onto each other, in the order of their first
/// squares.
fn classes<G: Geometry>(symmetries: &[Symmetry]) -> Box<[G::Bitboard]> {
    let mut classes = Vec::new();
    let mut seen = G::Bitboard::ZERO;
    for square in (0..G::SQUARES as u8).map(Square) {
        if (seen & G::mask(square)).is_zero() {
            let images = symmetries.iter().map(|symmetry| G::mask(symmetry.square::<G>(square)));
            let class = images.fold(G::Bitboard::ZERO, |set, image| set | image);
            seen |= class;
            classes.push(class);
        }
    }
    classes.into()
}
