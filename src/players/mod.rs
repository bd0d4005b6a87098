//! Players: what chooses moves. [`spec`] is their grammar, [`open`] makes them, and [`kinds`] are
//! those that are part of this program.

pub mod book;
pub mod contestant;
pub mod control;
pub mod demand;
pub mod endings;
pub mod external;
mod grammar;
pub mod hint;
pub mod inputs;
mod kind;
pub mod kinds;
pub mod labels;
pub mod levels;
pub mod models;
pub mod open;
pub mod opened;
pub mod player;
pub mod question;
pub mod review;
pub mod shipped;
pub mod spec;
pub mod variety;

pub use grammar::SpecError;
