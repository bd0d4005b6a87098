//! The lines of a ladder file.

use serde::{Deserialize, Serialize};

use super::VERSION;
use crate::arena::matches::{Forfeit, Played, first_colour};
use crate::arena::openings::Opening;
use crate::arena::player::Choice;
use crate::game::notation::{obf, parse_obf, parse_transcript, transcript};
use crate::game::{Colour, Geometry, Goal, Square};

/// What a match is: equal for a match and its resumption.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Terms {
    /// The name of the first player.
    pub first: String,
    /// The name of the second.
    pub second: String,
    /// The board's name.
    pub board: String,
    /// The goal's name.
    pub goal: String,
    /// Where the openings come from.
    pub openings: String,
}

/// A match as the ladder knows it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MatchLine {
    pub(super) version: u32,
    /// Its number in the file.
    pub id: u32,
    /// What is played.
    #[serde(flatten)]
    pub terms: Terms,
    /// Decides openings and random choices.
    pub seed: u64,
}

/// When in its training a player's net was saved.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// The run or file that the net belongs to.
    pub run: String,
    /// Learning steps.
    pub step: u64,
    /// Positions trained on or played, if known.
    pub positions: Option<u64>,
    /// Games of self-play recorded by then, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub games: Option<u64>,
    /// Minutes of training by then, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<f64>,
    /// The CRC-32 of the net's weights, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub net: Option<String>,
}

impl Origin {
    /// The same, with the games and the minutes of training that it took.
    pub fn after(self, games: Option<u64>, minutes: Option<f64>) -> Origin {
        Origin { games, minutes, ..self }
    }
}

/// What the ladder knows of a player besides its games.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlayerLine {
    version: u32,
    /// The player's name in games: its identity.
    pub name: String,
    /// What the user calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Where in a training run it comes from, if it does.
    #[serde(flatten)]
    pub origin: Option<Origin>,
}

impl PlayerLine {
    /// A net's place in the training of `run`.
    pub fn new(name: String, run: String, step: u64, positions: Option<u64>) -> PlayerLine {
        let origin = Origin { run, step, positions, games: None, minutes: None, net: None };
        PlayerLine { version: VERSION, name, label: None, origin: Some(origin) }
    }

    /// A player that the user calls `label`.
    pub fn labelled(name: String, label: String) -> PlayerLine {
        PlayerLine { version: VERSION, name, label: Some(label), origin: None }
    }

    /// The same player, called `label` if there is one.
    pub fn called(self, label: Option<String>) -> PlayerLine {
        PlayerLine { label, ..self }
    }

    /// The same, with the checksum of the net's weights.
    pub fn with_net(self, checksum: String) -> PlayerLine {
        let origin = self.origin.map(|origin| Origin { net: Some(checksum), ..origin });
        PlayerLine { origin, ..self }
    }

    /// The same, with the games and the minutes of training that it took.
    pub fn after(self, games: Option<u64>, minutes: Option<f64>) -> PlayerLine {
        let origin = self.origin.map(|origin| origin.after(games, minutes));
        PlayerLine { origin, ..self }
    }

    /// This line, completed by what an earlier one says of the same player.
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

/// A game as the ladder knows it.
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
    /// Who had black.
    pub black: String,
    /// Who had white.
    pub white: String,
    /// The position that the moves start from, in OBF.
    pub start: String,
    /// The opening's moves.
    pub opening: String,
    /// The players' moves.
    pub moves: String,
    /// The final score for black.
    pub score: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    forfeit: Option<ForfeitLine>,
    /// Of each of the players' moves; a list that would say nothing is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    seconds: Vec<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    depths: Vec<Option<u32>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    scores: Vec<Option<f32>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    nodes: Vec<u64>,
}

impl GameLine {
    pub(super) fn new<G: Geometry>(id: u32, terms: &Terms, played: &Played<G>) -> GameLine {
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
            moves: transcript::<G>(choices.iter().map(|made| made.square)),
            score: played.score,
            forfeit,
            seconds: of_each(choices, |made| (made.seconds * 1e6).round() / 1e6),
            depths: of_each(choices, |made| made.depth),
            scores: of_each(choices, |made| made.score),
            nodes: of_each(choices, |made| made.nodes),
        }
    }

    /// The game by the rules of shape `G`; `None` if it does not follow them.
    pub fn played<G: Geometry>(&self, first: &str) -> Option<Played<G>> {
        let start = parse_obf::<G>(&self.start).ok()?.position;
        let (moves, position) = parse_transcript(&self.opening, start).ok()?;
        let (made, last) = parse_transcript(&self.moves, position).ok()?;
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
        };
        if self.first() != first {
            return None;
        }
        Some(Played {
            game: self.game,
            first: first_colour(self.game),
            opening: Opening { start, moves, position },
            choices: made.into_iter().enumerate().map(choice).collect(),
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

/// Something about each move; an empty list if it says nothing about any.
fn of_each<T: Default + PartialEq>(choices: &[Choice], what: impl Fn(&Choice) -> T) -> Vec<T> {
    let list: Vec<T> = choices.iter().map(what).collect();
    let says_something = list.iter().any(|item| *item != T::default());
    if says_something { list } else { Vec::new() }
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
    /// The players that the line names.
    pub(super) fn names(&self) -> Vec<&str> {
        match self {
            Line::Ladder { .. } => Vec::new(),
            Line::Match(line) => vec![line.terms.first.as_str(), line.terms.second.as_str()],
            Line::Player(line) => vec![line.name.as_str()],
            Line::Game(line) => vec![line.black.as_str(), line.white.as_str()],
        }
    }
}
