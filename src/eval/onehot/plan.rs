//! Which hidden units of a one-hot net share their weights.
//!
//! The hidden units come in groups of sixteen: one for each symmetry of the board and each side. A
//! unit sees the board as its symmetry maps it, and from the view of its side. The units of a group
//! have the same weights in the first layer. In the second layer those of the side to move share a
//! weight, and those of the other side another one. So
//!
//! - the value of a board is that of its images;
//! - the sums for the other side to move are the same numbers, with the two sides exchanged. A search
//!   needs only one set of sums;
//! - one board teaches as much as its eight images.
//!
//! A net is learnt as a list of numbers: the arrays of a model, one behind the other. It is computed
//! with the same numbers for each hidden unit, in lanes. A chunk of 32 lanes has sixteen units of the
//! side to move and the same units of the other side.

use super::lanes::CHUNK;
use super::marks::Marks;
use super::options::{GROUP, Options};
use crate::game::{Geometry, Square, Symmetry};

/// The sizes of a net, and where each of its lanes gets its numbers from.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    marks: Marks,
    groups: usize,
    stages: usize,
    squares: usize,
    /// For each number in lanes, its place in the list of numbers. Lanes without a unit have the place
    /// behind the last.
    origins: Box<[u32]>,
}

/// A lane with a hidden unit.
#[derive(Clone, Copy)]
struct Unit {
    lane: usize,
    group: usize,
    symmetry: Symmetry,
    /// Whether it is a unit of the other side.
    other: bool,
}

impl Plan {
    /// The plan of a net with these options and this many stages.
    pub fn new<G: Geometry>(options: &Options, stages: usize) -> Plan {
        let marks = options.marks();
        let (groups, squares) = (options.hidden / GROUP, G::SQUARES);
        let mut plan = Plan { marks, groups, stages, squares, origins: Box::default() };
        let (lanes, none) = (plan.lanes(), plan.numbers() as u32);
        let list = marks.list();
        let [first_bias, first_output, first_constant] = plan.starts();
        let mut rows = vec![none; plan.rows()];
        let mut bias = vec![none; lanes];
        let mut output = vec![none; stages * lanes];
        for unit in plan.units() {
            for (slot, &mark) in list.iter().enumerate() {
                let seen = if unit.other { mark.passed() } else { mark };
                let seen = unit.group * list.len() + marks.slots()[seen as usize];
                for square in (0..squares as u8).map(Square) {
                    let image = unit.symmetry.square::<G>(square).index();
                    let row = slot * squares + square.index();
                    rows[row * lanes + unit.lane] = (seen * squares + image) as u32;
                }
            }
            bias[unit.lane] = (first_bias + unit.group) as u32;
            for stage in 0..stages {
                let row = 2 * stage + usize::from(unit.other);
                let place = first_output + row * groups + unit.group;
                output[stage * lanes + unit.lane] = place as u32;
            }
        }
        let constant = (0..stages).map(|stage| (first_constant + stage) as u32).collect();
        plan.origins = [rows, bias, output, constant].concat().into();
        plan
    }

    fn units(&self) -> impl Iterator<Item = Unit> {
        let half = CHUNK / 2;
        (0..self.groups * GROUP).map(move |number| {
            let (pair, other) = (number / 2, number % 2 == 1);
            let lane = pair / half * CHUNK + usize::from(other) * half + pair % half;
            let symmetry = Symmetry::ALL[pair % Symmetry::ALL.len()];
            Unit { lane, group: pair / Symmetry::ALL.len(), symmetry, other }
        })
    }

    /// The marks of the net.
    pub fn marks(&self) -> Marks {
        self.marks
    }

    /// The number of lanes: the hidden units in whole chunks.
    pub fn lanes(&self) -> usize {
        (self.groups * GROUP).next_multiple_of(CHUNK)
    }

    /// The numbers of the first layer in lanes, without the bias: for each mark and each square a row.
    pub fn rows(&self) -> usize {
        self.marks.list().len() * self.squares * self.lanes()
    }

    /// How many numbers are learnt.
    pub fn numbers(&self) -> usize {
        self.starts()[2] + self.stages
    }

    /// The places of the first bias, the first weight of the second layer and the first constant in
    /// the list of numbers.
    pub fn starts(&self) -> [usize; 3] {
        let rows = self.groups * self.marks.list().len() * self.squares;
        [rows, rows + self.groups, rows + self.groups * (1 + 2 * self.stages)]
    }

    /// The shapes of the arrays `rows`, `bias`, `output` and `constant`.
    pub fn shapes<G: Geometry>(&self) -> [Vec<usize>; 4] {
        let (groups, stages) = (self.groups, self.stages);
        let rows = vec![groups, self.marks.list().len(), G::SQUARES];
        [rows, vec![groups], vec![stages, 2, groups], vec![stages]]
    }

    /// The numbers in lanes: the rows, the bias, the output of each stage, then the constants. Lanes
    /// without a unit have zeros.
    pub fn spread(&self, numbers: &[f32]) -> Vec<f32> {
        let number = |&place: &u32| numbers.get(place as usize).copied().unwrap_or_default();
        self.origins.iter().map(number).collect()
    }

    /// The transposed map of [`Plan::spread`]: adds up the numbers in lanes that come from the same
    /// number.
    pub fn gather(&self, spread: &[f32]) -> Vec<f32> {
        let mut sums = vec![0.0; self.numbers() + 1];
        for (&place, number) in self.origins.iter().zip(spread) {
            sums[place as usize] += number;
        }
        sums.pop();
        sums
    }
}
