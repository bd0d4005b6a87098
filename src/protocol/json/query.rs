//! What a client may ask.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde_json::Value;

use super::fields::{Fields, because, wrong};
use super::problem::Problem;
use crate::game::notation::parse_obf;
use crate::game::{Bitboard, Board, Colour, Geometry, Goal, Position, Shape, Square};
use crate::players::control::{Caps, Effort};
use crate::players::demand::Bounds;
use crate::players::question::Question;
use crate::players::shipped;
use crate::players::spec::{PlayerKind, PlayerSpec};
use crate::store::import::text;

const FIELDS: [&str; 15] = [
    "id",
    "board",
    "goal",
    "position",
    "moves",
    "analyse",
    "player",
    "time",
    "simulations",
    "depth",
    "nodes",
    "report_every",
    "max_moves",
    "priority",
    "action",
];
const ACTIONS: &str = "terminate, terminate_all or query_version";
const MOVES: &str = "a transcript such as f5d6c3, or a list of squares";
const ANALYSE: &str = "a list of plies from 0 to the number of moves, or \"all\"";

/// The most simulations of a position.
pub const MOST_SIMULATIONS: i64 = 4_000_000;
/// The greatest depth of a search.
pub const DEEPEST: i64 = 100;
/// The most positions that are visited for one position.
pub const MOST_NODES: i64 = 1_000_000_000_000;
/// The least and the most time for a position, in seconds.
pub const SECONDS: RangeInclusive<f64> = 0.001..=86_400.0;

/// What queries may leave out, and the players that they may use.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// The board of queries without one.
    pub shape: Shape,
    /// The goal of queries without one.
    pub goal: Goal,
    /// The player of queries without one; without this it is the default opponent of the board.
    pub player: Option<&'a PlayerSpec>,
    /// Whether queries may use a player; the error says why not.
    pub allows: fn(&PlayerSpec) -> Result<(), String>,
    /// The most that these players may ask for; without it all that the machine has.
    pub bounds: Option<Bounds>,
}

/// One line of a client.
#[derive(Clone, PartialEq, Debug)]
pub enum Request {
    /// Positions to analyse.
    Analyse(Box<Query>),
    /// Ends the analysis of the queries with an id, or of all.
    Terminate {
        /// The id of this request.
        id: String,
        /// The queries to end; all if it is `None`.
        of: Option<String>,
    },
    /// Asks for the program's version.
    QueryVersion {
        /// The id of this request.
        id: String,
    },
}

/// Limits of the search of each position. Without any the player's own limits apply, otherwise only
/// these.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Limits {
    /// The most time.
    pub time: Option<Duration>,
    /// The other limits.
    pub caps: Caps,
}

impl Limits {
    /// How long a player searches.
    pub fn effort(self) -> Effort {
        let endless = self != Limits::default();
        Effort { level: None, time: self.time, endless, caps: self.caps }
    }

    /// A limit that is set but that this kind of player lacks, and those that it has.
    pub fn unsupported(self, kind: &PlayerKind) -> Option<(&'static str, String)> {
        let allowed: &[&str] = match kind {
            PlayerKind::Net(_) | PlayerKind::Rollouts(_) => &["time", "simulations"],
            PlayerKind::AlphaBeta(_) => &["time", "depth", "nodes"],
            PlayerKind::Random(_) | PlayerKind::Greedy(_) | PlayerKind::Policy(_) => &["time"],
            PlayerKind::External(_) => &[],
        };
        let Limits { time, caps } = self;
        let is_set = [
            ("time", time.is_some()),
            ("simulations", caps.simulations.is_some()),
            ("depth", caps.depth.is_some()),
            ("nodes", caps.nodes.is_some()),
        ];
        let lacking = is_set.iter().find(|(name, set)| *set && !allowed.contains(name))?;
        let allowed = match allowed {
            [] => "no limit, since it is an external engine".into(),
            allowed => format!("for this player {}", allowed.join(", ")),
        };
        Some((lacking.0, allowed))
    }
}

/// A start position and moves, for any board.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Game {
    /// The discs of the side to move and of the other side.
    discs: [u128; 2],
    side: Colour,
    moves: Vec<Square>,
}

/// Positions of one game to analyse.
#[derive(Clone, PartialEq, Debug)]
pub struct Query {
    /// The name that the client gave it, which every answer repeats.
    pub id: String,
    /// The board.
    pub shape: Shape,
    /// Which score wins.
    pub goal: Goal,
    /// The plies to analyse, in this order; ply 0 is the start position.
    pub turns: Vec<usize>,
    /// The player.
    pub player: PlayerSpec,
    /// Limits of each position.
    pub limits: Limits,
    /// The least time between two lines about a position; without it there is only the last one.
    pub report_every: Option<Duration>,
    /// The most moves of a line.
    pub max_moves: usize,
    /// Queries with a higher priority are answered first.
    pub priority: i64,
    game: Game,
}

impl Request {
    /// Reads a line.
    ///
    /// # Errors
    ///
    /// What is wrong with it, with the query's id if that could be read.
    pub fn read(line: &str, terms: &Terms<'_>) -> Result<Request, Problem> {
        let mut fields = Fields::read(line)?;
        let id = fields.id()?;
        Request::of(id.clone(), fields, terms).map_err(|problem| problem.of(Some(&id)))
    }

    fn of(id: String, mut fields: Fields, terms: &Terms<'_>) -> Result<Request, Problem> {
        let Some(action) = fields.text("action", ACTIONS)? else {
            return Ok(Request::Analyse(Box::new(Query::of(id, fields, terms)?)));
        };
        let request = match action.as_str() {
            "terminate" => {
                let of = fields.text("terminate_id", "the `id` of a query")?;
                let of = of.ok_or_else(|| Problem {
                    error: "`terminate` needs a `terminate_id`".into(),
                    field: Some("terminate_id".into()),
                    allowed: Some("the `id` of a query".into()),
                    ..Problem::default()
                })?;
                Request::Terminate { id, of: Some(of) }
            }
            "terminate_all" => Request::Terminate { id, of: None },
            "query_version" => Request::QueryVersion { id },
            _ => return Err(wrong("action", &Value::String(action), ACTIONS)),
        };
        fields.end(&["id", "action", "terminate_id"])?;
        Ok(request)
    }
}

impl Query {
    fn of(id: String, mut fields: Fields, terms: &Terms<'_>) -> Result<Query, Problem> {
        let shapes = "8x8, 6x6, 7x7, octagon88 or cross92";
        let shape = fields.parsed("board", shapes, |text| {
            text.parse::<Shape>().map_err(|error| error.to_string())
        })?;
        let goal = fields.parsed("goal", "most or fewest", |text| {
            text.parse::<Goal>().map_err(|error| error.to_string())
        })?;
        let (shape, goal) = (shape.unwrap_or(terms.shape), goal.unwrap_or(terms.goal));
        let game = dispatch!(shape, G => Game::read::<G>(&mut fields))?;
        let turns = turns(&mut fields, game.moves.len())?;
        let player = fields.parsed("player", "a player, see `outflank players`", |text| {
            let player: PlayerSpec =
                text.parse().map_err(|error: crate::players::SpecError| error.to_string())?;
            (terms.allows)(&player)?;
            let fits = terms.bounds.map_or(Ok(()), |bounds| bounds.check(&player));
            fits.map(|()| player).map_err(|error| error.to_string())
        })?;
        let player = player.or_else(|| terms.player.cloned());
        let player = player.unwrap_or_else(|| shipped::opponent(shape, goal));
        let limits = limits(&mut fields, &player)?;
        let report_every = fields.number("report_every", 0.01..=3600.0)?;
        let max_moves = fields.whole("max_moves", 1..=1000)?;
        let priority = fields.whole("priority", -1_000_000..=1_000_000)?.unwrap_or(0);
        fields.end(&FIELDS)?;
        Ok(Query {
            id,
            shape,
            goal,
            turns,
            player,
            limits,
            report_every: report_every.map(Duration::from_secs_f64),
            max_moves: max_moves.map_or(usize::MAX, |most| most as usize),
            priority,
            game,
        })
    }

    /// The position at a ply of the game; `None` if the game has fewer moves. `G` must be the
    /// query's board.
    pub fn question<G: Geometry>(&self, turn: usize) -> Option<Question<G>> {
        let Game { discs: [mine, theirs], side, moves } = &self.game;
        let board =
            Board { mine: G::Bitboard::narrow(*mine), theirs: G::Bitboard::narrow(*theirs) };
        let start = Position::<G> { board, side: *side };
        let mut question = Question::new(start, moves.get(..turn)?.to_vec())?;
        question.count = self.max_moves;
        question.effort = self.limits.effort();
        question.interval = self.report_every.unwrap_or(question.interval);
        Some(question)
    }
}

impl Game {
    fn read<G: Geometry>(fields: &mut Fields) -> Result<Game, Problem> {
        let allowed =
            format!("{} squares in reading order (X, O and -), a blank, and X or O", G::SQUARES);
        let start = fields.parsed("position", &allowed, |given| {
            parse_obf::<G>(given.trim()).map(|line| line.position).or_else(|error| {
                let written = text::read::<G>(given).map_err(|_| error.to_string());
                written.map(|written| written.position())
            })
        })?;
        let start = start.unwrap_or(Position::start());
        let text = match fields.take("moves") {
            None => String::new(),
            Some(Value::String(text)) => text,
            Some(Value::Array(names)) => {
                let name = |value: &Value| {
                    value.as_str().map(str::to_owned).ok_or_else(|| wrong("moves", value, MOVES))
                };
                names.iter().map(name).collect::<Result<Vec<_>, _>>()?.concat()
            }
            Some(other) => return Err(wrong("moves", &other, MOVES)),
        };
        let moves = text::moves::<G>(&text, start)
            .map_err(|error| because("moves", &text, MOVES, &error.to_string()))?;
        let discs = [start.board.mine.widen(), start.board.theirs.widen()];
        Ok(Game { discs, side: start.side, moves })
    }
}

/// The plies to analyse: those of the list, all, or without the field the last one.
fn turns(fields: &mut Fields, moves: usize) -> Result<Vec<usize>, Problem> {
    let turns = match fields.take("analyse") {
        None => vec![moves],
        Some(Value::String(text)) if text == "all" => (0..=moves).collect(),
        Some(Value::Array(plies)) if !plies.is_empty() && plies.len() <= moves + 1 => {
            let ply = |value: &Value| {
                let ply = value.as_u64().filter(|&ply| ply <= moves as u64);
                let allowed = format!("plies from 0 to {moves}");
                ply.map(|ply| ply as usize).ok_or_else(|| wrong("analyse", value, &allowed))
            };
            plies.iter().map(ply).collect::<Result<_, _>>()?
        }
        Some(other) => return Err(wrong("analyse", &other, ANALYSE)),
    };
    Ok(turns)
}

fn limits(fields: &mut Fields, player: &PlayerSpec) -> Result<Limits, Problem> {
    let simulations = fields.whole("simulations", 1..=MOST_SIMULATIONS)?;
    let depth = fields.whole("depth", 1..=DEEPEST)?;
    let nodes = fields.whole("nodes", 1..=MOST_NODES)?;
    let caps = Caps {
        simulations: simulations.map(|most| most as u32),
        depth: depth.map(|most| most as u32),
        nodes: nodes.map(|most| most as u64),
    };
    let time = fields.number("time", SECONDS)?.map(Duration::from_secs_f64);
    let limits = Limits { time, caps };
    match limits.unsupported(&player.kind) {
        None => Ok(limits),
        Some((field, allowed)) => {
            let error = format!("`{player}` has no limit `{field}`; allowed: {allowed}");
            let (field, allowed) = (Some(field.into()), Some(allowed.into()));
            Err(Problem { error: error.into(), field, allowed, ..Problem::default() })
        }
    }
}
