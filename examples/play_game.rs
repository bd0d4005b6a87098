//! Plays one game between two players and prints it.
//!
//! `cargo run --release --example play_game -- net:checkpoints/8x8,simulations=50 alphabeta:depth=4`

use std::error::Error;

use outflank::game::{Colour, Goal, Position, Square8, notation};
use outflank::players::open;
use outflank::players::player::Turn;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut player = |default: &str| {
        let spec = arguments.next().unwrap_or(default.into()).parse()?;
        Ok::<_, Box<dyn Error>>(open::player::<Square8>(&spec, Goal::Most)?)
    };
    let (mut black, mut white) = (player("alphabeta:depth=4")?, player("greedy")?);

    let start = Position::start();
    let (mut position, mut moves) = (start, Vec::new());
    while !position.board.is_over() {
        let turn = Turn { game: 0, start, moves: &moves, position };
        let mover = if position.side == Colour::Black { &mut black } else { &mut white };
        let square = mover.choose(&[turn]).remove(0)?.square;
        moves.push(square);
        // A side without a move passes.
        position = position.play(square).ok_or("an illegal move")?.pass_if_forced();
    }
    println!("{}", notation::diagram(position));
    println!("{}", notation::transcript::<Square8>(moves));
    let score = position.black_view().final_score(Goal::Most);
    println!("{} (black) against {} (white): {score:+} for black", black.name(), white.name());
    Ok(())
}
