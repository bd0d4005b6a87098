//! Limits on a parser's memory and messages.

/// Runs `parse` on `input` and checks the memory that it takes. A fixed amount for tables and
/// buffers is allowed, and a multiple of the input.
pub fn within_memory<T>(input: &[u8], parse: impl FnOnce() -> T) -> T {
    const FIXED: u64 = 4 << 20;
    const FACTOR: u64 = 400;
    let mut parsed = None;
    let taken = allocation_counter::measure(|| parsed = Some(parse())).bytes_max;
    let allowed = FIXED + FACTOR * input.len() as u64;
    assert!(taken <= allowed, "{taken} bytes of memory for {} of input", input.len());
    parsed.expect("it was parsed")
}

/// Checks that a message has at most `most` bytes.
pub fn is_short(message: &str, most: usize) {
    assert!(message.len() <= most, "a message of {} bytes: {:.300}...", message.len(), message);
}
