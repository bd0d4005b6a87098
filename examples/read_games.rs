//! Prints the newest self-play games of a run: their moves, and the score for black.
//!
//! `cargo run --release --example read_games -- runs/quick`

use std::error::Error;
use std::path::PathBuf;

use outflank::dispatch;
use outflank::game::notation;
use outflank::store::games;
use outflank::store::run_dir::GAMES;

fn main() -> Result<(), Box<dyn Error>> {
    let run = std::env::args().nth(1).map(PathBuf::from).ok_or("name a run directory")?;
    for record in games::read_tail(&run.join(GAMES), 500)? {
        // Damaged records are skipped; the others are still good.
        let Ok(record) = record else { continue };
        let squares = record.moves.iter().map(|played| played.square);
        let moves = dispatch!(record.shape, G => notation::transcript::<G>(squares));
        println!("game {} (net {}): {moves} {:+}", record.id, record.net_version, record.score);
    }
    Ok(())
}
