//! The SQL of a query.

use rusqlite::types::Value;

use super::query::{Query, Sort, Winner};
use crate::game::{Goal, Shape};

/// Fits names that have a text.
const NAMES: &str = "IN (SELECT id FROM names WHERE instr(folded, ?))";

/// The conditions of a query, with their values.
#[derive(Default)]
struct Conditions {
    parts: Vec<String>,
    values: Vec<Value>,
}

impl Conditions {
    /// Adds a condition with a text in each of its places.
    fn texts(&mut self, condition: String, texts: &[&str]) {
        self.parts.push(condition);
        self.values.extend(texts.iter().map(|text| Value::from(text.trim().to_lowercase())));
    }

    fn players(&mut self, query: &Query) {
        match (&query.player, &query.opponent) {
            (Some(player), Some(opponent)) => self.texts(
                format!(
                    "(g.black {NAMES} AND g.white {NAMES} OR g.white {NAMES} AND g.black {NAMES})"
                ),
                &[player, opponent, player, opponent],
            ),
            (Some(name), None) | (None, Some(name)) => {
                self.texts(format!("(g.black {NAMES} OR g.white {NAMES})"), &[name, name]);
            }
            (None, None) => {}
        }
    }

    fn winner(&mut self, query: &Query) {
        let (black, white) = match (query.winner, &query.player) {
            (None, _) => return,
            (Some(Winner::Draw), _) => return self.parts.push("g.score = 0".into()),
            (Some(Winner::Black), _) | (Some(Winner::Player), None) => {
                return self.parts.push("g.score > 0".into());
            }
            (Some(Winner::White), _) | (Some(Winner::Opponent), None) => {
                return self.parts.push("g.score < 0".into());
            }
            (Some(Winner::Player), Some(_)) => (">", "<"),
            (Some(Winner::Opponent), Some(_)) => ("<", ">"),
        };
        let player = query.player.as_deref().unwrap_or_default();
        self.texts(
            format!(
                "(g.black {NAMES} AND g.score {black} 0 OR g.white {NAMES} AND g.score {white} 0)"
            ),
            &[player, player],
        );
    }

    fn of(query: &Query) -> Conditions {
        let mut all = Conditions::default();
        all.players(query);
        for (column, wanted) in [("event", &query.event), ("opening", &query.opening)] {
            if let Some(wanted) = wanted {
                all.texts(format!("g.{column} {NAMES}"), &[wanted]);
            }
        }
        for (column, span) in [("year", query.years), ("score", query.scores)] {
            if let Some((low, high)) = span {
                all.parts.push(format!("g.{column} BETWEEN ? AND ?"));
                all.values.extend([low, high].map(Value::from));
            }
        }
        all.winner(query);
        for (column, name) in
            [("board", query.board.map(Shape::name)), ("goal", query.goal.map(Goal::name))]
        {
            if let Some(name) = name {
                all.parts.push(format!("g.{column} = ?"));
                all.values.push(Value::from(name.to_owned()));
            }
        }
        if query.is_own {
            let own = "g.file IN (SELECT id FROM files WHERE path LIKE 'played/%.ggf')";
            all.parts.push(own.into());
        }
        all
    }
}

/// The SQL of a query for the numbers of its games, and its values. Where games are sorted by a name,
/// the number of the name is the second column, and the order is that of the numbers of the games.
pub(super) fn select(query: &Query) -> (String, Vec<Value>) {
    let Conditions { parts, values } = Conditions::of(query);
    let condition =
        if parts.is_empty() { String::new() } else { format!("WHERE {}", parts.join(" AND ")) };
    let (column, order) = match query.sort {
        Sort::Year => ("NULL".to_owned(), "g.year DESC, g.id DESC"),
        Sort::Score => ("NULL".to_owned(), "g.score DESC, g.id DESC"),
        by_name => (format!("g.{}", by_name.name()), "g.id DESC"),
    };
    (format!("SELECT g.id, {column} FROM games g {condition} ORDER BY {order}"), values)
}
