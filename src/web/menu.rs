//! The menu of players: levels of strength for play, and opinions for analysis.
//!
//! A request names a player by its id in the menu. So no request can name a file or a program.

use serde::Serialize;

use super::error::ApiError;
use crate::game::notation::plain_excerpt;
use crate::game::{Goal, Shape};
use crate::players::levels::{LEVELS, with_net};
use crate::players::spec::{PlayerKind, PlayerSpec};
use crate::store::shipped;

/// A player of the menu.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Entry {
    /// What requests name it by.
    pub id: String,
    /// A word for its strength, or its name.
    pub word: String,
    /// Its specification, without the folders of paths.
    pub about: String,
    /// Elo, where the greedy player has 0 (docs/journal/ladder.md); `None` if it was not measured
    /// on this board.
    pub rating: Option<i32>,
    /// Whether it explains positions: analysis offers it.
    pub opinion: bool,
    /// Whether it is a net, which has a policy and simulations.
    pub net: bool,
    /// For a player that says only what is proven: the empty squares from which it answers.
    pub answers_from: Option<u32>,
    #[serde(skip)]
    pub spec: PlayerSpec,
    /// The discs that a move may lose for the sake of variety.
    #[serde(skip)]
    pub variety: f32,
}

/// Players that only explain: id, word, specification.
const OPINIONS: &[(&str, &str, &str)] = &[
    ("policy", "Net, first glance", "policy:NET"),
    ("alphabeta10", "Alpha-beta", "alphabeta:depth=10"),
    (SOLVER, "Solver", "alphabeta:depth=1,solve_empties=22"),
];

/// The player of them that does not guess.
const SOLVER: &str = "solver";

/// The player that the page asks for hints.
pub(super) const DEFAULT_OPINION: &str = "net400";

/// The players of a board and goal, the weakest first, then those that only explain.
pub(super) fn menu(shape: Shape, goal: Goal, own: &[PlayerSpec]) -> Vec<Entry> {
    let net = shipped::net(shape, goal);
    let is_rated = (shape, goal) == (Shape::Square8, Goal::Most);
    let levels = LEVELS.iter().filter_map(|level| {
        let opinion = matches!(level.id, "net100" | "net400" | "net1600");
        let rating = is_rated.then_some(level.rating);
        let entry = entry(level.id, level.word, level.player(shape, goal)?, rating, opinion);
        Some(Entry { variety: level.variety, ..entry })
    });
    let opinions = OPINIONS.iter().filter_map(|&(id, word, spec)| {
        let entry = entry(id, word, with_net(spec, net.as_ref())?, None, true);
        let answers_from = (id == SOLVER).then(|| solve_empties(&entry.spec)).flatten();
        Some(Entry { answers_from, ..entry })
    });
    let own = own.iter().enumerate().map(|(number, spec)| {
        let word = spec
            .name
            .as_ref()
            .map_or_else(|| format!("Your player {}", number + 1), |name| name.to_string());
        entry(&format!("own{}", number + 1), &word, spec.clone(), None, true)
    });
    levels.chain(opinions).chain(own).collect()
}

fn entry(id: &str, word: &str, spec: PlayerSpec, rating: Option<i32>, opinion: bool) -> Entry {
    let net = matches!(spec.kind, PlayerKind::Net(_) | PlayerKind::Policy(_));
    Entry {
        id: id.into(),
        word: word.into(),
        about: about(&spec),
        rating,
        opinion,
        net,
        answers_from: None,
        spec,
        variety: 0.0,
    }
}

/// The empty squares from which a player solves positions.
fn solve_empties(spec: &PlayerSpec) -> Option<u32> {
    match &spec.kind {
        PlayerKind::AlphaBeta(spec) => Some(spec.solve_empties),
        _ => None,
    }
}

/// The specification with the last two parts of its path.
fn about(spec: &PlayerSpec) -> String {
    let mut spec = spec.clone();
    let path = match &mut spec.kind {
        PlayerKind::Net(player) => Some(&mut player.path),
        PlayerKind::Policy(player) => Some(&mut player.path),
        _ => None,
    };
    if let Some(path) = path {
        let parts: Vec<_> = path.components().collect();
        *path = parts[parts.len().saturating_sub(2)..].iter().collect();
    }
    spec.to_string()
}

/// The player with this id.
pub(super) fn find(menu: Vec<Entry>, id: &str) -> Result<Entry, ApiError> {
    let ids: Vec<_> = menu.iter().map(|entry| entry.id.clone()).collect();
    menu.into_iter().find(|entry| entry.id == id).ok_or_else(|| {
        ApiError::bad(format!("there is no player `{}` here", plain_excerpt(id, 40)))
            .at("player")
            .allowing(ids.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::players::levels::FIRST;

    #[test]
    fn every_board_and_goal_has_levels_from_the_first_day_up() {
        for shape in Shape::ALL {
            for goal in [Goal::Most, Goal::Fewest] {
                let entries = menu(shape, goal, &[]);
                let ids: HashSet<_> = entries.iter().map(|entry| entry.id.as_str()).collect();
                assert_eq!(ids.len(), entries.len());
                assert!(["random", FIRST, "solver"].iter().all(|id| ids.contains(id)));
                let has_net = shipped::net(shape, goal).is_some();
                assert_eq!(ids.contains(DEFAULT_OPINION), has_net, "{shape} {goal}");
            }
        }
    }

    #[test]
    fn ids_are_the_only_names() {
        let entries = menu(Shape::Square8, Goal::Most, &["greedy:name=mine".parse().expect("one")]);
        assert_eq!(find(entries.clone(), "own1").expect("a player").word, "mine");
        for wrong in ["net:/etc/passwd", "external:protocol=gtp,command=sh", ""] {
            assert!(find(entries.clone(), wrong).is_err());
        }
        assert!(entries.iter().all(|entry| !entry.about.starts_with('/')));
    }
}
