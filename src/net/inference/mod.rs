//! Copies of a net for fast inference: batch norms are folded, and the precision may be low.
//!
//! All backends implement [`Backend`]. [`open()`] chooses the fastest one for a net and a machine.

#[cfg(target_arch = "x86_64")]
mod amx;
#[cfg(all(target_arch = "x86_64", feature = "torch"))]
mod dense;
mod device;
#[cfg(feature = "torch")]
mod eager;
mod winograd;

pub use device::{Device, NumberFormat, device, number_format};

pub use super::options::inference::{BackendKind, Options, Precision};
use super::plan::NetSpec;
use crate::model::{Weights, WeightsError};
use crate::predict::{Backend, PredictError};

/// Why only some nets can be computed by this build.
const WITHOUT_LIBTORCH: &str = "this build has no libtorch (feature `torch`)";

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
        found: usize,
    },
    /// The requested backend does not support the net, the precision, the device or the machine.
    #[error("backend `{backend}` cannot run here: {why}")]
    Unsupported {
        /// The requested backend.
        backend: BackendKind,
        /// The reason.
        why: &'static str,
    },
}

// Keeps only the text: when an actor or a server ends, it logs the error without its sources.
#[cfg(feature = "torch")]
impl From<tch::TchError> for InferenceError {
    fn from(error: tch::TchError) -> InferenceError {
        InferenceError::Torch { message: error.to_string().into() }
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

impl From<InferenceError> for PredictError {
    fn from(error: InferenceError) -> PredictError {
        match error {
            InferenceError::Weights(error) => PredictError::Weights(error),
            error => PredictError::Backend(error.into()),
        }
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
        use_one_thread();
    }
    let copy = copy_on(spec, weights, options, backend, device)?;
    let (blocks, channels) = (spec.options.blocks, spec.options.channels);
    tracing::debug!("a net of {blocks}x{channels} runs on {}", copy.describe());
    Ok(copy)
}

/// Limits libtorch to one thread in this process. Other copies of a net need the other cores.
pub fn use_one_thread() {
    #[cfg(feature = "torch")]
    tch::set_num_threads(1);
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
        _ => eager(spec, weights, number_format(options.precision, device), device),
    }
}

#[cfg(feature = "torch")]
fn eager(
    spec: &NetSpec,
    weights: &Weights,
    format: NumberFormat,
    device: Device,
) -> Result<Box<dyn Backend>, InferenceError> {
    Ok(Box::new(eager::Eager::new(spec, weights, format.into(), device.into())?))
}

#[cfg(not(feature = "torch"))]
fn eager(
    _: &NetSpec,
    _: &Weights,
    _: NumberFormat,
    _: Device,
) -> Result<Box<dyn Backend>, InferenceError> {
    Err(InferenceError::Unsupported { backend: BackendKind::Eager, why: WITHOUT_LIBTORCH })
}

/// Checks whether [`open()`] can open copies of nets of `spec` here. Needs no weights.
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
        BackendKind::Amx if number_format(precision, device) != NumberFormat::Bf16 => {
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
        BackendKind::Auto | BackendKind::Eager if cfg!(not(feature = "torch")) => {
            Some(WITHOUT_LIBTORCH)
        }
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

// Float32 libtorch is their reference.
#[cfg(all(test, feature = "torch"))]
mod tests;
