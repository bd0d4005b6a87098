//! `POST /api/export`: a game as text for other programs.

use axum::Json;
use axum::extract::Request;
use serde::{Deserialize, Serialize};

use super::error::ApiError;
use super::game::Game;
use super::routes::body;
use crate::game::notation::{obf, transcript};
use crate::game::{Geometry, Goal, Position};
use crate::store::ggf::{self, Header};

/// A format of games.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    /// The moves; before them the first position as an OBF line, if it is not the board's own.
    Transcript,
    /// The last position as an OBF line.
    Obf,
    /// The Generic Game Format, with names and result.
    Ggf,
}

/// A request.
#[derive(Deserialize)]
struct Wanted {
    #[serde(flatten)]
    game: Game,
    format: Format,
    #[serde(default)]
    black: Option<String>,
    #[serde(default)]
    white: Option<String>,
    /// For each move the value after it, in discs for the side that made it. Only GGF has them.
    #[serde(default)]
    values: Vec<Option<f32>>,
}

/// A game as text.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Exported {
    text: String,
    /// A name for a file.
    file: String,
}

/// The game in the wanted format.
pub(super) async fn write(request: Request) -> Result<Json<Exported>, ApiError> {
    let wanted: Wanted = body(request).await?;
    export(&wanted).map(Json)
}

fn export(wanted: &Wanted) -> Result<Exported, ApiError> {
    let goal = wanted.game.goal()?;
    let text = dispatch!(wanted.game.shape()?, G => text::<G>(wanted, goal))?;
    let ending = match wanted.format {
        Format::Transcript => "txt",
        Format::Obf => "obf",
        Format::Ggf => "ggf",
    };
    Ok(Exported { text, file: format!("game.{ending}") })
}

fn text<G: Geometry>(wanted: &Wanted, goal: Goal) -> Result<String, ApiError> {
    let session = wanted.game.session::<G>()?;
    let moves = || transcript::<G>(session.moves().iter().copied());
    Ok(match wanted.format {
        Format::Transcript if session.start() == Position::start() => moves() + "\n",
        Format::Transcript => format!("{}\n{}\n", obf(session.start()), moves()),
        Format::Obf => obf(session.position()) + ";\n",
        Format::Ggf => {
            let own = Header::default();
            let header = Header {
                black: wanted.black.clone().unwrap_or(own.black),
                white: wanted.white.clone().unwrap_or(own.white),
                place: None,
                date: None,
                result: session.is_over().then(|| session.black_view().difference()),
                ended: None,
                goal,
            };
            ggf::write_valued(&header, session.start(), session.moves(), &wanted.values) + "\n"
        }
    })
}
