//! A net's input: positions as planes of numbers.

#[cfg(feature = "torch")]
pub mod tensors;

use super::evaluations::InputEvaluator;
use super::lookahead::{NUMBER_PLANES, SET_PLANES, TURNED_PLANE, look_ahead};
use super::options::{Inputs, Tower, TowerOptions};
use super::plan::{DISC_PLANES, NetSpec, plane_count};
use crate::game::{Geometry, Layout};
use crate::predict::Input;

/// The index of the plane that is 1 on all squares of the board.
const BOARD_PLANE: usize = 3;

/// The planes of a `resnet` at a square that is in no other set.
const fn no_discs<const P: usize>() -> [f32; P] {
    let mut planes = [0.0; P];
    planes[BOARD_PLANE] = 1.0;
    planes
}

/// Encodes positions as the input planes of one net.
#[derive(Clone, Debug)]
pub struct Encoding {
    layout: &'static Layout,
    /// The cell of each bit of an [`Input`].
    cell_of_bit: [u8; u128::BITS as usize],
    tower: Tower,
    inputs: Inputs,
    evaluator: Option<InputEvaluator>,
    /// The number of planes.
    pub planes: usize,
}

impl Encoding {
    /// The encoding of nets of `spec`.
    ///
    /// # Panics
    ///
    /// The inputs are evaluations, and `spec` has no evaluator.
    pub fn new(spec: &NetSpec) -> Encoding {
        let TowerOptions { tower, inputs, .. } = spec.options;
        let evaluator = spec.evaluator.clone();
        assert_eq!(inputs == Inputs::Evaluations, evaluator.is_some(), "the evaluator of {spec:?}");
        let planes = plane_count(&spec.options);
        let layout = spec.shape.layout();
        let mut cell_of_bit = [0; u128::BITS as usize];
        for (&bit, &cell) in layout.bit_of.iter().zip(&layout.cell_of) {
            cell_of_bit[usize::from(bit)] = cell;
        }
        Encoding { layout, cell_of_bit, tower, inputs, evaluator, planes }
    }

    /// Writes a position's planes as `row[cell * stride + plane]`. Cells that are not squares of
    /// the board are left unchanged.
    ///
    /// # Panics
    ///
    /// The row is too short.
    #[inline]
    pub fn write(&self, input: &Input, row: &mut [f32], stride: usize) {
        let mut writer = PlaneWriter { row, stride, cell_of_bit: &self.cell_of_bit };
        match (self.tower, self.inputs) {
            (Tower::Paper, _) => {
                writer.fill(self.layout, [0.0]);
                writer.mark(0, 1.0, input.mine);
                writer.mark(0, -1.0, input.theirs);
            }
            (Tower::Resnet, Inputs::Discs) => {
                writer.fill(self.layout, no_discs::<DISC_PLANES>());
                writer.discs(input);
            }
            (Tower::Resnet, Inputs::Lookahead | Inputs::Evaluations) => {
                const PLANES: usize = DISC_PLANES + SET_PLANES + 2 * NUMBER_PLANES;
                writer.fill(self.layout, no_discs::<PLANES>());
                writer.discs(input);
                dispatch!(self.layout.shape, G => writer.lookahead::<G>(input));
                if let Some(evaluator) = &self.evaluator {
                    writer.evaluations(self.layout, evaluator, input);
                }
            }
        }
    }
}

/// Writes one position's planes.
///
/// It first clears all planes of every square and then marks the squares of each set. Sets have few
/// squares, so this is much faster than testing each square in each set
/// (docs/journal/speed-selfplay.md, Tree work).
struct PlaneWriter<'a> {
    row: &'a mut [f32],
    stride: usize,
    cell_of_bit: &'a [u8; u128::BITS as usize],
}

impl PlaneWriter<'_> {
    /// Writes the same planes at all squares of the board.
    fn fill<const P: usize>(&mut self, layout: &Layout, planes: [f32; P]) {
        for &cell in &layout.cell_of {
            self.row[usize::from(cell) * self.stride..][..P].copy_from_slice(&planes);
        }
    }

    /// Writes `number` into `plane` at the squares of `set`.
    fn mark(&mut self, plane: usize, number: f32, set: u128) {
        for (start, mut half) in [(0, set as u64), (64, (set >> 64) as u64)] {
            while half != 0 {
                let cell = self.cell_of_bit[start + half.trailing_zeros() as usize];
                self.row[usize::from(cell) * self.stride + plane] = number;
                half &= half - 1;
            }
        }
    }

    fn discs(&mut self, input: &Input) {
        for (plane, set) in [input.mine, input.theirs, input.legal].into_iter().enumerate() {
            self.mark(plane, 1.0, set);
        }
    }

    /// Replaces the numbers of discs that moves turn.
    fn evaluations(&mut self, layout: &Layout, evaluator: &InputEvaluator, input: &Input) {
        let [moves, position] =
            [0, 1].map(|side| DISC_PLANES + SET_PLANES + side * NUMBER_PLANES + TURNED_PLANE);
        let score = evaluator.evaluate(input, |bit, score| {
            let cell = usize::from(self.cell_of_bit[bit]);
            self.row[cell * self.stride + moves] = score;
        });
        for &cell in &layout.cell_of {
            self.row[usize::from(cell) * self.stride + position] = score;
        }
    }

    fn lookahead<G: Geometry>(&mut self, input: &Input) {
        let sets = look_ahead::<G>((input.mine, input.theirs), |side, square, numbers_of_move| {
            let cell = usize::from(self.cell_of_bit[G::bit_of(square)]);
            let plane = DISC_PLANES + SET_PLANES + side * NUMBER_PLANES;
            self.row[cell * self.stride + plane..][..NUMBER_PLANES]
                .copy_from_slice(&numbers_of_move);
        });
        for (plane, set) in sets.into_iter().enumerate() {
            self.mark(DISC_PLANES + plane, 1.0, set);
        }
    }
}
