//! Inference of a residual net on any processor: Winograd's convolutions with sums in float32.
//!
//! This is the fastest backend on processors without matrix tiles. A direct convolution in bf16
//! does twice as many multiplications per second, but needs five times as many.
//!
//! | file | content |
//! |---|---|
//! | `pack` | a net's weights in the layout of the kernel |
//! | `kernel` | a batch of positions through the net |

mod kernel;
mod pack;

use kernel::{BATCH, Kernel, OutputSlices};
use pack::{Packed, Storage};

use super::{BackendKind, InferenceError, Precision};
use crate::game::Layout;
use crate::model::weights::Weights;
use crate::net::fold::FoldedNet;
use crate::net::options::Tower;
use crate::net::plan::NetSpec;
use crate::net::vector::instructions;
use crate::net::winograd::for_width;
use crate::predict::{Backend, Input, PredictError, Predictions};

const RESNETS_ONLY: &str = "it computes `resnet` towers only";

/// Rows of the largest board whose filters may be stored in f16. With 8 rows the error of logits is
/// smaller than that of a net in bf16. With 10 rows it is 8 % of their standard deviation, because
/// Winograd's polynomials are longer.
const MAX_HALF_WIDTH: usize = 8;

/// The reason why the kernel cannot compute a net. `None` if it can.
pub(super) fn refusal(spec: &NetSpec) -> Option<&'static str> {
    (spec.options.tower != Tower::Resnet).then_some(RESNETS_ONLY)
}

/// A [`Kernel`] for a board of any width.
trait AnyKernel: Send {
    fn run(&mut self, inputs: &[Input], outputs: OutputSlices<'_>);
    fn load(&mut self, packed: Packed);
    fn pack(&self, weights: &FoldedNet) -> Result<Packed, InferenceError>;
}

/// A packed net, and memory for one batch of positions.
pub(super) struct Winograd {
    spec: NetSpec,
    kernel: Box<dyn AnyKernel>,
    storage: Storage,
}

impl Winograd {
    /// A copy of the net. With [`Precision::Auto`] filters are stored in the format that is fastest
    /// on this processor, otherwise in float32.
    ///
    /// # Errors
    ///
    /// It is not a residual net, or the weights belong to another net.
    pub(super) fn new(
        spec: &NetSpec,
        weights: &Weights,
        precision: Precision,
    ) -> Result<Winograd, InferenceError> {
        let storage = match precision {
            Precision::Auto if spec.shape.layout().width <= MAX_HALF_WIDTH => Storage::fastest(),
            _ => Storage::Full,
        };
        let kernel = open(spec, &FoldedNet::new(spec, weights)?, storage)?;
        Ok(Winograd { spec: spec.clone(), kernel, storage })
    }

    fn layout(&self) -> &'static Layout {
        self.spec.shape.layout()
    }
}

fn open(
    spec: &NetSpec,
    net: &FoldedNet,
    storage: Storage,
) -> Result<Box<dyn AnyKernel>, InferenceError> {
    for_width!(spec.shape.layout().width, W, PAIRS => {
        Ok(Box::new(Kernel::<W, PAIRS>::new(spec, net, storage)?))
    })
}

fn unsupported() -> InferenceError {
    InferenceError::Unsupported { backend: BackendKind::Winograd, why: RESNETS_ONLY }
}

impl Backend for Winograd {
    fn predict(
        &mut self,
        inputs: &[Input],
        predictions: &mut Predictions,
    ) -> Result<(), PredictError> {
        let squares = self.layout().squares;
        predictions.resize(inputs.len(), squares);
        let batches = inputs
            .chunks(BATCH)
            .zip(predictions.policy.chunks_mut(BATCH * squares))
            .zip(predictions.value.chunks_mut(BATCH).zip(predictions.score.chunks_mut(BATCH)));
        for ((inputs, policy), (value, score)) in batches {
            self.kernel.run(inputs, OutputSlices { policy, value, score });
        }
        Ok(())
    }

    fn load(&mut self, weights: &Weights) -> Result<(), PredictError> {
        let packed = self.kernel.pack(&FoldedNet::new(&self.spec, weights)?)?;
        self.kernel.load(packed);
        Ok(())
    }

    fn describe(&self) -> String {
        let filters = match self.storage {
            Storage::Full => "f32",
            #[cfg(target_arch = "x86_64")]
            Storage::Half(_) => "f32 with filters in f16",
        };
        format!("own kernel, {filters} after Winograd on {}, cpu", instructions())
    }

    fn is_batch_invariant(&self) -> bool {
        true
    }
}
