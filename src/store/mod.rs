//! Files of the program: run directories, checkpoints, nets and games; and the stream of games from
//! the actors to the learner. This module knows no tensors.
//!
//! The content of a file is never trusted. It is checked when it is read. If a check fails, the
//! result is a typed error that names the path, or a record that is skipped and counted.

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
