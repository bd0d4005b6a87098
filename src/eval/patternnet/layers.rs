//! The layers above the sums of a net over patterns, at one number of discs.

use wide::f32x16;

use crate::eval::patterns::{MOST_MOVES, PatternSet};

/// The numbers of a row.
pub const SUMS: usize = 32;
/// The products of two sums.
pub const PRODUCTS: usize = SUMS / 2;
/// The units of the hidden layer.
pub const UNITS: usize = 16;
/// The inputs of the hidden layer: the products, and the numbers of moves of both sides.
const INPUTS: usize = PRODUCTS + 2;
/// As inputs, numbers of moves are in units of so many.
pub const MOVES_UNIT: f32 = 16.0;

/// The numbers of moves that have a weight of their own, from 0.
const COUNTS: usize = MOST_MOVES + 1;

/// The first places of the parts of a layer, and its length.
const PARTS: [usize; 7] = {
    let first_bias = INPUTS * UNITS;
    let output = first_bias + UNITS;
    let direct = output + UNITS;
    let moves = direct + PRODUCTS;
    let constant = moves + 2 * COUNTS;
    [0, first_bias, output, direct, moves, constant, constant + 1]
};

/// The numbers of a layer.
pub const LAYER: usize = PARTS[6];

/// The layers at one number of discs, or their derivatives.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Layer(pub [f32; LAYER]);

/// The units and the value for some sums.
#[derive(Clone, Copy, Debug)]
pub struct Computed {
    products: [f32; PRODUCTS],
    /// The hidden units before they are limited.
    units: [f32; UNITS],
    /// The value.
    pub value: f32,
}

impl Layer {
    /// A layer whose numbers are all in units of the evaluation, also those that lead to hidden
    /// units.
    pub(super) fn of_units(numbers: &[f32]) -> Layer {
        let scale = crate::eval::SCALE as f32;
        Layer(std::array::from_fn(|place| match place < PARTS[2] {
            true => numbers[place] / scale,
            false => numbers[place],
        }))
    }

    #[inline(always)]
    fn part<const N: usize>(&self, part: usize) -> &[f32; N] {
        // The parts are as long as they are read.
        self.0[PARTS[part]..].first_chunk().unwrap_or(&[0.0; N])
    }

    /// The weights from an input to the hidden units.
    #[inline(always)]
    fn from(&self, input: usize) -> &[f32; UNITS] {
        self.0[input * UNITS..].first_chunk().unwrap_or(&[0.0; UNITS])
    }

    /// The places of the weights of numbers of moves.
    #[inline(always)]
    fn places(moves: [usize; 2]) -> [usize; 2] {
        let at = |side: usize| PARTS[4] + side * COUNTS + moves[side].min(MOST_MOVES);
        [at(0), at(1)]
    }

    /// The value for sums from 0 to 1 and the numbers of moves of both sides.
    #[inline(always)]
    pub fn value(&self, sums: &[f32; SUMS], moves: [usize; 2]) -> f32 {
        self.compute(sums, moves).value
    }

    /// The same with all that learning needs.
    #[inline(always)]
    pub fn compute(&self, sums: &[f32; SUMS], moves: [usize; 2]) -> Computed {
        let [low, high]: [[f32; PRODUCTS]; 2] = bytemuck::cast(*sums);
        let products = f32x16::from(low) * f32x16::from(high);
        // Two sums, since each addition waits for the one before.
        let mut units = [f32x16::from(*self.part::<UNITS>(1)), f32x16::ZERO];
        let mut add = |input: usize, times: f32| {
            let sum = &mut units[input % 2];
            *sum = f32x16::splat(times).mul_add(f32x16::from(*self.from(input)), *sum);
        };
        products.to_array().into_iter().enumerate().for_each(|(input, product)| {
            add(input, product);
        });
        moves.iter().enumerate().for_each(|(side, &count)| {
            add(PRODUCTS + side, count as f32 / MOVES_UNIT);
        });
        let units = units[0] + units[1];
        let limited = units.fast_max(f32x16::ZERO).fast_min(f32x16::ONE);
        let direct = products * f32x16::from(*self.part::<PRODUCTS>(3));
        let terms = limited.mul_add(f32x16::from(*self.part::<UNITS>(2)), direct);
        let [own, other] = Layer::places(moves);
        let value = terms.reduce_add() + self.0[own] + self.0[other] + self.0[PARTS[5]];
        Computed { products: products.to_array(), units: units.to_array(), value }
    }

    /// Adds the derivatives of half the squared error to `sums_of`, if the value has this `error`.
    /// Returns those by the sums.
    pub fn learn(
        &self,
        (sums, moves): (&[f32; SUMS], [usize; 2]),
        computed: &Computed,
        error: f32,
        sums_of: &mut Layer,
    ) -> [f32; SUMS] {
        let Computed { products, units, .. } = computed;
        let (outputs, directs) = (self.part::<UNITS>(2), self.part::<PRODUCTS>(3));
        let mut slopes = [0.0; UNITS];
        for (unit, &sum) in units.iter().enumerate() {
            // Beyond its limits a unit does not change.
            slopes[unit] = if sum > 0.0 && sum < 1.0 { error * outputs[unit] } else { 0.0 };
            sums_of.0[PARTS[1] + unit] += slopes[unit];
            sums_of.0[PARTS[2] + unit] += error * sum.clamp(0.0, 1.0);
        }
        let mut slopes_of_products = [0.0; PRODUCTS];
        let counts = moves.map(|count| count as f32 / MOVES_UNIT);
        for input in 0..INPUTS {
            let value = if input < PRODUCTS { products[input] } else { counts[input - PRODUCTS] };
            let to = &mut sums_of.0[input * UNITS..][..UNITS];
            to.iter_mut().zip(&slopes).for_each(|(sum, slope)| *sum += value * slope);
            if input < PRODUCTS {
                let through =
                    self.from(input).iter().zip(&slopes).map(|(weight, slope)| weight * slope);
                slopes_of_products[input] = error * directs[input] + through.sum::<f32>();
                sums_of.0[PARTS[3] + input] += error * value;
            }
        }
        for place in Layer::places(moves).into_iter().chain([PARTS[5]]) {
            sums_of.0[place] += error;
        }
        std::array::from_fn(|place| {
            let other = (place + PRODUCTS) % SUMS;
            slopes_of_products[place % PRODUCTS] * sums[other]
        })
    }
}

/// The places of a model's numbers, one behind the other: the rows, the bias, and the layers of each
/// stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The rows.
    pub rows: usize,
    /// The stages.
    pub stages: usize,
}

impl Layout {
    /// The arrays in the order of the numbers.
    pub const NAMES: [&'static str; 8] =
        ["rows", "bias", "first", "first_bias", "output", "direct", "moves", "constant"];

    /// The place of the bias of the units in a layer.
    pub const FIRST_BIAS: usize = PARTS[1];

    /// The layout for these patterns.
    pub fn new(set: &PatternSet, stages: usize) -> Layout {
        Layout { rows: set.weights(), stages }
    }

    /// The shapes of the arrays.
    pub fn shapes(&self) -> [Vec<usize>; 8] {
        let Layout { rows, stages } = *self;
        [
            vec![rows, SUMS],
            vec![SUMS],
            vec![stages, INPUTS, UNITS],
            vec![stages, UNITS],
            vec![stages, UNITS],
            vec![stages, PRODUCTS],
            vec![stages, 2, COUNTS],
            vec![stages],
        ]
    }

    /// The place of the bias.
    pub fn bias(&self) -> usize {
        self.rows * SUMS
    }

    /// The place of the layers of a stage.
    pub fn layer(&self, stage: usize) -> usize {
        self.bias() + SUMS + stage * LAYER
    }

    /// How many numbers there are.
    pub fn numbers(&self) -> usize {
        self.layer(self.stages)
    }

    /// The layers of all stages, from the arrays after `bias`.
    pub fn of_stages(&self, arrays: &[&[f32]]) -> Vec<f32> {
        let part = |stage: usize| {
            arrays.iter().flat_map(move |array| {
                let length = array.len() / self.stages;
                &array[stage * length..][..length]
            })
        };
        (0..self.stages).flat_map(part).copied().collect()
    }

    /// The arrays after `bias` from the layers of all stages: the reverse of [`Layout::of_stages`].
    pub fn arrays_of(&self, layers: &[f32]) -> [Vec<f32>; 6] {
        std::array::from_fn(|part| {
            let range = PARTS[part]..PARTS[part + 1];
            layers.chunks_exact(LAYER).flat_map(|layer| &layer[range.clone()]).copied().collect()
        })
    }

    /// Whether a number of a layer leads to the value and so is in discs.
    pub fn is_in_discs(place: usize) -> bool {
        place >= PARTS[2]
    }
}
