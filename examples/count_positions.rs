//! Counts the leaves of the game tree at each depth, the usual check of move generation (perft).
//!
//! `cargo run --release --example count_positions -- 8x8 9`

use std::error::Error;
use std::time::Instant;

use outflank::dispatch;
use outflank::game::{Board, Shape, perft};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let shape: Shape = arguments.next().as_deref().unwrap_or("8x8").parse()?;
    let deepest: u32 = arguments.next().as_deref().unwrap_or("9").parse()?;
    for depth in 1..=deepest {
        let begun = Instant::now();
        // The shape is known only now; `dispatch!` turns it into the type `G`.
        let leaves = dispatch!(shape, G => perft::count(Board::<G>::start(), depth));
        println!("{shape} depth {depth}: {leaves} leaves in {:.2?}", begun.elapsed());
    }
    Ok(())
}
