//! A residual net in play on a processor with matrix tiles, all of it in one kernel of ours.
//!
//! | file | what |
//! |---|---|
//! | `route` | a board as the kernel walks it |
//! | `pack` | a net's weights as the kernel reads them |
//! | `stem` | positions into the trunk |
//! | `kernel` | 16 positions through the net: its tower |
//! | `heads` | from the trunk to policy, value and score |
//! | `leave` | sums on their way from the tiles into activations |

mod heads;
mod kernel;
mod leave;
mod pack;
mod route;
mod stem;

use kernel::{Answers, GROUP, Kernel};
use pack::{DEEP, Packed};
use route::Route;

use super::{Backend, BackendKind, InferenceError, Outputs};
use crate::net::encode::{Encoding, Input};
use crate::net::fold::Folded;
use crate::net::options::Tower;
use crate::net::plan::NetSpec;
use crate::net::tile::{self, Tiles};
use crate::net::weights::Weights;

/// Why the kernel cannot compute a net on this machine; `None` where it can.
pub(super) fn refusal(spec: &NetSpec) -> Option<&'static str> {
    if spec.options.tower != Tower::Resnet {
        return Some("it computes `resnet` towers only");
    }
    if spec.channels() == 0 || !spec.channels().is_multiple_of(DEEP) {
        return Some("it needs channels in multiples of 32");
    }
    if !tile::available() {
        return Some("the processor has no AMX for bf16, or the system does not allow it");
    }
    None
}

/// Operations a second that the tiles of one core reach; `None` where there are none.
pub(super) fn peak() -> Option<f64> {
    Tiles::configure().map(|tiles| kernel::peak(&tiles))
}

/// A net and room for one group of positions.
pub(super) struct Amx {
    spec: NetSpec,
    route: Route,
    packed: Packed,
    kernel: Kernel,
}

impl Amx {
    /// A copy of the net.
    ///
    /// # Errors
    ///
    /// The kernel cannot compute it, or the weights are of another net.
    pub(super) fn new(spec: &NetSpec, weights: &Weights) -> Result<Amx, InferenceError> {
        if let Some(why) = refusal(spec) {
            return Err(InferenceError::Unsupported { backend: BackendKind::Amx, why });
        }
        let route = Route::new(spec.shape.layout());
        let packed = pack(spec, weights, &route)?;
        let kernel = Kernel::new(Encoding::new(spec), &route, packed.depth);
        Ok(Amx { spec: spec.clone(), route, packed, kernel })
    }
}

fn pack(spec: &NetSpec, weights: &Weights, route: &Route) -> Result<Packed, InferenceError> {
    match Folded::new(spec, weights)? {
        Folded::Resnet(net) => Ok(Packed::new(&net, route)),
        Folded::Paper(_) => Err(InferenceError::Unsupported {
            backend: BackendKind::Amx,
            why: "it computes `resnet` towers only",
        }),
    }
}

impl Backend for Amx {
    fn evaluate(&mut self, inputs: &[Input], outputs: &mut Outputs) -> Result<(), InferenceError> {
        let squares = self.route.squares;
        outputs.resize(inputs.len(), squares);
        let Some(tiles) = Tiles::configure() else {
            let why = "the tiles are gone, or in use on this thread";
            return Err(InferenceError::Unsupported { backend: BackendKind::Amx, why });
        };
        let groups = inputs
            .chunks(GROUP)
            .zip(outputs.policy.chunks_mut(GROUP * squares))
            .zip(outputs.value.chunks_mut(GROUP).zip(outputs.score.chunks_mut(GROUP)));
        for ((inputs, policy), (value, score)) in groups {
            let answers = Answers { policy, value, score };
            self.kernel.run(&tiles, &self.route, &self.packed, inputs, answers);
        }
        drop(tiles);
        outputs.value.iter_mut().for_each(|value| *value = value.tanh());
        outputs.score.iter_mut().for_each(|score| *score *= squares as f32);
        Ok(())
    }

    fn load(&mut self, weights: &Weights) -> Result<(), InferenceError> {
        self.packed = pack(&self.spec, weights, &self.route)?;
        Ok(())
    }

    fn describe(&self) -> String {
        "own kernel, bf16 on AMX, cpu".to_owned()
    }
}
