//! Plays a game of alpha-beta against a greedy player, and solves its last ten moves.

use outflank::game::{Colour, Goal, Position, Shape, Square8, notation};
use outflank::players::player::Turn;
use outflank::players::spec::PlayerSpec;
use outflank::players::{open, shipped};
use outflank::search::endgame::Solver;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("the default opponent is {}", shipped::opponent(Shape::Square8, Goal::Most));
    let black: PlayerSpec = "alphabeta:depth=4".parse()?;
    let mut black = open::player::<Square8>(&black, Goal::Most)?;
    let mut white = open::player::<Square8>(&"greedy".parse()?, Goal::Most)?;
    let mut position = Position::<Square8>::start();
    let mut moves = Vec::new();
    while position.board.empties() > 10 && !position.board.is_over() {
        let player = if position.side == Colour::Black { &mut black } else { &mut white };
        let hints = player.hints(&Turn::at(position), 1)?;
        let square = *hints[0].line.first().ok_or("a move")?;
        moves.push(square);
        position = position.play(square).ok_or("a legal move")?.pass_if_forced();
    }
    println!("{}", notation::transcript::<Square8>(moves.iter().copied()));
    println!("{}", notation::diagram(position));
    let (score, line) = Solver::<Square8>::new(Goal::Most, 1 << 20).best_line(position.board);
    println!("{score:+} for {:?}: {}", position.side, notation::transcript::<Square8>(line));
    Ok(())
}
