//! Levels of strength for play against people, with a word for each.

use std::path::PathBuf;

use super::spec::{PlayerKind, PlayerSpec};
use crate::game::{Goal, Shape};
use crate::store::shipped;

/// A level of strength.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Level {
    /// A short name that does not change.
    pub id: &'static str,
    /// A word for its strength.
    pub word: &'static str,
    /// The player. `NET` is the net that comes with the program for the board and goal.
    spec: &'static str,
    /// Elo on 8x8 for the most discs, where the greedy player has 0 (docs/journal/ladder.md).
    pub rating: i32,
    /// The discs that a move may lose for the sake of variety: see [`super::variety`].
    pub variety: f32,
}

const fn level(
    id: &'static str,
    word: &'static str,
    spec: &'static str,
    rating: i32,
    variety: f32,
) -> Level {
    Level { id, word, spec, rating, variety }
}

/// All levels, the weakest first. They were rated on one ladder, so with the positional evaluator
/// and the net from nothing.
/// Two draw their moves from a net's policy, which names the moves of people more often than searches
/// of their strength do. Their ratings lie between those of alpha-beta to depth 1 and 2 by matches of
/// their own (docs/journal/people.md). The engine's lies above that of the best net by a match with it.
pub const LEVELS: &[Level] = &[
    level("random", "First day", "random", -116, 0.0),
    level("greedy", "Disc grabber", "greedy", 0, 0.0),
    level("depth1", "Beginner", "alphabeta:depth=1,eval=positional", 341, 2.0),
    level("people1", "Newcomer", "policy:NET,temperature_plies=100,temperature=1.5", 371, 0.0),
    level("depth2", "Casual", "alphabeta:depth=2,eval=positional", 572, 1.5),
    level("people2", "Tournament", "policy:NET,temperature_plies=100,temperature=1", 589, 0.0),
    level("depth3", "Steady", "alphabeta:depth=3,eval=positional", 820, 1.5),
    level("depth4", "Club", "alphabeta:depth=4,eval=positional", 1016, 1.0),
    level("depth6", "Strong club", "alphabeta:depth=6,eval=positional", 1238, 1.0),
    level("net1", "Expert", "net:NET,simulations=1", 1406, 0.0),
    level("net16", "Master", "net:NET,simulations=16", 1726, 1.0),
    level("net100", "Grandmaster", "net:NET,simulations=100", 1948, 0.7),
    level("net400", "Champion", "net:NET,simulations=400", 2086, 0.5),
    level("net1600", "Legend", "net:NET,simulations=1600", 2210, 0.3),
    level(ENGINE, "Engine", "alphabeta:movetime=1s", 2537, 0.3),
];

/// The id of the level that searches with the net over patterns. Only boards with one have it: on the
/// others nets are stronger.
const ENGINE: &str = "engine";

/// The id of the level to begin with.
pub const FIRST: &str = "depth4";

impl Level {
    /// The level of this id or word; letter case does not count, and hyphens stand for blanks.
    ///
    /// ```
    /// use outflank::players::levels::Level;
    ///
    /// let club = Level::named("strong-club").expect("a level");
    /// assert_eq!((club.id, club.rating), ("depth6", 1238));
    /// ```
    pub fn named(name: &str) -> Option<&'static Level> {
        let name = name.replace('-', " ");
        let is_named = |level: &&Level| {
            level.id.eq_ignore_ascii_case(&name) || level.word.eq_ignore_ascii_case(&name)
        };
        LEVELS.iter().find(is_named)
    }

    /// The player for a board and goal; `None` if it needs a net, of whichever kind, and there is none.
    ///
    /// ```
    /// use outflank::game::{Goal, Shape};
    /// use outflank::players::levels::{LEVELS, Level};
    ///
    /// let weakest = LEVELS[0].player(Shape::Square8, Goal::Most).expect("it needs no net");
    /// assert_eq!(weakest.to_string(), "random");
    /// let medium = Level::named("depth4").expect("a level");
    /// assert!(medium.player(Shape::Square7, Goal::Fewest).is_some(), "on each board and goal");
    /// ```
    pub fn player(&self, shape: Shape, goal: Goal) -> Option<PlayerSpec> {
        if self.id == ENGINE && shipped::patternnet(shape, goal).is_none() {
            return None;
        }
        with_net(self.spec, shipped::net(shape, goal).as_ref())
    }
}

/// The player of a specification whose path `NET` stands for the shipped net. `None` if it needs a
/// net and there is none.
pub fn with_net(text: &str, net: Option<&PathBuf>) -> Option<PlayerSpec> {
    // A path may need quotes, which only the writer of specifications knows.
    let mut spec: PlayerSpec = text.parse().ok()?;
    match &mut spec.kind {
        PlayerKind::Net(player) => player.path = net?.clone(),
        PlayerKind::Policy(player) => player.path = net?.clone(),
        _ => {}
    }
    Some(spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_ids_name_one_level_each_and_ratings_ascend() {
        for level in LEVELS {
            for name in [level.id, level.word, &level.word.to_uppercase().replace(' ', "-")] {
                assert_eq!(Level::named(name), Some(level), "{name}");
            }
        }
        assert!(Level::named(FIRST).is_some() && Level::named("").is_none());
        assert!(LEVELS.is_sorted_by_key(|level| level.rating), "the weakest first");
    }

    #[test]
    fn levels_without_a_net_play_on_every_board() {
        for shape in Shape::ALL {
            let players = LEVELS.iter().filter_map(|level| level.player(shape, Goal::Fewest));
            // Only one board and goal has the engine.
            let with_net = shipped::net(shape, Goal::Fewest).is_some();
            let wanted = if with_net { LEVELS.len() - 1 } else { 7 };
            assert_eq!(players.count(), wanted, "{shape}");
        }
    }
}
