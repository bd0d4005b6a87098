//! Forged and damaged moves after the opening, for `forged_tests`.

use super::forged_tests::Forgery;
use crate::game::record::GameRecord;
use crate::game::{Colour, Square, Square6};

pub(super) const MOVES: &[Forgery] = &[
    ("illegal-move", "a move onto a disc", |game, base| {
        let taken = game.moves[0].square;
        game.moves[base.free()].square = taken;
    }),
    ("illegal-move", "the first square that does not exist", |game, base| {
        game.moves[base.free()].square = Square(36);
    }),
    ("illegal-move", "the greatest square number", |game, base| {
        game.moves[base.free()].square = Square(u8::MAX);
    }),
    ("illegal-move", "a move played twice", |game, base| {
        let index = base.free();
        game.moves.insert(index + 1, game.moves[index].clone());
        game.moves.pop();
    }),
    ("illegal-move", "a square far from all discs", |game, base| {
        let last = game.moves[31].square;
        game.moves[base.opening].square = last;
    }),
    ("unfinished", "the last move cut off", |game, _| drop(game.moves.pop())),
    ("unfinished", "half of the game", |game, _| game.moves.truncate(16)),
    ("unfinished", "the opening alone", |game, base| game.moves.truncate(base.opening)),
    ("unfinished", "no moves", |game, _| {
        game.moves.clear();
        game.opening_moves = 0;
    }),
    ("score", "two discs more", |game, _| game.score += 2),
    ("score", "the result of the other side", |game, _| game.score = -game.score),
    ("score", "a draw", |game, _| game.score = 0),
    ("score", "the greatest score", |game, _| game.score = i16::MAX),
    ("score", "the least score", |game, _| game.score = i16::MIN),
];

pub(super) const VALUES: &[Forgery] = &[
    ("no-value", "a search without a value", |game, base| game.moves[base.free()].value = None),
    ("no-value", "the solver without a value", |game, base| {
        game.moves[base.solved()].value = None;
    }),
    ("value", "a little above 1", |game, base| game.moves[base.free()].value = Some(1.0005)),
    ("value", "below -1", |game, base| game.moves[base.free()].value = Some(-1.5)),
    ("value", "NaN", |game, base| game.moves[base.free()].value = Some(f32::NAN)),
    ("value", "infinite", |game, base| game.moves[base.free()].value = Some(f32::INFINITY)),
    ("value", "minus infinite", |game, base| {
        game.moves[base.solved()].value = Some(f32::NEG_INFINITY);
    }),
    ("exact-value", "the value of a net where the solver plays", |game, base| {
        game.moves[base.solved()].value = Some(0.9);
    }),
    ("exact-value", "the result of the other side", |game, base| {
        let played = &mut game.moves[base.played_out];
        played.value = played.value.map(|value| -value);
    }),
    ("exact-value", "no value of a proven position", |game, base| {
        game.moves[base.proven().expect("rich")].value = Some(0.0);
    }),
    ("exact-value", "an exact score for an estimate", |game, base| {
        game.moves[base.free()].exact = Some(4);
    }),
    ("exact-range", "more discs than squares", |game, base| {
        game.moves[base.solved()].exact = Some(38);
    }),
    ("exact-range", "fewer discs than squares", |game, base| {
        game.moves[base.solved()].exact = Some(-38);
    }),
    ("exact-range", "the greatest number", |game, base| {
        game.moves[base.solved()].exact = Some(i8::MAX);
    }),
    ("exact-range", "the least number", |game, base| {
        game.moves[base.solved()].exact = Some(i8::MIN);
    }),
    ("exact-range", "an odd number of discs", |game, base| {
        let exact = &mut game.moves[base.solved()].exact;
        *exact = exact.map(|score| score + 1);
    }),
    ("no-exact", "a missing score", |game, base| game.moves[base.solved()].exact = None),
    ("no-exact", "all scores missing", |game, _| {
        game.moves.iter_mut().for_each(|played| played.exact = None);
    }),
    ("exact-chain", "a better score before the last move", |game, _| shift(game, 30, 30)),
    ("exact-chain", "a better score at the start of the end", |game, base| {
        shift(game, base.played_out, base.played_out);
    }),
    ("exact-chain", "a better proven score", |game, base| {
        let index = base.proven().expect("rich");
        shift(game, index, index);
    }),
    ("exact-end", "all scores better than the result", |game, base| {
        let first = (0..base.played_out).find(|&index| game.moves[index].exact.is_some());
        shift(game, first.expect("a proven move"), 31);
    }),
];

/// Makes the exact scores of moves better for black by 2 discs, without a change of a result.
fn shift(game: &mut GameRecord, first: usize, last: usize) {
    let positions = game.positions::<Square6>().expect("a game");
    let moves = game.moves[first..=last].iter_mut();
    for (played, position) in moves.zip(&positions[first..]) {
        let black = position.side == Colour::Black;
        // The base has no draw, and no score near the greatest one.
        let step = if game.score == -2 { -2 } else { 2 };
        played.exact = played.exact.map(|score| if black { score + step } else { score - step });
    }
}

pub(super) const POLICIES: &[Forgery] = &[
    ("no-policy", "a search without a policy", |game, base| {
        game.moves[base.free()].policy.clear();
    }),
    ("no-policy", "the solver without a policy", |game, base| {
        game.moves[base.solved()].policy.clear();
    }),
    ("no-policy", "no policies at all", |game, _| {
        game.moves.iter_mut().for_each(|played| played.policy.clear());
    }),
    ("forced-policy", "the only move with a policy", |game, base| {
        game.moves[base.forced().expect("rich")].policy = vec![u16::MAX];
    }),
    ("forced-policy", "the only move without a weight", |game, base| {
        game.moves[base.forced().expect("rich")].policy = vec![0];
    }),
    ("policy-length", "one weight more", |game, base| {
        game.moves[base.free()].policy.push(0);
    }),
    ("policy-length", "one weight less", |game, base| {
        game.moves[base.free()].policy.pop();
    }),
    ("policy-length", "one weight for each square", |game, base| {
        game.moves[base.free()].policy = vec![u16::MAX; 36];
    }),
    ("policy-length", "thousands of weights", |game, base| {
        game.moves[base.free()].policy = vec![u16::MAX; 100_000];
    }),
    ("policy-scale", "no weight above 0 where the solver plays", |game, base| {
        game.moves[base.solved()].policy.fill(0);
    }),
    ("policy-scale", "a greatest weight of 65,534", |game, base| {
        let policy = game.moves[base.free()].policy.iter_mut();
        policy.for_each(|weight| *weight = (*weight).min(u16::MAX - 1));
    }),
    ("policy-scale", "all weights 1", |game, base| game.moves[base.free()].policy.fill(1)),
    ("policy-scale", "half of all weights", |game, base| {
        game.moves[base.free()].policy.iter_mut().for_each(|weight| *weight /= 2);
    }),
    ("policy-scale", "the solver's policy on another scale", |game, base| {
        game.moves[base.solved()].policy.iter_mut().for_each(|weight| *weight /= 3);
    }),
    ("exact-policy", "the solver with all moves alike", |game, base| {
        game.moves[base.solved()].policy.fill(u16::MAX);
    }),
    ("exact-policy", "the solver with another move", |game, base| {
        game.moves[base.solved()].policy.rotate_right(1);
    }),
    ("exact-policy", "the solver with a second move", |game, base| {
        let policy = &mut game.moves[base.solved()].policy;
        *policy.iter_mut().find(|weight| **weight == 0).expect("another move") = 1;
    }),
    ("exact-policy", "a proven move with a small weight", |game, base| {
        let policy = &mut game.moves[base.proven().expect("rich")].policy;
        *policy.iter_mut().find(|weight| **weight > 0).expect("a best move") = 1;
    }),
    ("exact-policy", "a proven position whose best moves are not played", |game, base| {
        let policy = &mut game.moves[base.proven().expect("rich")].policy;
        policy.iter_mut().for_each(|weight| *weight = u16::MAX - *weight);
    }),
];
