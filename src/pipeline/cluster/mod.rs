//! Self-play on several machines.

pub mod trust;
