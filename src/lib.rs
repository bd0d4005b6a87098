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
