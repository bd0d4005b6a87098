//! Tests in a separate process that threads reuse memory that other threads have freed.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::sync::{Barrier, Mutex};

use outflank::net::keep_freed_memory;

const MIB: usize = 1 << 20;
const BLOCK: usize = 16 * MIB;
const THREADS: usize = 8;

/// Bytes of this process that are resident in memory.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").expect("Linux has this file");
    let pages = status.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.expect("a number of pages") * 4096
}

/// Threads that exist at the same time, like a run's actors. One after another allocates and frees
/// a large block.
#[test]
fn threads_reuse_memory_freed_by_other_threads() {
    keep_freed_memory();
    let before = resident();
    let (all_live, turn) = (Barrier::new(THREADS), Mutex::new(()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                // The first allocation of a thread determines its heap.
                drop(std::hint::black_box(vec![1u8; 100]));
                all_live.wait();
                let _turn = turn.lock().expect("nobody panics");
                drop(std::hint::black_box(vec![1u8; BLOCK]));
            });
        }
    });
    let grown = resident().saturating_sub(before);
    assert!(
        grown < 4 * BLOCK,
        "grown by {} MiB, although only one block of 16 MiB is in use at a time",
        grown / MIB
    );
}
