//! Gradients of residual nets on a processor, by kernels of this program.
//!
//! libtorch runs a training step operator by operator: at few channels it spends half of the time
//! moving activations between convolutions, batch norms and ReLUs. Here a batch goes through a
//! layer in groups of positions that stay in the cache, forward and backward, and batch norms,
//! ReLUs and residuals happen while a convolution's numbers come and go. Where the processor has
//! matrix tiles, convolutions multiply bf16 numbers there, and a batch is kept in bf16 between them;
//! elsewhere they are Winograd's. All else is float32. The losses stay tensors:
//! [`Trainer::gradients`] hands out the heads and takes back what the loss says about them.
//!
//! | file | what |
//! |---|---|
//! | `arrays` | a net's arrays as plain numbers |
//! | `filter` | filters and matrices in the layout of products |
//! | `norm` | batch norms |
//! | `trunk` | the stem and the residual blocks |
//! | `pool` | what a block sees of the whole board |
//! | `heads` | policy, value, score and owners |
//! | `unit` | what computes convolutions: Winograd's, or |
//! | `tiled` | matrix tiles |

mod arrays;
mod filter;
mod heads;
mod norm;
mod pool;
#[cfg(target_arch = "x86_64")]
mod tiled;
mod trunk;
mod unit;

use tch::{Device, Kind, Tensor};

use arrays::{Places, Vectors};
use heads::{Answers, HeadsLayer};
use trunk::Trunk;
use unit::Unit;

use crate::game::Layout;
use crate::net::encode::Input;
use crate::net::options::Tower;
use crate::net::plan::NetSpec;
use crate::net::tower::{Heads, Net};
use crate::net::variables::{TRAINED, to_vec};
use crate::net::winograd::{Workspace, for_width};

/// Positions that go through a layer together. Each group reads and writes a filter's gradients, at all
/// points with Winograd, which costs more memory traffic than points that outgrow the second-level
/// cache. On tiles it is as many as a row holds.
const GROUP: usize = 32;

/// Computes gradients of one net.
pub struct Trainer {
    places: Places,
    step: Box<dyn Step>,
    squares: i64,
    convolutions: String,
}

/// Forward and backward for some board.
trait Step: Send {
    /// What the net says, with the batch's statistics; moves the running ones in `vectors`.
    fn forward(&mut self, places: &Places, vectors: &mut Vectors, inputs: &[Input]) -> Answers;

    /// Gradients of all arrays, from those of the answers of the last [`Step::forward`].
    fn backward(&mut self, places: &Places, gradients: &Answers) -> Vectors;
}

/// The layers of a net on boards of `W` rows.
struct Layers<const W: usize, U: Unit<W>> {
    trunk: Trunk<W, U>,
    heads: HeadsLayer,
}

impl<const W: usize, U: Unit<W>> Step for Layers<W, U> {
    fn forward(&mut self, places: &Places, vectors: &mut Vectors, inputs: &[Input]) -> Answers {
        self.trunk.forward(places, vectors, inputs);
        self.heads.forward(places, vectors, self.trunk.finish())
    }

    fn backward(&mut self, places: &Places, gradients: &Answers) -> Vectors {
        let mut found = places.zeros();
        let trunk = self.trunk.last();
        self.heads.backward(places, &mut found, gradients, trunk);
        self.trunk.backward(places, &mut found);
        found
    }
}

impl Trainer {
    /// A trainer of nets like `spec` on `device` whose convolutions multiply numbers of `kind`, or
    /// of what is fastest if there is none. `None` where libtorch must do it: on a GPU, for the
    /// paper's tower, and for bf16 without matrix tiles or with channels that do not fill them.
    pub fn new(spec: &NetSpec, device: Device, kind: Option<Kind>) -> Option<Trainer> {
        if device != Device::Cpu || spec.options.tower != Tower::Resnet {
            return None;
        }
        let layout = spec.shape.layout();
        let squares = layout.squares as i64;
        let (step, convolutions) = open(spec, layout, kind)?;
        Some(Trainer { places: Places::new(spec), step, squares, convolutions })
    }

    /// Code, precision and device, for people.
    pub fn describe(&self) -> String {
        format!("own kernel, {}, cpu", self.convolutions)
    }

    /// The gradient of a loss for each of [`Net::parameters`], and the loss as `loss` returned it.
    ///
    /// `loss` is given what the net says about `inputs` and returns a tensor whose first number
    /// is to be made smaller. The net's running statistics move as in any training pass.
    pub fn gradients(
        &mut self,
        net: &mut Net,
        inputs: &[Input],
        loss: impl FnOnce(&Heads) -> Tensor,
    ) -> (Tensor, Vec<Tensor>) {
        let mut vectors = net.variables().vectors().each_ref().map(to_vec);
        let answers = self.step.forward(&self.places, &mut vectors, inputs);
        tch::no_grad(|| {
            let mut statistics = net.variables().vectors()[TRAINED].shallow_clone();
            statistics.copy_(&Tensor::from_slice(&vectors[TRAINED]));
        });
        let rows = [inputs.len() as i64, self.squares];
        let leaf = |numbers: &[f32], shape: &[i64]| {
            Tensor::from_slice(numbers).view(shape).set_requires_grad(true)
        };
        let policy = leaf(&answers.policy, &rows);
        let value = leaf(&answers.value, &rows[..1]);
        let score = answers.score.as_deref().map(|score| leaf(score, &rows[..1]));
        let owner = answers.owner.as_deref().map(|owner| leaf(owner, &rows));
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
        let gradients = Answers {
            policy: next(),
            value: next(),
            score: score.map(|_| next()),
            owner: owner.map(|_| next()),
        };
        let gradients = self.step.backward(&self.places, &gradients);
        let gradients = gradients[..TRAINED].iter().map(|vector| Tensor::from_slice(vector));
        (loss.detach(), gradients.collect())
    }
}

fn open(
    spec: &NetSpec,
    layout: &'static Layout,
    kind: Option<Kind>,
) -> Option<(Box<dyn Step>, String)> {
    for_width!(layout.width, W, PAIRS => {
        #[cfg(target_arch = "x86_64")]
        if matches!(kind, None | Some(Kind::BFloat16)) && tiled::fits(spec.channels()) {
            return Some(layers::<W, tiled::Tiled<W>>(spec, layout));
        }
        matches!(kind, None | Some(Kind::Float)).then(|| layers::<W, Workspace<W, PAIRS>>(spec, layout))
    })
}

fn layers<const W: usize, U: Unit<W> + 'static>(
    spec: &NetSpec,
    layout: &'static Layout,
) -> (Box<dyn Step>, String) {
    let trunk = Trunk::<W, U>::new(spec, layout);
    (Box::new(Layers { trunk, heads: HeadsLayer::new(spec, layout) }), U::describe())
}

#[cfg(test)]
mod tests;
