//! Pattern sets: the squares of each pattern, its images on the board, and the codes of the discs
//! on them.

use crate::eval::ModelError;
use crate::game::{Bitboard, Board, Geometry, Square, SquareSet, Symmetry, notation};

/// The most squares of a pattern. A code of ten ternary digits fits 16 bits.
pub const MAX_PATTERN_SQUARES: usize = 10;

/// The most images of all patterns of a set together.
pub const LANES: usize = 64;

/// The most bytes that the tables of a set may take, over all numbers of discs.
const MAX_TABLE_BYTES: usize = 1 << 30;

/// A pattern: some squares, with the value of each arrangement of discs on them.
#[derive(Clone, PartialEq, Debug)]
pub struct Pattern {
    /// The squares, the least significant digit of the code first.
    pub squares: Vec<Square>,
    /// For each code, the weight that it has. Codes that a symmetry of the pattern exchanges have
    /// the same one.
    weight_of: Vec<u32>,
    /// The number of weights of one stage.
    weights: usize,
}

impl Pattern {
    /// The number of codes: 3 to the power of the squares.
    pub fn codes(&self) -> usize {
        self.weight_of.len()
    }

    /// The number of weights of one stage.
    pub fn weights(&self) -> usize {
        self.weights
    }

    /// For each code, the index of its weight.
    pub fn weight_of(&self) -> &[u32] {
        &self.weight_of
    }
}

/// One image of a pattern under a symmetry of the board.
#[derive(Clone, PartialEq, Debug)]
pub struct Image {
    /// The pattern.
    pub pattern: usize,
    /// The squares, in the order of those of the pattern.
    pub squares: Vec<Square>,
}

/// The codes of the discs on all images of a pattern set, one in each lane.
///
/// A code has one ternary digit for each square: 1 for a disc of the side to move, -1 for a disc of
/// the other side, 0 for an empty square. So a change of sides is a change of sign.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(align(64))]
pub struct Codes(pub(super) [i16; LANES]);

impl Codes {
    /// The codes of all lanes.
    #[inline(always)]
    pub(in crate::eval) fn lanes(&self) -> &[i16; LANES] {
        &self.0
    }

    /// The codes for the other side to move.
    #[inline(always)]
    pub(in crate::eval) fn reversed(&self) -> Codes {
        Codes(self.0.map(|code| -code))
    }

    /// Adds the codes of discs, `times` times. A sum on the way may wrap around: the code of a
    /// board fits.
    #[inline(always)]
    fn add(&mut self, discs: &Codes, times: i16) {
        for (code, disc) in self.0.iter_mut().zip(&discs.0) {
            *code = code.wrapping_add(times.wrapping_mul(*disc));
        }
    }
}

/// The patterns of an evaluator on the board `G`, with all of their images.
#[derive(Clone, PartialEq, Debug)]
pub struct PatternSet {
    patterns: Vec<Pattern>,
    images: Vec<Image>,
    /// For each square, the codes of a single disc of the side to move on it.
    disc_on: Box<[Codes]>,
}

impl PatternSet {
    /// Reads patterns such as `a1 b1 c1 a2 b2 c2`. The images under all symmetries of the board
    /// are added. Two images are the same if they have the same squares.
    ///
    /// # Errors
    ///
    /// A square is not on the board or doubled, a pattern is too large or a doubled one, or there
    /// are too many images.
    pub fn read<G: Geometry>(texts: &[String]) -> Result<PatternSet, ModelError> {
        let (mut patterns, mut images) = (Vec::new(), Vec::<Image>::new());
        let mut known = Vec::<SquareSet<G>>::new();
        for (pattern, text) in texts.iter().enumerate() {
            let refused = |problem: String| ModelError::Options {
                problem: format!("pattern {} (`{text}`): {problem}", pattern + 1).into(),
            };
            let squares = squares::<G>(text).map_err(refused)?;
            if known.contains(&set_of(&squares)) {
                return Err(refused("an earlier pattern or its image has the same squares".into()));
            }
            let before = known.len();
            for symmetry in Symmetry::ALL {
                let image = image_of::<G>(symmetry, &squares);
                if !known[before..].contains(&set_of(&image)) {
                    known.push(set_of(&image));
                    images.push(Image { pattern, squares: image });
                }
            }
            patterns.push(tied::<G>(squares));
        }
        if images.is_empty() || images.len() > LANES {
            let count = images.len();
            return Err(ModelError::Options {
                problem: format!(
                    "the patterns have {count} images under the symmetries of the board; \
                     allowed: 1 to {LANES}"
                )
                .into(),
            });
        }
        let disc_on = (0..G::SQUARES).map(|square| codes_of_disc(&images, Square(square as u8)));
        let set = PatternSet { disc_on: disc_on.collect(), patterns, images };
        let bytes = set.codes() * size_of::<i16>() * (G::SQUARES + 1);
        if bytes > MAX_TABLE_BYTES {
            let [needed, most] = [bytes, MAX_TABLE_BYTES].map(|bytes| bytes >> 20);
            return Err(ModelError::Options {
                problem: format!(
                    "the tables of the patterns would take {needed} MiB; allowed: up to {most}"
                )
                .into(),
            });
        }
        Ok(set)
    }

    /// The patterns.
    pub fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// The images of all patterns, in the order of the lanes.
    pub fn images(&self) -> &[Image] {
        &self.images
    }

    /// The number of codes of all patterns.
    pub fn codes(&self) -> usize {
        self.patterns.iter().map(Pattern::codes).sum()
    }

    /// The number of weights of all patterns at one stage.
    pub fn weights(&self) -> usize {
        self.patterns.iter().map(Pattern::weights).sum()
    }

    /// The codes of a board, from all of its discs.
    pub fn begin<G: Geometry>(&self, board: Board<G>) -> Codes {
        let mut codes = Codes([0; LANES]);
        SquareSet::<G>(board.mine).for_each(|at| codes.add(&self.disc_on[at.index()], 1));
        SquareSet::<G>(board.theirs).for_each(|at| codes.add(&self.disc_on[at.index()], -1));
        codes
    }

    /// For each image, the place of its weight among those of all patterns.
    pub fn places<G: Geometry>(&self, board: Board<G>) -> impl Iterator<Item = u32> + '_ {
        let codes = self.begin(board);
        let (mut before, mut pattern) = (0, 0);
        self.images.iter().enumerate().map(move |(lane, image)| {
            while pattern < image.pattern {
                before += self.patterns[pattern].weights as u32;
                pattern += 1;
            }
            let own = &self.patterns[pattern].weight_of;
            let row = i32::from(codes.0[lane]) + (own.len() / 2) as i32;
            before + own[row as usize]
        })
    }

    /// The codes after a move that turns `flips`, for the other side.
    #[inline(always)]
    pub(in crate::eval) fn follow<G: Geometry>(
        &self,
        codes: &Codes,
        square: Square,
        flips: SquareSet<G>,
    ) -> Codes {
        let mut turned = Codes([0; LANES]);
        for at in flips {
            turned.add(&self.disc_on[at.index()], 1);
        }
        let mut next = *codes;
        next.add(&self.disc_on[square.index()], 1);
        next.add(&turned, 2);
        next.reversed()
    }
}

fn squares<G: Geometry>(text: &str) -> Result<Vec<Square>, String> {
    let mut squares = Vec::new();
    for name in text.split_whitespace() {
        let square = notation::parse_square::<G>(name).ok_or_else(|| {
            format!("`{}` is no square of this board", notation::plain_excerpt(name, 8))
        })?;
        if squares.contains(&square) {
            return Err(format!("square {name} is named twice"));
        }
        squares.push(square);
    }
    match squares.len() {
        1..=MAX_PATTERN_SQUARES => Ok(squares),
        count => Err(format!("it has {count} squares; allowed: 1 to {MAX_PATTERN_SQUARES}")),
    }
}

fn set_of<G: Geometry>(squares: &[Square]) -> SquareSet<G> {
    SquareSet(squares.iter().fold(G::Bitboard::ZERO, |set, &square| set | G::mask(square)))
}

fn image_of<G: Geometry>(symmetry: Symmetry, squares: &[Square]) -> Vec<Square> {
    squares.iter().map(|&square| symmetry.square::<G>(square)).collect()
}

fn codes_of_disc(images: &[Image], square: Square) -> Codes {
    let mut codes = Codes([0; LANES]);
    for (code, image) in codes.0.iter_mut().zip(images) {
        let digit = image.squares.iter().position(|&at| at == square);
        *code = digit.map_or(0, |digit| 3i16.pow(digit as u32));
    }
    codes
}

/// The pattern with its codes tied: codes get the same weight if a symmetry that maps the squares
/// onto themselves maps one to the other.
fn tied<G: Geometry>(squares: Vec<Square>) -> Pattern {
    let own = set_of::<G>(&squares);
    let images = Symmetry::ALL.map(|symmetry| image_of::<G>(symmetry, &squares));
    let of_itself = images.iter().filter(|image| set_of::<G>(image) == own);
    // For each such symmetry, the digit that each digit becomes.
    let moves: Vec<Vec<usize>> = of_itself
        .map(|image| {
            let place = |at: &Square| squares.iter().position(|other| other == at);
            image.iter().filter_map(place).collect()
        })
        .collect();
    let codes = 3usize.pow(squares.len() as u32);
    let (mut weight_of, mut weights) = (vec![u32::MAX; codes], 0);
    for code in 0..codes {
        if weight_of[code] != u32::MAX {
            continue;
        }
        for places in &moves {
            let mut rest = code;
            let image = places.iter().fold(0, |image, &place| {
                let digit = rest % 3;
                rest /= 3;
                image + digit * 3usize.pow(place as u32)
            });
            weight_of[image] = weights;
        }
        weights += 1;
    }
    Pattern { squares, weight_of, weights: weights as usize }
}
