//! A folded net in the memory layout of the kernel: a row for each input, with vectors of outputs.

use crate::net::fold::{Affine, FoldedResnet};
use crate::net::plan::HEAD_CHANNELS;
#[cfg(target_arch = "x86_64")]
use crate::net::vector::x86::{Avx512, HalfVector};
use crate::net::vector::{LANES, Vector, flat_mut, vectors};
use crate::net::winograd::BoardTransform;

/// The number format in which filters are stored.
#[derive(Clone, Copy)]
pub(super) enum Storage {
    /// float32.
    Full,
    /// f16, which takes half the time to load.
    #[cfg(target_arch = "x86_64")]
    Half(Avx512),
}

impl Storage {
    /// The fastest format. It is f16 only in a build for AVX-512: in other builds each cast from
    /// f16 is a function call.
    pub(super) fn fastest() -> Storage {
        #[cfg(target_arch = "x86_64")]
        if cfg!(target_feature = "avx512f")
            && let Some(avx512) = Avx512::new()
        {
            return Storage::Half(avx512);
        }
        Storage::Full
    }
}

/// Filters at all points, `[point][input][output vector]`.
#[derive(Debug)]
pub(super) enum PointFilters {
    Full(Vec<Vector>),
    #[cfg(target_arch = "x86_64")]
    Half(Vec<HalfVector>, Avx512),
}

/// A convolution's filters and its bias.
#[derive(Debug)]
pub(super) struct Convolution {
    pub filters: PointFilters,
    pub bias: Vec<Vector>,
}

/// A matrix `[input][output vector]` and its bias.
#[derive(Debug)]
pub(super) struct Matrix {
    pub factors: Vec<Vector>,
    pub bias: Vec<Vector>,
}

/// A residual block.
#[derive(Debug)]
pub(super) struct Block {
    pub first: Convolution,
    /// Global pooling. The inputs are the means of all channels, then the maxima.
    pub pool: Option<Matrix>,
    pub second: Convolution,
}

/// A net in the layout of the kernel.
#[derive(Debug)]
pub(super) struct Packed {
    pub stem: Convolution,
    pub blocks: Vec<Block>,
    /// The 1x1 convolutions: the policy's channels, then the features.
    pub heads: Matrix,
    /// The weights from the policy's channels of a cell to its logit.
    pub policy: Vector,
    /// One bias for each square.
    pub policy_bias: Vec<f32>,
    /// The hidden layer. The inputs are `[cell][feature]`.
    pub hidden: Matrix,
    /// The weights of value and score.
    pub output_weights: [Vec<Vector>; 2],
    pub output_bias: [f32; 2],
}

// The code assumes that one vector holds all channels of one head.
const _: () = assert!(HEAD_CHANNELS == LANES);

impl Packed {
    /// Packs `net` for boards of `W` rows.
    pub(super) fn new<const W: usize, const PAIRS: usize>(
        net: &FoldedResnet,
        board: &BoardTransform<W, PAIRS>,
        storage: Storage,
    ) -> Packed {
        let channels = net.stem.shape[0];
        let padded = vectors(channels) * LANES;
        let block = |block: &crate::net::fold::Block| Block {
            first: convolution(&block.first, board, padded, storage),
            pool: block.pool.as_ref().map(|pool| {
                // Means and maxima are each padded to whole vectors.
                let row_of =
                    |input| if input < channels { input } else { input - channels + padded };
                matrix(pool, 2 * padded, row_of)
            }),
            second: convolution(&block.second, board, padded, storage),
        };
        let mut heads = matrix(&net.policy, padded, |input| input);
        let features = matrix(&net.features, padded, |input| input);
        let pairs = heads.factors.into_iter().zip(features.factors);
        heads.factors = pairs.flat_map(|(policy, feature)| [policy, feature]).collect();
        heads.bias.extend(features.bias);
        let score = net.score.as_ref();
        Packed {
            stem: convolution(&net.stem, board, net.stem.shape[1], storage),
            blocks: net.blocks.iter().map(block).collect(),
            heads,
            policy: row(&net.policy_out.weight)[0],
            policy_bias: net.policy_out.bias.clone(),
            hidden: matrix(&net.hidden, net.hidden.shape[1], |input| input),
            output_weights: [
                row(&net.value.weight),
                score.map_or(Vec::new(), |score| row(&score.weight)),
            ],
            output_bias: [net.value.bias[0], score.map_or(0.0, |score| score.bias[0])],
        }
    }
}

/// Numbers as vectors, the last padded with zeros.
fn row(numbers: &[f32]) -> Vec<Vector> {
    let mut row = vec![Vector::ZERO; vectors(numbers.len())];
    flat_mut(&mut row)[..numbers.len()].copy_from_slice(numbers);
    row
}

/// The weights of a layer as a matrix of `inputs` rows. Input `i` is row `row_of(i)`, and other
/// rows are 0.
fn matrix(affine: &Affine, inputs: usize, row_of: impl Fn(usize) -> usize) -> Matrix {
    let [outputs, own_inputs] = [affine.shape[0], affine.shape[1]];
    let width = vectors(outputs) * LANES;
    let mut factors = vec![Vector::ZERO; inputs * width / LANES];
    let numbers = flat_mut(&mut factors);
    for (output, weights) in affine.weight.chunks_exact(own_inputs).enumerate() {
        for (input, &weight) in weights.iter().enumerate() {
            numbers[row_of(input) * width + output] = weight;
        }
    }
    Matrix { factors, bias: row(&affine.bias) }
}

/// A 3x3 convolution. The weights of channels up to `inputs` that it does not have are 0.
fn convolution<const W: usize, const PAIRS: usize>(
    affine: &Affine,
    board: &BoardTransform<W, PAIRS>,
    inputs: usize,
    storage: Storage,
) -> Convolution {
    let [outputs, own_inputs] = [affine.shape[0], affine.shape[1]];
    let width = vectors(outputs) * LANES;
    let size = inputs * width / LANES;
    let mut taps = vec![Vector::ZERO; 9 * size];
    let numbers = flat_mut(&mut taps);
    for (index, weights) in affine.weight.chunks_exact(9).enumerate() {
        let (output, input) = (index / own_inputs, index % own_inputs);
        for (tap, &weight) in weights.iter().enumerate() {
            numbers[(tap * inputs + input) * width + output] = weight;
        }
    }
    let mut points = vec![Vector::ZERO; BoardTransform::<W, PAIRS>::POINTS * size];
    board.filter(&taps, &mut points, size);
    let filters = match storage {
        Storage::Full => PointFilters::Full(points),
        #[cfg(target_arch = "x86_64")]
        Storage::Half(avx512) => {
            let most = Vector::splat(half::f16::MAX.to_f32());
            let narrow = |point: &Vector| avx512.narrow_f16(point.fast_min(most).fast_max(-most));
            PointFilters::Half(points.iter().map(narrow).collect(), avx512)
        }
    };
    Convolution { filters, bias: row(&affine.bias) }
}
