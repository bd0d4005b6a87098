//! How the C library hands memory to libtorch and to the threads of a run.

/// Keeps freed blocks of any size for the next tensor instead of giving them back.
///
/// A training step of libtorch allocates and frees hundreds of megabyte-sized tensors. By default
/// glibc maps each one anew and the kernel clears its pages: about 15 % of a step's time (measured
/// at 4x32, batch 1024). What is kept must then be shared: by default glibc gives each of the first
/// threads, eight for each core, a heap of its own, and every thread that plays evaluation games
/// would leave one behind, grown to the size of its tables. Call it once, before threads and
/// tensors are made. Does nothing on other C libraries.
pub fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// Older versions take no more than the second.
        const LARGEST_FROM_HEAP: [libc::c_int; 2] = [1 << 30, 32 << 20];
        /// The main thread's, and one for all others, who allocate little while they work.
        const HEAPS: libc::c_int = 2;
        // SAFETY: `mallopt` takes plain integers and is meant to be called at any time.
        unsafe {
            // The others by themselves would have every large block mapped anew.
            if LARGEST_FROM_HEAP
                .iter()
                .any(|&most| libc::mallopt(libc::M_MMAP_THRESHOLD, most) == 1)
            {
                libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX);
                libc::mallopt(libc::M_TOP_PAD, 64 << 20);
            }
            libc::mallopt(libc::M_ARENA_MAX, HEAPS);
        }
    }
}
