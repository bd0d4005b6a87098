//! The lines of a ladder file.

use serde::{Deserialize, Deserializer, Serialize};

use super::VERSION;
use crate::arena::matches::{Forfeit, MatchGame, first_colour};
use crate::arena::openings::Opening;
use crate::game::notation::{obf, parse_obf, parse_transcript, transcript};
use crate::game::{Colour, Geometry, Goal, Square};
use crate::players::contestant::{Contestant, Origin};
use crate::players::player::Choice;
use crate::players::spec::identity_of_ladder;

/// The terms of a match. A resumed match has the same terms.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MatchTerms {
    /// The identity of the first player.
    #[serde(deserialize_with = "identity")]
    pub first: String,
    /// The identity of the second player.
    #[serde(deserialize_with = "identity")]
    pub second: String,
    /// The board's name.
    pub board: String,
    /// The goal's name.
    pub goal: String,
    /// The source of the openings.
    pub openings: String,
}

/// The line of a match.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MatchLine {
    pub(super) version: u32,
    /// Its number in the file.
    pub id: u32,
    /// The terms.
    #[serde(flatten)]
    pub terms: MatchTerms,
    /// The random seed of the openings and of both players.
    pub seed: u64,
}

/// The line of a player.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlayerLine {
    version: u32,
    /// The player's identity.
    #[serde(deserialize_with = "identity")]
    pub name: String,
    /// The name that the user gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The run and step of its net, if it has one.
    #[serde(flatten)]
    pub origin: Option<Origin>,
}

impl PlayerLine {
    /// A player with its label and the origin of its net.
    pub fn new(name: String, label: Option<String>, origin: Option<Origin>) -> PlayerLine {
        PlayerLine { version: VERSION, name, label, origin }
    }

    /// The line about a player of matches; `None` if there is nothing to store.
    pub fn of<G: Geometry>(player: &Contestant<'_, G>) -> Option<PlayerLine> {
        let (label, origin) = (player.label.clone(), player.origin.clone());
        let is_needed = label.is_some() || origin.is_some();
        is_needed.then(|| PlayerLine::new(player.name.clone(), label, origin))
    }

    /// This line. A missing label or origin is taken from `earlier`, a line of the same player.
    pub(super) fn or(self, earlier: Option<&PlayerLine>) -> PlayerLine {
        let label = self.label.or_else(|| earlier?.label.clone());
        let origin = self.origin.or_else(|| earlier?.origin.clone());
        PlayerLine { label, origin, ..self }
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct ForfeitLine {
    by: String,
    reason: String,
}

/// The line of a game.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GameLine {
    version: u32,
    /// The number of its match.
    #[serde(rename = "match")]
    pub match_id: u32,
    /// Its number in the match.
    pub game: u32,
    /// The board's name.
    pub board: String,
    /// The goal's name.
    pub goal: String,
    /// The identity of the player with black.
    #[serde(deserialize_with = "identity")]
    pub black: String,
    /// The identity of the player with white.
    #[serde(deserialize_with = "identity")]
    pub white: String,
    /// The position before the opening's moves, in OBF.
    pub start: String,
    /// The opening's moves.
    pub opening: String,
    /// The players' moves.
    pub moves: String,
    /// The final score for black.
    pub score: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    forfeit: Option<ForfeitLine>,
    /// For each of the players' moves. A list with default values only is not written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    seconds: Vec<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unfinished: Vec<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    wasted: Vec<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    depths: Vec<Option<u32>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    scores: Vec<Option<f32>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    nodes: Vec<u64>,
}

impl GameLine {
    pub(super) fn new<G: Geometry>(id: u32, terms: &MatchTerms, played: &MatchGame<G>) -> GameLine {
        let (black, white) = match played.first {
            Colour::Black => (&terms.first, &terms.second),
            Colour::White => (&terms.second, &terms.first),
        };
        let choices = &played.choices;
        let forfeit = played.forfeit.as_ref().map(|forfeit| ForfeitLine {
            by: forfeit.by.to_string(),
            reason: forfeit.reason.clone(),
        });
        GameLine {
            version: VERSION,
            match_id: id,
            game: played.game,
            board: terms.board.clone(),
            goal: terms.goal.clone(),
            black: black.clone(),
            white: white.clone(),
            start: obf(played.opening.start),
            opening: transcript::<G>(played.opening.moves.iter().copied()),
            moves: transcript::<G>(choices.iter().map(|choice| choice.square)),
            score: played.score,
            forfeit,
            seconds: of_each(choices, |choice| to_microseconds(choice.seconds)),
            unfinished: of_each(choices, |choice| to_microseconds(choice.unfinished)),
            wasted: of_each(choices, |choice| to_microseconds(choice.wasted)),
            depths: of_each(choices, |choice| choice.depth),
            scores: of_each(choices, |choice| choice.score),
            nodes: of_each(choices, |choice| choice.nodes),
        }
    }

    /// The game on board `G`. `None` if it breaks the rules or if `first` is not the first player
    /// of its match.
    pub fn played<G: Geometry>(&self, first: &str) -> Option<MatchGame<G>> {
        let start = parse_obf::<G>(&self.start).ok()?.position;
        let (moves, position) = parse_transcript(&self.opening, start).ok()?;
        let (squares, last) = parse_transcript(&self.moves, position).ok()?;
        let goal: Goal = self.goal.parse().ok()?;
        let forfeit = match &self.forfeit {
            None => None,
            Some(line) => Some(Forfeit { by: colour(&line.by)?, reason: line.reason.clone() }),
        };
        let all = G::SQUARES as i32;
        let score = match &forfeit {
            Some(forfeit) if forfeit.by == Colour::Black => -all,
            Some(_) => all,
            None if last.board.is_over() => last.black_view().final_score(goal),
            None => return None,
        };
        if score != self.score {
            return None;
        }
        let choice = |(index, square): (usize, Square)| Choice {
            square,
            score: self.scores.get(index).copied().flatten(),
            depth: self.depths.get(index).copied().flatten(),
            nodes: self.nodes.get(index).copied().unwrap_or(0),
            seconds: self.seconds.get(index).copied().unwrap_or(0.0),
            unfinished: self.unfinished.get(index).copied().unwrap_or(0.0),
            wasted: self.wasted.get(index).copied().unwrap_or(0.0),
        };
        if self.first() != first {
            return None;
        }
        Some(MatchGame {
            game: self.game,
            first: first_colour(self.game),
            opening: Opening { start, moves, position },
            choices: squares.into_iter().enumerate().map(choice).collect(),
            score,
            forfeit,
        })
    }

    /// The first player of the game's match.
    pub fn first(&self) -> &str {
        match first_colour(self.game) {
            Colour::Black => &self.black,
            Colour::White => &self.white,
        }
    }
}

fn identity<'de, D: Deserializer<'de>>(line: D) -> Result<String, D::Error> {
    Ok(identity_of_ladder(String::deserialize(line)?))
}

/// A time in seconds, rounded.
fn to_microseconds(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

/// A value of each move; an empty list if all are defaults.
fn of_each<T: Default + PartialEq>(choices: &[Choice], what: impl Fn(&Choice) -> T) -> Vec<T> {
    let list: Vec<T> = choices.iter().map(what).collect();
    let is_needed = list.iter().any(|item| *item != T::default());
    if is_needed { list } else { Vec::new() }
}

fn colour(name: &str) -> Option<Colour> {
    [Colour::Black, Colour::White].into_iter().find(|colour| colour.to_string() == name)
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Line {
    Ladder { version: u32 },
    Match(MatchLine),
    Player(PlayerLine),
    Game(Box<GameLine>),
}

impl Line {
    /// The identities of all players in the line.
    pub(super) fn names(&self) -> Vec<&str> {
        match self {
            Line::Ladder { .. } => Vec::new(),
            Line::Match(line) => vec![line.terms.first.as_str(), line.terms.second.as_str()],
            Line::Player(line) => vec![line.name.as_str()],
            Line::Game(line) => vec![line.black.as_str(), line.white.as_str()],
        }
    }
}
