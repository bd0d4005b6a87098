//! Valid games and ladders as seeds of inputs.

use outflank::game::notation::{obf, transcript};
use outflank::game::record::{GameRecord, MoveRecord, Source};
use outflank::game::{Bitboard, Colour, Geometry, Goal, Position, Square6};
use serde_json::json;

/// A game in which each move is the first legal one.
pub fn a_game<G: Geometry>(id: u64) -> GameRecord {
    let mut position = Position::<G>::start();
    let start = position;
    let mut moves = Vec::new();
    while let Some(square) = position.board.legal().next() {
        let policy = vec![7; position.board.legal().len()];
        let exact = (moves.len() > 20).then_some(-3);
        moves.push(MoveRecord { square, policy, value: Some(0.5), exact });
        position = position.play(square).expect("a legal move").pass_if_forced();
    }
    GameRecord {
        shape: G::SHAPE,
        goal: Goal::Most,
        id,
        source: Source::SelfPlay,
        worker: None,
        net_version: 3,
        opening_moves: 4,
        start_mine: start.board.mine.widen(),
        start_theirs: start.board.theirs.widen(),
        start_side: Colour::Black,
        moves,
        score: position.black_view().final_score(Goal::Most) as i16,
        resigned: false,
    }
}

/// A ladder with a match of two games.
pub fn a_ladder() -> String {
    let game = a_game::<Square6>(0);
    let (squares, start) =
        (game.moves.iter().map(|played| played.square), Position::<Square6>::start());
    let moves = transcript::<Square6>(squares);
    let (opening, rest) = moves.split_at(8);
    let game_line = |number: u32, black: &str, white: &str| {
        json!({
            "kind": "game", "version": 1, "match": 1, "game": number, "board": "6x6",
            "goal": "most", "black": black, "white": white, "start": obf(start),
            "opening": opening, "moves": rest, "score": game.score,
            "seconds": [0.25, 0.5], "depths": [1, null], "scores": [null, -2.5], "nodes": [100],
        })
    };
    let lines = [
        json!({"kind": "ladder", "version": 1}),
        json!({"kind": "player", "version": 1, "name": "net:a", "run": "a", "step": 7, "positions": 90}),
        json!({
            "kind": "match", "version": 1, "id": 1, "first": "net:a", "second": "random",
            "board": "6x6", "goal": "most", "openings": "start", "seed": 3,
        }),
        game_line(0, "net:a", "random"),
        game_line(1, "random", "net:a"),
    ];
    lines.map(|line| line.to_string() + "\n").concat()
}
