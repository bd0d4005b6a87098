//! Outflank: a self-play learning system for Othello.
//!
//! The modules stand on floors; a module uses what stands on lower floors and never what
//! stands above it. `docs/architecture.md` draws the whole house.
//!
//! | floor | modules | what it is for |
//! |---|---|---|
//! | 0 | [`game`] | rules on five boards; the standard library only |
//! | 1 | [`eval`] | estimates of the final disc difference, without search |
//! | 2 | [`search`], [`net`] | tree search; networks. Neither knows the other |
//! | 3 | [`store`] | run directories, checkpoints, game files |
//! | 4 | [`train`], [`arena`] | self-play, replay and learning; matches and ratings |
//! | 5 | `pipeline`, `telemetry`, `config` | one training run |
//! | 6 | [`cli`], `protocol` | the subcommands; how other programs play against ours |
//!
//! # Use from another crate
//!
//! Cargo applies neither the link arguments of this package's `build.rs` nor the settings of its
//! `.cargo/config.toml` to a crate that depends on it. Such a crate brings three things itself.
//!
//! Its `.cargo/config.toml` says where libtorch 2.11.0 lies, which `scripts/setup.sh` fetches, and
//! for which processor to build. Without the first the build of `torch-sys` or of this crate fails;
//! without the second move generation and nets use few of the processor's instructions.
//!
//! ```toml
//! [env]
//! LIBTORCH = "/path/to/libtorch"
//!
//! [build]
//! rustflags = ["-Ctarget-cpu=native"]
//! ```
//!
//! Its `build.rs` links libtorch so that the program finds it when it runs. Without the last
//! argument a program starts only if `LD_LIBRARY_PATH` (macOS: `DYLD_LIBRARY_PATH`) names the `lib`
//! folder. Without the first two, a linker that drops libraries it sees no use of drops
//! `libtorch.so`, and with it every GPU; on macOS leave out `--no-as-needed` and
//! `--enable-new-dtags,`.
//!
//! ```no_run
//! let lib = format!("{}/lib", std::env::var("LIBTORCH").expect("LIBTORCH is set"));
//! println!("cargo::rerun-if-env-changed=LIBTORCH");
//! println!("cargo::rustc-link-arg=-L{lib}");
//! println!("cargo::rustc-link-arg=-Wl,--no-as-needed");
//! println!("cargo::rustc-link-arg=-ltorch");
//! println!("cargo::rustc-link-arg=-Wl,--enable-new-dtags,-rpath,{lib}");
//! ```
//!
//! Programs built like this run only on processors with the instructions of the one that built
//! them. `outflank` itself checks that at its start; a dependent crate does not.

// First, so that its `dispatch!` is in scope in the others.
#[macro_use]
pub mod game;

pub mod arena;
pub mod choices;
pub mod cli;
pub mod config;
pub mod eval;
pub mod net;
pub mod pipeline;
pub mod protocol;
pub mod search;
pub mod store;
pub mod telemetry;
pub mod train;
