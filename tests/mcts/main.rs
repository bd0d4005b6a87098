//! Tree search with a table for a net: nothing here needs a network library.

mod allocation;
mod choices;
mod common;
mod exact;
mod flight;
mod golden;
mod growth;
mod oracle;
mod reuse;
mod selfplay;
