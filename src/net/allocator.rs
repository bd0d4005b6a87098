//! Settings of the C library's allocator that suit libtorch and a run's threads.

/// Makes the allocator keep freed blocks of any size for later tensors. By default it returns them
/// to the operating system.
///
/// A training step of libtorch allocates and frees hundreds of megabyte-sized tensors. By default
/// glibc maps each of them separately, and the operating system clears its pages: about 15 % of a
/// step's time (measured at 4x32, batch 1024).
///
/// All threads must then share the freed memory. By default glibc creates a separate heap for each
/// of the first threads, up to eight per core. A thread that plays evaluation games would leave a
/// heap behind that is as large as its tables.
///
/// Call this once, before threads and tensors are created. It does nothing with other C libraries.
pub fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// Bytes of the largest block that the heap serves. Older versions of glibc reject the
        /// first number.
        const LARGEST_FROM_HEAP: [libc::c_int; 2] = [1 << 30, 32 << 20];
        /// One heap for the main thread and one for all others, which allocate little.
        const HEAPS: libc::c_int = 2;
        // SAFETY: `mallopt` takes plain integers and may be called at any time.
        unsafe {
            // Without the higher threshold the two settings below would make glibc map every
            // large block separately.
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
