//! A net for inference: batch norms are folded into the convolutions before them.
//!
//! Every inference backend is built from this form, which is plain numbers.

use super::options::Tower;
use super::plan::{
    HEAD_CHANNELS, HIDDEN, NORM_EPSILON, NetSpec, PAPER_HIDDEN, PAPER_PADDING, array_specs, check,
    plane_count,
};
use crate::model::weights::{Weights, WeightsError};

/// The weights and biases of a fully connected layer or a convolution.
#[derive(Clone, Debug, PartialEq, Default)]
pub(super) struct Affine {
    /// Sizes of `weight`, the outputs first.
    pub shape: Vec<usize>,
    /// The weights, row-major.
    pub weight: Vec<f32>,
    /// One number for each output, or for each square in `policy_out` of a `resnet`. Empty where
    /// the layer has no biases.
    pub bias: Vec<f32>,
}

/// A residual block.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    /// The first convolution.
    pub first: Affine,
    /// Global pooling: maps mean and maximum of the block's input to what is added after `first`.
    pub pool: Option<Affine>,
    /// The second convolution.
    pub second: Affine,
}

/// A folded residual net.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FoldedResnet {
    pub stem: Affine,
    pub blocks: Vec<Block>,
    pub policy: Affine,
    pub policy_out: Affine,
    pub features: Affine,
    pub hidden: Affine,
    pub value: Affine,
    pub score: Option<Affine>,
}

/// The folded net of Fu and Xu.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FoldedPaper {
    pub convolutions: Vec<Affine>,
    pub hidden: Vec<Affine>,
    pub policy: Affine,
    pub value: Affine,
    pub score: Option<Affine>,
}

/// A folded net of either tower. It has no owner head, because inference does not need it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FoldedNet {
    Resnet(Box<FoldedResnet>),
    Paper(Box<FoldedPaper>),
}

impl FoldedNet {
    /// Folds `weights` of a net of `spec`.
    ///
    /// # Errors
    ///
    /// `weights` belong to another net.
    pub(super) fn new(spec: &NetSpec, weights: &Weights) -> Result<FoldedNet, WeightsError> {
        check(&array_specs(spec), weights)?;
        let folding = Folding { spec, weights };
        Ok(match spec.options.tower {
            Tower::Resnet => FoldedNet::Resnet(Box::new(folding.resnet()?)),
            Tower::Paper => FoldedNet::Paper(Box::new(folding.paper()?)),
        })
    }
}

struct Folding<'a> {
    spec: &'a NetSpec,
    weights: &'a Weights,
}

impl Folding<'_> {
    fn convolution(
        &self,
        conv: &str,
        norm: &str,
        shape: [usize; 4],
    ) -> Result<Affine, WeightsError> {
        let outputs = shape[0];
        let part = |part: &str| self.weights.get(&format!("{norm}.{part}"), &[outputs]);
        let mut weight = self.weights.get(&format!("{conv}.weight"), &shape)?.to_vec();
        let mut bias = vec![0.0; outputs];
        let (scale, shift) = (part("scale")?, part("shift")?);
        let (mean, variance) = (part("mean")?, part("variance")?);
        let each = weight.len() / outputs;
        for (output, filter) in weight.chunks_exact_mut(each).enumerate() {
            let factor = scale[output] / (variance[output] + NORM_EPSILON as f32).sqrt();
            filter.iter_mut().for_each(|weight| *weight *= factor);
            bias[output] = shift[output] - factor * mean[output];
        }
        Ok(Affine { shape: shape.to_vec(), weight, bias })
    }

    fn affine(&self, name: &str, shape: [usize; 2], biases: usize) -> Result<Affine, WeightsError> {
        let weight = self.weights.get(&format!("{name}.weight"), &shape)?.to_vec();
        let bias = match biases {
            0 => Vec::new(),
            _ => self.weights.get(&format!("{name}.bias"), &[biases])?.to_vec(),
        };
        Ok(Affine { shape: shape.to_vec(), weight, bias })
    }

    fn block(&self, index: usize) -> Result<Block, WeightsError> {
        let channels = self.spec.channels();
        let name = |part| format!("block.{index}.{part}");
        let shape = [channels, channels, 3, 3];
        let pool = (self.spec.pools(index))
            .then(|| self.affine(&name("pool"), [channels, 2 * channels], 0));
        Ok(Block {
            first: self.convolution(&name("conv1"), &name("norm1"), shape)?,
            pool: pool.transpose()?,
            second: self.convolution(&name("conv2"), &name("norm2"), shape)?,
        })
    }

    fn resnet(&self) -> Result<FoldedResnet, WeightsError> {
        let channels = self.spec.channels();
        let layout = self.spec.shape.layout();
        let planes = plane_count(&self.spec.options);
        let head = [HEAD_CHANNELS, channels, 1, 1];
        let score = self.spec.options.score_head.then(|| self.affine("score.out", [1, HIDDEN], 1));
        Ok(FoldedResnet {
            stem: self.convolution("stem.conv", "stem.norm", [channels, planes, 3, 3])?,
            blocks: (0..self.spec.blocks())
                .map(|index| self.block(index))
                .collect::<Result<_, _>>()?,
            policy: self.convolution("policy.conv", "policy.norm", head)?,
            policy_out: self.affine("policy.out", [1, HEAD_CHANNELS], layout.squares)?,
            features: self.convolution("value.conv", "value.norm", head)?,
            hidden: self.affine(
                "value.hidden",
                [HIDDEN, HEAD_CHANNELS * layout.cells()],
                HIDDEN,
            )?,
            value: self.affine("value.out", [1, HIDDEN], 1)?,
            score: score.transpose()?,
        })
    }

    fn paper(&self) -> Result<FoldedPaper, WeightsError> {
        let channels = self.spec.channels();
        let layout = self.spec.shape.layout();
        let mut planes = plane_count(&self.spec.options);
        let mut convolutions = Vec::new();
        for index in 0..PAPER_PADDING.len() {
            let (conv, norm) = (format!("conv.{index}"), format!("norm.{index}"));
            convolutions.push(self.convolution(&conv, &norm, [channels, planes, 3, 3])?);
            planes = channels;
        }
        let mut inputs = self.spec.paper_features();
        let mut hidden = Vec::new();
        for (index, width) in PAPER_HIDDEN.into_iter().enumerate() {
            hidden.push(self.affine(&format!("hidden.{index}"), [width, inputs], width)?);
            inputs = width;
        }
        let score = self.spec.options.score_head.then(|| self.affine("score.out", [1, inputs], 1));
        Ok(FoldedPaper {
            convolutions,
            hidden,
            policy: self.affine("policy.out", [layout.squares, inputs], layout.squares)?,
            value: self.affine("value.out", [1, inputs], 1)?,
            score: score.transpose()?,
        })
    }
}
