//! The standings of a ladder: the results between all players, and their ratings.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::ladder::Ladder;
use super::openings::canonical_game;
use super::rating::{PairResult, Rating, ratings};
use super::tally::WinDrawLoss;
use crate::game::{Geometry, Goal, Position, Shape};
use crate::players::contestant::Origin;
use crate::players::labels::Labels;

/// One player of the standings.
#[derive(Clone, PartialEq, Debug)]
pub struct Standing {
    /// The player's identity.
    pub name: String,
    /// Its label: a short name that no other player in the standings has.
    pub label: String,
    /// Its rating.
    pub rating: Rating,
    /// All of its games.
    pub total: WinDrawLoss,
    /// Its games against each opponent, by rising index in [`Standings::players`].
    pub against: Vec<(usize, WinDrawLoss)>,
    /// The run and step of its net, if it has one.
    pub origin: Option<Origin>,
}

/// The standings on one board and for one goal.
#[derive(Clone, PartialEq, Debug)]
pub struct Standings {
    /// The board.
    pub board: Shape,
    /// The goal.
    pub goal: Goal,
    /// The identity of the player with rating 0. `None`: the mean of all players is 0.
    pub zero: Option<String>,
    /// Whether errors are those of the difference to `zero`. Otherwise they are those of the
    /// difference to the mean of all players.
    pub anchored: bool,
    /// All players, best first.
    pub players: Vec<Standing>,
    /// Games that repeat an earlier game of the same players. They do not count.
    pub repeated: u32,
    /// Games that break the rules. They do not count.
    pub broken: u32,
}

/// The most players for which tables have a column for each opponent.
pub const MOST_COLUMNS: usize = 300;

/// The default player with rating 0: the first of these that has played.
///
/// The greedy player is the same in every ladder. It wins some games against most players early in
/// their training, and so connects the scales of different ladders.
pub const DEFAULT_ZEROS: [&str; 2] = ["greedy", "random"];

/// The standings of a ladder on one board and for one goal.
///
/// If `anchor` is the identity of a player, that player has rating 0 and errors are those of the
/// difference to it. Otherwise errors are those of the difference to the mean of all players, and
/// one of [`DEFAULT_ZEROS`] has rating 0. If none of them has played, there are two cases. If the
/// ladder has nets of a run, the first player that is not such a net has rating 0, since each new
/// net would move the mean. Otherwise the mean is 0.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::sync::atomic::AtomicBool;
///
/// use outflank::arena::ladder::{Ladder, MatchTerms};
/// use outflank::arena::matches::{self, MatchSettings};
/// use outflank::arena::openings::OpeningSource;
/// use outflank::arena::standings::standings;
/// use outflank::game::{Goal, Square6};
/// use outflank::players::contestant::PlayerContext;
/// use outflank::players::open;
///
/// let context = PlayerContext::new(Goal::Most);
/// let greedy = open::contestant::<Square6>(&"greedy".parse()?, &context)?;
/// let random = open::contestant::<Square6>(&"random".parse()?, &context)?;
/// let folder = tempfile::tempdir()?;
/// let mut ladder = Ladder::open(&folder.path().join("ladder.jsonl"))?;
/// let [board, goal, source] = ["6x6", "most", "random:4"].map(String::from);
/// let (first, second) = (greedy.name.clone(), random.name.clone());
/// let line = ladder.begin_match(MatchTerms { first, second, board, goal, openings: source }, 1)?;
/// let openings = OpeningSource::Random { plies: 4 }.book(10, 1)?.openings;
/// let settings = MatchSettings { goal: Goal::Most, games: 20, seed: 1, threads: 1, sprt: None };
/// let (stop, all) = (AtomicBool::new(false), &mut |_: &_| ControlFlow::Continue(()));
/// let result = matches::play([&greedy, &random], &openings, &settings, Vec::new(), &stop, all)?;
/// for played in &result.games {
///     ladder.add_game(&line, played)?;
/// }
/// let table = standings::<Square6>(&ladder, Goal::Most, None);
/// assert_eq!((table.players.len(), table.zero.as_deref()), (2, Some("greedy")));
/// println!("{}", table.text());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn standings<G: Geometry>(ladder: &Ladder, goal: Goal, anchor: Option<&str>) -> Standings {
    let mut counter = Counter::<G>::default();
    for line in ladder.games_on(G::SHAPE, goal) {
        match line.played::<G>(line.first()) {
            Some(played) => counter.add(&line.black, &line.white, &played),
            None => counter.broken += 1,
        }
    }
    counter.standings(ladder, goal, anchor)
}

impl Standings {
    /// The label of the player with rating 0, or `the mean of all`.
    pub fn zero_label(&self) -> &str {
        let name = self.zero.as_deref();
        let zero = self.players.iter().find(|player| Some(player.name.as_str()) == name);
        zero.map_or("the mean of all", |player| &player.label)
    }
}

/// Both players, the start and the moves: equal for a game and its repetition.
type GameKey<G> = (usize, usize, Position<G>, Vec<crate::game::Square>);

/// Counts games. Players are numbered in the order in which they appear.
struct Counter<G: Geometry> {
    names: Vec<String>,
    places: HashMap<String, usize>,
    results: HashMap<(usize, usize), WinDrawLoss>,
    seen: HashSet<GameKey<G>>,
    repeated: u32,
    broken: u32,
}

impl<G: Geometry> Default for Counter<G> {
    fn default() -> Self {
        Counter {
            names: Vec::new(),
            places: HashMap::new(),
            results: HashMap::new(),
            seen: HashSet::new(),
            repeated: 0,
            broken: 0,
        }
    }
}

impl<G: Geometry> Counter<G> {
    fn place(&mut self, name: &str) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        self.names.push(name.into());
        self.places.insert(name.into(), self.names.len() - 1);
        self.names.len() - 1
    }

    fn add(&mut self, black: &str, white: &str, played: &super::matches::MatchGame<G>) {
        let (black, white) = (self.place(black), self.place(white));
        if played.forfeit.is_none() {
            let start = played.opening.start;
            let moves: Vec<_> = played.moves().collect();
            let (board, moves) = canonical_game(start.board, &moves);
            let start = Position { board, side: start.side };
            if !self.seen.insert((black, white, start, moves)) {
                self.repeated += 1;
                return;
            }
        }
        self.results.entry((black, white)).or_default().add(played.score);
    }

    /// For each player its games against each opponent, with both colours.
    fn opponents(&self) -> Vec<BTreeMap<usize, WinDrawLoss>> {
        let mut opponents = vec![BTreeMap::<usize, WinDrawLoss>::new(); self.names.len()];
        for (&(black, white), &result) in &self.results {
            if black != white {
                opponents[black].entry(white).or_default().merge(result);
                opponents[white].entry(black).or_default().merge(result.reversed());
            }
        }
        opponents
    }

    fn standings(self, ladder: &Ladder, goal: Goal, anchor: Option<&str>) -> Standings {
        let place_of = |name: &str| self.places.get(name).copied();
        let anchor = anchor.and_then(place_of);
        let zero = anchor.or_else(|| DEFAULT_ZEROS.into_iter().find_map(place_of)).or_else(|| {
            let no_net = |name: &String| ladder.origin(name).is_none();
            self.names.iter().position(no_net).filter(|_| !self.names.iter().all(no_net))
        });
        let opponents = self.opponents();
        let found = ratings(self.names.len(), &pair_results(&opponents), anchor);
        let shift = zero.map_or(0.0, |place| found[place].elo);
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_by(|&a, &b| found[b].elo.total_cmp(&found[a].elo));
        let mut rank = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &player)| rank[player] = place);
        let labels = Labels::new(self.names.iter().map(|name| (name.as_str(), ladder.label(name))));
        let standing = |&place: &usize| {
            let name = &self.names[place];
            let mut total = WinDrawLoss::default();
            opponents[place].values().for_each(|&result| total.merge(result));
            let mut against: Vec<_> =
                opponents[place].iter().map(|(&other, &result)| (rank[other], result)).collect();
            against.sort_by_key(|&(place, _)| place);
            Standing {
                name: name.clone(),
                label: labels.of(name).into(),
                rating: Rating { elo: found[place].elo - shift, ..found[place] },
                total,
                against,
                origin: ladder.origin(name).cloned(),
            }
        };
        Standings {
            board: G::SHAPE,
            goal,
            zero: zero.map(|place| self.names[place].clone()),
            anchored: anchor.is_some(),
            players: order.iter().map(standing).collect(),
            repeated: self.repeated,
            broken: self.broken,
        }
    }
}

/// The results of all pairs that have met, each pair once.
fn pair_results(opponents: &[BTreeMap<usize, WinDrawLoss>]) -> Vec<PairResult> {
    let pairs = opponents.iter().enumerate().flat_map(|(first, others)| {
        let later = others.range(first + 1..);
        later.map(move |(&second, met)| {
            let (points, games) = (met.points(), f64::from(met.games()));
            PairResult { first, second, points, games }
        })
    });
    pairs.collect()
}
