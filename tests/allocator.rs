//! What a run's threads leave behind in memory, in a process of its own.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::sync::{Barrier, Mutex};

use outflank::net::keep_freed_memory;

const MIB: usize = 1 << 20;
const BLOCK: usize = 16 * MIB;
const THREADS: usize = 8;

/// Bytes of this process that are in memory.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").expect("Linux tells it");
    let pages = status.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.expect("a number of pages") * 4096
}

/// Threads that live side by side, as actors and evaluators do, and one after the other need a
/// large block for a while.
#[test]
fn what_one_thread_has_freed_serves_the_next() {
    keep_freed_memory();
    let before = resident();
    let (all_live, turn) = (Barrier::new(THREADS), Mutex::new(()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                // A first small block decides which heap a thread gets.
                drop(std::hint::black_box(vec![1u8; 100]));
                all_live.wait();
                let _turn = turn.lock().expect("nobody panics");
                drop(std::hint::black_box(vec![1u8; BLOCK]));
            });
        }
    });
    let grown = resident().saturating_sub(before);
    assert!(grown < 4 * BLOCK, "{} MiB for one block of 16 at a time", grown / MIB);
}
