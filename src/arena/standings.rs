//! What a ladder's games amount to: who met whom with what result, and every player's rating.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::labels::Labels;
use super::ladder::{Ladder, Origin};
use super::openings::canonical_game;
use super::rating::{Encounter, Rating, ratings};
use super::tally::WinDrawLoss;
use crate::game::{Geometry, Goal, Position, Shape};

/// A player's place.
#[derive(Clone, PartialEq, Debug)]
pub struct Standing {
    /// The player's name in the ladder: its identity.
    pub name: String,
    /// What it is called in tables: short, and no other player's label there.
    pub label: String,
    /// Its rating.
    pub rating: Rating,
    /// All its games together.
    pub total: WinDrawLoss,
    /// Its games against those that it has met, by rising place in [`Standings::players`].
    pub against: Vec<(usize, WinDrawLoss)>,
    /// Where in a training run it comes from.
    pub origin: Option<Origin>,
}

/// All players of a board and goal, best first.
#[derive(Clone, PartialEq, Debug)]
pub struct Standings {
    /// The board.
    pub board: Shape,
    /// The goal.
    pub goal: Goal,
    /// The player whose rating is 0; without one, the mean of all is 0.
    pub zero: Option<String>,
    /// Whether the errors are those of the difference to `zero`, and not to the mean of all.
    pub anchored: bool,
    /// Best first.
    pub players: Vec<Standing>,
    /// Games that repeated an earlier one between the same players and count no more.
    pub repeated: u32,
    /// Games that do not follow the rules and do not count.
    pub broken: u32,
}

/// The most players whose games against each other are shown as columns.
pub const MOST_COLUMNS: usize = 300;

/// Whose rating is 0 unless the user names another player: the first of these that has played.
///
/// The greedy player is the same everywhere, takes a game off most players that are worth
/// rating in their beginnings, and so ties the scales of different ladders together.
pub const ZEROES: [&str; 2] = ["greedy", "random"];

/// Counts a ladder's games on one board and goal.
///
/// If `anchor` names a player, its rating is 0 and errors are those of the difference to it.
/// Otherwise errors are against the mean of all, and 0 is the rating of one of [`ZEROES`]. Where
/// none of them has played it is that of the first player that is no net of a run, if there are
/// such nets too, since the mean moves with each of them; else it is the mean.
pub fn standings<G: Geometry>(ladder: &Ladder, goal: Goal, anchor: Option<&str>) -> Standings {
    let mut count = Count::<G>::default();
    for line in ladder.games_on(G::SHAPE, goal) {
        match line.played::<G>(line.first()) {
            Some(played) => count.add(&line.black, &line.white, &played),
            None => count.broken += 1,
        }
    }
    count.standings(ladder, goal, anchor)
}

impl Standings {
    /// The label of the player whose rating is 0, or `the mean of all`.
    pub fn zero_label(&self) -> &str {
        let name = self.zero.as_deref();
        let zero = self.players.iter().find(|player| Some(player.name.as_str()) == name);
        zero.map_or("the mean of all", |player| &player.label)
    }
}

/// A game by its players and moves: what it may not repeat.
type Identity<G> = (usize, usize, Position<G>, Vec<crate::game::Square>);

struct Count<G: Geometry> {
    names: Vec<String>,
    places: HashMap<String, usize>,
    results: HashMap<(usize, usize), WinDrawLoss>,
    seen: HashSet<Identity<G>>,
    repeated: u32,
    broken: u32,
}

impl<G: Geometry> Default for Count<G> {
    fn default() -> Self {
        Count {
            names: Vec::new(),
            places: HashMap::new(),
            results: HashMap::new(),
            seen: HashSet::new(),
            repeated: 0,
            broken: 0,
        }
    }
}

impl<G: Geometry> Count<G> {
    fn place(&mut self, name: &str) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        self.names.push(name.into());
        self.places.insert(name.into(), self.names.len() - 1);
        self.names.len() - 1
    }

    fn add(&mut self, black: &str, white: &str, played: &super::matches::Played<G>) {
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

    /// The games of each player against those that it has met, with both colours.
    fn met(&self) -> Vec<BTreeMap<usize, WinDrawLoss>> {
        let mut met = vec![BTreeMap::<usize, WinDrawLoss>::new(); self.names.len()];
        for (&(black, white), &result) in &self.results {
            if black != white {
                met[black].entry(white).or_default().join(result);
                met[white].entry(black).or_default().join(result.turned());
            }
        }
        met
    }

    fn standings(self, ladder: &Ladder, goal: Goal, anchor: Option<&str>) -> Standings {
        let place_of = |name: &str| self.places.get(name).copied();
        let anchor = anchor.and_then(place_of);
        let zero = anchor.or_else(|| ZEROES.into_iter().find_map(place_of)).or_else(|| {
            let fixed = |name: &String| ladder.origin(name).is_none();
            self.names.iter().position(fixed).filter(|_| !self.names.iter().all(fixed))
        });
        let met = self.met();
        let found = ratings(self.names.len(), &encounters(&met), anchor);
        let shift = zero.map_or(0.0, |place| found[place].elo);
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_by(|&a, &b| found[b].elo.total_cmp(&found[a].elo));
        let mut rank = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &player)| rank[player] = place);
        let labels = Labels::new(self.names.iter().map(|name| (name.as_str(), ladder.label(name))));
        let standing = |&place: &usize| {
            let name = &self.names[place];
            let mut total = WinDrawLoss::default();
            met[place].values().for_each(|&result| total.join(result));
            let mut against: Vec<_> =
                met[place].iter().map(|(&other, &result)| (rank[other], result)).collect();
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

/// What the ratings are found from: each pair that has met once.
fn encounters(met: &[BTreeMap<usize, WinDrawLoss>]) -> Vec<Encounter> {
    let pairs = met.iter().enumerate().flat_map(|(first, others)| {
        let later = others.range(first + 1..);
        later.map(move |(&second, met)| {
            let (points, games) = (met.points(), f64::from(met.games()));
            Encounter { first, second, points, games }
        })
    });
    pairs.collect()
}
