//! The place of `torch.rs` in a build without libtorch.

use crate::net::NetSpec;

/// Whether this build has libtorch.
pub(super) const IS_LINKED: bool = false;

/// Whether libtorch has oneDNN.
pub(super) fn has_onednn() -> bool {
    false
}

/// The threads that libtorch would use.
pub(super) fn threads() -> i32 {
    0
}

/// The GPUs that libtorch can use.
pub(super) fn gpus() -> Vec<String> {
    Vec::new()
}

/// The code that trains nets.
pub(super) fn learning(_: &NetSpec) -> String {
    "none: this build has no libtorch".to_string()
}

/// The speed of bfloat16 in libtorch.
pub(super) fn bf16_speed() -> Option<f64> {
    None
}
