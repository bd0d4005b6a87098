use std::sync::atomic::AtomicBool;

use super::*;
use crate::game::{Position, Square, Square6, Square8, SquareSet, notation};
use crate::players::kinds::RandomPlayer;
use crate::players::player::combine;
use crate::search::alphabeta::SearchResult;
use crate::search::stop::Stop;
use crate::store::book::{Leaf, Next, Source, Value};

/// A score of a move from -8 to 8 discs that depends on where it leads, for the side that moves.
fn guess<G: Geometry>(board: Board<G>, square: Square) -> i16 {
    match Next::after(board, square, Goal::Most) {
        Next::End(score) => score as i16 * DISC,
        Next::Position { board, .. } => {
            let [mine, theirs] = [board.mine, board.theirs].map(crate::game::Bitboard::widen);
            (combine(&[mine as u64, theirs as u64]) % 1601) as i16 - 800
        }
    }
}

/// Finds the best move by [`guess`]. It counts its searches, and can be told when to stop all.
struct Guesser<'a> {
    searched: u32,
    stop_after: Option<(u32, &'a AtomicBool)>,
}

impl<G: Geometry> Searcher<G> for Guesser<'_> {
    fn search(
        &mut self,
        board: Board<G>,
        skipped: SquareSet<G>,
        halt: &Stop,
    ) -> Option<SearchResult> {
        self.searched += 1;
        if let Some((count, stop)) = self.stop_after
            && self.searched > count
        {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            while !halt.is_set() {
                std::thread::yield_now();
            }
        }
        let rest = board.legal().filter(|&square| !skipped.contains(square));
        let square = rest.max_by_key(|&square| guess(board, square))?;
        let score = f32::from(guess(board, square)) / f32::from(DISC);
        let (nodes, pv) = (1, vec![square]);
        let (seconds, unfinished, wasted) = (0.0, 0.0, 0.0);
        let (exact, depth) = (false, 1);
        Some(SearchResult { square, score, exact, depth, nodes, pv, seconds, unfinished, wasted })
    }
}

fn guessers(count: usize) -> Vec<Guesser<'static>> {
    (0..count).map(|_| Guesser { searched: 0, stop_after: None }).collect()
}

const GROWTH: Growth = Growth { penalty: 0.5, plies: 40, positions: 150 };

fn grown<G: Geometry>(mut book: Book<G>, threads: usize, growth: Growth) -> Book<G> {
    let mut grower = Grower::new(guessers(threads), growth);
    while grower.step(&mut book, &AtomicBool::new(false)).searched > 0 {}
    book
}

fn bytes<G: Geometry>(book: &Book<G>) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.book");
    book.write(&path).expect("written");
    std::fs::read(path).expect("read")
}

/// Every value is the negamax over all moves: those in the book by their positions, the others by
/// the guess. So no move outside the book is forgotten.
fn has_values_of_all_moves<G: Geometry>(book: &Book<G>) {
    for board in book.levels().into_iter().flatten() {
        let value = |square| match Next::after(board, square, Goal::Most) {
            Next::Position { board: next, passed } if book.contains(next) => {
                let value = book.value(next).expect("a value");
                assert_eq!(value.low, value.high);
                if passed { value.low } else { -value.low }
            }
            _ => guess(board, square),
        };
        let best = board.legal().map(value).max().expect("a move");
        assert_eq!(book.value(board), Some(Value::exactly(best)), "{board:?}");
        assert!(!book.is_open(board));
    }
}

#[test]
fn a_grown_book_has_searched_all_moves_whatever_the_number_of_threads() {
    let one = grown(Book::<Square8>::new(Goal::Most), 1, GROWTH);
    assert_eq!(one.len(), GROWTH.positions);
    has_values_of_all_moves(&one);
    assert_eq!(one.walk().count(), one.len());
    let three = grown(Book::<Square8>::new(Goal::Most), 3, GROWTH);
    assert_eq!(bytes(&one), bytes(&three));
    // A whole small game: no position is left to add.
    let whole = Growth { plies: 4, positions: 10_000, ..GROWTH };
    let book = grown(Book::<Square6>::new(Goal::Most), 2, whole);
    has_values_of_all_moves(&book);
    let discs: Vec<_> = book.levels().iter().map(|level| level[0].discs()).collect();
    assert_eq!(discs, [4, 5, 6, 7, 8]);
    assert_eq!(book.levels()[1].len(), 1, "all first moves are alike");
    assert_eq!(book.levels()[2].len(), 3);
}

#[test]
fn a_smaller_penalty_makes_a_deeper_book() {
    let depth = |penalty| {
        let growth = Growth { penalty, positions: 60, ..GROWTH };
        let book = grown(Book::<Square8>::new(Goal::Most), 1, growth);
        book.walk().map(|step| step.line.len()).max()
    };
    assert!(depth(0.02) > depth(20.0), "{:?} {:?}", depth(0.02), depth(20.0));
}

#[test]
fn lines_without_scores_are_searched_from_their_ends_on() {
    let mut book = Book::<Square8>::new(Goal::Most);
    let line = "f5d6c3d3c4f4";
    for end in (0..=line.len()).step_by(2) {
        let (_, position) =
            notation::parse_transcript(&line[..end], Position::start()).expect("a line");
        book.add(position.board);
    }
    book.revalue();
    assert!(book.levels().into_iter().flatten().all(|board| book.value(board).is_none()));
    let mut grower = Grower::new(guessers(1), Growth { positions: 0, ..GROWTH });
    let mut steps = Vec::new();
    loop {
        let progress = grower.step(&mut book, &AtomicBool::new(false));
        if progress.searched == 0 {
            break;
        }
        steps.push((progress.searched, progress.added));
    }
    // No position is searched twice, and the start position not at all: its moves are all alike.
    assert_eq!(steps, [(1, 0); 6]);
    has_values_of_all_moves(&book);
}

#[test]
fn growth_that_is_stopped_keeps_what_was_searched_and_can_go_on() {
    let stop = AtomicBool::new(false);
    let mut book = Book::<Square8>::new(Goal::Most);
    let mut searchers = guessers(2);
    searchers[0].stop_after = Some((40, &stop));
    searchers[1].stop_after = Some((40, &stop));
    let mut grower = Grower::new(searchers, GROWTH);
    while grower.step(&mut book, &stop).searched > 0 {}
    assert!(book.len() > 10 && book.len() < GROWTH.positions, "{}", book.len());
    let book = grown(book, 2, GROWTH);
    assert_eq!(book.len(), GROWTH.positions);
    has_values_of_all_moves(&book);
}

/// A book of the start position and the moves after f5: f6 is worth -1 for white, d6 -2.5 and f4
/// -5, so f5 is worth 1.
fn small_book() -> Book<Square8> {
    let mut book = Book::new(Goal::Most);
    let mut set = |line: &str, square: &str, score: i16| {
        let (_, position) = notation::parse_transcript(line, Position::start()).expect("a line");
        let square = notation::parse_square::<Square8>(square).expect("a square");
        book.set_leaf(position.board, Leaf { square, score, depth: 9 });
    };
    set("", "f5", 0);
    set("f5", "f4", -500);
    set("f5f6", "e6", 100);
    set("f5d6", "c3", 250);
    book.revalue();
    book
}

fn player(book: Book<Square8>, loss: f32, seed: u64) -> BookPlayer<Square8> {
    let choice = BookChoice { path: "a.book".into(), loss };
    let book = OpenBook { choice, book: Arc::new(book) };
    BookPlayer::new(Box::new(RandomPlayer::new(seed)), book, seed)
}

/// The moves that a player with this loss plays after a line, by 60 seeds, and their scores.
fn played(loss: f32, line: &str) -> Vec<(String, Option<f32>)> {
    let (moves, position) =
        notation::parse_transcript(line, Position::<Square8>::start()).expect("a line");
    let turn = Turn { game: 1, start: Position::start(), moves: &moves, position };
    let choice = |seed| {
        let mut player = player(small_book(), loss, seed);
        let choice = player.choose(&[turn]).remove(0).expect("a move");
        assert_eq!(
            player.think(&turn, &mut Control::plain()).map(|one| one.square),
            Ok(choice.square)
        );
        (notation::square_name::<Square8>(choice.square), choice.score)
    };
    let mut all: Vec<_> = (0..60).map(choice).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all.dedup();
    all
}

#[test]
fn moves_of_the_book_lose_at_most_what_is_allowed() {
    let moves = |list: &[(&str, f32)]| -> Vec<(String, Option<f32>)> {
        list.iter().map(|&(name, score)| (name.into(), Some(score))).collect()
    };
    assert_eq!(played(0.0, "f5"), moves(&[("f6", -1.0)]));
    assert_eq!(played(1.49, "f5"), moves(&[("f6", -1.0)]));
    assert_eq!(played(1.5, "f5"), moves(&[("d6", -2.5), ("f6", -1.0)]));
    assert_eq!(played(4.0, "f5"), moves(&[("d6", -2.5), ("f4", -5.0), ("f6", -1.0)]));
    // The four first moves are alike.
    let first = ["c4", "d3", "e6", "f5"].map(|name| (name, 1.0));
    assert_eq!(played(0.0, ""), moves(&first));
    // Outside the book the player moves by itself, without a score.
    let outside = played(64.0, "f5f4");
    assert!(outside.len() > 3 && outside.iter().all(|(_, score)| score.is_none()), "{outside:?}");
}

#[test]
fn a_move_whose_refutation_left_the_others_unknown_is_not_played() {
    let mut book = small_book();
    let (_, root) = notation::parse_transcript("f5", Position::<Square8>::start()).expect("a line");
    let (_, end) =
        notation::parse_transcript("f5f6", Position::<Square8>::start()).expect("a line");
    // The search of f5 found f6 to be worth 3, and the book f6 to be worth -1. Another move may be
    // worth up to 3.
    let square = notation::parse_square::<Square8>("f6").expect("a square");
    book.set_leaf(root.board, Leaf { square, score: 300, depth: 9 });
    book.revalue();
    assert_eq!(book.value(root.board), Some(Value { low: -100, high: 300 }));
    let known = book.moves(root.board).expect("moves");
    assert!(known.iter().any(|one| one.source == Source::Book));
    let open = |book: Book<Square8>, loss| {
        let choice = BookChoice { path: "a.book".into(), loss };
        OpenBook { choice, book: Arc::new(book) }.moves(root.board).len()
    };
    assert_eq!(open(book, 3.5), 0);
    // A position that was never searched has no value either.
    let mut book = Book::new(Goal::Most);
    book.add(root.board);
    book.set_leaf(end.board, Leaf { square, score: 0, depth: 1 });
    book.revalue();
    assert_eq!(open(book, 64.0), 0);
}

#[test]
fn turns_in_and_outside_the_book_keep_their_order() {
    let at = |line: &str| {
        notation::parse_transcript(line, Position::<Square8>::start()).expect("a line").1
    };
    let positions = ["f5f4", "f5", "f5f4e3", "f5d6", "f5f6"].map(at);
    let turns = positions.map(Turn::at);
    let mut player = player(small_book(), 0.0, 3);
    let choices = player.choose(&turns);
    assert_eq!(choices.len(), turns.len());
    for (turn, choice) in turns.iter().zip(&choices) {
        let choice = choice.as_ref().expect("a move");
        assert!(turn.position.board.legal().contains(choice.square));
    }
    let scores: Vec<_> = choices.iter().map(|choice| choice.as_ref().ok()?.score).collect();
    assert_eq!(scores, [None, Some(-1.0), None, Some(2.5), Some(1.0)]);
}
