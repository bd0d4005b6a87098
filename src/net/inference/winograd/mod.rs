//! A residual net in play on any processor: sums in float32, convolutions after Winograd.
//!
//! The best there is where the processor has no matrix tiles: a direct convolution in bf16 has
//! twice the multiplications a second, and five times as many to do.
//!
//! | file | what |
//! |---|---|
//! | `pack` | a net's weights as the kernel reads them |
//! | `kernel` | a batch of positions through the net |

mod kernel;
mod pack;

use kernel::{Answers, BATCH, Kernel};
use pack::{Packed, Storage};

use super::{Backend, BackendKind, InferenceError, Outputs, Precision};
use crate::game::Layout;
use crate::net::encode::Input;
use crate::net::fold::Folded;
use crate::net::options::Tower;
use crate::net::plan::NetSpec;
use crate::net::vector::instructions;
use crate::net::weights::Weights;
use crate::net::winograd::for_width;

const RESNETS_ONLY: &str = "it computes `resnet` towers only";

/// Rows of the largest board whose filters may be in f16: with 8 logits are off by less than bf16
/// throughout makes them, with 10 Winograd's longer polynomials make it 8 % of their deviation.
const WIDEST_HALF: usize = 8;

/// Why the kernel cannot compute a net; `None` where it can.
pub(super) fn refusal(spec: &NetSpec) -> Option<&'static str> {
    (spec.options.tower != Tower::Resnet).then_some(RESNETS_ONLY)
}

/// A [`Kernel`] of some board.
trait AnyKernel: Send {
    fn run(&mut self, inputs: &[Input], answers: Answers<'_>);
    fn load(&mut self, packed: Packed);
    fn pack(&self, weights: &Folded) -> Result<Packed, InferenceError>;
}

/// A net and room for one batch of positions.
pub(super) struct Winograd {
    spec: NetSpec,
    kernel: Box<dyn AnyKernel>,
    storage: Storage,
}

impl Winograd {
    /// A copy of the net, in float32 throughout or as the processor is fastest.
    ///
    /// # Errors
    ///
    /// It is no residual net, or the weights are of another net.
    pub(super) fn new(
        spec: &NetSpec,
        weights: &Weights,
        precision: Precision,
    ) -> Result<Winograd, InferenceError> {
        let storage = match precision {
            Precision::Auto if spec.shape.layout().width <= WIDEST_HALF => Storage::fastest(),
            _ => Storage::Full,
        };
        let kernel = open(spec, &Folded::new(spec, weights)?, storage)?;
        Ok(Winograd { spec: spec.clone(), kernel, storage })
    }

    fn layout(&self) -> &'static Layout {
        self.spec.shape.layout()
    }
}

fn open(
    spec: &NetSpec,
    net: &Folded,
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
    fn evaluate(&mut self, inputs: &[Input], outputs: &mut Outputs) -> Result<(), InferenceError> {
        let squares = self.layout().squares;
        outputs.resize(inputs.len(), squares);
        let batches = inputs
            .chunks(BATCH)
            .zip(outputs.policy.chunks_mut(BATCH * squares))
            .zip(outputs.value.chunks_mut(BATCH).zip(outputs.score.chunks_mut(BATCH)));
        for ((inputs, policy), (value, score)) in batches {
            self.kernel.run(inputs, Answers { policy, value, score });
        }
        Ok(())
    }

    fn load(&mut self, weights: &Weights) -> Result<(), InferenceError> {
        let packed = self.kernel.pack(&Folded::new(&self.spec, weights)?)?;
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
}
