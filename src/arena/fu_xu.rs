//! Plays Tables 1 to 4 of Fu and Xu ("Learning to Play Othello: A Self-Play Approach") again.
//!
//! The opponents of levels 1 to 3 in Fu and Xu belong to a course and are not published. Here
//! level 1 is the random player, level 2 the greedy player (most discs turned) and level 3
//! alpha-beta search of depth 3. The tables here show these names too. The evaluator of the
//! alpha-beta search in Fu and Xu is not published either. So each of its rows is played twice:
//! against the positional evaluator and against one that counts discs. By Table 3, which has no
//! net, the first is stronger than level 3 of Fu and Xu and the second is weaker.
//!
//! As in Fu and Xu, games begin at the start position, and the net draws its first five moves of a
//! game in proportion to visits. There is no other randomness, so games repeat. More games are
//! played until there are as many distinct games as in Fu and Xu, or no more are found.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::matches::{
    MatchError, MatchGame, MatchSettings, beginnings, first_colour, play_numbered,
};
use super::openings::{OpeningSource, canonical_game};
use super::report::table;
use super::tally::WinDrawLoss;
use crate::game::{Colour, Geometry, Goal, Square};
use crate::players::contestant::Contestant;
use crate::players::spec::{NetPlayerSpec, PlayerKind, PlayerSpec, PolicySpec, RolloutsSpec};
use crate::search::mcts;

/// The number of plies in which moves are drawn in proportion to visits.
const DRAWN_PLIES: u32 = 5;
/// Simulations of the search without a net in Fu and Xu.
const ROLLOUTS: u32 = 200;
/// How often the number of games is doubled if too few are distinct. Four times the number finds
/// nearly all distinct games: sixteen times the number found one more in each of two rows.
const DOUBLINGS: u32 = 2;

/// The player of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Agent {
    /// The net with tree search.
    Net,
    /// Tree search with random rollouts, without a net.
    Rollouts,
    /// The net's policy, without a search.
    Policy,
}

/// A row of one of the tables, with the figures of Fu and Xu.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// The table's number.
    pub table: u32,
    /// The player.
    pub agent: Agent,
    /// The opponent's name in Fu and Xu.
    pub opponent: &'static str,
    /// The specification of the opponent here.
    pub stand_in: &'static str,
    /// Games won with black and with white in Fu and Xu.
    pub won: [u32; 2],
    /// Games played with each colour in Fu and Xu.
    pub played: u32,
}

const fn row(
    table: u32,
    agent: Agent,
    opponent: &'static str,
    stand_in: &'static str,
    won: [u32; 2],
    played: u32,
) -> Row {
    Row { table, agent, opponent, stand_in, won, played }
}

/// All rows, in the order of Fu and Xu. The second of two rows with the same opponent has
/// the weaker one.
pub const ROWS: [Row; 18] = [
    row(1, Agent::Net, "level 1", "random", [15, 15], 15),
    row(1, Agent::Net, "level 2", "greedy", [20, 20], 20),
    row(1, Agent::Net, "level 3", "alphabeta:depth=3,eval=positional", [11, 12], 15),
    row(1, Agent::Net, "level 3", "alphabeta:depth=3,eval=discs", [11, 12], 15),
    row(2, Agent::Net, "alpha-beta depth 4", "alphabeta:depth=4,eval=positional", [14, 18], 20),
    row(2, Agent::Net, "alpha-beta depth 4", "alphabeta:depth=4,eval=discs", [14, 18], 20),
    row(2, Agent::Net, "alpha-beta depth 5", "alphabeta:depth=5,eval=positional", [13, 15], 20),
    row(2, Agent::Net, "alpha-beta depth 5", "alphabeta:depth=5,eval=discs", [13, 15], 20),
    row(2, Agent::Net, "alpha-beta depth 6", "alphabeta:depth=6,eval=positional", [15, 16], 20),
    row(2, Agent::Net, "alpha-beta depth 6", "alphabeta:depth=6,eval=discs", [15, 16], 20),
    row(3, Agent::Rollouts, "level 1", "random", [15, 15], 15),
    row(3, Agent::Rollouts, "level 2", "greedy", [20, 20], 20),
    row(3, Agent::Rollouts, "level 3", "alphabeta:depth=3,eval=positional", [11, 14], 15),
    row(3, Agent::Rollouts, "level 3", "alphabeta:depth=3,eval=discs", [11, 14], 15),
    row(4, Agent::Policy, "level 1", "random", [12, 12], 15),
    row(4, Agent::Policy, "level 2", "greedy", [20, 20], 20),
    row(4, Agent::Policy, "level 3", "alphabeta:depth=3,eval=positional", [1, 1], 15),
    row(4, Agent::Policy, "level 3", "alphabeta:depth=3,eval=discs", [1, 1], 15),
];

/// The title of a table.
pub fn title(table: u32) -> &'static str {
    match table {
        1 => "Fu and Xu, Table 1: net with tree search",
        2 => "Fu and Xu, Table 2: net with tree search against alpha-beta",
        3 => "Fu and Xu, Table 3: tree search with 200 random rollouts, no net",
        _ => "Fu and Xu, Table 4: the net's policy without a search",
    }
}

impl Agent {
    /// The player's specification: the search of Fu and Xu with the net at `checkpoint`.
    pub fn spec(self, checkpoint: &Path, simulations: u32) -> PlayerSpec {
        let kind = match self {
            Agent::Net => PlayerKind::Net(NetPlayerSpec {
                path: checkpoint.into(),
                time: None,
                parallel: None,
                threads: None,
                symmetries: 1,
                alphabeta_empties: None,
                search: mcts::Options {
                    simulations,
                    c_puct: 1.0,
                    first_play: mcts::options::FirstPlay::Zero,
                    temperature: 1.0,
                    temperature_plies: DRAWN_PLIES,
                    temperature_late: 0.0,
                    tree_reuse: false,
                    solve_empties: 0,
                    wipeout_nodes: 0,
                    score_weight: 0.0,
                    ..mcts::Options::default()
                },
            }),
            Agent::Rollouts => PlayerKind::Rollouts(RolloutsSpec {
                simulations: ROLLOUTS,
                ..RolloutsSpec::default()
            }),
            Agent::Policy => PlayerKind::Policy(PolicySpec {
                path: checkpoint.into(),
                temperature_plies: DRAWN_PLIES,
                symmetries: 1,
                ..PolicySpec::default()
            }),
        };
        kind.into()
    }
}

/// The result of a row here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowResult {
    /// The row.
    pub row: Row,
    /// Games with black.
    pub black: WinDrawLoss,
    /// Games with white.
    pub white: WinDrawLoss,
}

/// Plays a row.
///
/// If only the first moves are drawn, games with the same first moves are the same game. Then the
/// first moves of all games are played first, and only distinct games are played to their end.
///
/// # Errors
///
/// A player that cannot be made.
pub fn play_row<G: Geometry>(
    row: &Row,
    pair: [&Contestant<'_, G>; 2],
    seed: u64,
    threads: usize,
    stop: &AtomicBool,
) -> Result<RowResult, MatchError> {
    let start = OpeningSource::Start.book::<G>(1, seed);
    let openings = start.map(|book| book.openings).unwrap_or_default();
    let settings =
        MatchSettings { goal: Goal::Most, games: 2 * row.played, seed, threads, sprt: None };
    let is_decided_by_beginning = row.agent != Agent::Rollouts && pair[1].deterministic;
    let (mut games, mut next, mut known) = (Vec::new(), 0, [HashSet::new(), HashSet::new()]);
    let mut result =
        RowResult { row: *row, black: WinDrawLoss::default(), white: WinDrawLoss::default() };
    for round in 0..=DOUBLINGS {
        let end = settings.games << round;
        let mut numbers: Vec<u32> = (next..end).collect();
        next = end;
        if is_decided_by_beginning {
            let plies = DRAWN_PLIES as usize;
            let lines = beginnings(pair, &openings, &settings, &numbers, plies, stop)?;
            let begun = numbers.into_iter().zip(lines);
            numbers = distinct_games(begun, &mut known, result.missing());
        }
        let mut on_game = |_: &MatchGame<G>| ControlFlow::Continue(());
        games =
            play_numbered(pair, &openings, &settings, &numbers, games, stop, &mut on_game)?.games;
        (result.black, result.white) = count(&games, row.played);
        if !result.is_short() || stop.load(Ordering::Relaxed) {
            break;
        }
    }
    Ok(result)
}

/// The numbers of games whose first moves differ from those of all other games with the same
/// colour, at most `wanted` with black and with white.
fn distinct_games(
    begun: impl Iterator<Item = (u32, Vec<Square>)>,
    known: &mut [HashSet<Vec<Square>>; 2],
    mut wanted: [u32; 2],
) -> Vec<u32> {
    let mut is_new = |number: u32, line: Vec<Square>| {
        let side = usize::from(first_colour(number) == Colour::White);
        let new = wanted[side] > 0 && known[side].insert(line);
        wanted[side] -= u32::from(new);
        new
    };
    begun.filter_map(|(number, line)| is_new(number, line).then_some(number)).collect()
}

/// The results of the first `most` distinct games with each colour.
fn count<G: Geometry>(games: &[MatchGame<G>], most: u32) -> (WinDrawLoss, WinDrawLoss) {
    let (mut black, mut white) = (WinDrawLoss::default(), WinDrawLoss::default());
    let mut seen = HashSet::new();
    for played in games {
        let side = if played.first == Colour::Black { &mut black } else { &mut white };
        let moves: Vec<_> = played.moves().collect();
        let key = (played.first, canonical_game(played.opening.start.board, &moves));
        if side.games() < most && seen.insert(key) {
            side.add(played.first_score());
        }
    }
    (black, white)
}

impl RowResult {
    /// The number of missing games with black and with white, compared to Fu and Xu.
    fn missing(&self) -> [u32; 2] {
        [self.black, self.white].map(|side| self.row.played.saturating_sub(side.games()))
    }

    /// Whether there are fewer games than in Fu and Xu.
    fn is_short(&self) -> bool {
        self.missing() != [0, 0]
    }

    /// The row as JSON.
    pub fn json(&self) -> Value {
        let row = &self.row;
        let fu_xu = |won: u32| json!({ "wins": won, "games": row.played });
        json!({
            "version": 1,
            "table": row.table,
            "agent": match row.agent {
                Agent::Net => "net",
                Agent::Rollouts => "rollouts",
                Agent::Policy => "policy",
            },
            "opponent": row.opponent,
            "stand_in": row.stand_in,
            "black": self.black,
            "white": self.white,
            "paper": { "black": fu_xu(row.won[0]), "white": fu_xu(row.won[1]) },
        })
    }
}

/// The tables with the results here and in Fu and Xu.
pub fn text(results: &[RowResult]) -> String {
    let mut text = String::new();
    for number in 1..=4 {
        let rows = results.iter().filter(|result| result.row.table == number);
        let head = [
            "opponent in Fu and Xu",
            "opponent here",
            "black here",
            "Fu and Xu",
            "white here",
            "Fu and Xu",
        ];
        let mut lines = vec![head.map(String::from).to_vec()];
        for RowResult { row, black, white } in rows {
            lines.push(vec![
                row.opponent.to_string(),
                row.stand_in.to_string(),
                won(*black),
                format!("{}/{}", row.won[0], row.played),
                won(*white),
                format!("{}/{}", row.won[1], row.played),
            ]);
        }
        if lines.len() > 1 {
            text.push_str(title(number));
            text.push('\n');
            text.push_str(&table(&lines, 2));
            text.push('\n');
        }
    }
    text.push_str(
        "Games won of games played; all games of a row are distinct. The opponents of Fu and Xu are not\npublished; the players in the second column replace them.\n",
    );
    if results.iter().any(RowResult::is_short) {
        let _ = writeln!(
            text,
            "Rows with fewer games than in Fu and Xu: {} times as many games had no more distinct ones.",
            1 << DOUBLINGS
        );
    }
    text
}

fn won(results: WinDrawLoss) -> String {
    let draws = match results.draws {
        0 => String::new(),
        1 => " (1 draw)".into(),
        draws => format!(" ({draws} draws)"),
    };
    format!("{}/{}{draws}", results.wins, results.games())
}

#[cfg(test)]
mod tests;
