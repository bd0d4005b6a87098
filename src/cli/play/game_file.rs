//! Game files: GGF, transcripts, and OBF positions followed by moves.

use std::io;
use std::path::Path;

use anyhow::{Context as _, bail};
use time::OffsetDateTime;

use crate::game::notation::{obf, transcript};
use crate::game::{Geometry, Position};
use crate::protocol::session::Session;
use crate::store::ggf::{self, Header};
use crate::store::import::text::{self, TextFault};
use crate::store::{self, limits};

/// A game read from a file.
#[derive(Debug)]
pub struct Loaded<G: Geometry> {
    pub session: Session<G>,
    /// The players and the date, if the file is in GGF.
    pub header: Option<Header>,
    /// Whether the file holds more games.
    pub is_followed: bool,
}

/// The game of a file, the first if it holds several.
///
/// # Errors
///
/// The file cannot be read, is too large, or holds no game of this board.
pub fn load<G: Geometry>(path: &Path) -> anyhow::Result<Loaded<G>> {
    let bytes = store::read(path, limits::GAME)?;
    if bytes.contains(&0) {
        bail!(
            "{} is no text; `outflank games {0} --to transcript` writes the games of a WTHOR file",
            path.display()
        );
    }
    let text = String::from_utf8_lossy(&bytes);
    // Transcripts and OBF positions never contain this.
    if is_ggf(path) || text.contains("(;") {
        return read_ggf(&text).with_context(|| path.display().to_string());
    }
    let session = read_plain(&text).with_context(|| path.display().to_string())?;
    Ok(Loaded { session, header: None, is_followed: false })
}

fn is_ggf(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ggf"))
}

fn read_ggf<G: Geometry>(text: &str) -> Result<Loaded<G>, ggf::GgfError> {
    let game = ggf::read::<G>(text)?;
    let session = Session::replay(game.start, &game.moves);
    Ok(Loaded { session, header: Some(game.header), is_followed: game.is_followed })
}

/// Reads a transcript, or a position that moves may follow. An empty text is the start of a game.
pub fn read_plain<G: Geometry>(text: &str) -> Result<Session<G>, TextFault> {
    if text.trim().is_empty() {
        return Ok(Session::default());
    }
    let written = text::read::<G>(text)?;
    let moves: Vec<_> = written.moves.into_iter().map(Some).collect();
    Ok(Session::replay(written.start, &moves))
}

/// Writes a game: in GGF if the file's name ends in `.ggf`, else as a transcript.
///
/// # Errors
///
/// The file cannot be written.
pub fn save<G: Geometry>(path: &Path, session: &Session<G>, header: &Header) -> io::Result<()> {
    let moves = transcript::<G>(session.moves().iter().copied());
    let text = if is_ggf(path) {
        ggf::write_with(header, session.start(), session.moves()) + "\n"
    } else if session.start() == Position::start() {
        format!("{moves}\n")
    } else {
        format!("{}\n{moves}\n", obf(session.start()))
    };
    std::fs::write(path, text)
}

/// The current date and time in GGF's form.
pub fn now() -> String {
    let now = OffsetDateTime::now_utc();
    let (year, month, day) = (now.year(), u8::from(now.month()), now.day());
    let (hour, minute, second) = now.to_hms();
    format!("{year:04}.{month:02}.{day:02}_{hour:02}:{minute:02}:{second:02}.GMT")
}
