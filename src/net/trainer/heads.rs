//! Policy, value, score and owners, forward and backward.

use super::GROUP;
use super::arrays::{Places, Vectors};
use super::filter::Matrix;
use super::norm::Norm;
use super::trunk::Last;
use crate::game::Layout;
use crate::net::plan::{HEAD_CHANNELS, HIDDEN, NetSpec};
use crate::net::vector::{LANES, Vector, flat};
use crate::net::winograd::product::{Rows, add_transposed, multiply};

// One vector holds the channels of one head.
const _: () = assert!(HEAD_CHANNELS == LANES);

/// Vectors of the hidden layer.
const WIDE: usize = HIDDEN / LANES;

/// What a net says of a batch before the last `tanh`, or the gradients of it.
#[derive(Debug)]
pub(super) struct Answers {
    /// Rows of a logit for each square.
    pub policy: Vec<f32>,
    /// The value; its `tanh` is the expected outcome.
    pub value: Vec<f32>,
    /// The final disc difference over the number of squares.
    pub score: Option<Vec<f32>>,
    /// Rows of the owner of each square, before `tanh`.
    pub owner: Option<Vec<f32>>,
}

/// One 1x1 convolution with its norm: `[position][cell]`.
#[derive(Debug)]
struct Head {
    matrix: Matrix,
    norm: Norm,
    outputs: Vec<Vector>,
    /// After ReLU, 0 on holes.
    values: Vec<Vector>,
    /// Gradients: after the norm, then before it.
    gradients: Vec<Vector>,
}

/// A map from a hidden layer or a cell's channels to one number, and its gradients.
#[derive(Debug, Default)]
struct Single {
    factors: Vec<Vector>,
    bias: f32,
    sums: Vec<Vector>,
    bias_sum: f32,
}

/// The heads of a net.
#[derive(Debug)]
pub(super) struct HeadsLayer {
    layout: &'static Layout,
    mask: Vec<Vector>,
    policy: Head,
    features: Head,
    policy_out: Single,
    policy_bias: Vec<f32>,
    policy_bias_sums: Vec<f32>,
    owner_out: Option<Single>,
    hidden: Matrix,
    hidden_bias: Vec<Vector>,
    hidden_bias_sums: Vec<Vector>,
    /// `[position][vector]` before the ReLU, and gradients.
    hidden_sums: Vec<Vector>,
    hidden_gradients: Vec<Vector>,
    value_out: Single,
    score_out: Option<Single>,
}

impl Head {
    fn new(name: &str, channels: usize) -> Head {
        Head {
            matrix: Matrix::new(format!("{name}.conv"), channels, HEAD_CHANNELS, 1),
            norm: Norm::new(format!("{name}.norm"), 1),
            outputs: Vec::new(),
            values: Vec::new(),
            gradients: Vec::new(),
        }
    }

    fn forward(
        &mut self,
        places: &Places,
        vectors: &mut Vectors,
        trunk: &Last<'_>,
        mask: &[Vector],
    ) {
        self.matrix.load(places, vectors);
        let cells = trunk.positions * mask.len();
        for room in [&mut self.outputs, &mut self.values, &mut self.gradients] {
            room.resize(cells, Vector::ZERO);
        }
        let group = GROUP * mask.len();
        let (inputs, depth) = (self.matrix.inputs, self.matrix.inputs / LANES);
        for (from, to) in trunk.cells.chunks(group * depth).zip(self.outputs.chunks_mut(group)) {
            let left = Rows { numbers: flat(from), stride: inputs };
            multiply(left, &self.matrix.forward, to, (to.len(), inputs, 1));
            self.norm.count(0, to.iter());
            self.norm.close_group();
        }
        self.norm.finish(places, vectors, cells);
        let forward = self.norm.forward(0);
        for (outputs, values) in
            self.outputs.chunks_exact(mask.len()).zip(self.values.chunks_exact_mut(mask.len()))
        {
            for ((y, value), mask) in outputs.iter().zip(values).zip(mask) {
                *value = forward.apply(*y).fast_max(Vector::ZERO) * *mask;
            }
        }
    }

    /// From `gradients` of the values to those of the arrays; leaves in `gradients` those of the
    /// outputs before the norm.
    fn backward(&mut self, places: &Places, found: &mut Vectors, trunk: &Last<'_>, group: usize) {
        let Head { matrix, norm, outputs, values, gradients } = self;
        for ((gradients, values), outputs) in
            gradients.chunks_mut(group).zip(values.chunks(group)).zip(outputs.chunks(group))
        {
            let cells = gradients.iter_mut().zip(values).zip(outputs);
            let counted = cells.map(|((gradient, value), y)| {
                *gradient &= value.simd_gt(Vector::ZERO);
                (*y, *gradient)
            });
            norm.count_gradients(0, counted);
            norm.close_group();
        }
        norm.finish_gradients(places, found, outputs.len());
        let (depth, backward) = (matrix.inputs / LANES, norm.backward(0));
        for ((gradients, outputs), from) in gradients
            .chunks_mut(group)
            .zip(outputs.chunks(group))
            .zip(trunk.cells.chunks(group * depth))
        {
            for (gradient, y) in gradients.iter_mut().zip(outputs) {
                *gradient = backward.apply(*y, *gradient);
            }
            let left = Rows { numbers: flat(from), stride: matrix.inputs };
            add_transposed(left, gradients, &mut matrix.sums, (gradients.len(), matrix.inputs, 1));
        }
        matrix.store(places, found);
    }
}

impl Single {
    fn load(&mut self, places: &Places, vectors: &Vectors, name: &str) {
        let weights = places.get(vectors, &format!("{name}.weight"));
        self.factors.clear();
        self.factors.extend(weights.chunks_exact(LANES).map(Vector::from));
        self.sums.clear();
        self.sums.resize(self.factors.len(), Vector::ZERO);
        // The policy's biases are one for each square, and are kept elsewhere.
        self.bias = places.get(vectors, &format!("{name}.bias"))[0];
        self.bias_sum = 0.0;
    }

    fn dot(&self, values: &[Vector]) -> f32 {
        let terms = values.iter().zip(&self.factors);
        terms.fold(Vector::ZERO, |sum, (a, b)| a.mul_add(*b, sum)).reduce_add()
    }

    /// Counts a gradient of the number that came of `values`, and hands each vector of theirs on.
    #[inline(always)]
    fn backward(&mut self, gradient: f32, values: &[Vector], mut put: impl FnMut(usize, Vector)) {
        let each = Vector::splat(gradient);
        self.bias_sum += gradient;
        for (index, value) in values.iter().enumerate() {
            self.sums[index] = each.mul_add(*value, self.sums[index]);
            put(index, each * self.factors[index]);
        }
    }

    fn store(&self, places: &Places, found: &mut Vectors, name: &str) {
        places.get_mut(found, &format!("{name}.weight")).copy_from_slice(flat(&self.sums));
    }

    fn store_bias(&self, places: &Places, found: &mut Vectors, name: &str) {
        places.get_mut(found, &format!("{name}.bias")).fill(self.bias_sum);
    }
}

impl HeadsLayer {
    /// The heads of `spec`.
    pub(super) fn new(spec: &NetSpec, layout: &'static Layout) -> HeadsLayer {
        let channels = spec.channels();
        let mut mask = vec![Vector::ZERO; layout.cells()];
        layout.cell_of.iter().for_each(|&cell| mask[cell as usize] = Vector::ONE);
        HeadsLayer {
            layout,
            hidden: Matrix::new("value.hidden", mask.len() * HEAD_CHANNELS, HIDDEN, 1),
            mask,
            policy: Head::new("policy", channels),
            features: Head::new("value", channels),
            policy_out: Single::default(),
            policy_bias: Vec::new(),
            policy_bias_sums: Vec::new(),
            owner_out: spec.options.owner_head.then(Single::default),
            hidden_bias: Vec::new(),
            hidden_bias_sums: Vec::new(),
            hidden_sums: Vec::new(),
            hidden_gradients: Vec::new(),
            value_out: Single::default(),
            score_out: spec.options.score_head.then(Single::default),
        }
    }

    fn load(&mut self, places: &Places, vectors: &Vectors, positions: usize) {
        self.policy_out.load(places, vectors, "policy.out");
        self.policy_bias = places.get(vectors, "policy.out.bias").to_vec();
        self.policy_bias_sums = vec![0.0; self.policy_bias.len()];
        self.value_out.load(places, vectors, "value.out");
        for (single, name) in
            [(&mut self.score_out, "score.out"), (&mut self.owner_out, "owner.out")]
        {
            if let Some(single) = single {
                single.load(places, vectors, name);
            }
        }
        self.hidden.load(places, vectors);
        let bias = places.get(vectors, "value.hidden.bias");
        self.hidden_bias = bias.chunks_exact(LANES).map(Vector::from).collect();
        self.hidden_bias_sums = vec![Vector::ZERO; WIDE];
        self.hidden_sums.resize(positions * WIDE, Vector::ZERO);
        self.hidden_gradients.resize(positions * WIDE, Vector::ZERO);
    }

    /// What the heads say about the trunk's result.
    pub(super) fn forward(
        &mut self,
        places: &Places,
        vectors: &mut Vectors,
        trunk: Last<'_>,
    ) -> Answers {
        let (positions, cells, squares) = (trunk.positions, self.mask.len(), self.layout.squares);
        self.load(places, vectors, positions);
        self.policy.forward(places, vectors, &trunk, &self.mask);
        self.features.forward(places, vectors, &trunk, &self.mask);
        let left = Rows { numbers: flat(&self.features.values), stride: cells * LANES };
        let sizes = (positions, cells * LANES, WIDE);
        multiply(left, &self.hidden.forward, &mut self.hidden_sums, sizes);
        for sums in self.hidden_sums.chunks_exact_mut(WIDE) {
            sums.iter_mut().zip(&self.hidden_bias).for_each(|(sum, bias)| *sum += *bias);
        }
        let per_square = |values: &[Vector], single: &Single| {
            let boards = values.chunks_exact(cells);
            let squares = boards.flat_map(|board| {
                self.layout.cell_of.iter().map(|&cell| &board[usize::from(cell)])
            });
            squares.map(|value| single.dot(&[*value])).collect::<Vec<f32>>()
        };
        let mut policy = per_square(&self.policy.values, &self.policy_out);
        for row in policy.chunks_exact_mut(squares) {
            row.iter_mut().zip(&self.policy_bias).for_each(|(logit, bias)| *logit += bias);
        }
        let scalar = |single: &Single| {
            let rows = self.hidden_sums.chunks_exact(WIDE);
            rows.map(|row| single.dot(&relu(row)) + single.bias).collect()
        };
        Answers {
            policy,
            value: scalar(&self.value_out),
            score: self.score_out.as_ref().map(scalar),
            owner: self.owner_out.as_ref().map(|single| {
                let mut owners = per_square(&self.features.values, single);
                owners.iter_mut().for_each(|owner| *owner += single.bias);
                owners
            }),
        }
    }

    /// From gradients of the answers to those of the heads' arrays and of the trunk's result.
    pub(super) fn backward(
        &mut self,
        places: &Places,
        found: &mut Vectors,
        gradients: &Answers,
        trunk: Last<'_>,
    ) {
        self.hidden_backward(gradients, trunk.positions);
        self.cells_backward(gradients);
        let group = GROUP * self.mask.len();
        for head in [&mut self.policy, &mut self.features] {
            head.backward(places, found, &trunk, group);
        }
        self.store(places, found);
        let depth = self.policy.matrix.inputs / LANES;
        let mut both = vec![Vector::ZERO; 2 * group];
        let mut back = self.policy.matrix.back.clone();
        back.extend(&self.features.matrix.back);
        let heads = self.policy.gradients.chunks(group).zip(self.features.gradients.chunks(group));
        for ((policy, features), to) in heads.zip(trunk.gradients.chunks_mut(group * depth)) {
            for (both, pair) in both.chunks_exact_mut(2).zip(policy.iter().zip(features)) {
                both.copy_from_slice(&[*pair.0, *pair.1]);
            }
            let left = Rows { numbers: flat(&both), stride: 2 * LANES };
            multiply(left, &back, to, (policy.len(), 2 * LANES, depth));
        }
    }

    /// From gradients of value and score to those of the features, through the hidden layer.
    fn hidden_backward(&mut self, gradients: &Answers, positions: usize) {
        self.hidden_gradients.fill(Vector::ZERO);
        let rows = self.hidden_sums.chunks_exact(WIDE);
        let into = self.hidden_gradients.chunks_exact_mut(WIDE);
        for (position, (row, into)) in rows.zip(into).enumerate() {
            let values = relu(row);
            self.value_out.backward(gradients.value[position], &values, |c, back| into[c] += back);
            if let (Some(single), Some(score)) = (&mut self.score_out, &gradients.score) {
                single.backward(score[position], &values, |c, back| into[c] += back);
            }
            for (c, value) in values.iter().enumerate() {
                into[c] &= value.simd_gt(Vector::ZERO);
                self.hidden_bias_sums[c] += into[c];
            }
        }
        let width = self.mask.len() * LANES;
        let left = Rows { numbers: flat(&self.features.values), stride: width };
        let sizes = (positions, width, WIDE);
        add_transposed(left, &self.hidden_gradients, &mut self.hidden.sums, sizes);
        let left = Rows { numbers: flat(&self.hidden_gradients), stride: HIDDEN };
        let sizes = (positions, HIDDEN, self.mask.len());
        multiply(left, &self.hidden.back, &mut self.features.gradients, sizes);
    }

    /// Adds gradients of policy and owners to those of the heads' cells.
    fn cells_backward(&mut self, gradients: &Answers) {
        let (cells, squares) = (self.mask.len(), self.layout.squares);
        self.policy.gradients.fill(Vector::ZERO);
        for (position, row) in gradients.policy.chunks_exact(squares).enumerate() {
            for (square, &gradient) in row.iter().enumerate() {
                let at = position * cells + usize::from(self.layout.cell_of[square]);
                self.policy_bias_sums[square] += gradient;
                let to = &mut self.policy.gradients[at];
                let value = [self.policy.values[at]];
                self.policy_out.backward(gradient, &value, |_, back| *to += back);
            }
        }
        let (Some(single), Some(owner)) = (&mut self.owner_out, &gradients.owner) else { return };
        for (position, row) in owner.chunks_exact(squares).enumerate() {
            for (square, &gradient) in row.iter().enumerate() {
                let at = position * cells + usize::from(self.layout.cell_of[square]);
                let to = &mut self.features.gradients[at];
                single.backward(gradient, &[self.features.values[at]], |_, back| *to += back);
            }
        }
    }

    fn store(&self, places: &Places, found: &mut Vectors) {
        self.policy_out.store(places, found, "policy.out");
        places.get_mut(found, "policy.out.bias").copy_from_slice(&self.policy_bias_sums);
        self.hidden.store(places, found);
        let bias = flat(&self.hidden_bias_sums);
        places.get_mut(found, "value.hidden.bias").copy_from_slice(bias);
        let singles =
            [(Some(&self.value_out), "value.out"), (self.score_out.as_ref(), "score.out")];
        for (single, name) in singles.into_iter().chain([(self.owner_out.as_ref(), "owner.out")]) {
            if let Some(single) = single {
                single.store(places, found, name);
                single.store_bias(places, found, name);
            }
        }
    }
}

fn relu(row: &[Vector]) -> [Vector; WIDE] {
    std::array::from_fn(|c| row[c].fast_max(Vector::ZERO))
}
