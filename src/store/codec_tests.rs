//! Tests of the layout of game records.

use proptest::prelude::*;

use super::*;

fn a_move(squares: u8) -> impl Strategy<Value = MoveRecord> {
    (
        0..squares,
        proptest::collection::vec(any::<u16>(), 0..20),
        proptest::option::of(-1.0f32..1.0),
        proptest::option::of(-(squares as i8)..=squares as i8),
    )
        .prop_map(|(square, policy, value, exact)| MoveRecord {
            square: Square(square),
            policy,
            value,
            exact,
        })
}

prop_compose! {
    /// Any record that the types allow; its moves need not be legal.
    pub fn any_record()(
        shape in proptest::sample::select(&Shape::ALL[..]),
    )(
        shape in Just(shape),
        (fewest, white, resigned) in any::<(bool, bool, bool)>(),
        source in proptest::sample::select(&Source::ALL[..]),
        worker in proptest::option::of("[a-z0-9-]{1,32}"),
        (id, net_version, opening_moves) in any::<(u64, u32, u16)>(),
        score in -(shape.layout().squares as i16)..=shape.layout().squares as i16,
        (start_mine, start_theirs) in any::<(u128, u128)>(),
        moves in proptest::collection::vec(a_move(shape.layout().squares as u8), 0..64),
    ) -> GameRecord {
        GameRecord {
            shape,
            goal: if fewest { Goal::Fewest } else { Goal::Most },
            id,
            source,
            worker: worker.map(Box::from),
            net_version,
            opening_moves,
            start_mine,
            start_theirs,
            start_side: if white { Colour::White } else { Colour::Black },
            moves,
            score,
            resigned,
        }
    }
}

proptest! {
    #[test]
    fn a_record_is_decoded_unchanged(record in any_record()) {
        prop_assert_eq!(decode(&encode(&record)), Ok(record));
    }

    #[test]
    fn bytes_cut_short_are_an_error(record in any_record(), cut in any::<prop::sample::Index>()) {
        let bytes = encode(&record);
        prop_assert_eq!(decode(&bytes[..cut.index(bytes.len())]), Err(CodecError::Short));
    }

    #[test]
    fn any_bytes_are_a_record_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = decode(&bytes);
    }
}

#[test]
fn scores_above_the_number_of_squares_are_refused() {
    let mut record = crate::store::games::tests::a_game(0, 9);
    record.moves[50].exact = Some(64);
    assert_eq!(decode(&encode(&record)).as_ref(), Ok(&record));
    record.moves[50].exact = Some(-65);
    assert_eq!(decode(&encode(&record)), Err(CodecError::Field { field: "exact score" }));
    record.moves[50].exact = None;
    (record.resigned, record.score) = (true, i16::MIN);
    assert_eq!(decode(&encode(&record)), Err(CodecError::Field { field: "score" }));
}

#[test]
fn a_value_outside_minus_one_to_one_is_refused() {
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.5, -1e30] {
        let played = MoveRecord { value: Some(value), ..MoveRecord::of(Square(0)) };
        let record = GameRecord { moves: vec![played], ..empty() };
        assert_eq!(decode(&encode(&record)), Err(CodecError::Field { field: "value" }));
    }
}

fn empty() -> GameRecord {
    GameRecord {
        shape: Shape::Square6,
        goal: Goal::Most,
        id: 1,
        source: Source::Import,
        worker: Some("a-1".into()),
        net_version: 0,
        opening_moves: 0,
        start_mine: 1,
        start_theirs: 2,
        start_side: Colour::Black,
        moves: Vec::new(),
        score: 0,
        resigned: true,
    }
}

#[test]
fn a_source_or_worker_that_no_record_has_is_refused() {
    let mut bytes = encode(&empty());
    assert_eq!(bytes[3..8], *b"\x02\x03a-1");
    bytes[3] = 3;
    assert_eq!(decode(&bytes), Err(CodecError::Field { field: "source" }));
    for name in ["A", "a b", "é", "-_", &"x".repeat(33), &"x".repeat(100_000)] {
        let record = GameRecord { worker: Some(name.into()), ..empty() };
        assert_eq!(decode(&encode(&record)), Err(CodecError::Field { field: "worker" }));
    }
}

/// A record as layout 1 has it: all values known.
#[test]
fn records_of_layout_1_are_read() {
    let played = MoveRecord { value: Some(-0.25), ..MoveRecord::of(Square(3)) };
    let record =
        GameRecord { source: Source::SelfPlay, worker: None, moves: vec![played], ..empty() };
    let mut bytes = encode(&record);
    bytes[0] = 1;
    bytes.drain(3..5);
    assert_eq!(decode(&bytes).as_ref(), Ok(&record));
    // The bits of an unknown value are no value in layout 1.
    let value = bytes.len() - 5..bytes.len() - 1;
    bytes[value].fill(0xff);
    assert_eq!(decode(&bytes), Err(CodecError::Field { field: "value" }));
    bytes[0] = 3;
    assert_eq!(decode(&bytes), Err(CodecError::Version { found: 3 }));
}

#[test]
fn varints_are_decoded_unchanged() {
    for number in [0, 1, 127, 128, u64::MAX] {
        let mut bytes = Vec::new();
        put(&mut bytes, number);
        assert_eq!(Reader(&bytes).varint("n"), Ok(number));
    }
    let too_long = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
    assert_eq!(Reader(&too_long).varint("n"), Err(CodecError::Field { field: "n" }));
}
