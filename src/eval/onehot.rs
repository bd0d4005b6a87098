//! A net with one hidden layer on the marks of the squares: what each square holds, one of a few
//! marks (one-hot).
//!
//! The n-tuple bot (docs/references.md) plays with such nets, of 160 or 240 hidden units. The
//! description of a model has its [`Options`]; [`Plan`] says which hidden units share weights. The
//! model has these arrays:
//!
//! | array | shape | numbers |
//! |---|---|---|
//! | `rows` | groups, marks, squares | the weights of the first layer |
//! | `bias` | groups | what is added to the sum of the weights |
//! | `output` | stages, 2, groups | the weights of the second layer, in discs: for the side to move and for the other one |
//! | `constant` | stages | a constant, in discs |
//! | `discs` | stages | the number of discs on the board at each stage, ascending |
//! | `win_scale` | 1 | the [`WinScale`], in discs |
//!
//! The sums of the first layer are kept from move to move. They are exact integers of 16 bits: the
//! scale of the weights is chosen such that no sum of any board is too large. A hidden unit's value is
//! the square of its sum, which is first limited to 0 to 1. Between two stages the weights of the
//! second layer are interpolated linearly in the number of discs.

mod lanes;
mod marks;
mod options;
mod plan;

use super::model::{array, check_names, check_numbers, win_scale};
use super::stages::{discs_of_stages, weights_at};
use super::{Evaluator, ModelError, SCALE, Step, WinScale};
use crate::game::{Bitboard, Board, Geometry, Goal, SquareSet};
use crate::model::{Description, Weights};
use lanes::{Activation, CHUNK, Chunk, OutputLayer, Sums};
use marks::Facts;
pub use marks::{MARKS, Mark, Marks};
pub use options::{GROUP, MAX_HIDDEN, Options};
pub use plan::Plan;

/// The largest weight of the first layer.
pub const MAX_ROW: f32 = 2.0;
/// The largest bias.
pub const MAX_BIAS: f32 = 8.0;
/// The largest weight of the second layer in discs.
pub const MAX_OUTPUT: f32 = 1000.0;

/// The net of a model.
#[derive(Clone, Debug)]
pub struct OneHot<G: Geometry> {
    goal: Goal,
    marks: Marks,
    /// How many chunks of a state are used.
    chunks: usize,
    /// For each mark of the model and each square, the chunks of its row.
    rows: Box<[Chunk]>,
    bias: Sums,
    activation: Activation,
    /// For each number of discs.
    outputs: Box<[OutputLayer]>,
    win_scale: WinScale,
    board: std::marker::PhantomData<G>,
}

/// The sums of the first layer, and what of the board they were computed from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State<G: Geometry> {
    sums: Sums,
    facts: Facts<G>,
}

/// The places of some rows in the table of rows.
struct RowList {
    places: [u32; MAX_ROWS],
    count: usize,
}

/// A row for each square is the most that is added or removed at once.
const MAX_ROWS: usize = crate::game::MAX_SQUARES;

impl RowList {
    #[inline(always)]
    fn new() -> RowList {
        RowList { places: [0; MAX_ROWS], count: 0 }
    }

    #[inline(always)]
    fn push(&mut self, place: usize) {
        self.places[self.count] = place as u32;
        self.count += 1;
    }

    #[inline(always)]
    fn places(&self) -> &[u32] {
        &self.places[..self.count]
    }
}

impl<G: Geometry> OneHot<G> {
    /// The evaluator of a model with this description.
    ///
    /// # Errors
    ///
    /// An option or an array is missing, unknown or not allowed.
    pub fn read(description: &Description, model: &Weights) -> Result<Self, ModelError> {
        check_names(model, &["rows", "bias", "output", "constant", "discs", "win_scale"])?;
        let options = Options::read(&description.options)?;
        let discs = discs_of_stages::<G>(model)?;
        let plan = Plan::new::<G>(&options, discs.len());
        let numbers = |name, shape: &[usize], most: f32| {
            let found = array(model, name, |found| found == shape, &format!("{shape:?}"))?;
            check_numbers(name, found, |it| it.abs() <= most, &format!("-{most} to {most}"))?;
            Ok(found)
        };
        let [rows, bias, output, constant] = plan.shapes::<G>();
        let base = [
            numbers("rows", &rows, MAX_ROW)?,
            numbers("bias", &bias, MAX_BIAS)?,
            numbers("output", &output, MAX_OUTPUT)?,
            numbers("constant", &constant, MAX_OUTPUT)?,
        ];
        let spread = plan.spread(&base.concat());
        let (rows, rest) = spread.split_at(plan.rows());
        let (bias, rest) = rest.split_at(plan.lanes());
        let (output, constant) = rest.split_at(discs.len() * plan.lanes());
        let activation = Activation::new(rows, bias, plan.lanes(), G::SQUARES);
        let layer = |count: usize| {
            let at = |weights| weights_at(weights, (discs, false), count as f32);
            OutputLayer::new(&at(output), at(constant)[0])
        };
        Ok(OneHot {
            goal: description.goal,
            marks: options.marks(),
            chunks: plan.lanes() / CHUNK,
            rows: rows.chunks_exact(CHUNK).map(|chunk| activation.chunk(chunk)).collect(),
            bias: activation.sums(bias),
            activation,
            outputs: (0..=G::SQUARES).map(layer).collect(),
            win_scale: win_scale(model)?,
            board: std::marker::PhantomData,
        })
    }

    /// Adds the rows of the squares with each mark to a list.
    #[inline(always)]
    fn list(&self, sets: [G::Bitboard; MARKS], list: &mut RowList) {
        for (&slot, set) in self.marks.slots().iter().zip(sets) {
            let first = slot * G::SQUARES;
            SquareSet::<G>(set).for_each(|at| list.push((first + at.index()) * self.chunks));
        }
    }

    /// `sums` with some rows added and some removed.
    #[inline(always)]
    fn changed(&self, sums: &Sums, added: &RowList, removed: &RowList) -> Sums {
        let mut next = Sums::ZERO;
        let pairs = next.0[..self.chunks].iter_mut().zip(&sums.0[..self.chunks]);
        for (index, (next, sum)) in pairs.enumerate() {
            let rows = &self.rows[index..];
            let mut sum = *sum;
            for &place in added.places() {
                sum.add(&rows[place as usize]);
            }
            for &place in removed.places() {
                sum.subtract(&rows[place as usize]);
            }
            *next = sum;
        }
        next
    }
}

impl<G: Geometry> Evaluator<G> for OneHot<G> {
    type State = State<G>;

    fn begin(&self, board: Board<G>) -> State<G> {
        let facts = Facts::of(board, self.marks);
        let mut added = RowList::new();
        self.list(facts.sets(board), &mut added);
        State { sums: self.changed(&self.bias, &added, &RowList::new()), facts }
    }

    #[inline(always)]
    fn follow(&self, state: &State<G>, step: &Step<G>) -> State<G> {
        // Both boards are seen by the side that moves next.
        let State { sums, facts: before } = self.pass(state);
        let facts = Facts::of(step.after, self.marks);
        let (old, new) = (before.sets(step.before.pass()), facts.sets(step.after));
        let (mut added, mut removed) = (RowList::new(), RowList::new());
        self.list(std::array::from_fn(|mark| new[mark] & !old[mark]), &mut added);
        self.list(std::array::from_fn(|mark| old[mark] & !new[mark]), &mut removed);
        State { sums: self.changed(&sums, &added, &removed), facts }
    }

    #[inline(always)]
    fn pass(&self, state: &State<G>) -> State<G> {
        State { sums: state.sums.passed(self.chunks), facts: state.facts.passed() }
    }

    #[inline]
    fn evaluate(&self, board: Board<G>, state: &State<G>) -> i32 {
        if state.facts.moves.into_iter().all(Bitboard::is_zero) {
            return SCALE * board.final_score(self.goal);
        }
        let layer = &self.outputs[board.discs() as usize];
        let most = SCALE * G::SQUARES as i32;
        layer.value(&state.sums.0[..self.chunks], self.activation).clamp(-most, most)
    }

    fn win_scale(&self) -> WinScale {
        self.win_scale
    }
}

#[cfg(test)]
mod tests;
