//! `loadsgf FILE [MOVE]`: a game from a file, in GGF, the format of Othello programs, or as a text.

use std::path::Path;

use crate::game::Geometry;
use crate::game::notation::{NotationError, parse_obf};
use crate::protocol::session::Session;
use crate::store::import::text;
use crate::store::{self, FileError, ggf, limits};

/// Why a file is not loaded.
#[derive(Debug, thiserror::Error)]
pub(super) enum LoadError {
    /// No file is named.
    #[error("name a file: loadsgf FILE [MOVE]")]
    NoName,
    /// It cannot be read, or is longer than any game.
    #[error("{}: {}", .0.path.display(), .0.source)]
    Unreadable(#[from] FileError),
    /// It holds no game of this board.
    #[error("{name}: {reason}")]
    NoGame {
        /// Its name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The game has no move of this number.
    #[error("{name}: there is no move {number}; allowed: 1 to {most}")]
    NoMove {
        /// The file's name.
        name: String,
        /// The number in the command.
        number: usize,
        /// The largest number allowed: one more than the game has moves.
        most: usize,
    },
}

/// A position as an OBF line, or in any other form of a text.
pub(super) fn position<G: Geometry>(text: &str) -> Result<Session<G>, NotationError> {
    parse_obf::<G>(text).map(|line| Session::new(line.position)).or_else(|error| {
        let written = text::read::<G>(text).map_err(|_| error)?;
        let moves: Vec<_> = written.moves.into_iter().map(Some).collect();
        Ok(Session::replay(written.start, &moves))
    })
}

/// The game of a file, or its position before move `MOVE` (passes count as moves). The file's name
/// may contain spaces.
pub(super) fn load<G: Geometry>(arguments: &[String]) -> Result<Session<G>, LoadError> {
    let (words, number) = match arguments {
        [words @ .., last] if !words.is_empty() => match last.parse::<usize>() {
            Ok(number) => (words, Some(number)),
            Err(_) => (arguments, None),
        },
        words => (words, None),
    };
    let name = words.join(" ");
    if name.is_empty() {
        return Err(LoadError::NoName);
    }
    let bytes = store::read(Path::new(&name), limits::GAME)?;
    let text = String::from_utf8_lossy(&bytes);
    let no_game = |reason| LoadError::NoGame { name: name.clone(), reason };
    let (start, moves) = match text.contains("(;") {
        true => {
            let game = ggf::read::<G>(&text).map_err(|error| no_game(error.to_string()))?;
            (game.start, game.moves)
        }
        false => {
            let written = text::read::<G>(&text).map_err(|fault| no_game(fault.to_string()))?;
            (written.start, written.moves.into_iter().map(Some).collect())
        }
    };
    let most = moves.len() + 1;
    let moves = match number {
        None => &moves[..],
        Some(number) if (1..=most).contains(&number) => &moves[..number - 1],
        Some(number) => return Err(LoadError::NoMove { name, number, most }),
    };
    Ok(Session::replay(start, moves))
}
