//! Inference by libtorch, operator by operator.
//!
//! It runs on a GPU, and on a CPU where no other backend supports the net. In float32 it is exact
//! up to rounding.

use tch::{Device, Kind, Tensor};

use super::InferenceError;
#[cfg(target_arch = "x86_64")]
use super::dense::{self, Dense};
use crate::game::Layout;
use crate::model::weights::Weights;
use crate::net::encode::tensors::DeviceEncoding;
use crate::net::fold::{Affine, Block, FoldedNet, FoldedPaper, FoldedResnet};
use crate::net::plan::{NetSpec, PAPER_PADDING};
use crate::predict::{Backend, Input, PredictError, Predictions};

/// A folded net as tensors.
pub(super) struct Eager {
    spec: NetSpec,
    kind: Kind,
    device: Device,
    encoding: DeviceEncoding,
    trunk: Trunk,
    /// `[1, 1, width, width]`: 1 on squares, 0 on holes. `None` for boards without holes.
    mask: Option<Tensor>,
    /// The cell of each square. `None` for boards without holes.
    cells: Option<Tensor>,
}

enum Trunk {
    Resnet(ResnetTensors),
    Paper(PaperTensors),
}

/// The weights and biases of a convolution or a fully connected layer.
struct AffineTensors {
    weight: Tensor,
    bias: Tensor,
}

/// A hidden fully connected layer.
struct Hidden {
    layer: AffineTensors,
    /// The same layer for small batches, where this machine can compute it faster.
    #[cfg(target_arch = "x86_64")]
    small_batch: Option<Dense>,
}

struct ResnetTensors {
    stem: AffineTensors,
    blocks: Vec<(AffineTensors, Option<Tensor>, AffineTensors)>,
    policy: AffineTensors,
    policy_out: AffineTensors,
    features: AffineTensors,
    hidden: AffineTensors,
    /// Two rows: value, score.
    outputs: AffineTensors,
}

struct PaperTensors {
    convolutions: Vec<AffineTensors>,
    hidden: Vec<Hidden>,
    policy: AffineTensors,
    /// Two rows: value, score.
    outputs: AffineTensors,
}

impl Eager {
    /// A copy of the net in `kind` on `device`.
    ///
    /// # Errors
    ///
    /// The weights belong to another net.
    pub(super) fn new(
        spec: &NetSpec,
        weights: &Weights,
        kind: Kind,
        device: Device,
    ) -> Result<Eager, InferenceError> {
        let layout = spec.shape.layout();
        let trunk = Trunk::new(&FoldedNet::new(spec, weights)?, kind, device);
        let holes = layout.squares < layout.cells();
        let mut mask = vec![0f32; layout.cells()];
        layout.cell_of.iter().for_each(|&cell| mask[cell as usize] = 1.0);
        let width = layout.width as i64;
        let mask =
            || Tensor::from_slice(&mask).view([1, 1, width, width]).to_device(device).to_kind(kind);
        let cells = || {
            let cells: Vec<i64> = layout.cell_of.iter().map(|&cell| cell as i64).collect();
            Tensor::from_slice(&cells).to_device(device)
        };
        Ok(Eager {
            spec: spec.clone(),
            kind,
            device,
            encoding: DeviceEncoding::new(spec, kind, device),
            trunk,
            mask: holes.then(mask),
            cells: holes.then(cells),
        })
    }

    fn layout(&self) -> &'static Layout {
        self.spec.shape.layout()
    }

    /// For each position a row of policy logits, value, and score if there is one; the last two
    /// before tanh. Also returns the length of a row.
    fn rows(&self, inputs: &[Input]) -> Result<(Vec<f32>, usize), InferenceError> {
        let _guard = tch::no_grad_guard();
        let planes = match self.device {
            Device::Cpu => self.encoding.cpu.planes(inputs, self.kind, self.device),
            _ => self.encoding.planes(inputs),
        };
        let (policy, value_and_score) = match &self.trunk {
            Trunk::Resnet(net) => self.resnet(net, &planes)?,
            Trunk::Paper(net) => self.paper(net, &planes)?,
        };
        // One tensor, so that the host waits for a GPU only once.
        let both = Tensor::f_cat(&[policy, value_and_score], 1)?;
        let both = both.f_to_device(Device::Cpu)?.f_contiguous()?;
        let columns = both.size()[1] as usize;
        let mut rows = vec![0f32; inputs.len() * columns];
        both.f_copy_data(&mut rows, inputs.len() * columns)?;
        Ok((rows, columns))
    }

    fn activate(&self, mut x: Tensor) -> Result<Tensor, InferenceError> {
        let mut x = x.f_relu_()?;
        Ok(match &self.mask {
            Some(mask) => x.f_mul_(mask)?,
            None => x,
        })
    }

    /// Policy logits `[n, squares]`, and value and score `[n, 2]` before tanh. Without a score head
    /// the second tensor is `[n, 1]`.
    fn resnet(
        &self,
        net: &ResnetTensors,
        planes: &Tensor,
    ) -> Result<(Tensor, Tensor), InferenceError> {
        let mut x = self.activate(net.stem.convolve(planes)?)?;
        for (first, pool, second) in &net.blocks {
            let mut y = first.convolve(&x)?;
            if let Some(pool) = pool {
                y = y.f_add_(&self.pool(&x, pool)?)?;
            }
            let y = self.activate(y)?;
            x = self.activate(second.convolve(&y)?.f_add_(&x)?)?;
        }
        let policy = self.activate(net.policy.convolve(&x)?)?;
        let policy = policy.f_permute([0, 2, 3, 1])?.f_flatten(1, 2)?.f_to_kind(Kind::Float)?;
        let mut policy =
            policy.f_linear(&net.policy_out.weight, None::<&Tensor>)?.f_squeeze_dim(2)?;
        if let Some(cells) = &self.cells {
            policy = policy.f_index_select(1, cells)?;
        }
        let policy = policy.f_add(&net.policy_out.bias)?;
        let features = self.activate(net.features.convolve(&x)?)?;
        let flat = features.f_permute([0, 2, 3, 1])?.f_flatten(1, -1)?;
        let hidden = flat.f_linear(&net.hidden.weight, None::<&Tensor>)?.f_to_kind(Kind::Float)?;
        let hidden = hidden.f_add(&net.hidden.bias)?.f_relu()?;
        Ok((policy, net.outputs.linear(&hidden)?))
    }

    fn pool(&self, x: &Tensor, factor: &Tensor) -> Result<Tensor, InferenceError> {
        let layout = self.layout();
        let width = layout.width as i64;
        let correction = layout.cells() as f64 / layout.squares as f64;
        let mean = x.f_avg_pool2d([width, width], 1, 0, false, true, None)?;
        let mean = mean.f_mul_scalar(correction)?;
        let top = x.f_max_pool2d([width, width], 1, 0, 1, false)?;
        let both = Tensor::f_cat(&[mean, top], 1)?.f_flatten(1, -1)?;
        let added = both.f_linear(factor, None::<&Tensor>)?;
        Ok(added.f_unsqueeze(-1)?.f_unsqueeze(-1)?)
    }

    fn paper(
        &self,
        net: &PaperTensors,
        planes: &Tensor,
    ) -> Result<(Tensor, Tensor), InferenceError> {
        let mut x = planes.shallow_clone();
        for (convolution, padding) in net.convolutions.iter().zip(PAPER_PADDING) {
            let mut y = convolution.convolve_padded(&x, padding)?;
            // All holes are on the rim, which a convolution without padding drops.
            x = if padding == 0 { y.f_relu_()? } else { self.activate(y)? };
        }
        let mut x = x.f_permute([0, 2, 3, 1])?.f_flatten(1, -1)?;
        for hidden in &net.hidden {
            x = hidden.apply(&x)?.f_relu()?;
        }
        let x = x.f_to_kind(Kind::Float)?;
        Ok((net.policy.linear(&x)?, net.outputs.linear(&x)?))
    }
}

impl Backend for Eager {
    fn predict(
        &mut self,
        inputs: &[Input],
        predictions: &mut Predictions,
    ) -> Result<(), PredictError> {
        let (n, squares) = (inputs.len(), self.layout().squares);
        predictions.resize(n, squares);
        if n == 0 {
            return Ok(());
        }
        let (rows, columns) = self.rows(inputs)?;
        for (index, row) in rows.chunks_exact(columns).enumerate() {
            let (policy, value_and_score) = row.split_at(squares);
            predictions.policy[index * squares..][..squares].copy_from_slice(policy);
            predictions.value[index] = value_and_score[0].tanh();
            let score = value_and_score.get(1);
            predictions.score[index] = score.map_or(0.0, |score| score * squares as f32);
        }
        Ok(())
    }

    fn load(&mut self, weights: &Weights) -> Result<(), PredictError> {
        self.trunk = Trunk::new(&FoldedNet::new(&self.spec, weights)?, self.kind, self.device);
        Ok(())
    }

    fn describe(&self) -> String {
        let kind = match self.kind {
            Kind::BFloat16 => "bf16",
            Kind::Half => "f16",
            _ => "f32",
        };
        match self.device {
            Device::Cuda(index) => format!("libtorch, {kind}, cuda:{index}"),
            _ => format!("libtorch, {kind}, cpu"),
        }
    }
}

impl Trunk {
    fn new(folded: &FoldedNet, kind: Kind, device: Device) -> Trunk {
        let builder = TensorBuilder { kind, device };
        match folded {
            FoldedNet::Resnet(net) => Trunk::Resnet(builder.resnet(net)),
            FoldedNet::Paper(net) => Trunk::Paper(builder.paper(net)),
        }
    }
}

struct TensorBuilder {
    kind: Kind,
    device: Device,
}

impl TensorBuilder {
    fn factor(&self, affine: &Affine, kind: Kind) -> Tensor {
        let shape: Vec<i64> = affine.shape.iter().map(|&size| size as i64).collect();
        let tensor = Tensor::from_slice(&affine.weight).view(&shape[..]);
        let tensor = match shape[..] {
            // Channels last, as the activations are.
            [_, _, _, _] => tensor.permute([0, 2, 3, 1]).contiguous().permute([0, 3, 1, 2]),
            _ => tensor,
        };
        tensor.to_device(self.device).to_kind(kind)
    }

    fn bias(&self, affine: &Affine, kind: Kind) -> Tensor {
        Tensor::from_slice(&affine.bias).to_device(self.device).to_kind(kind)
    }

    fn affine(&self, affine: &Affine) -> AffineTensors {
        AffineTensors { weight: self.factor(affine, self.kind), bias: self.bias(affine, self.kind) }
    }

    fn hidden(&self, affine: &Affine) -> Hidden {
        Hidden {
            layer: self.affine(affine),
            #[cfg(target_arch = "x86_64")]
            small_batch: match (self.device, self.kind) {
                (Device::Cpu, Kind::BFloat16) => Dense::new(affine),
                _ => None,
            },
        }
    }

    fn float_affine(&self, affine: &Affine) -> AffineTensors {
        AffineTensors {
            weight: self.factor(affine, Kind::Float),
            bias: self.bias(affine, Kind::Float),
        }
    }

    fn block(&self, block: &Block) -> (AffineTensors, Option<Tensor>, AffineTensors) {
        let pool = block.pool.as_ref().map(|pool| self.factor(pool, self.kind));
        (self.affine(&block.first), pool, self.affine(&block.second))
    }

    /// Two rows: value, score.
    fn outputs(&self, value: &Affine, score: &Option<Affine>) -> AffineTensors {
        let rows: Vec<AffineTensors> = [Some(value), score.as_ref()]
            .into_iter()
            .flatten()
            .map(|affine| self.float_affine(affine))
            .collect();
        let factors: Vec<&Tensor> = rows.iter().map(|row| &row.weight).collect();
        let biases: Vec<&Tensor> = rows.iter().map(|row| &row.bias).collect();
        AffineTensors { weight: Tensor::cat(&factors, 0), bias: Tensor::cat(&biases, 0) }
    }

    fn resnet(&self, net: &FoldedResnet) -> ResnetTensors {
        ResnetTensors {
            stem: self.affine(&net.stem),
            blocks: net.blocks.iter().map(|block| self.block(block)).collect(),
            policy: self.affine(&net.policy),
            policy_out: self.float_affine(&net.policy_out),
            features: self.affine(&net.features),
            hidden: AffineTensors {
                weight: self.factor(&net.hidden, self.kind),
                bias: self.bias(&net.hidden, Kind::Float),
            },
            outputs: self.outputs(&net.value, &net.score),
        }
    }

    fn paper(&self, net: &FoldedPaper) -> PaperTensors {
        PaperTensors {
            convolutions: net.convolutions.iter().map(|conv| self.affine(conv)).collect(),
            hidden: net.hidden.iter().map(|hidden| self.hidden(hidden)).collect(),
            policy: self.float_affine(&net.policy),
            outputs: self.outputs(&net.value, &net.score),
        }
    }
}

impl Hidden {
    fn apply(&self, x: &Tensor) -> Result<Tensor, tch::TchError> {
        #[cfg(target_arch = "x86_64")]
        if let Some(dense) =
            self.small_batch.as_ref().filter(|_| x.size()[0] <= dense::MAX_POSITIONS)
        {
            let mut rows = vec![0f32; x.numel()];
            x.f_to_kind(Kind::Float)?.f_contiguous()?.f_copy_data(&mut rows, x.numel())?;
            let out = Tensor::f_from_slice(&dense.apply(&rows))?;
            return out.f_view([x.size()[0], -1])?.f_to_kind(x.kind());
        }
        self.layer.linear(x)
    }
}

impl AffineTensors {
    /// A convolution that keeps the board's size.
    fn convolve(&self, x: &Tensor) -> Result<Tensor, tch::TchError> {
        self.convolve_padded(x, self.weight.size()[2] / 2)
    }

    fn convolve_padded(&self, x: &Tensor, padding: i64) -> Result<Tensor, tch::TchError> {
        x.f_conv2d(&self.weight, Some(&self.bias), 1, padding, 1, 1)
    }

    fn linear(&self, x: &Tensor) -> Result<Tensor, tch::TchError> {
        x.f_linear(&self.weight, Some(&self.bias))
    }
}
