//! Copies of a net for fast inference: batch norms are folded, and the precision may be low.
//!
//! All backends implement [`Backend`]. [`open`] chooses the fastest one for a net and a machine.

#[cfg(target_arch = "x86_64")]
mod amx;
#[cfg(target_arch = "x86_64")]
mod dense;
mod eager;
mod winograd;

use tch::{Cuda, Device, Kind};

use super::encode::Input;
pub use super::options::inference::{BackendKind, Options, Precision};
use super::plan::NetSpec;
use super::weights::{Weights, WeightsError};

/// A net's predictions for a batch of positions. The vectors are reused for the next batch.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outputs {
    /// One row per position: a logit for each square, legal or not.
    pub policy: Vec<f32>,
    /// The expected result for the side to move, -1 (loss) to 1 (win).
    pub value: Vec<f32>,
    /// The final disc difference for the side to move, in discs. 0 without a score head.
    pub score: Vec<f32>,
}

impl Outputs {
    fn resize(&mut self, positions: usize, squares: usize) {
        self.policy.resize(positions * squares, 0.0);
        self.value.resize(positions, 0.0);
        self.score.resize(positions, 0.0);
    }
}

/// Why a net's predictions cannot be computed.
#[derive(Debug, thiserror::Error)]
pub enum InferenceError {
    /// The weights belong to another net.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// libtorch failed.
    #[error("libtorch: {message}")]
    Torch {
        /// Its message.
        message: Box<str>,
    },
    /// No device has this name.
    #[error("unknown device `{name}`; allowed: auto, cpu, cuda, cuda:N")]
    UnknownDevice {
        /// The name as given.
        name: Box<str>,
    },
    /// The machine has no such GPU, or the installed libtorch has no CUDA.
    #[error("there is no device `{name}`: libtorch finds {found} CUDA devices")]
    NoDevice {
        /// The name as given.
        name: Box<str>,
        /// The number of GPUs that libtorch finds.
        found: i64,
    },
    /// The requested backend does not support the net, the precision, the device or the machine.
    #[error("backend `{backend}` cannot run here: {why}")]
    Unsupported {
        /// The requested backend.
        backend: BackendKind,
        /// The reason.
        why: &'static str,
    },
    /// A query was collected from an empty slot.
    #[error("slot {slot} holds no query")]
    EmptySlot {
        /// The slot.
        slot: usize,
    },
    /// The threads of the inference server have ended.
    #[error("the inference server has ended")]
    ServerEnded,
}

// Keeps only the text: when an actor or a server ends, it logs the error without its sources.
impl From<tch::TchError> for InferenceError {
    fn from(error: tch::TchError) -> InferenceError {
        InferenceError::Torch { message: error.to_string().into() }
    }
}

/// A copy of a net that computes predictions for batches of positions.
pub trait Backend: Send {
    /// Writes the predictions for `inputs` into `outputs`.
    ///
    /// # Errors
    ///
    /// The device fails.
    fn evaluate(&mut self, inputs: &[Input], outputs: &mut Outputs) -> Result<(), InferenceError>;

    /// Replaces the weights.
    ///
    /// # Errors
    ///
    /// `weights` belong to another net. Nothing has changed then.
    fn load(&mut self, weights: &Weights) -> Result<(), InferenceError>;

    /// The code, precision and device, for messages.
    fn describe(&self) -> String;
}

/// The device called `name`. `auto` is the first GPU, or the CPU if there is no GPU.
///
/// # Errors
///
/// There is no such device.
pub fn device(name: &str) -> Result<Device, InferenceError> {
    let found = Cuda::device_count();
    let index = match name.split_once(':') {
        None if name == "cpu" => return Ok(Device::Cpu),
        None if name == "auto" => {
            return Ok(if found > 0 { Device::Cuda(0) } else { Device::Cpu });
        }
        None if name == "cuda" => Some(0),
        Some(("cuda", index)) => index.parse().ok(),
        _ => None,
    };
    let index: i64 = index.ok_or_else(|| InferenceError::UnknownDevice { name: name.into() })?;
    match (0..found).contains(&index) {
        true => Ok(Device::Cuda(index as usize)),
        false => Err(InferenceError::NoDevice { name: name.into(), found }),
    }
}

/// Whether this processor multiplies bf16 numbers in hardware.
pub fn has_bf16() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx512bf16");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// The peak rate of one core's matrix tiles in bf16, measured now, in operations per second.
/// `None` where this process cannot use tiles.
pub fn tile_peak() -> Option<f64> {
    #[cfg(target_arch = "x86_64")]
    return amx::peak();
    #[cfg(not(target_arch = "x86_64"))]
    return None;
}

/// The number format of `precision` on `device`.
pub fn kind(precision: Precision, device: Device) -> Kind {
    match (precision, device) {
        (Precision::F32, _) => Kind::Float,
        (Precision::Bf16, _) => Kind::BFloat16,
        (Precision::F16, _) => Kind::Half,
        (Precision::Auto, Device::Cuda(_)) => Kind::BFloat16,
        (Precision::Auto, _) if has_bf16() => Kind::BFloat16,
        (Precision::Auto, _) => Kind::Float,
    }
}

/// Opens a copy of a net for inference on the device called `device`.
///
/// On a CPU the copy computes on the thread that calls it. Then libtorch is limited to one thread
/// in this process, because small nets are slower on two, and other copies need the other cores.
///
/// # Errors
///
/// The weights do not belong to a net of `spec`, there is no such device, or the backend cannot
/// run.
pub fn open(
    spec: &NetSpec,
    weights: &Weights,
    options: &Options,
    device: &str,
) -> Result<Box<dyn Backend>, InferenceError> {
    let (backend, device) = choose(spec, options, device)?;
    if device == Device::Cpu {
        tch::set_num_threads(1);
    }
    let copy = copy_on(spec, weights, options, backend, device)?;
    let (blocks, channels) = (spec.options.blocks, spec.options.channels);
    tracing::debug!("a net of {blocks}x{channels} runs on {}", copy.describe());
    Ok(copy)
}

fn copy_on(
    spec: &NetSpec,
    weights: &Weights,
    options: &Options,
    backend: BackendKind,
    device: Device,
) -> Result<Box<dyn Backend>, InferenceError> {
    match backend {
        #[cfg(target_arch = "x86_64")]
        BackendKind::Amx => Ok(Box::new(amx::Amx::new(spec, weights)?)),
        BackendKind::Winograd => {
            Ok(Box::new(winograd::Winograd::new(spec, weights, options.precision)?))
        }
        _ => {
            Ok(Box::new(eager::Eager::new(spec, weights, kind(options.precision, device), device)?))
        }
    }
}

/// Checks whether [`open`] can open copies of nets of `spec` here. Needs no weights.
///
/// # Errors
///
/// There is no such device, or the requested backend cannot run.
pub fn check(spec: &NetSpec, options: &Options, device: &str) -> Result<(), InferenceError> {
    choose(spec, options, device).map(|_| ())
}

/// The backend and the device for nets of `spec`.
fn choose(
    spec: &NetSpec,
    options: &Options,
    device: &str,
) -> Result<(BackendKind, Device), InferenceError> {
    let device = self::device(device)?;
    let is_cpu = device == Device::Cpu;
    let precision = options.precision;
    let backend = match options.backend {
        BackendKind::Auto => best(spec, precision, device),
        backend => backend,
    };
    let why = match backend {
        BackendKind::Amx | BackendKind::Winograd if !is_cpu => Some("it runs on a CPU only"),
        #[cfg(target_arch = "x86_64")]
        BackendKind::Amx if kind(precision, device) != Kind::BFloat16 => {
            Some("it computes in bf16 only")
        }
        #[cfg(target_arch = "x86_64")]
        BackendKind::Amx => amx::refusal(spec),
        #[cfg(not(target_arch = "x86_64"))]
        BackendKind::Amx => Some("the processor has no AMX"),
        BackendKind::Winograd if !matches!(precision, Precision::Auto | Precision::F32) => {
            Some("it computes in f32 only")
        }
        BackendKind::Winograd => winograd::refusal(spec),
        BackendKind::Auto | BackendKind::Eager if precision == Precision::F16 && is_cpu => {
            Some("it computes in f16 on a GPU only")
        }
        BackendKind::Auto | BackendKind::Eager => None,
    };
    match why {
        Some(why) => Err(InferenceError::Unsupported { backend, why }),
        None => Ok((backend, device)),
    }
}

/// The fastest backend that supports the machine and the net.
fn best(spec: &NetSpec, precision: Precision, device: Device) -> BackendKind {
    if device != Device::Cpu {
        return BackendKind::Eager;
    }
    #[cfg(target_arch = "x86_64")]
    if matches!(precision, Precision::Auto | Precision::Bf16) && amx::refusal(spec).is_none() {
        return BackendKind::Amx;
    }
    match precision {
        Precision::Auto | Precision::F32 if winograd::refusal(spec).is_none() => {
            BackendKind::Winograd
        }
        _ => BackendKind::Eager,
    }
}

#[cfg(test)]
mod tests;
