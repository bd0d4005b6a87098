//! Games of other programs and archives.

pub mod wthor;
