//! A folded net in the layout that the kernel reads: rows of inputs, outputs as vectors.

use crate::net::fold::{Affine, Resnet};
use crate::net::plan::HEAD_CHANNELS;
#[cfg(target_arch = "x86_64")]
use crate::net::vector::x86::{Avx512, Half};
use crate::net::vector::{LANES, Vector, flat_mut, vectors};
use crate::net::winograd::Board;

/// How filters are kept.
#[derive(Clone, Copy)]
pub(super) enum Storage {
    /// In float32.
    Full,
    /// In f16, which takes half as long to fetch.
    #[cfg(target_arch = "x86_64")]
    Half(Avx512),
}

impl Storage {
    /// The fastest that this build has: one for processors without AVX-512 would bring each vector
    /// back by a call.
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
pub(super) enum Points {
    Full(Vec<Vector>),
    #[cfg(target_arch = "x86_64")]
    Half(Vec<Half>, Avx512),
}

/// A convolution's filters and its bias.
#[derive(Debug)]
pub(super) struct Convolution {
    pub points: Points,
    pub bias: Vec<Vector>,
}

/// A matrix `[input][output vector]` and a bias.
#[derive(Debug)]
pub(super) struct Matrix {
    pub factors: Vec<Vector>,
    pub bias: Vec<Vector>,
}

/// A residual block.
#[derive(Debug)]
pub(super) struct Block {
    pub first: Convolution,
    /// From means, then maxima, of all channels.
    pub pool: Option<Matrix>,
    pub second: Convolution,
}

/// A net as the kernel reads it.
#[derive(Debug)]
pub(super) struct Packed {
    pub stem: Convolution,
    pub blocks: Vec<Block>,
    /// 1x1 convolutions: the policy's channels, then the features'.
    pub heads: Matrix,
    /// What brings the policy's channels of a cell to its logit.
    pub policy: Vector,
    /// A number for each square.
    pub policy_bias: Vec<f32>,
    /// From `[cell][feature]`.
    pub hidden: Matrix,
    /// Value and score from the hidden layer.
    pub last: [Vec<Vector>; 2],
    pub last_bias: [f32; 2],
}

// The heads' channels must fill vectors, since a vector holds the channels of one head only.
const _: () = assert!(HEAD_CHANNELS == LANES);

impl Packed {
    /// Packs `net` for boards of `W` rows.
    pub(super) fn new<const W: usize, const PAIRS: usize>(
        net: &Resnet,
        board: &Board<W, PAIRS>,
        storage: Storage,
    ) -> Packed {
        let channels = net.stem.shape[0];
        let padded = vectors(channels) * LANES;
        let block = |block: &crate::net::fold::Block| Block {
            first: convolution(&block.first, board, padded, storage),
            pool: block.pool.as_ref().map(|pool| {
                // The maxima begin where the padded means end.
                let place =
                    |input| if input < channels { input } else { input - channels + padded };
                matrix(pool, 2 * padded, place)
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
            last: [row(&net.value.weight), score.map_or(Vec::new(), |score| row(&score.weight))],
            last_bias: [net.value.bias[0], score.map_or(0.0, |score| score.bias[0])],
        }
    }
}

/// Numbers as vectors, the last filled up with zeros.
fn row(numbers: &[f32]) -> Vec<Vector> {
    let mut row = vec![Vector::ZERO; vectors(numbers.len())];
    flat_mut(&mut row)[..numbers.len()].copy_from_slice(numbers);
    row
}

/// The matrix of an affine map with `inputs` rows, of which input `i` takes row `place(i)`.
fn matrix(affine: &Affine, inputs: usize, place: impl Fn(usize) -> usize) -> Matrix {
    let [outputs, read] = [affine.shape[0], affine.shape[1]];
    let width = vectors(outputs) * LANES;
    let mut factors = vec![Vector::ZERO; inputs * width / LANES];
    let numbers = flat_mut(&mut factors);
    for (output, weights) in affine.weight.chunks_exact(read).enumerate() {
        for (input, &weight) in weights.iter().enumerate() {
            numbers[place(input) * width + output] = weight;
        }
    }
    Matrix { factors, bias: row(&affine.bias) }
}

/// A 3x3 convolution from `inputs` channels, those beyond its own being 0.
fn convolution<const W: usize, const PAIRS: usize>(
    affine: &Affine,
    board: &Board<W, PAIRS>,
    inputs: usize,
    storage: Storage,
) -> Convolution {
    let [outputs, read] = [affine.shape[0], affine.shape[1]];
    let width = vectors(outputs) * LANES;
    let size = inputs * width / LANES;
    let mut taps = vec![Vector::ZERO; 9 * size];
    let numbers = flat_mut(&mut taps);
    for (index, weights) in affine.weight.chunks_exact(9).enumerate() {
        let (output, input) = (index / read, index % read);
        for (tap, &weight) in weights.iter().enumerate() {
            numbers[(tap * inputs + input) * width + output] = weight;
        }
    }
    let mut points = vec![Vector::ZERO; Board::<W, PAIRS>::POINTS * size];
    board.filter(&taps, &mut points, size);
    let points = match storage {
        Storage::Full => Points::Full(points),
        #[cfg(target_arch = "x86_64")]
        Storage::Half(avx512) => {
            let most = Vector::splat(half::f16::MAX.to_f32());
            let narrow = |point: &Vector| avx512.narrow_f16(point.fast_min(most).fast_max(-most));
            Points::Half(points.iter().map(narrow).collect(), avx512)
        }
    };
    Convolution { points, bias: row(&affine.bias) }
}
