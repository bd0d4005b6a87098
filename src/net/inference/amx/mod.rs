//! Inference of a whole residual net in one kernel, on processors with matrix tiles, in bf16.
//!
//! | file | content |
//! |---|---|
//! | `route` | the order of squares and taps in a board's convolutions |
//! | `pack` | a net's weights in the layout of the kernel |
//! | `stem` | from positions to the trunk |
//! | `kernel` | 16 positions through the net; its residual blocks |
//! | `heads` | from the trunk to policy, value and score |
//! | `epilogue` | ReLU, residual and cast to bf16 of the sums in the tiles |

mod epilogue;
mod heads;
mod kernel;
mod pack;
mod route;
mod stem;

use epilogue::GROUP;
use kernel::{Kernel, RawOutputs};
use pack::{Packed, TILE_INPUTS};
use route::Route;

use super::{BackendKind, InferenceError};
use crate::model::weights::Weights;
use crate::net::encode::Encoding;
use crate::net::fold::FoldedNet;
use crate::net::options::Tower;
use crate::net::plan::NetSpec;
use crate::net::tile::{self, Tiles};
use crate::predict::{Backend, Input, PredictError, Predictions};

/// The reason why the kernel cannot compute a net on this machine. `None` if it can.
pub(super) fn refusal(spec: &NetSpec) -> Option<&'static str> {
    if spec.options.tower != Tower::Resnet {
        return Some("it computes `resnet` towers only");
    }
    if spec.channels() == 0 || !spec.channels().is_multiple_of(TILE_INPUTS) {
        return Some("it needs channels in multiples of 32");
    }
    if !tile::available() {
        return Some("the processor has no AMX for bf16, or the system does not allow it");
    }
    None
}

/// The peak rate of one core's tiles, in operations per second. `None` without tiles.
pub(super) fn peak() -> Option<f64> {
    Tiles::configure().map(|tiles| kernel::peak(&tiles))
}

/// A packed net, and memory for one group of positions.
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
    /// The kernel cannot compute the net here, or the weights belong to another net.
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
    match FoldedNet::new(spec, weights)? {
        FoldedNet::Resnet(net) => Ok(Packed::new(&net, route)),
        FoldedNet::Paper(_) => Err(InferenceError::Unsupported {
            backend: BackendKind::Amx,
            why: "it computes `resnet` towers only",
        }),
    }
}

impl Backend for Amx {
    fn predict(
        &mut self,
        inputs: &[Input],
        predictions: &mut Predictions,
    ) -> Result<(), PredictError> {
        let squares = self.route.squares;
        predictions.resize(inputs.len(), squares);
        let Some(tiles) = Tiles::configure() else {
            let why = "the matrix tiles are in use on this thread";
            let error = InferenceError::Unsupported { backend: BackendKind::Amx, why };
            return Err(error.into());
        };
        let groups = inputs
            .chunks(GROUP)
            .zip(predictions.policy.chunks_mut(GROUP * squares))
            .zip(predictions.value.chunks_mut(GROUP).zip(predictions.score.chunks_mut(GROUP)));
        for ((inputs, policy), (value, score)) in groups {
            let raw = RawOutputs { policy, value, score };
            self.kernel.run(&tiles, &self.route, &self.packed, inputs, raw);
        }
        drop(tiles);
        predictions.value.iter_mut().for_each(|value| *value = value.tanh());
        predictions.score.iter_mut().for_each(|score| *score *= squares as f32);
        Ok(())
    }

    fn load(&mut self, weights: &Weights) -> Result<(), PredictError> {
        self.packed = pack(&self.spec, weights, &self.route)?;
        Ok(())
    }

    fn describe(&self) -> String {
        "own kernel, bf16 on AMX, cpu".to_owned()
    }

    fn is_batch_invariant(&self) -> bool {
        true
    }
}
