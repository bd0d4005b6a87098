//! Games in one piece of bytes, for a message: the same frames as in a game file.

use super::writer::COMPRESSION_LEVEL;
use super::{Games, GamesError, SkipReason, training_positions};
use crate::game::record::GameRecord;
use crate::store::{codec, frame};

/// The most games of a message. It bounds the memory that a damaged or forged message can take.
pub const MOST_GAMES: usize = 1024;

/// Appends a game to `bytes`.
///
/// # Errors
///
/// The game cannot be compressed.
pub fn pack(game: &GameRecord, bytes: &mut Vec<u8>) -> Result<(), GamesError> {
    let payload = zstd::bulk::compress(&codec::encode(game), COMPRESSION_LEVEL)
        .map_err(|source| GamesError::Compress { id: game.id, source })?;
    frame::write(bytes, game.id, training_positions(game), &payload);
    Ok(())
}

/// The games of a message, in their order; at most [`MOST_GAMES`].
///
/// # Errors
///
/// There are more games, or the reason why the first game that cannot be read is damaged.
///
/// ```
/// use std::path::Path;
///
/// use outflank::store::games;
///
/// let mut message = Vec::new();
/// for record in games::read_all(Path::new("tests/data/run-1/games"))? {
///     games::pack(&record?, &mut message)?;
/// }
/// assert_eq!(games::unpack(&message)?.len(), 24);
/// assert!(games::unpack(&message[1..]).is_err(), "it is damaged");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn unpack(bytes: &[u8]) -> Result<Vec<GameRecord>, SkipReason> {
    let game = |found: Result<frame::Frame<'_>, frame::DamagedRange>| {
        let frame = found.map_err(|bad| SkipReason::from(bad.damage))?;
        let game = Games::unpack(&frame)?;
        // Both are outside the compressed record, so that games are counted without reading it.
        let agrees = frame.id == game.id && frame.positions == training_positions(&game);
        if agrees { Ok(game) } else { Err(SkipReason::Header) }
    };
    let mut games = Vec::new();
    for found in frame::scan(bytes, 0) {
        if games.len() == MOST_GAMES {
            return Err(SkipReason::Many);
        }
        games.push(game(found)?);
    }
    Ok(games)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::games::tests::a_game;

    #[test]
    fn games_come_back_and_every_damaged_byte_is_noticed() {
        let games = [a_game(7, 30), a_game(9, 12)];
        let mut bytes = Vec::new();
        games.iter().for_each(|game| pack(game, &mut bytes).expect("packed"));
        assert_eq!(unpack(&bytes), Ok(games.to_vec()));
        assert_eq!(unpack(&[]), Ok(Vec::new()));
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1;
            assert!(unpack(&damaged).is_err(), "byte {place}");
            let whole = unpack(&bytes[..place]);
            assert!(whole.is_err() || whole.is_ok_and(|found| found.len() < 2), "cut at {place}");
        }
    }

    #[test]
    fn a_message_with_too_many_games_is_refused() {
        let mut bytes = Vec::new();
        pack(&a_game(7, 1), &mut bytes).expect("packed");
        assert_eq!(unpack(&bytes.repeat(MOST_GAMES)).map(|games| games.len()), Ok(MOST_GAMES));
        assert_eq!(unpack(&bytes.repeat(MOST_GAMES + 1)), Err(SkipReason::Many));
    }

    #[test]
    fn a_number_beside_the_record_must_be_its_own() {
        let mut bytes = Vec::new();
        let payload = zstd::bulk::compress(&codec::encode(&a_game(7, 30)), 1).expect("packed");
        frame::write(&mut bytes, 8, 30, &payload);
        assert_eq!(unpack(&bytes), Err(SkipReason::Header));
    }
}
