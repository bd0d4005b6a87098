//! A residual net in play on any processor: float32 throughout, convolutions after Winograd.
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
use pack::Packed;

use super::{Backend, BackendKind, InferenceError, Outputs};
use crate::game::Layout;
use crate::net::encode::Input;
use crate::net::fold::Folded;
use crate::net::options::Tower;
use crate::net::plan::NetSpec;
use crate::net::vector::instructions;
use crate::net::weights::Weights;
use crate::net::winograd::for_width;

const RESNETS_ONLY: &str = "it computes `resnet` towers only";

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
}

impl Winograd {
    /// A copy of the net.
    ///
    /// # Errors
    ///
    /// It is no residual net, or the weights are of another net.
    pub(super) fn new(spec: &NetSpec, weights: &Weights) -> Result<Winograd, InferenceError> {
        let folded = Folded::new(spec, weights)?;
        Ok(Winograd { spec: spec.clone(), kernel: open(spec, &folded)? })
    }

    fn layout(&self) -> &'static Layout {
        self.spec.shape.layout()
    }
}

fn open(spec: &NetSpec, net: &Folded) -> Result<Box<dyn AnyKernel>, InferenceError> {
    for_width!(spec.shape.layout().width, W, PAIRS => {
        Ok(Box::new(Kernel::<W, PAIRS>::new(spec, net)?))
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
        format!("own kernel, f32 after Winograd on {}, cpu", instructions())
    }
}
