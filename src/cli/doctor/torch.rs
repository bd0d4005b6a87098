//! What libtorch says about this machine.

use std::time::{Duration, Instant};

use tch::{Cuda, Device, Kind, Tensor};

use crate::net::NetSpec;
use crate::net::inference::device;
use crate::net::trainer::Trainer;

/// Whether this build has libtorch.
pub(super) const IS_LINKED: bool = true;

/// Whether libtorch has oneDNN, with which convolutions are fast.
pub(super) fn has_onednn() -> bool {
    tch::utils::has_mkldnn()
}

/// The threads that libtorch would use.
pub(super) fn threads() -> i32 {
    tch::get_num_threads()
}

/// The GPUs that libtorch can use, in the form of `--device`.
pub(super) fn gpus() -> Vec<String> {
    let count = if Cuda::is_available() { Cuda::device_count() } else { 0 };
    (0..count).map(|index| format!("cuda:{index}")).collect()
}

/// The code that trains such a net with `auto`.
pub(super) fn learning(spec: &NetSpec) -> String {
    let device = device("auto").map_or(Device::Cpu, Device::from);
    let own = Trainer::new(spec, device, None).map(|trainer| trainer.describe());
    own.unwrap_or_else(|| "libtorch".to_string())
}

/// The time of a convolution in float32 divided by its time in bfloat16.
pub(super) fn bf16_speed() -> Option<f64> {
    let [float32, bf16] = [Kind::Float, Kind::BFloat16].map(convolution_time);
    Some(float32.as_secs_f64() / bf16.as_secs_f64())
}

/// The shortest time of twenty 3x3 convolutions of a small net's size, on one thread.
fn convolution_time(kind: Kind) -> Duration {
    let _guard = tch::no_grad_guard();
    let threads = tch::get_num_threads();
    tch::set_num_threads(1);
    let options = (kind, Device::Cpu);
    // Channels last, as the fast kernels need them.
    let input = Tensor::ones([64, 8, 8, 64], options).permute([0, 3, 1, 2]);
    let kernel = Tensor::ones([64, 3, 3, 64], options).permute([0, 3, 1, 2]);
    let convolve = || {
        let start = Instant::now();
        let output = input.conv2d(&kernel, None::<Tensor>, [1, 1], [1, 1], [1, 1], 1);
        drop(std::hint::black_box(output));
        start.elapsed()
    };
    convolve(); // the first call creates and caches the kernel
    let least = (0..20).map(|_| convolve()).min().unwrap_or_default();
    tch::set_num_threads(threads);
    least
}
