//! Tests of the game files: damage, incomplete records, segments, and reading the newest games.

use proptest::prelude::*;

use std::fs::OpenOptions;

use super::writer::SEGMENT_BYTES;
use super::*;
use crate::game::record::{MoveRecord, Source};
use crate::game::{Board, Colour, Goal, Position, Shape, Square8};
use crate::store::codec::tests::any_record;

/// A game on 8x8 with this many training positions. Each move is the first legal one.
pub(crate) fn a_game(id: u64, training_positions: usize) -> GameRecord {
    let mut position = Position::<Square8>::start();
    let board = position.board;
    let mut moves = Vec::new();
    while let Some(square) = position.board.legal().next() {
        let count = position.board.legal().len();
        let policy = vec![7; count];
        moves.push(MoveRecord { square, policy, value: Some(0.5), exact: None });
        position = position.play(square).expect("a legal move").pass_if_forced();
    }
    GameRecord {
        shape: Shape::Square8,
        goal: Goal::Most,
        id,
        source: Source::SelfPlay,
        worker: None,
        net_version: 3,
        opening_moves: (moves.len() - training_positions) as u16,
        start_mine: board.mine.into(),
        start_theirs: board.theirs.into(),
        start_side: Colour::Black,
        moves,
        score: position.black_view().final_score(Goal::Most) as i16,
        resigned: false,
    }
}

fn write(dir: &Path, games: &[GameRecord], segment_bytes: u64) {
    let mut writer = GameWriter::open(dir).unwrap();
    writer.segment_bytes = segment_bytes;
    for game in games {
        writer.append(game).unwrap();
    }
    writer.flush_sync().unwrap();
}

fn ids(games: Games) -> (Vec<u64>, usize) {
    let (good, bad): (Vec<_>, Vec<_>) = games.partition(Result::is_ok);
    (good.into_iter().map(|game| game.unwrap().id).collect(), bad.len())
}

#[test]
fn games_are_read_from_several_segments() {
    let dir = tempfile::tempdir().unwrap();
    let games: Vec<_> = (0..20).map(|id| a_game(id, 30)).collect();
    write(dir.path(), &games[..11], 500);
    write(dir.path(), &games[11..], 500);
    assert!(segments(dir.path()).unwrap().len() > 3);
    let read: Vec<_> = read_all(dir.path()).unwrap().map(Result::unwrap).collect();
    assert_eq!(read, games);
    assert!(read.iter().all(|game| game.positions::<Square8>().is_ok()));
    let wanted = Totals { games: 20, positions: 600, highest_id: Some(19), ..Totals::default() };
    assert_eq!(totals(dir.path()).unwrap(), wanted);
}

#[test]
fn an_empty_folder_holds_nothing() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[], SEGMENT_BYTES);
    assert_eq!(totals(dir.path()).unwrap(), Totals::default());
    assert_eq!(ids(read_tail(dir.path(), 100).unwrap()), (vec![], 0));
}

#[test]
fn a_missing_folder_is_an_error_with_its_path() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("nowhere");
    let error = read_all(&missing).err().expect("an error").to_string();
    assert!(error.contains("nowhere"), "{error}");
}

#[test]
fn the_newest_games_have_just_enough_positions() {
    let dir = tempfile::tempdir().unwrap();
    let games: Vec<_> = (0..20).map(|id| a_game(id, 30)).collect();
    write(dir.path(), &games, 500);
    for (positions, first) in [(0, 20), (1, 19), (30, 19), (31, 18), (300, 10), (9999, 0)] {
        let wanted: Vec<u64> = (first..20).collect();
        assert_eq!(ids(read_tail(dir.path(), positions).unwrap()), (wanted, 0), "{positions}");
    }
}

#[test]
fn opening_moves_are_no_training_positions() {
    let mut game = a_game(0, 30);
    assert_eq!(training_positions(&game), 30);
    game.opening_moves = 999;
    assert_eq!(training_positions(&game), 0);
}

#[test]
fn a_folder_that_cannot_be_created_is_an_error_with_its_path() {
    let dir = tempfile::tempdir().unwrap();
    let blocked = dir.path().join("file");
    fs::write(&blocked, b"").unwrap();
    let error = GameWriter::open(&blocked.join("games")).err().expect("an error").to_string();
    assert!(error.contains("file/games"), "{error}");
}

#[test]
fn a_full_disk_loses_no_earlier_game_and_the_error_names_the_file() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        eprintln!("skipped: this system has no /dev/full");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut writer = GameWriter::open(dir.path()).unwrap();
    writer.append(&a_game(1, 3)).unwrap();
    let good =
        std::mem::replace(&mut writer.file, OpenOptions::new().append(true).open(full).unwrap());
    let error = writer.append(&a_game(2, 3)).unwrap_err().to_string();
    assert!(error.contains("games-000001.ofg (the disk is full"), "{error}");
    writer.file = good;
    writer.append(&a_game(2, 3)).unwrap();
    assert_eq!(ids(read_all(dir.path()).unwrap()), (vec![1, 2], 0));
}

#[test]
fn a_good_frame_around_a_bad_payload_is_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes = Vec::new();
    frame::write(&mut bytes, 1, 1, b"not zstd");
    frame::write(&mut bytes, 2, 1, &zstd::bulk::compress(b"not a record", 3).unwrap());
    fs::write(segment_path(dir.path(), 1), bytes).unwrap();
    write(dir.path(), &[a_game(3, 1)], SEGMENT_BYTES);
    let errors: Vec<String> =
        read_all(dir.path()).unwrap().filter_map(Result::err).map(|e| e.to_string()).collect();
    assert_eq!(errors.len(), 2);
    let wanted = "at byte 0 skipped: the record cannot be decompressed";
    assert!(errors[0].ends_with(wanted), "{errors:?}");
    assert!(errors[1].contains("layout has version 110"), "{errors:?}");
    assert_eq!(ids(read_all(dir.path()).unwrap()), (vec![3], 2));
}

/// `totals` uses the counts in the headers and refuses only those that are too large for any board.
/// Reading a game also compares the count with its moves.
#[test]
fn a_frame_that_claims_too_many_positions_is_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes = Vec::new();
    for (id, positions) in [(0, u32::MAX), (1, 61), (2, 60)] {
        let record = codec::encode(&a_game(id, 60));
        frame::write(&mut bytes, id, positions, &zstd::bulk::compress(&record, 3).unwrap());
    }
    fs::write(segment_path(dir.path(), 1), bytes).unwrap();
    let counted = totals(dir.path()).unwrap();
    assert_eq!((counted.games, counted.positions, counted.skipped), (2, 121, 1));
    let errors: Vec<String> =
        read_all(dir.path()).unwrap().filter_map(Result::err).map(|e| e.to_string()).collect();
    assert_eq!(errors.len(), 2);
    assert!(errors[0].ends_with("it claims more positions than its game has"), "{errors:?}");
}

#[test]
fn a_record_starts_from_the_start_position() {
    let game = a_game(0, 0);
    assert_eq!(game.start::<Square8>().unwrap().board, Board::start());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_games_are_read_as_written(games in proptest::collection::vec(any_record(), 0..6)) {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &games, 500);
        let read: Vec<_> = read_all(dir.path()).unwrap().map(Result::unwrap).collect();
        prop_assert_eq!(read, games);
    }

    /// After the file is cut anywhere, the folder opens for appending, the games before the cut are
    /// intact, and appended games follow them.
    #[test]
    fn an_incomplete_record_at_the_end_is_cut_off(cut in any::<prop::sample::Index>()) {
        let dir = tempfile::tempdir().unwrap();
        let mut ends = vec![0];
        for id in 0..5 {
            write(dir.path(), &[a_game(id, 9)], SEGMENT_BYTES);
            ends.push(fs::metadata(segment_path(dir.path(), 1)).unwrap().len());
        }
        let cut = cut.index(ends[5] as usize) as u64;
        let path = segment_path(dir.path(), 1);
        OpenOptions::new().write(true).open(&path).unwrap().set_len(cut).unwrap();
        let whole = ends.iter().filter(|&&end| end <= cut).count() as u64 - 1;
        let mut writer = GameWriter::open(dir.path()).unwrap();
        prop_assert_eq!(writer.cut_off(), cut - ends[whole as usize]);
        writer.append(&a_game(99, 9)).unwrap();
        let wanted: Vec<u64> = (0..whole).chain([99]).collect();
        prop_assert_eq!(ids(read_all(dir.path()).unwrap()), (wanted, 0));
    }

    #[test]
    fn a_flipped_bit_loses_one_game(bit in any::<prop::sample::Index>()) {
        check_a_flipped_bit(|bytes| bit.index(bytes * 8));
    }
}

/// Then the last record seems to go on behind the end of the file, as if its writer had died.
#[test]
fn a_flipped_bit_in_the_length_of_the_last_record_loses_one_game() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[a_game(4, 9)], SEGMENT_BYTES);
    let last = fs::read(segment_path(dir.path(), 1)).unwrap().len();
    for bit in 12..32 {
        check_a_flipped_bit(|bytes| (bytes - last + 4) * 8 + bit);
    }
}

/// Flips a bit of a segment of five games; `bit` gets the segment's number of bytes. The other four
/// games are still read and counted, and games can be appended.
fn check_a_flipped_bit(bit: impl Fn(usize) -> usize) {
    let dir = tempfile::tempdir().unwrap();
    let games: Vec<_> = (0..5).map(|id| a_game(id, 9)).collect();
    write(dir.path(), &games, SEGMENT_BYTES);
    let path = segment_path(dir.path(), 1);
    let mut bytes = fs::read(&path).unwrap();
    let bit = bit(bytes.len());
    bytes[bit / 8] ^= 1 << (bit % 8);
    fs::write(&path, bytes).unwrap();
    let (read, skipped) = ids(read_all(dir.path()).unwrap());
    assert_eq!((read.len(), skipped), (4, 1), "bit {bit}");
    let counted = totals(dir.path()).unwrap();
    let lost = counted.skipped + u64::from(counted.torn);
    assert_eq!((counted.games, lost), (4, 1), "bit {bit}");
    write(dir.path(), &[a_game(99, 9)], SEGMENT_BYTES);
    let (after, _) = ids(read_all(dir.path()).unwrap());
    assert_eq!(after, read.into_iter().chain([99]).collect::<Vec<_>>(), "bit {bit}");
}

/// Appends `bytes` to the newest segment and opens it with a writer.
fn opened_after(dir: &Path, bytes: &[u8]) -> (PathBuf, GameWriter) {
    let path = segment_path(dir, 1);
    std::io::Write::write_all(&mut OpenOptions::new().append(true).open(&path).unwrap(), bytes)
        .unwrap();
    let writer = GameWriter::open(dir).unwrap();
    (path, writer)
}

#[test]
fn cut_off_bytes_are_saved_unless_they_are_one_incomplete_record() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[a_game(1, 9)], SEGMENT_BYTES);
    let good = fs::read(segment_path(dir.path(), 1)).unwrap();
    let foreign = vec![7; 3_000_000];
    let mut damaged = good.clone();
    damaged[40] ^= 1;
    for bytes in [&foreign, &damaged] {
        let (path, writer) = opened_after(dir.path(), bytes);
        assert_eq!(writer.cut_off(), bytes.len() as u64);
        let saved_to = writer.saved_to().expect("a file");
        assert_eq!(&fs::read(saved_to).unwrap(), bytes);
        assert_eq!(fs::read(path).unwrap(), good);
    }
    // An incomplete record cannot be used.
    let (_, writer) = opened_after(dir.path(), &good[..good.len() - 3]);
    assert_eq!((writer.cut_off(), writer.saved_to()), (good.len() as u64 - 3, None));
    assert_eq!(ids(read_all(dir.path()).unwrap()), (vec![1], 0));
}

#[test]
fn an_incomplete_record_at_the_end_is_not_counted_as_damage() {
    let dir = tempfile::tempdir().unwrap();
    let games: Vec<_> = (0..4).map(|id| a_game(id, 30)).collect();
    write(dir.path(), &games, 1);
    let all = segments(dir.path()).unwrap();
    let cut = |path: &Path| {
        let file = OpenOptions::new().write(true).open(path).unwrap();
        file.set_len(file.metadata().unwrap().len() - 5).unwrap();
    };
    cut(&all[all.len() - 1].1);
    let after = totals(dir.path()).unwrap();
    assert_eq!((after.games, after.skipped, after.torn), (3, 0, true));
    // In an older segment it is damage.
    cut(&all[0].1);
    let after = totals(dir.path()).unwrap();
    assert_eq!((after.games, after.skipped, after.torn), (2, 1, true));
}

#[test]
fn a_folder_has_one_writer() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = GameWriter::open(dir.path()).unwrap();
    writer.segment_bytes = 1;
    for id in 0..3 {
        writer.append(&a_game(id, 9)).unwrap();
        let error = GameWriter::open(dir.path()).err().expect("an error");
        assert!(matches!(error, GamesError::InUse { .. }), "{error}");
        assert!(is_in_use(dir.path()));
    }
    drop(writer);
    assert!(!is_in_use(dir.path()));
    GameWriter::open(dir.path()).unwrap();
}

/// Another process changes one of a writer's three segments.
#[cfg(unix)]
#[test]
fn a_changed_segment_is_detected() {
    for segment in 1..=3 {
        type Fault = fn(&Path);
        let faults: [Fault; 4] = [
            |path| fs::remove_file(path).unwrap(),
            |path| fs::rename(path, path.with_extension("moved")).unwrap(),
            |path| OpenOptions::new().write(true).open(path).unwrap().set_len(9).unwrap(),
            |path| {
                let games = path.parent().unwrap();
                fs::rename(games, games.with_file_name("elsewhere")).unwrap();
            },
        ];
        for fault in faults {
            let folder = tempfile::tempdir().unwrap();
            let dir = folder.path().join("games");
            let mut writer = GameWriter::open(&dir).unwrap();
            writer.segment_bytes = 1;
            (0..3).for_each(|id| writer.append(&a_game(id, 9)).unwrap());
            writer.check().unwrap();
            fault(&segment_path(&dir, segment));
            let error = writer.check().unwrap_err();
            assert!(matches!(error, GamesError::Changed { .. }), "{error}");
            // The writer does not start a new segment there either.
            assert!(writer.append(&a_game(3, 9)).is_err());
            assert!(!segment_path(&dir, 4).exists());
        }
    }
}
