//! Shows the best moves of a position by a net that comes with the program.
//!
//! `cargo run --release --example analyse -- f5d6c3d3c4`

use std::error::Error;

use outflank::game::{Goal, Position, Shape, Square8, notation};
use outflank::players::player::Turn;
use outflank::players::{open, shipped};

fn main() -> Result<(), Box<dyn Error>> {
    let line = std::env::args().nth(1).unwrap_or("f5d6c3d3c4".into());
    let (moves, position) = notation::parse_transcript(&line, Position::<Square8>::start())?;
    if position.board.is_over() {
        return Err("the game is over".into());
    }
    println!("{}", notation::diagram(position));

    // Any player works here: `let spec = "alphabeta:depth=8".parse()?;`
    let spec = shipped::opponent(Shape::Square8, Goal::Most);
    let mut player = open::player::<Square8>(&spec, Goal::Most)?;
    let turn = Turn { game: 0, start: Position::start(), moves: &moves, position };
    for hint in player.hints(&turn, 5)? {
        let line = notation::transcript::<Square8>(hint.line.iter().copied());
        let chance = hint.win_chance.map_or(f32::NAN, |chance| 100.0 * chance);
        println!("{chance:5.1} %  {:+5.1} discs  {line}", hint.score.unwrap_or(f32::NAN));
    }
    Ok(())
}
