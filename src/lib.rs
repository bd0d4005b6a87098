//! Outflank: a self-play learning system for Othello in the manner of AlphaZero.
//!
//! This crate is the `outflank` program as a library. It has the rules on five boards, tree search,
//! networks and their training, and matches with ratings.
//!
//! ```
//! use outflank::game::{Goal, Position, Square8, notation};
//! use outflank::search::endgame::Solver;
//!
//! // A board, and its legal moves.
//! let (_, position) = notation::parse_transcript("f5d6c3", Position::<Square8>::start())?;
//! let moves: Vec<String> = position.board.legal().map(notation::square_name::<Square8>).collect();
//! assert_eq!(moves, ["d3", "f3", "f4", "g5"]);
//!
//! // The exact score near the end of a game, for the side to move.
//! let mut ending = position;
//! while ending.board.empties() > 8 {
//!     let square = ending.board.legal().next().expect("a legal move");
//!     ending = ending.play(square).expect("it is legal").pass_if_forced();
//! }
//! let (score, line) = Solver::<Square8>::new(Goal::Most, 1 << 20).best_line(ending.board);
//! assert!((-64..=64).contains(&score) && !line.is_empty());
//! println!("{}", notation::transcript::<Square8>(line));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A search with a net. Each player of the command line works in the same way:
//!
//! ```no_run
//! use outflank::game::{Goal, Position, Shape, Square8, notation};
//! use outflank::players::player::Turn;
//! use outflank::players::{open, shipped};
//!
//! let (_, position) = notation::parse_transcript("f5d6c3", Position::<Square8>::start())?;
//! let spec = shipped::opponent(Shape::Square8, Goal::Most); // or "net:PATH,simulations=400".parse()?
//! let mut player = open::player::<Square8>(&spec, Goal::Most)?;
//! for hint in player.hints(&Turn::at(position), 3)? {
//!     let line = notation::transcript::<Square8>(hint.line.iter().copied());
//!     println!("{line} wins {:?}, discs {:?}", hint.win_chance, hint.score);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A training run of a minute:
//!
//! ```no_run
//! use std::path::Path;
//! use std::sync::atomic::AtomicBool;
//!
//! use outflank::config::Config;
//! use outflank::pipeline;
//! use outflank::store::run_dir::RunDir;
//! use outflank::telemetry::Telemetry;
//!
//! let config = Config::load(Path::new("configs/smoke.toml"), &[])?;
//! let mut run = RunDir::create(Path::new("runs/mine"), &config.resolved(), config.seed)?;
//! let telemetry = Telemetry::start(run.path(), &config.resolved(), false)?;
//! let end = pipeline::train(&config, &mut run, &telemetry, &AtomicBool::new(false))?;
//! telemetry.finish()?;
//! println!("{} games; play against it as net:runs/mine", end.state.games);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/` has whole programs: they count positions, play a game, analyse a position and read a
//! run's games.
//!
//! # Modules
//!
//! - [`game`] has the rules: [`Board`](game::Board), [`Position`](game::Position) and
//!   [`notation`](game::notation). The board shape is a type parameter: [`game::Square8`] is 8x8.
//!   [`dispatch!`](crate::dispatch) turns a shape that is known only at run time into the type.
//! - [`players`] has everything that chooses moves, behind one interface,
//!   [`Player`](players::player::Player): a net with tree search, alpha-beta search, another
//!   program. [`players::open`] makes them from specifications.
//! - [`search`] has the exact solver, alpha-beta search with any [`eval::Evaluator`], and tree search
//!   with predictions from any source ([`predict`]).
//! - [`arena`] plays matches and rates players. [`pipeline`] trains.
//!
//! The modules stand on floors. A module uses only modules of lower floors;
//! `docs/architecture.md` describes all of them and the few exceptions.
//!
//! | floor | modules | purpose |
//! |---|---|---|
//! | 0 | [`game`], [`choices`] | the rules; enums whose variants have names |
//! | 1 | [`model`] | models as plain data |
//! | 2 | [`eval`] | evaluators: estimates of the final disc difference without search |
//! | 3 | [`predict`] | predictions: what a tree search asks, and what answers |
//! | 4 | [`search`], [`net`] | tree search; networks. Neither uses the other |
//! | 5 | [`store`] | run directories, checkpoints, game files |
//! | 6 | [`train`], [`players`] | self-play, replay window, learner; everything that chooses moves |
//! | 7 | [`arena`] | matches and ratings |
//! | 8 | [`pipeline`], [`telemetry`], [`config`] | training runs, their metrics, their settings |
//! | 9 | [`cli`], [`protocol`], [`web`] | the subcommands; the protocols; the page in a browser |
//!
//! [`players::shipped`] finds the nets in this source tree, also from another crate. Paths in a
//! specification are relative to the working directory. A turn needs a position with a legal move:
//! [`Board::is_over`](game::Board::is_over) tells whether the game has ended. The errors have
//! messages for users: print them with `{}` and their sources.
//!
//! # Use from another crate
//!
//! ```toml
//! [dependencies]
//! outflank = { path = "/path/to/outflank", default-features = false }
//! ```
//!
//! This needs nothing else, and a third of the crates. It plays, searches, solves, reads and writes files,
//! plays matches, and computes residual nets with its own kernels. `examples/other-crate` is such a
//! crate. Two features add the rest:
//!
//! - `program`: training runs ([`pipeline`], [`config`], [`telemetry`]), the subcommands ([`cli`]) and
//!   the page ([`web`]).
//! - `torch`: nets in training and on GPUs, and the `paper` tower. The build needs the environment
//!   variable `LIBTORCH`, the folder of libtorch 2.11.0, which `scripts/setup.sh` downloads. `cargo run`
//!   and `cargo test` find it by themselves. A program that is started in another way needs
//!   `LD_LIBRARY_PATH=$LIBTORCH/lib`. To use a GPU, the crate's own `build.rs` must keep the linker from
//!   leaving `libtorch.so` out: `println!("cargo::rustc-link-arg=-Wl,--no-as-needed,-ltorch")`.
//!
//! Two settings of the crate make it fast. Neither is needed:
//!
//! - In development builds `[profile.dev.package.outflank]` with `opt-level = 3`. Without it a move
//!   takes a hundred times as long.
//! - `RUSTFLAGS=-Ctarget-cpu=native`, or `x86-64-v3`. Without it move generation and nets use few of
//!   the processor's instructions. The program then runs only on processors that have them all.

// The first module, so that the others can use its macro `dispatch!`.
#[macro_use]
pub mod game;

pub mod arena;
pub mod choices;
#[cfg(feature = "program")]
pub mod cli;
#[cfg(feature = "program")]
pub mod config;
pub mod eval;
pub mod keys;
pub mod model;
pub mod net;
#[cfg(feature = "program")]
pub mod pipeline;
pub mod players;
pub mod predict;
pub mod protocol;
pub mod search;
pub mod store;
#[cfg(feature = "program")]
pub mod telemetry;
pub mod train;
#[cfg(feature = "program")]
pub mod web;
