//! Outflank: a self-play learning system for Othello in the manner of AlphaZero.
//!
//! This crate is the `outflank` program as a library. It has the rules on five boards, tree search,
//! networks and their training, and matches with ratings.
//!
//! # Modules
//!
//! The modules stand on floors. A module uses only modules of lower floors;
//! `docs/architecture.md` describes all of them and the few exceptions.
//!
//! | floor | modules | purpose |
//! |---|---|---|
//! | 0 | [`game`], [`choices`] | the rules; enums whose variants have names |
//! | 1 | [`eval`] | evaluators: estimates of the final disc difference without search |
//! | 2 | [`search`], [`net`] | tree search; networks. Neither uses the other |
//! | 3 | [`store`] | run directories, checkpoints, game files |
//! | 4 | [`train`], [`arena`] | self-play, replay window, learner; players, matches, ratings |
//! | 5 | [`pipeline`], [`telemetry`], [`config`] | training runs, their metrics, their settings |
//! | 6 | [`cli`], [`protocol`] | the subcommands; the protocols GTP and NBoard |
//!
//! Where to start:
//!
//! - [`game::Board`] and [`game::Position`] have the rules; [`game::notation`] reads and writes
//!   moves and positions. The board shape is a type parameter: [`game::Square8`] is 8x8.
//!   [`dispatch!`](crate::dispatch) turns a shape that is known only at run time into the type.
//! - [`arena::open::contestant`] makes any player from its specification, as in the example below.
//!   A player is anything that chooses moves: a net with tree search, alpha-beta search, another
//!   program. [`arena::player::Player`] is the interface of all players.
//! - [`search::endgame::Solver`] solves positions near the end of the game exactly.
//! - [`search::alphabeta::AlphaBetaSearch`] searches with any [`eval::Evaluator`], and
//!   [`search::mcts::TreeSearch`] with predictions from any source.
//!
//! # Example
//!
//! The best move of a position, by a net that comes with the program:
//!
//! ```no_run
//! use outflank::arena::control::Control;
//! use outflank::arena::open::{PlayerContext, contestant};
//! use outflank::arena::player::Turn;
//! use outflank::arena::shipped;
//! use outflank::game::{Goal, Position, Shape, Square8, notation};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // Any specification works: `let spec = "net:PATH,simulations=400".parse()?;`
//!     let spec = shipped::opponent(Shape::Square8, Goal::Most);
//!     let opened = contestant::<Square8>(&spec, &PlayerContext::new(Goal::Most))?;
//!     let seed = 1;
//!     let mut player = (opened.open)(seed)?;
//!
//!     let start = Position::<Square8>::start();
//!     let (moves, position) = notation::parse_transcript("f5d6c3", start)?;
//!
//!     let turn = Turn { game: 0, start, moves: &moves, position };
//!     let choice = player.think(&turn, &mut Control::plain())?;
//!     println!("{}", notation::square_name::<Square8>(choice.square));
//!     Ok(())
//! }
//! ```
//!
//! [`arena::shipped`] finds the nets in this source tree, also from another crate. Paths in a
//! specification are relative to the working directory. A turn needs a position with a legal move:
//! [`Board::is_over`](game::Board::is_over) tells whether the game has ended.
//! [`Player::hints`](arena::player::Player::hints) returns the best moves with their scores. The
//! errors have messages for users: print them with `{}` and their sources.
//!
//! # Use from another crate
//!
//! Cargo applies neither the link arguments of this package's `build.rs` nor its
//! `.cargo/config.toml` nor its profiles to a crate that depends on it. Such a crate must make four
//! settings itself. It needs the Rust version of this package's `rust-toolchain.toml`, or a newer
//! one.
//!
//! Its `.cargo/config.toml` needs the path of libtorch 2.11.0, which `scripts/setup.sh` downloads,
//! and the processor to build for. Without the path, the build of `torch-sys` or of this crate
//! fails. Without the processor, move generation and nets use few of its instructions.
//!
//! ```toml
//! [env]
//! LIBTORCH = "/path/to/libtorch"
//!
//! [build]
//! rustflags = ["-Ctarget-cpu=native"]
//! ```
//!
//! Its `Cargo.toml` optimises dependencies in development builds. Without that a move takes a
//! hundred times as long; release builds need no setting.
//!
//! ```toml
//! [profile.dev.package."*"]
//! opt-level = 3
//! ```
//!
//! Its `build.rs` links libtorch; this is the body of its `main`:
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
//! - The first three arguments keep `libtorch.so` in the program. Without them, a linker that
//!   removes unused libraries removes it, and the program then finds no GPU.
//! - The last argument lets the program find libtorch when it starts. Without it,
//!   `LD_LIBRARY_PATH` (macOS: `DYLD_LIBRARY_PATH`) must contain the `lib` folder.
//! - On macOS leave out `--no-as-needed` and `--enable-new-dtags,`.
//!
//! Such a program runs only on processors that have all instructions of the processor it was built
//! for. `outflank` checks this when it starts; a dependent crate does not.

// The first module, so that the others can use its macro `dispatch!`.
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
