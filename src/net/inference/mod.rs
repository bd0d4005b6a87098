//! The copy of a net that plays: folded, in a low precision, behind one narrow interface.

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

/// What a net says about a batch of positions. The vectors are reused from batch to batch.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outputs {
    /// Rows of one logit for each square, legal or not.
    pub policy: Vec<f32>,
    /// The expected outcome for the side to move, -1 to 1.
    pub value: Vec<f32>,
    /// The final disc difference for the side to move, in discs; 0 without a score head.
    pub score: Vec<f32>,
}

impl Outputs {
    fn resize(&mut self, positions: usize, squares: usize) {
        self.policy.resize(positions * squares, 0.0);
        self.value.resize(positions, 0.0);
        self.score.resize(positions, 0.0);
    }
}

/// Why a net cannot be used for play.
#[derive(Debug, thiserror::Error)]
pub enum InferenceError {
    /// The weights are of another net.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// libtorch failed.
    #[error("libtorch: {message}")]
    Torch {
        /// What it says.
        message: Box<str>,
    },
    /// No device has this name.
    #[error("unknown device `{name}`; allowed: auto, cpu, cuda, cuda:N")]
    UnknownDevice {
        /// The name as given.
        name: Box<str>,
    },
    /// The machine, or the libtorch in use, has no such GPU.
    #[error("device `{name}` is not there: libtorch sees {found} CUDA devices")]
    NoDevice {
        /// The name as given.
        name: Box<str>,
        /// How many GPUs libtorch sees.
        found: i64,
    },
    /// The backend that the configuration demands cannot run.
    #[error("backend `{backend}` cannot run here: {why}")]
    Unsupported {
        /// The one demanded.
        backend: BackendKind,
        /// What is missing.
        why: &'static str,
    },
    /// An answer was collected where nothing had been asked.
    #[error("nothing was asked in slot {slot}")]
    NothingAsked {
        /// The slot.
        slot: usize,
    },
    /// The threads that answer have ended.
    #[error("the inference server has ended")]
    ServerEnded,
}

// The text, not the error as a source: where an actor or a server ends, only the text is logged.
impl From<tch::TchError> for InferenceError {
    fn from(error: tch::TchError) -> InferenceError {
        InferenceError::Torch { message: error.to_string().into() }
    }
}

/// A net that answers questions about batches of positions.
pub trait Backend: Send {
    /// Writes the net's opinion of `inputs` into `outputs`.
    ///
    /// # Errors
    ///
    /// The device fails.
    fn evaluate(&mut self, inputs: &[Input], outputs: &mut Outputs) -> Result<(), InferenceError>;

    /// Takes newer weights of the same net.
    ///
    /// # Errors
    ///
    /// They are of another net; then nothing changes.
    fn load(&mut self, weights: &Weights) -> Result<(), InferenceError>;

    /// Code, precision and device, for people.
    fn describe(&self) -> String;
}

/// The device called `name`: `auto` is the first GPU, or the CPU where there is none.
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

/// Operations a second in bf16 that one core's matrix tiles reach, measured now; `None` where
/// this process has no tiles.
pub fn tile_peak() -> Option<f64> {
    #[cfg(target_arch = "x86_64")]
    return amx::peak();
    #[cfg(not(target_arch = "x86_64"))]
    return None;
}

/// The number format that `precision` means on `device`.
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

/// Opens a copy of a net for play on the device called `device`.
///
/// On a CPU the copy computes on the thread that asks it, and libtorch is told to use one thread
/// in this process: small nets are slower on two, and the cores are for more copies.
///
/// # Errors
///
/// The weights are not of the net `spec`, or there is no such device or backend.
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
    tracing::debug!("a net of {blocks}x{channels} is computed by {}", copy.describe());
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

/// Whether [`open`] can open copies of nets of `spec` here, without a net at hand.
///
/// # Errors
///
/// There is no such device, or the backend demanded cannot run on it.
pub fn check(spec: &NetSpec, options: &Options, device: &str) -> Result<(), InferenceError> {
    choose(spec, options, device).map(|_| ())
}

/// The backend and the device that compute nets of `spec`.
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

/// The fastest backend that the machine and the net allow.
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
