//! Gradients of residual nets on a CPU, computed by kernels of this program.
//!
//! libtorch runs a training step operator by operator. With few channels it spends half of the time
//! moving activations between convolutions, batch norms and ReLUs. Here each layer is computed for
//! groups of positions that stay in the cache, forward and backward. Batch norms, ReLUs and
//! residuals are computed while a convolution's inputs are loaded and its outputs are stored.
//!
//! On processors with matrix tiles, convolutions multiply bf16 numbers, and activations are stored
//! in bf16 between them. On other processors convolutions are Winograd's in float32. Everything
//! else is float32. Losses are computed by libtorch: [`Trainer::gradients`] passes the heads'
//! outputs to the loss function and gets their gradients from libtorch.
//!
//! | file | content |
//! |---|---|
//! | `arrays` | a net's arrays as plain numbers |
//! | `filter` | filters and matrices in the layout of the kernels |
//! | `norm` | batch norms |
//! | `trunk` | the stem and the residual blocks |
//! | `pool` | global pooling of a block |
//! | `heads` | policy, value, score and owner |
//! | `convolver` | the interface of convolutions, and Winograd's |
//! | `tiled` | convolutions on matrix tiles |

mod arrays;
mod convolver;
mod filter;
mod heads;
mod norm;
mod pool;
#[cfg(target_arch = "x86_64")]
mod tiled;
mod trunk;

use tch::{Device, Kind, Tensor};

use arrays::{ArrayMap, Vectors};
use convolver::Convolver;
use heads::{HeadsLayer, RawHeads};
use trunk::Trunk;

use crate::game::Layout;
use crate::net::options::Tower;
use crate::net::plan::NetSpec;
use crate::net::tower::{Heads, Net};
use crate::net::variables::{TRAINED, to_vec};
use crate::net::winograd::{Workspace, for_width};
use crate::predict::Input;

/// Positions of a group.
///
/// With Winograd each group reads and writes a filter's gradients at all points. Smaller groups
/// would do that more often, which costs more memory traffic than numbers at the points that do not
/// fit into the second-level cache. On tiles a group is as many positions as a row holds.
const GROUP: usize = 32;

/// Computes gradients of one net.
pub struct Trainer {
    arrays: ArrayMap,
    layers: Box<dyn AnyLayers>,
    squares: i64,
    convolutions: String,
}

/// [`Layers`] for a board of any width and any convolver.
trait AnyLayers: Send {
    /// Computes the heads' outputs with the batch's statistics, and updates the running statistics
    /// in `vectors`.
    fn forward(&mut self, arrays: &ArrayMap, vectors: &mut Vectors, inputs: &[Input]) -> RawHeads;

    /// The gradients of all arrays. `gradients` are those of the heads' outputs of the last call of
    /// [`AnyLayers::forward`].
    fn backward(&mut self, arrays: &ArrayMap, gradients: &RawHeads) -> Vectors;
}

/// The layers of a net on boards of `W` rows.
struct Layers<const W: usize, C: Convolver<W>> {
    trunk: Trunk<W, C>,
    heads: HeadsLayer,
}

impl<const W: usize, C: Convolver<W>> AnyLayers for Layers<W, C> {
    fn forward(&mut self, arrays: &ArrayMap, vectors: &mut Vectors, inputs: &[Input]) -> RawHeads {
        self.trunk.forward(arrays, vectors, inputs);
        self.heads.forward(arrays, vectors, self.trunk.compute_output())
    }

    fn backward(&mut self, arrays: &ArrayMap, gradients: &RawHeads) -> Vectors {
        let mut found = arrays.zeros();
        let trunk = self.trunk.output();
        self.heads.backward(arrays, &mut found, gradients, trunk);
        self.trunk.backward(arrays, &mut found);
        found
    }
}

impl Trainer {
    /// A trainer of nets of `spec` on `device`. Convolutions multiply numbers of `kind`, or by
    /// default of the fastest kind.
    ///
    /// `None` where only libtorch can compute the gradients: on a GPU, for the `paper` tower, and
    /// for bf16 without matrix tiles or with channels that do not fill them.
    pub fn new(spec: &NetSpec, device: Device, kind: Option<Kind>) -> Option<Trainer> {
        if device != Device::Cpu || spec.options.tower != Tower::Resnet {
            return None;
        }
        let layout = spec.shape.layout();
        let squares = layout.squares as i64;
        let (layers, convolutions) = open(spec, layout, kind)?;
        Some(Trainer { arrays: ArrayMap::new(spec), layers, squares, convolutions })
    }

    /// The code, precision and device, for messages.
    pub fn describe(&self) -> String {
        format!("own kernel, {}, cpu", self.convolutions)
    }

    /// Returns what `loss` returned, and the gradient of the loss for each of [`Net::parameters`].
    ///
    /// `loss` gets the heads' outputs for `inputs`. It returns a tensor whose first number is the
    /// loss to minimise. The net's running statistics are updated, as in every training pass.
    pub fn gradients(
        &mut self,
        net: &mut Net,
        inputs: &[Input],
        loss: impl FnOnce(&Heads) -> Tensor,
    ) -> (Tensor, Vec<Tensor>) {
        let mut vectors = net.variables().vectors().each_ref().map(to_vec);
        let raw = self.layers.forward(&self.arrays, &mut vectors, inputs);
        tch::no_grad(|| {
            let mut statistics = net.variables().vectors()[TRAINED].shallow_clone();
            statistics.copy_(&Tensor::from_slice(&vectors[TRAINED]));
        });
        let rows = [inputs.len() as i64, self.squares];
        let leaf = |numbers: &[f32], shape: &[i64]| {
            Tensor::from_slice(numbers).view(shape).set_requires_grad(true)
        };
        let policy = leaf(&raw.policy, &rows);
        let value = leaf(&raw.value, &rows[..1]);
        let score = raw.score.as_deref().map(|score| leaf(score, &rows[..1]));
        let owner = raw.owner.as_deref().map(|owner| leaf(owner, &rows));
        let heads = Heads {
            policy: policy.shallow_clone(),
            value: value.tanh(),
            score: score.as_ref().map(Tensor::shallow_clone),
            owner: owner.as_ref().map(Tensor::tanh),
        };
        let loss = loss(&heads);
        let leaves: Vec<&Tensor> =
            [&policy, &value].into_iter().chain(&score).chain(&owner).collect();
        let found = Tensor::run_backward(&[loss.get(0)], &leaves, false, false);
        let mut found = found.iter().map(to_vec);
        let mut next = || found.next().unwrap_or_default();
        let gradients = RawHeads {
            policy: next(),
            value: next(),
            score: score.map(|_| next()),
            owner: owner.map(|_| next()),
        };
        let gradients = self.layers.backward(&self.arrays, &gradients);
        let gradients = gradients[..TRAINED].iter().map(|vector| Tensor::from_slice(vector));
        (loss.detach(), gradients.collect())
    }
}

fn open(
    spec: &NetSpec,
    layout: &'static Layout,
    kind: Option<Kind>,
) -> Option<(Box<dyn AnyLayers>, String)> {
    for_width!(layout.width, W, PAIRS => {
        #[cfg(target_arch = "x86_64")]
        if matches!(kind, None | Some(Kind::BFloat16)) && tiled::fits(spec.channels()) {
            return Some(open_layers::<W, tiled::TileConvolver<W>>(spec, layout));
        }
        matches!(kind, None | Some(Kind::Float)).then(|| open_layers::<W, Workspace<W, PAIRS>>(spec, layout))
    })
}

fn open_layers<const W: usize, C: Convolver<W> + 'static>(
    spec: &NetSpec,
    layout: &'static Layout,
) -> (Box<dyn AnyLayers>, String) {
    let trunk = Trunk::<W, C>::new(spec, layout);
    (Box::new(Layers { trunk, heads: HeadsLayer::new(spec, layout) }), C::describe())
}

#[cfg(test)]
mod tests;
