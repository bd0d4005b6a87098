//! Tables 1 to 4 of "Learning to Play Othello: A Self-Play Approach" (Fu and Xu), played again.
//!
//! The paper's opponents of three levels belong to a course and are not published. Here
//! level 1 is the random player, level 2 the greedy one (most discs flipped) and level 3
//! alpha-beta search of depth 3; wherever a table is shown they are named so. How the paper's
//! alpha-beta evaluates is not told either, so each of its rows is played twice: against the
//! positional evaluator and against one that counts discs. By Table 3, which has no net, the
//! first is harder than the paper's level 3 and the second easier.
//!
//! As in the paper games begin at the start position, and the net draws its moves in proportion
//! to visits for the first five moves of a game; with no other randomness games repeat
//! themselves, so games are begun until there are as many different ones as the paper counted,
//! or no more are found.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::matches::{
    Contestant, MatchError, MatchSettings, Played, beginnings, first_colour, play_numbered,
};
use super::openings::{Source, canonical_game};
use super::report::table;
use super::spec::{NetPlayerSpec, PlayerKind, PlayerSpec, PolicySpec, RolloutsSpec};
use super::tally::WinDrawLoss;
use crate::game::{Colour, Geometry, Goal, Square};
use crate::search::mcts;

/// How many moves of a game are drawn in proportion to visits.
const DRAWN_PLIES: u32 = 5;
/// Rollouts of the paper's plain search.
const ROLLOUTS: u32 = 200;
/// How often a match is made twice as long because games repeated themselves. Four times as
/// many games find nearly all there are: sixteen times as many found one more in two rows.
const ROUNDS: u32 = 2;

/// Who plays in a row of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Agent {
    /// The net with tree search.
    Net,
    /// Tree search with random rollouts, without the net.
    Rollouts,
    /// The net's policy alone.
    Policy,
}

/// A row of one of the tables, with the paper's figures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// The table's number.
    pub table: u32,
    /// Who plays.
    pub agent: Agent,
    /// The opponent as the paper calls it.
    pub opponent: &'static str,
    /// Who stands for it here.
    pub stand_in: &'static str,
    /// Games won with black and with white.
    pub won: [u32; 2],
    /// Games played with each colour.
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

/// All rows, in the paper's order; the second of two with the same opponent has the easier one.
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

/// What each table shows.
pub fn title(table: u32) -> &'static str {
    match table {
        1 => "Table 1: net with tree search",
        2 => "Table 2: net with tree search against alpha-beta",
        3 => "Table 3: tree search with 200 random rollouts, no net",
        _ => "Table 4: the net's policy alone",
    }
}

impl Agent {
    /// The player: the paper's search with the net at `checkpoint` and so many simulations.
    pub fn spec(self, checkpoint: &Path, simulations: u32) -> PlayerSpec {
        let kind = match self {
            Agent::Net => PlayerKind::Net(NetPlayerSpec {
                path: checkpoint.into(),
                time: None,
                parallel: None,
                threads: None,
                symmetries: 1,
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
            }),
        };
        kind.into()
    }
}

/// A row as played here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// The row.
    pub row: Row,
    /// With black.
    pub black: WinDrawLoss,
    /// With white.
    pub white: WinDrawLoss,
}

/// Plays a row.
///
/// Where only the first moves are drawn, two games that begin alike are the same game: then the
/// beginnings are played first, and only games with different ones to their end.
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
) -> Result<Replayed, MatchError> {
    let start = Source::Start.book::<G>(1, seed);
    let openings = start.map(|book| book.openings).unwrap_or_default();
    let setting =
        MatchSettings { goal: Goal::Most, games: 2 * row.played, seed, threads, sprt: None };
    let beginnings_decide = row.agent != Agent::Rollouts && pair[1].deterministic;
    let (mut games, mut next, mut known) = (Vec::new(), 0, [HashSet::new(), HashSet::new()]);
    let mut result =
        Replayed { row: *row, black: WinDrawLoss::default(), white: WinDrawLoss::default() };
    for round in 0..=ROUNDS {
        let end = setting.games << round;
        let mut numbers: Vec<u32> = (next..end).collect();
        next = end;
        if beginnings_decide {
            let plies = DRAWN_PLIES as usize;
            let lines = beginnings(pair, &openings, &setting, &numbers, plies, stop)?;
            let begun = numbers.into_iter().zip(lines);
            numbers = new_ones(begun, &mut known, result.missing());
        }
        let mut go_on = |_: &Played<G>| ControlFlow::Continue(());
        games = play_numbered(pair, &openings, &setting, &numbers, games, stop, &mut go_on)?.games;
        (result.black, result.white) = count(&games, row.played);
        if !result.is_short() || stop.load(Ordering::Relaxed) {
            break;
        }
    }
    Ok(result)
}

/// The games that begin like no other with the same colour, as many as are wanted with black and
/// with white.
fn new_ones(
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

/// The first `most` different games of each colour.
fn count<G: Geometry>(games: &[Played<G>], most: u32) -> (WinDrawLoss, WinDrawLoss) {
    let (mut black, mut white) = (WinDrawLoss::default(), WinDrawLoss::default());
    let mut seen = HashSet::new();
    for played in games {
        let side = if played.first == Colour::Black { &mut black } else { &mut white };
        let moves: Vec<_> = played.moves().collect();
        let identity = (played.first, canonical_game(played.opening.start.board, &moves));
        if side.games() < most && seen.insert(identity) {
            side.add(played.first_score());
        }
    }
    (black, white)
}

impl Replayed {
    /// How many games with black and with white there are fewer than in the paper.
    fn missing(&self) -> [u32; 2] {
        [self.black, self.white].map(|side| self.row.played.saturating_sub(side.games()))
    }

    /// Whether there are fewer games than in the paper.
    fn is_short(&self) -> bool {
        self.missing() != [0, 0]
    }

    /// The row as JSON.
    pub fn json(&self) -> Value {
        let row = &self.row;
        let paper = |won: u32| json!({ "wins": won, "games": row.played });
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
            "paper": { "black": paper(row.won[0]), "white": paper(row.won[1]) },
        })
    }
}

/// The tables side by side with the paper's.
pub fn text(results: &[Replayed]) -> String {
    let mut text = String::new();
    for number in 1..=4 {
        let rows = results.iter().filter(|result| result.row.table == number);
        let head = ["the paper's", "opponent here", "black here", "paper", "white here", "paper"];
        let mut lines = vec![head.map(String::from).to_vec()];
        for Replayed { row, black, white } in rows {
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
        "Games won of games played, each game different from the others. The paper's levels are not\npublished, nor how its alpha-beta evaluates: the players named beside them stand for them.\n",
    );
    if results.iter().any(Replayed::is_short) {
        let _ = writeln!(
            text,
            "Where there are fewer games than in the paper, the players had no more different ones in\n{} times as many games.",
            1 << ROUNDS
        );
    }
    text
}

fn won(outcomes: WinDrawLoss) -> String {
    let draws = match outcomes.draws {
        0 => String::new(),
        1 => " (1 draw)".into(),
        draws => format!(" ({draws} draws)"),
    };
    format!("{}/{}{draws}", outcomes.wins, outcomes.games())
}

#[cfg(test)]
mod tests;
