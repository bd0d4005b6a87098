//! The heads for policy, value, score and owner, forward and backward.

use super::GROUP;
use super::arrays::{ArrayMap, Vectors};
use super::filter::Matrix;
use super::norm::Norm;
use super::trunk::TrunkOutput;
use crate::game::Layout;
use crate::net::plan::{HEAD_CHANNELS, HIDDEN, NetSpec};
use crate::net::vector::{LANES, Vector, flat};
use crate::net::winograd::product::{Rows, add_transposed, multiply};

// The code assumes that one vector holds all channels of one head.
const _: () = assert!(HEAD_CHANNELS == LANES);

/// Vectors of the hidden layer.
const HIDDEN_VECTORS: usize = HIDDEN / LANES;

/// The outputs of the heads for a batch before the last `tanh`, or the gradients of these outputs.
#[derive(Debug)]
pub(super) struct RawHeads {
    /// A row of logits of all squares for each position.
    pub policy: Vec<f32>,
    /// The value of each position before `tanh`.
    pub value: Vec<f32>,
    /// The score of each position: the final disc difference divided by the number of squares.
    pub score: Option<Vec<f32>>,
    /// A row of owners of all squares for each position, before `tanh`.
    pub owner: Option<Vec<f32>>,
}

/// The 1x1 convolution of a head with its norm. Vectors lie as `[position][cell]`.
#[derive(Debug)]
struct Head {
    matrix: Matrix,
    norm: Norm,
    outputs: Vec<Vector>,
    /// After norm and ReLU, 0 on holes.
    values: Vec<Vector>,
    /// Gradients of `values`; after [`Head::backward`] those of `outputs`.
    gradients: Vec<Vector>,
}

/// A linear map from the hidden layer, or from a cell's channels, to one number, and its gradients.
#[derive(Debug, Default)]
struct ScalarLayer {
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
    policy_out: ScalarLayer,
    policy_bias: Vec<f32>,
    policy_bias_sums: Vec<f32>,
    owner_out: Option<ScalarLayer>,
    hidden: Matrix,
    hidden_bias: Vec<Vector>,
    hidden_bias_sums: Vec<Vector>,
    /// The hidden layer before the ReLU, `[position][vector]`.
    hidden_sums: Vec<Vector>,
    /// Gradients of `hidden_sums`.
    hidden_gradients: Vec<Vector>,
    value_out: ScalarLayer,
    score_out: Option<ScalarLayer>,
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
        arrays: &ArrayMap,
        vectors: &mut Vectors,
        trunk: &TrunkOutput<'_>,
        mask: &[Vector],
    ) {
        self.matrix.load(arrays, vectors);
        let cells = trunk.positions * mask.len();
        for memory in [&mut self.outputs, &mut self.values, &mut self.gradients] {
            memory.resize(cells, Vector::ZERO);
        }
        let group = GROUP * mask.len();
        let (inputs, depth) = (self.matrix.inputs, self.matrix.inputs / LANES);
        for (from, to) in trunk.cells.chunks(group * depth).zip(self.outputs.chunks_mut(group)) {
            let left = Rows { numbers: flat(from), stride: inputs };
            multiply(left, &self.matrix.forward, to, (to.len(), inputs, 1));
            self.norm.accumulate(0, to.iter());
            self.norm.end_group();
        }
        self.norm.finish_statistics(arrays, vectors, cells);
        let forward = self.norm.forward(0);
        for (outputs, values) in
            self.outputs.chunks_exact(mask.len()).zip(self.values.chunks_exact_mut(mask.len()))
        {
            for ((y, value), mask) in outputs.iter().zip(values).zip(mask) {
                *value = forward.apply(*y).fast_max(Vector::ZERO) * *mask;
            }
        }
    }

    /// Computes the gradients of the arrays from `gradients` of the values, and replaces
    /// `gradients` by those of the outputs before the norm.
    fn backward(
        &mut self,
        arrays: &ArrayMap,
        found: &mut Vectors,
        trunk: &TrunkOutput<'_>,
        group: usize,
    ) {
        let Head { matrix, norm, outputs, values, gradients } = self;
        for ((gradients, values), outputs) in
            gradients.chunks_mut(group).zip(values.chunks(group)).zip(outputs.chunks(group))
        {
            let cells = gradients.iter_mut().zip(values).zip(outputs);
            let counted = cells.map(|((gradient, value), y)| {
                *gradient &= value.simd_gt(Vector::ZERO);
                (*y, *gradient)
            });
            norm.accumulate_gradients(0, counted);
            norm.end_group();
        }
        norm.finish_gradients(arrays, found, outputs.len());
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
        matrix.store(arrays, found);
    }
}

impl ScalarLayer {
    fn load(&mut self, arrays: &ArrayMap, vectors: &Vectors, name: &str) {
        let weights = arrays.get(vectors, &format!("{name}.weight"));
        self.factors.clear();
        self.factors.extend(weights.chunks_exact(LANES).map(Vector::from));
        self.sums.clear();
        self.sums.resize(self.factors.len(), Vector::ZERO);
        // For the policy, which has one bias per square, this is not used.
        self.bias = arrays.get(vectors, &format!("{name}.bias"))[0];
        self.bias_sum = 0.0;
    }

    fn dot(&self, values: &[Vector]) -> f32 {
        let terms = values.iter().zip(&self.factors);
        terms.fold(Vector::ZERO, |sum, (a, b)| a.mul_add(*b, sum)).reduce_add()
    }

    /// Adds the gradients for one output, of which `values` were the inputs. Calls `put` with the
    /// index and the gradient of each vector of inputs.
    #[inline(always)]
    fn backward(&mut self, gradient: f32, values: &[Vector], mut put: impl FnMut(usize, Vector)) {
        let each = Vector::splat(gradient);
        self.bias_sum += gradient;
        for (index, value) in values.iter().enumerate() {
            self.sums[index] = each.mul_add(*value, self.sums[index]);
            put(index, each * self.factors[index]);
        }
    }

    fn store(&self, arrays: &ArrayMap, found: &mut Vectors, name: &str) {
        arrays.get_mut(found, &format!("{name}.weight")).copy_from_slice(flat(&self.sums));
    }

    fn store_bias(&self, arrays: &ArrayMap, found: &mut Vectors, name: &str) {
        arrays.get_mut(found, &format!("{name}.bias")).fill(self.bias_sum);
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
            policy_out: ScalarLayer::default(),
            policy_bias: Vec::new(),
            policy_bias_sums: Vec::new(),
            owner_out: spec.options.owner_head.then(ScalarLayer::default),
            hidden_bias: Vec::new(),
            hidden_bias_sums: Vec::new(),
            hidden_sums: Vec::new(),
            hidden_gradients: Vec::new(),
            value_out: ScalarLayer::default(),
            score_out: spec.options.score_head.then(ScalarLayer::default),
        }
    }

    fn load(&mut self, arrays: &ArrayMap, vectors: &Vectors, positions: usize) {
        self.policy_out.load(arrays, vectors, "policy.out");
        self.policy_bias = arrays.get(vectors, "policy.out.bias").to_vec();
        self.policy_bias_sums = vec![0.0; self.policy_bias.len()];
        self.value_out.load(arrays, vectors, "value.out");
        for (layer, name) in
            [(&mut self.score_out, "score.out"), (&mut self.owner_out, "owner.out")]
        {
            if let Some(layer) = layer {
                layer.load(arrays, vectors, name);
            }
        }
        self.hidden.load(arrays, vectors);
        let bias = arrays.get(vectors, "value.hidden.bias");
        self.hidden_bias = bias.chunks_exact(LANES).map(Vector::from).collect();
        self.hidden_bias_sums = vec![Vector::ZERO; HIDDEN_VECTORS];
        self.hidden_sums.resize(positions * HIDDEN_VECTORS, Vector::ZERO);
        self.hidden_gradients.resize(positions * HIDDEN_VECTORS, Vector::ZERO);
    }

    /// Computes all heads from the trunk's output.
    pub(super) fn forward(
        &mut self,
        arrays: &ArrayMap,
        vectors: &mut Vectors,
        trunk: TrunkOutput<'_>,
    ) -> RawHeads {
        let (positions, cells, squares) = (trunk.positions, self.mask.len(), self.layout.squares);
        self.load(arrays, vectors, positions);
        self.policy.forward(arrays, vectors, &trunk, &self.mask);
        self.features.forward(arrays, vectors, &trunk, &self.mask);
        let left = Rows { numbers: flat(&self.features.values), stride: cells * LANES };
        let sizes = (positions, cells * LANES, HIDDEN_VECTORS);
        multiply(left, &self.hidden.forward, &mut self.hidden_sums, sizes);
        for sums in self.hidden_sums.chunks_exact_mut(HIDDEN_VECTORS) {
            sums.iter_mut().zip(&self.hidden_bias).for_each(|(sum, bias)| *sum += *bias);
        }
        let per_square = |values: &[Vector], layer: &ScalarLayer| {
            let boards = values.chunks_exact(cells);
            let squares = boards.flat_map(|board| {
                self.layout.cell_of.iter().map(|&cell| &board[usize::from(cell)])
            });
            squares.map(|value| layer.dot(&[*value])).collect::<Vec<f32>>()
        };
        let mut policy = per_square(&self.policy.values, &self.policy_out);
        for row in policy.chunks_exact_mut(squares) {
            row.iter_mut().zip(&self.policy_bias).for_each(|(logit, bias)| *logit += bias);
        }
        let scalar = |layer: &ScalarLayer| {
            let rows = self.hidden_sums.chunks_exact(HIDDEN_VECTORS);
            rows.map(|row| layer.dot(&relu(row)) + layer.bias).collect()
        };
        RawHeads {
            policy,
            value: scalar(&self.value_out),
            score: self.score_out.as_ref().map(scalar),
            owner: self.owner_out.as_ref().map(|layer| {
                let mut owners = per_square(&self.features.values, layer);
                owners.iter_mut().for_each(|owner| *owner += layer.bias);
                owners
            }),
        }
    }

    /// Computes the gradients of the heads' arrays and of the trunk's output from `gradients` of
    /// the heads' outputs.
    pub(super) fn backward(
        &mut self,
        arrays: &ArrayMap,
        found: &mut Vectors,
        gradients: &RawHeads,
        trunk: TrunkOutput<'_>,
    ) {
        self.hidden_backward(gradients, trunk.positions);
        self.cells_backward(gradients);
        let group = GROUP * self.mask.len();
        for head in [&mut self.policy, &mut self.features] {
            head.backward(arrays, found, &trunk, group);
        }
        self.store(arrays, found);
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

    /// Computes the gradients of the hidden layer and of the features from those of value and
    /// score.
    fn hidden_backward(&mut self, gradients: &RawHeads, positions: usize) {
        self.hidden_gradients.fill(Vector::ZERO);
        let rows = self.hidden_sums.chunks_exact(HIDDEN_VECTORS);
        let into = self.hidden_gradients.chunks_exact_mut(HIDDEN_VECTORS);
        for (position, (row, into)) in rows.zip(into).enumerate() {
            let values = relu(row);
            self.value_out
                .backward(gradients.value[position], &values, |c, gradient| into[c] += gradient);
            if let (Some(layer), Some(score)) = (&mut self.score_out, &gradients.score) {
                layer.backward(score[position], &values, |c, gradient| into[c] += gradient);
            }
            for (c, value) in values.iter().enumerate() {
                into[c] &= value.simd_gt(Vector::ZERO);
                self.hidden_bias_sums[c] += into[c];
            }
        }
        let width = self.mask.len() * LANES;
        let left = Rows { numbers: flat(&self.features.values), stride: width };
        let sizes = (positions, width, HIDDEN_VECTORS);
        add_transposed(left, &self.hidden_gradients, &mut self.hidden.sums, sizes);
        let left = Rows { numbers: flat(&self.hidden_gradients), stride: HIDDEN };
        let sizes = (positions, HIDDEN, self.mask.len());
        multiply(left, &self.hidden.back, &mut self.features.gradients, sizes);
    }

    /// Computes the gradients of the policy's cells, and adds those of the owner to the features'.
    fn cells_backward(&mut self, gradients: &RawHeads) {
        let (cells, squares) = (self.mask.len(), self.layout.squares);
        self.policy.gradients.fill(Vector::ZERO);
        for (position, row) in gradients.policy.chunks_exact(squares).enumerate() {
            for (square, &gradient) in row.iter().enumerate() {
                let at = position * cells + usize::from(self.layout.cell_of[square]);
                self.policy_bias_sums[square] += gradient;
                let to = &mut self.policy.gradients[at];
                let value = [self.policy.values[at]];
                self.policy_out.backward(gradient, &value, |_, gradient| *to += gradient);
            }
        }
        let (Some(layer), Some(owner)) = (&mut self.owner_out, &gradients.owner) else { return };
        for (position, row) in owner.chunks_exact(squares).enumerate() {
            for (square, &gradient) in row.iter().enumerate() {
                let at = position * cells + usize::from(self.layout.cell_of[square]);
                let to = &mut self.features.gradients[at];
                let value = [self.features.values[at]];
                layer.backward(gradient, &value, |_, gradient| *to += gradient);
            }
        }
    }

    fn store(&self, arrays: &ArrayMap, found: &mut Vectors) {
        self.policy_out.store(arrays, found, "policy.out");
        arrays.get_mut(found, "policy.out.bias").copy_from_slice(&self.policy_bias_sums);
        self.hidden.store(arrays, found);
        let bias = flat(&self.hidden_bias_sums);
        arrays.get_mut(found, "value.hidden.bias").copy_from_slice(bias);
        let layers = [(Some(&self.value_out), "value.out"), (self.score_out.as_ref(), "score.out")];
        for (layer, name) in layers.into_iter().chain([(self.owner_out.as_ref(), "owner.out")]) {
            if let Some(layer) = layer {
                layer.store(arrays, found, name);
                layer.store_bias(arrays, found, name);
            }
        }
    }
}

fn relu(row: &[Vector]) -> [Vector; HIDDEN_VECTORS] {
    std::array::from_fn(|c| row[c].fast_max(Vector::ZERO))
}
