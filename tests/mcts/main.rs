//! Tests of Monte Carlo tree search with fixed functions in place of a net.

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
