//! Where and in which number format a net is computed.

use super::{InferenceError, Precision, has_bf16};

/// A device that computes nets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Device {
    /// The processor.
    Cpu,
    /// A GPU of libtorch, by its number.
    Cuda(usize),
}

/// The number format of weights and activations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NumberFormat {
    /// 32-bit floats.
    F32,
    /// 16-bit brain floats.
    Bf16,
    /// 16-bit floats.
    F16,
}

/// The device called `name`. `auto` is the first GPU, or the CPU if there is no GPU.
///
/// # Errors
///
/// There is no such device.
pub fn device(name: &str) -> Result<Device, InferenceError> {
    let found = gpus();
    let index = match name.split_once(':') {
        None if name == "cpu" => return Ok(Device::Cpu),
        None if name == "auto" => {
            return Ok(if found > 0 { Device::Cuda(0) } else { Device::Cpu });
        }
        None if name == "cuda" => Some(0),
        Some(("cuda", index)) => index.parse().ok(),
        _ => None,
    };
    let index: usize = index.ok_or_else(|| InferenceError::UnknownDevice { name: name.into() })?;
    match index < found {
        true => Ok(Device::Cuda(index)),
        false => Err(InferenceError::NoDevice { name: name.into(), found }),
    }
}

/// The number of GPUs that libtorch can use.
fn gpus() -> usize {
    #[cfg(feature = "torch")]
    return usize::try_from(tch::Cuda::device_count()).unwrap_or(0);
    #[cfg(not(feature = "torch"))]
    0
}

/// The number format of `precision` on `device`.
pub fn number_format(precision: Precision, device: Device) -> NumberFormat {
    match (precision, device) {
        (Precision::F32, _) => NumberFormat::F32,
        (Precision::Bf16, _) => NumberFormat::Bf16,
        (Precision::F16, _) => NumberFormat::F16,
        (Precision::Auto, Device::Cuda(_)) => NumberFormat::Bf16,
        (Precision::Auto, _) if has_bf16() => NumberFormat::Bf16,
        (Precision::Auto, _) => NumberFormat::F32,
    }
}

#[cfg(feature = "torch")]
impl From<Device> for tch::Device {
    fn from(device: Device) -> tch::Device {
        match device {
            Device::Cpu => tch::Device::Cpu,
            Device::Cuda(index) => tch::Device::Cuda(index),
        }
    }
}

#[cfg(feature = "torch")]
impl From<NumberFormat> for tch::Kind {
    fn from(format: NumberFormat) -> tch::Kind {
        match format {
            NumberFormat::F32 => tch::Kind::Float,
            NumberFormat::Bf16 => tch::Kind::BFloat16,
            NumberFormat::F16 => tch::Kind::Half,
        }
    }
}
