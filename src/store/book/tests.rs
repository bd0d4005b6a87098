use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::eval::testing::random_game;
use crate::game::{Cross92, Position, Shape, Square6, Square7, Square8, notation};

/// A stream of numbers that depends on the seed only.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % most
    }
}

/// The contents of a book as a plain list.
type Plain<G> = Vec<(Board<G>, Option<Leaf>)>;
/// The same for all images of the positions.
type Images<G> = HashMap<Board<G>, Option<Leaf>>;

/// Random positions of a few games that share their first moves, some with random leaf moves. Each
/// is a random image.
fn random_book<G: Geometry>(seed: u64, goal: Goal) -> (Book<G>, Plain<G>) {
    let mut numbers = Numbers(seed);
    let mut plain = BTreeMap::new();
    for _ in 0..12 {
        let mut board = Board::<G>::start();
        for _ in 0..3 + numbers.below(5) {
            let legal: Vec<Square> = board.legal().collect();
            if legal.is_empty() {
                break;
            }
            let image = Symmetry::ALL[numbers.below(8)];
            let leaf = (numbers.below(4) > 0).then(|| Leaf {
                square: image.square::<G>(legal[numbers.below(legal.len())]),
                score: numbers.below(600) as i16 - 300,
                depth: 1 + numbers.below(255) as u8,
            });
            plain.entry(board.canonical()).or_insert((image.board(board), leaf));
            let next = board.play_unchecked(legal[numbers.below(legal.len().min(3))]);
            board = if next.legal().is_empty() { next.pass() } else { next };
        }
    }
    let plain: Plain<G> = plain.into_values().collect();
    let mut book = Book::new(goal);
    for &(board, leaf) in &plain {
        assert!(book.add(board));
        assert!(!book.add(board));
        if let Some(leaf) = leaf {
            book.set_leaf(board, leaf);
        }
    }
    book.revalue();
    (book, plain)
}

/// All images of the positions of a list.
fn images<G: Geometry>(plain: &Plain<G>) -> Images<G> {
    let image = |&(board, leaf): &(Board<G>, Option<Leaf>)| {
        Symmetry::ALL.map(|symmetry| {
            let square = |leaf: Leaf| Leaf { square: symmetry.square::<G>(leaf.square), ..leaf };
            (symmetry.board(board), leaf.map(square))
        })
    };
    plain.iter().flat_map(image).collect()
}

/// The least and the greatest value of a position by a plain search, without memory and without
/// canonical boards; `None` if it is not among the images or has none.
fn search<G: Geometry>(plain: &Images<G>, goal: Goal, board: Board<G>) -> Option<(i16, i16)> {
    let leaf = *plain.get(&board)?;
    let (mut low, mut high, mut unknown, mut leads_out) = (i16::MIN, i16::MIN, 0, false);
    let is_image = |one: Board<G>, other| Symmetry::ALL.iter().any(|by| by.board(one) == other);
    for square in board.legal() {
        let after = board.play_unchecked(square);
        let (value, sign) = if after.is_over() {
            let score = -after.final_score(goal) as i16 * DISC;
            (Some((score, score)), 1)
        } else if after.legal().is_empty() {
            (search(plain, goal, after.pass()), 1)
        } else {
            (search(plain, goal, after), -1)
        };
        let is_leaf = leaf.is_some_and(|leaf| is_image(board.play_unchecked(leaf.square), after));
        let value = match value {
            Some((low, high)) if sign == -1 => Some((-high, -low)),
            None if is_leaf => {
                leads_out = true;
                leaf.map(|leaf| (leaf.score, leaf.score))
            }
            value => value,
        };
        match value {
            Some(value) => (low, high) = (low.max(value.0), high.max(value.1)),
            None => unknown += 1,
        }
    }
    match leaf {
        None if unknown > 0 => None,
        Some(leaf) if unknown > 0 && !leads_out => Some((low, high.max(leaf.score))),
        _ => Some((low, high)),
    }
}

fn values_are_those_of_a_plain_search<G: Geometry>(seed: u64, goal: Goal) {
    let (book, plain) = random_book::<G>(seed, goal);
    assert_eq!(book.len(), plain.len());
    let images = images(&plain);
    for &(board, _) in &plain {
        let wanted = search(&images, goal, board).map(|(low, high)| Value { low, high });
        let moves = book.moves(board).expect("it is in the book");
        for symmetry in Symmetry::ALL {
            let image = symmetry.board(board);
            assert!(book.contains(image));
            assert_eq!(book.value(image), wanted, "{board:?}");
            let there = book.moves(image).expect("it is in the book");
            assert!(there.iter().map(|one| one.square).eq(image.legal()));
            for one in &moves {
                let square = symmetry.square::<G>(one.square);
                let other = there.iter().find(|other| other.square == square).expect("a move");
                assert_eq!((other.value, other.source), (one.value, one.source));
            }
        }
    }
}

fn a_file_gives_the_same_book<G: Geometry>(seed: u64, goal: Goal) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.book");
    let (book, plain) = random_book::<G>(seed, goal);
    book.write(&path).expect("written");
    let (again, _) = Book::<G>::read(&path, goal).expect("read");
    assert_eq!(again.to_bytes(), book.to_bytes());
    for &(board, leaf) in &plain {
        assert_eq!(again.value(board), book.value(board));
        let depth = |leaf: Option<Leaf>| leaf.map(|leaf| (leaf.score, leaf.depth));
        assert_eq!(depth(again.leaf(board)), depth(leaf));
    }
    let header = Header::read(&path).expect("a header");
    let positions = plain.len() as u64;
    assert_eq!(header, Header { shape: G::SHAPE, goal, positions });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn values_agree_with_a_plain_search_in_every_image(
        (seed, shape, fewest) in (any::<u64>(), prop::sample::select(&Shape::ALL[..]), any::<bool>())
    ) {
        let goal = if fewest { Goal::Fewest } else { Goal::Most };
        dispatch!(shape, G => values_are_those_of_a_plain_search::<G>(seed, goal));
    }

    #[test]
    fn books_come_back_as_they_were_written(
        (seed, shape, fewest) in (any::<u64>(), prop::sample::select(&Shape::ALL[..]), any::<bool>())
    ) {
        let goal = if fewest { Goal::Fewest } else { Goal::Most };
        dispatch!(shape, G => a_file_gives_the_same_book::<G>(seed, goal));
    }
}

fn minimax<G: Geometry>(board: Board<G>, goal: Goal) -> i32 {
    let best = board.legal().map(|square| -minimax(board.play_unchecked(square), goal)).max();
    best.unwrap_or_else(|| {
        if board.is_over() { board.final_score(goal) } else { -minimax(board.pass(), goal) }
    })
}

/// Adds a position with all that follow.
fn add_all<G: Geometry>(book: &mut Book<G>, board: Board<G>) {
    if !book.add(board) {
        return;
    }
    for square in board.legal() {
        if let Next::Position { board, .. } = Next::after(board, square, book.goal()) {
            add_all(book, board);
        }
    }
}

/// Endings of many games have passes and ends before the board is full.
fn a_whole_ending_has_its_exact_score<G: Geometry>(goal: Goal) {
    for seed in 0..12 {
        let game = random_game::<G>(seed);
        let ending =
            game.into_iter().find(|board| board.empties() <= 6 && !board.legal().is_empty());
        let Some(board) = ending else { continue };
        let mut book = Book::new(goal);
        add_all(&mut book, board);
        book.revalue();
        for board in book.levels().into_iter().flatten() {
            let exact = minimax(board, goal) as i16 * DISC;
            assert_eq!(book.value(board), Some(Value::exactly(exact)), "{board:?}");
            assert!(!book.is_open(board));
        }
    }
}

#[test]
fn whole_endings_have_exact_scores() {
    for goal in [Goal::Most, Goal::Fewest] {
        for shape in Shape::ALL {
            dispatch!(shape, G => a_whole_ending_has_its_exact_score::<G>(goal));
        }
    }
}

fn after(moves: &str) -> Board<Square8> {
    notation::parse_transcript(moves, Position::start()).expect("a line").1.board
}

fn leaf(square: &str, score: i16) -> Leaf {
    Leaf { square: notation::parse_square::<Square8>(square).expect("a square"), score, depth: 9 }
}

/// f5 f6 is in the book, and its search finds that it is bad.
#[test]
fn a_move_that_was_refuted_leaves_a_range() {
    let mut book = Book::<Square8>::new(Goal::Most);
    let (root, child) = (after("f5"), after("f5f6"));
    book.set_leaf(root, leaf("f6", 150));
    book.revalue();
    assert_eq!(book.value(root), Some(Value::exactly(150)));
    book.add(child);
    book.revalue();
    // The new position has no score yet, so the old score of the move stands.
    assert_eq!((book.value(root), book.value(child)), (Some(Value::exactly(150)), None));
    assert!(book.is_open(child) && !book.is_open(root));
    book.set_leaf(child, leaf("e6", 400));
    book.revalue();
    assert_eq!(book.value(root), Some(Value { low: -400, high: 150 }));
    assert!(book.is_open(root) && !book.is_open(child));
    let known = book.known_moves(root);
    assert_eq!(notation::transcript::<Square8>(known), "f6");
    book.set_leaf(root, leaf("d6", -20));
    book.revalue();
    assert_eq!(book.value(root), Some(Value::exactly(-20)));
    assert!(!book.is_open(root));
}

#[test]
fn a_position_is_added_once_and_only_with_a_move() {
    let mut book = Book::<Square8>::new(Goal::Most);
    let images = ["f5", "d3", "c4", "e6"];
    assert_eq!(images.map(|line| book.add(after(line))), [true, false, false, false]);
    assert!(!book.add(Board { mine: 1, theirs: 0 }));
    book.set_leaf(after("d3"), leaf("c3", 7));
    assert_eq!(book.leaf(after("d3")), Some(leaf("c3", 7)));
    assert_eq!(book.leaf(after("e6")).map(|leaf| leaf.score), Some(7));
    book.set_leaf(after("f5"), leaf("f6", i16::MAX));
    assert_eq!(book.leaf(after("f5")).map(|leaf| leaf.score), Some(6400));
    assert_eq!(book.len(), 1);
}

#[test]
fn a_joined_book_has_all_positions_and_the_deeper_searches() {
    let (first, plain) = random_book::<Square6>(1, Goal::Most);
    let (second, other) = random_book::<Square6>(2, Goal::Most);
    let mut both = Book::new(Goal::Most);
    both.merge(&first);
    assert_eq!(both.to_bytes(), first.to_bytes());
    both.merge(&second);
    let mut turned = Book::new(Goal::Most);
    turned.merge(&second);
    turned.merge(&first);
    let depth = |book: &Book<Square6>, board| book.leaf(board).map(|leaf| leaf.depth);
    for &(board, _) in plain.iter().chain(&other) {
        let deeper = depth(&first, board).max(depth(&second, board));
        assert_eq!(depth(&both, board), deeper);
        assert_eq!(depth(&turned, board), deeper);
    }
    assert!(both.len() > first.len().max(second.len()));
    assert!(both.len() < first.len() + second.len());
}

#[test]
fn a_walk_meets_every_position_once_by_its_line() {
    let (mut book, _) = random_book::<Square7>(5, Goal::Most);
    let unreachable = random_game::<Square7>(3)
        .into_iter()
        .find(|board| board.discs() >= 30 && !board.legal().is_empty());
    book.add(unreachable.expect("a position"));
    book.revalue();
    let steps: Vec<_> = book.walk().collect();
    assert_eq!(steps.len(), book.len() - 1);
    assert_eq!(steps.len(), book.count_from(Board::start()));
    let mut ends = Book::<Square7>::new(Goal::Most);
    for step in &steps {
        let mut position = Position::start();
        for &square in &step.line {
            if !step.goes_on {
                ends.add(position.board);
            }
            position = position.play(square).expect("a legal move").pass_if_forced();
        }
        assert_eq!(position, step.position);
        if !step.goes_on {
            ends.add(position.board);
        }
        let known: Vec<_> = step.moves.iter().map(|one| one.value.map(|value| value.low)).collect();
        assert!(known.is_sorted_by(|a, b| a >= b), "{known:?}");
    }
    assert_eq!(ends.len(), steps.len(), "the ends of lines lead through all positions");
    assert!(Book::<Square7>::new(Goal::Most).walk().next().is_none());
}

#[test]
fn a_damaged_file_is_refused_by_name_and_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("one.book");
    let refuse = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("written");
        let Err(error) = Book::<Square8>::read(&path, Goal::Most) else { panic!("it is read") };
        let error = error.to_string();
        assert!(error.contains("one.book is not used as a book: "), "{error}");
        error
    };
    let (book, _) = random_book::<Square8>(3, Goal::Most);
    let whole = book.to_bytes();
    for cut in 0..whole.len() {
        refuse(&whole[..cut]);
    }
    for bit in 0..8 * whole.len() {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        refuse(&bytes);
    }
    assert!(refuse(b"OFLABEL1...").contains("it begins with `OFLABEL1`; a book of this version"));
    assert!(refuse(&whole[..12]).contains("cut off after 12 bytes"));
    assert!(refuse(&[&whole[..], b"x"].concat()).contains("cut off or damaged: it has"));
    // With a right checksum, the content is checked.
    let changed = |change: &dyn Fn(&mut [u8])| {
        let mut bytes = whole[..whole.len() - 4].to_vec();
        change(&mut bytes);
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        refuse(&bytes)
    };
    assert!(changed(&|bytes| bytes[8] = 9).contains("byte 8, the board, is 9; allowed: 0 to 4"));
    assert!(changed(&|bytes| bytes[9] = 2).contains("byte 9, the goal, is 2; allowed: 0 or 1"));
    assert!(changed(&|bytes| bytes[9] = 1).contains("its goal is fewest; wanted: most"));
    let foreign = changed(&|bytes| bytes[10..18].fill(0xff));
    assert!(foreign.contains("18446744073709551615 positions"), "{foreign}");
    let error = changed(&|bytes| bytes[18..34].fill(1));
    assert!(error.contains("position 0, at byte 18, has discs"), "{error}");
    let error = changed(&|bytes| bytes[34] = 200);
    assert!(error.contains("position 0, at byte 18, has a move to square 200"), "{error}");
    let error = changed(&|bytes| bytes.copy_within(18..38, 38));
    assert!(error.contains("position 1, at byte 38, is not above the one before it"), "{error}");
    let other = random_book::<Cross92>(3, Goal::Most).0.to_bytes();
    assert!(refuse(&other).contains("its board is cross92; wanted: 8x8"));
}
