//! Files of games: long ones as a whole, with names, and games with a wrong move.

use crate::RUNS;
use crate::client::Page;

/// A file of WTHOR: f5, then d6, f4 or f6.
fn file(games: usize) -> Vec<u8> {
    let mut bytes = vec![0; 16];
    bytes[4..8].copy_from_slice(&(games as u32).to_le_bytes());
    bytes[10..12].copy_from_slice(&2001u16.to_le_bytes());
    for game in 0..games {
        let mut record = [0; 68];
        (record[2], record[4], record[6]) = ((game % 3) as u8, 1, 40);
        (record[8], record[9]) = (56, [64, 46, 66][game % 3]);
        bytes.extend(record);
    }
    bytes
}

#[test]
fn a_file_of_an_archive_is_read_to_its_end() {
    let page = Page::start(&RUNS);
    let mut players = vec![0; 16 + 3 * 20];
    players[8] = 3;
    (players[16], players[36], players[56]) = (b'A', b'B', b'C');
    let path = format!("/api/paste?players={}", players.len());
    let body = [players.clone(), file(6_000)].concat();
    let found = page.send("POST", &path, "", &body).ok().json();
    let games = found["games"].as_array().expect("games");
    assert_eq!((games.len(), &found["left_out"]), (6_000, &0.into()));
    let last = &games[5_999];
    assert_eq!((&last["black"], &last["white"]), (&"C".into(), &"B".into()), "{last}");
    assert_eq!((&last["date"], &last["moves"]), (&"2001".into(), &"f5f6".into()), "{last}");
    // The lists count as the rest of the body does.
    let long = [players, file(62_000)].concat();
    let refused = page.send("POST", &path, "", &long).refused(400);
    assert_eq!(refused["field"], "body");
    assert_eq!(page.send("POST", &path, "", b"short").refused(400)["field"], "players");
}

#[test]
fn a_game_with_a_wrong_move_is_offered_up_to_it() {
    let page = Page::start(&RUNS);
    let refused = page.send("POST", "/api/paste", "", b"f5d6c3 d3c4 a1 f4").refused(400);
    assert!(refused["error"].as_str().is_some_and(|text| text.contains("move 6, `a1`")));
    assert_eq!(refused["game"]["moves"], "f5d6c3d3c4");
    page.post("/api/line", &refused["game"].to_string()).ok();
}
