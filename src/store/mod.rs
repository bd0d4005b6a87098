//! Bytes that outlive the process: run directories, checkpoints, game files, streams. No tensors.
//!
//! What stands in a file is never trusted: it is checked on the way in, and what does not fit
//! is a typed error that names the path, or a record that is skipped and counted.

pub mod checkpoint;
mod codec;
mod files;
mod find;
mod frame;
pub mod games;
pub mod ggf;
mod json_file;
pub mod limits;
pub mod lines;
pub mod net_file;
pub mod run_dir;
pub mod stream;
pub mod warm_start;

pub use codec::CodecError;
pub use files::{Action, FileError, TooLong, create_dir, read, read_text, write_atomically};
pub use json_file::JsonFileError;
