//! Files of the program: run directories, checkpoints, nets, games and opening books. This
//! module knows no tensors.
//!
//! The content of a file is never trusted. It is checked when it is read. If a check fails, the
//! result is a typed error that names the path, or a record that is skipped and counted.
//!
//! ```
//! use std::path::Path;
//!
//! use outflank::store::model_file::ModelFile;
//! use outflank::store::{checkpoint, games};
//!
//! let run = Path::new("tests/data/run-1");
//! let totals = games::totals(&run.join("games"))?;
//! assert_eq!((totals.games, totals.positions), (24, 737));
//! for record in games::read_tail(&run.join("games"), 100)? {
//!     let record = record?;
//!     println!("game {}: {} moves, score {:+}", record.id, record.moves.len(), record.score);
//! }
//! // The model of a run directory, a checkpoint or a file.
//! let found = checkpoint::find(run)?;
//! let model = ModelFile::read(&found.model_path())?;
//! assert_eq!(model.description()["shape"], "6x6");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod book;
mod causes;
pub mod checkpoint;
mod codec;
pub mod export;
mod files;
mod find;
mod frame;
pub mod games;
pub mod ggf;
pub mod import;
mod json_file;
pub mod labels;
pub mod leases;
#[cfg(feature = "program")]
pub mod lessons;
#[cfg(feature = "program")]
pub mod library;
pub mod limits;
pub mod lines;
pub mod model_file;
pub mod openings;
pub mod run_dir;
pub mod set_aside;
pub mod shipped;
pub mod warm_start;

pub use causes::with_causes;
pub use codec::CodecError;
pub use files::{
    Action, FileError, NewFile, TooLong, create_dir, read, read_text, write_atomically,
};
#[cfg(feature = "program")]
pub(crate) use files::{is_still_at, lock as lock_file, open_stored};
pub use json_file::JsonFileError;
