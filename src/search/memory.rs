//! Whether the machine has room for what a search is about to allocate.
//!
//! Rust ends the process where an allocation fails, and Linux may end another one where it lacks
//! pages. So what a user can make large, such as a transposition table, asks here first.

use std::fmt;

/// A search needs more memory than is free.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("it needs {} of memory, and {} are free", Mebibytes(*needed), Mebibytes(*free))]
pub struct NoRoom {
    /// The bytes that it needs.
    pub needed: u64,
    /// The bytes that are free.
    pub free: u64,
}

/// A number of bytes, written in MiB.
struct Mebibytes(u64);

impl fmt::Display for Mebibytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MiB", self.0 >> 20)
    }
}

/// Checks that `bytes` bytes are free now. On a system that does not say how much is free there is
/// always room.
///
/// # Errors
///
/// Less memory is free.
pub fn room_for(bytes: u64) -> Result<(), NoRoom> {
    // Small tables are made in tests and loops by the thousand; reading the files takes longer.
    const SMALL: u64 = 64 << 20;
    if bytes <= SMALL {
        return Ok(());
    }
    match memory() {
        Some((_, free)) if bytes > free => Err(NoRoom { needed: bytes, free }),
        _ => Ok(()),
    }
}

/// The total and the free memory in bytes, of the machine or of the control group if that has less.
///
/// `None` if there is no `/proc/meminfo`.
pub fn memory() -> Option<(u64, u64)> {
    let (total, free) = parse_meminfo(&std::fs::read_to_string("/proc/meminfo").ok()?)?;
    let read = |name: &str| {
        std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse::<u64>().ok()
    };
    let limit = read("memory.max").unwrap_or(u64::MAX);
    let used = read("memory.current").unwrap_or(0);
    Some((total.min(limit), free.min(limit.saturating_sub(used))))
}

fn parse_meminfo(text: &str) -> Option<(u64, u64)> {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let kibibytes: u64 =
            line.trim_start_matches(':').trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kibibytes * 1024)
    };
    Some((field("MemTotal")?, field("MemAvailable")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo_is_read_in_bytes() {
        let text = "MemTotal:       2048 kB\nMemFree:  1 kB\nMemAvailable:   1024 kB\n";
        assert_eq!(parse_meminfo(text), Some((2048 * 1024, 1024 * 1024)));
        assert_eq!(parse_meminfo("MemTotal: lots"), None);
    }

    #[test]
    fn more_than_the_machine_has_is_refused() {
        assert_eq!(room_for(1 << 20), Ok(()));
        if let Some((total, _)) = memory() {
            let refused = room_for(2 * total).expect_err("more than there is");
            assert_eq!(refused.needed, 2 * total);
            assert!(refused.free <= total);
        }
    }
}
