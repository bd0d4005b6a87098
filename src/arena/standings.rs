//! What a ladder's games amount to: who met whom with what result, and everybody's rating.

use std::collections::{HashMap, HashSet};

use super::ladder::{Ladder, PlayerLine};
use super::openings::canonical_game;
use super::rating::{Encounter, Rating, ratings};
use super::tally::Outcomes;
use crate::game::{Geometry, Goal, Position, Shape};

/// A player's place.
#[derive(Clone, PartialEq, Debug)]
pub struct Standing {
    /// The player's name.
    pub name: String,
    /// Its rating.
    pub rating: Rating,
    /// All its games together.
    pub total: Outcomes,
    /// Its games against each player, by place in [`Standings::players`].
    pub against: Vec<Outcomes>,
    /// Where in a training run it comes from.
    pub origin: Option<PlayerLine>,
}

/// All players of a board and goal, best first.
#[derive(Clone, PartialEq, Debug)]
pub struct Standings {
    /// The board.
    pub board: Shape,
    /// The goal.
    pub goal: Goal,
    /// Whose rating is 0; the mean of all is, if it is nobody's.
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

/// Whose rating is 0 unless somebody else is asked for: the first of these who has played.
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
    for line in ladder.all_games() {
        if line.board == G::SHAPE.name() && line.goal == goal.name() {
            match line.played::<G>(line.first()) {
                Some(played) => count.add(&line.black, &line.white, &played),
                None => count.broken += 1,
            }
        }
    }
    count.standings(goal, anchor, |name| ladder.origin(name).cloned())
}

/// A game by its players and moves: what it may not repeat.
type Identity<G> = (usize, usize, Position<G>, Vec<crate::game::Square>);

struct Count<G: Geometry> {
    names: Vec<String>,
    places: HashMap<String, usize>,
    results: HashMap<(usize, usize), Outcomes>,
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

    /// The games of one player against another, with both colours.
    fn met(&self, one: usize, other: usize) -> Outcomes {
        let as_black = self.results.get(&(one, other)).copied().unwrap_or_default();
        let as_white = self.results.get(&(other, one)).copied().unwrap_or_default();
        Outcomes {
            wins: as_black.wins + as_white.losses,
            draws: as_black.draws + as_white.draws,
            losses: as_black.losses + as_white.wins,
        }
    }

    fn encounters(&self) -> Vec<Encounter> {
        let count = self.names.len();
        let pairs =
            (0..count).flat_map(|first| (first + 1..count).map(move |second| (first, second)));
        pairs
            .map(|(first, second)| (first, second, self.met(first, second)))
            .filter(|(_, _, met)| met.games() > 0)
            .map(|(first, second, met)| {
                let (points, games) = (met.points(), f64::from(met.games()));
                Encounter { first, second, points, games }
            })
            .collect()
    }

    fn standings(
        self,
        goal: Goal,
        anchor: Option<&str>,
        origin: impl Fn(&str) -> Option<PlayerLine>,
    ) -> Standings {
        let place_of = |name: &str| self.places.get(name).copied();
        let anchor = anchor.and_then(place_of);
        let zero = anchor.or_else(|| ZEROES.into_iter().find_map(place_of)).or_else(|| {
            let fixed = |name: &String| origin(name).is_none();
            self.names.iter().position(fixed).filter(|_| !self.names.iter().all(fixed))
        });
        let found = ratings(self.names.len(), &self.encounters(), anchor);
        let shift = zero.map_or(0.0, |place| found[place].elo);
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_by(|&a, &b| found[b].elo.total_cmp(&found[a].elo));
        let standing = |&place: &usize| {
            let against = |&other: &usize| match other == place {
                true => Outcomes::default(),
                false => self.met(place, other),
            };
            let against: Vec<_> = order.iter().map(against).collect();
            let total = against.iter().fold(Outcomes::default(), |sum, met| Outcomes {
                wins: sum.wins + met.wins,
                draws: sum.draws + met.draws,
                losses: sum.losses + met.losses,
            });
            Standing {
                name: self.names[place].clone(),
                rating: Rating { elo: found[place].elo - shift, ..found[place] },
                total,
                against,
                origin: origin(&self.names[place]),
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
