//! The name of what computes predictions, by which two machines know whether their numbers agree.

use std::env::consts::{ARCH, OS};

use crate::predict::Backend;

/// A name for the code that plays games on this machine with this backend. Two machines with the
/// same name compute the same bits, if the backend's predictions do not depend on the batch.
///
/// It has the program's version, the backend, the platform, and a checksum of functions of the
/// system's mathematical library, which differ between versions of that library.
pub fn kernel_name(backend: &dyn Backend) -> String {
    let (version, code) = (env!("CARGO_PKG_VERSION"), backend.describe());
    format!("outflank {version}, {code}, {OS} {ARCH}, maths {:08x}", maths_checksum())
}

/// A checksum of the functions that a search uses besides plain arithmetic, at some numbers.
fn maths_checksum() -> u32 {
    let mut bytes = Vec::new();
    for step in -400..=400 {
        let x = step as f32 * 0.0137;
        let powers = [0.33f32, 0.5, 2.0].map(|power| x.abs().powf(power));
        for number in [x.tanh(), x.exp(), x.abs().ln(), powers[0], powers[1], powers[2]] {
            bytes.extend(number.to_bits().to_le_bytes());
        }
    }
    crc32fast::hash(&bytes)
}
