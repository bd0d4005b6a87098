//! Each kind of forged or damaged record is refused with the name of its fault.

use std::collections::BTreeSet;

use super::fixtures::{Table, facts, play, settings};
use super::forged_searches::{MOVES, POLICIES, VALUES};
use super::{Facts, Refusal, check};
use crate::game::record::{GameRecord, Source};
use crate::game::{Bitboard, Board, Colour, Geometry, Goal, Shape, Square, Square6, Square7};
use crate::train::game::SelfPlaySettings;

/// An honest game with a move of each kind.
pub(super) struct Base {
    pub game: GameRecord,
    pub opening: usize,
    pub played_out: usize,
    /// The number of legal moves before each move.
    pub choices: Vec<usize>,
}

impl Base {
    fn of(game: GameRecord, settings: &SelfPlaySettings) -> Base {
        let checked = check(&game, &facts(game.shape, settings)).expect("an honest game");
        let positions = game.positions::<Square6>().expect("an honest game");
        let choices = positions.iter().map(|position| position.board.legal().len()).collect();
        Base { game, opening: checked.opening, played_out: checked.played_out, choices }
    }

    /// The first move from `from` on for which this holds.
    fn find(&self, from: usize, is_wanted: impl Fn(usize) -> bool) -> Option<usize> {
        (from..self.game.moves.len()).find(|&index| is_wanted(index))
    }

    /// A searched move with a choice and no exact score.
    pub fn free(&self) -> usize {
        let wanted =
            |index: usize| self.choices[index] > 2 && self.game.moves[index].exact.is_none();
        self.find(self.opening, wanted).expect("a free move")
    }

    /// The only legal move of a position that was searched.
    pub fn forced(&self) -> Option<usize> {
        self.find(self.opening, |index| self.choices[index] == 1 && index < self.played_out)
    }

    /// A move of a search that proved its score, with several best moves.
    pub fn proven(&self) -> Option<usize> {
        self.find(self.opening, |index| {
            let played = &self.game.moves[index];
            let best = played.policy.iter().filter(|&&weight| weight == u16::MAX).count();
            index < self.played_out
                && played.exact.is_some()
                && best > 1
                && best < self.choices[index]
        })
    }

    /// A move of the solver with a choice.
    pub fn solved(&self) -> usize {
        self.find(self.played_out, |index| self.choices[index] > 1).expect("a choice")
    }

    /// Whether the game has what the forgeries need.
    fn is_rich(&self) -> bool {
        let last = self.game.moves.len() - 1;
        let end = self.game.moves[last].exact.unwrap_or(0);
        let full = self.game.moves.len() == 32;
        self.opening >= 3
            && self.forced().is_some()
            && self.proven().is_some()
            && self.find(self.played_out, |index| self.choices[index] > 1).is_some()
            && (1..30).contains(&end.abs())
            && full
    }
}

const TEXT: &str = "seed = 3\n[search]\nsimulations = 60\nsolve_empties = 8\nsolve_leaves = 8\n[selfplay]\nopening_plies = 8";

fn base(settings: &SelfPlaySettings) -> Base {
    let mut table = Table::new::<Square6>(1);
    let games = (0..2000).map(|number| play::<Square6>(settings, &mut table, [number]).remove(0));
    let mut bases = games.map(|game| Base::of(game, settings));
    bases.find(Base::is_rich).expect("a game with moves of all kinds")
}

/// The name of the refusal, what was forged, and how.
pub(super) type Forgery = (&'static str, &'static str, fn(&mut GameRecord, &Base));

const HEADERS: &[Forgery] = &[
    ("board", "a larger board", |game, _| game.shape = Shape::Square8),
    ("board", "a board with holes", |game, _| game.shape = Shape::Cross92),
    ("goal", "the other goal", |game, _| game.goal = Goal::Fewest),
    ("source", "a game of a match", |game, _| game.source = Source::Match),
    ("source", "a game of an archive", |game, _| game.source = Source::Import),
    ("resigned", "a resignation at the end", |game, _| game.resigned = true),
    ("resigned", "a resignation instead of the end", |game, _| {
        game.resigned = true;
        game.moves.truncate(20);
    }),
    ("start", "colours exchanged", |game, _| {
        std::mem::swap(&mut game.start_mine, &mut game.start_theirs);
    }),
    ("start", "white begins", |game, _| game.start_side = Colour::White),
    ("start", "an empty board", |game, _| (game.start_mine, game.start_theirs) = (0, 0)),
    ("start", "one disc more", |game, _| game.start_mine |= 1),
    ("start", "overlapping discs", |game, _| game.start_theirs = game.start_mine),
    ("start", "discs beside the board", |game, _| game.start_mine |= 1 << 127),
    ("start", "a later position", |game, _| {
        let position = game.positions::<Square6>().expect("a game")[2];
        let Board { mine, theirs } = position.board;
        (game.start_mine, game.start_theirs) = (mine.widen(), theirs.widen());
        game.moves.drain(..2);
        game.opening_moves -= 2;
    }),
    ("number-not-leased", "a number of another worker", |game, _| game.id = 10_000),
    ("number-not-leased", "the greatest number", |game, _| game.id = u64::MAX),
    ("no-such-net", "a net of the future", |game, _| game.net_version = 1),
    ("no-such-net", "the greatest net version", |game, _| game.net_version = u32::MAX),
    ("too-many-moves", "one move more", |game, _| {
        game.moves.push(game.moves[31].clone());
    }),
    ("too-many-moves", "thousands of moves", |game, _| {
        game.moves = std::iter::repeat_n(game.moves[5].clone(), 5000).collect();
    }),
];

const OPENINGS: &[Forgery] = &[
    ("opening-length", "no opening", |game, _| game.opening_moves = 0),
    ("opening-length", "a longer opening", |game, _| game.opening_moves += 1),
    ("opening-length", "a shorter opening", |game, _| game.opening_moves -= 1),
    ("opening-length", "an opening without end", |game, _| game.opening_moves = u16::MAX),
    ("opening-length", "a number with another length", |game, base| {
        game.id = other_number(base, |length| length != base.opening);
    }),
    ("opening-move", "a number with other moves", |game, base| {
        game.id = other_number(base, |length| length == base.opening);
    }),
    ("opening-move", "another first move", |game, _| {
        let start = Board::<Square6>::start();
        let mut other = start.legal().into_iter().filter(|&square| square != game.moves[0].square);
        game.moves[0].square = other.next().expect("a move");
    }),
    ("opening-move", "all moves reflected", |game, _| {
        // Reflection in the diagonal from a1 maps the start position to itself.
        for played in &mut game.moves {
            played.square = Square(played.square.0 % 6 * 6 + played.square.0 / 6);
        }
    }),
    ("opening-move", "two opening moves exchanged", |game, _| {
        let second = game.moves[2].square;
        game.moves[2].square = std::mem::replace(&mut game.moves[0].square, second);
    }),
    ("opening-policy", "an opening move with a policy", |game, base| {
        game.moves[0].policy = vec![u16::MAX; base.choices[0]];
    }),
    ("opening-value", "an opening move with a value", |game, _| game.moves[1].value = Some(0.5)),
    ("opening-value", "an opening move with NaN", |game, _| game.moves[1].value = Some(f32::NAN)),
    ("opening-exact", "an opening move with a score", |game, _| game.moves[2].exact = Some(0)),
];

/// The number of a game whose opening has another length, or the same length and other moves.
fn other_number(base: &Base, is_wanted: impl Fn(usize) -> bool) -> u64 {
    let settings = settings(Shape::Square6, TEXT);
    let mut numbers = 0..9000;
    let found = numbers.find(|&number| {
        let opening = crate::train::game::SelfPlayGame::<Square6>::opening(&settings, number);
        let moves = opening.moves.expect("a random opening");
        let own = base.game.moves[..base.opening].iter().map(|played| played.square);
        is_wanted(moves.len()) && !moves.into_iter().eq(own)
    });
    found.expect("such a number")
}

#[test]
fn forged_records_are_refused_with_their_names() {
    let settings = settings(Shape::Square6, TEXT);
    let base = base(&settings);
    let facts = facts(Shape::Square6, &settings);
    let kinds = [HEADERS, OPENINGS, MOVES, VALUES, POLICIES].concat();
    assert!(kinds.len() >= 60, "{} kinds", kinds.len());
    let mut wrong = Vec::new();
    for (name, what, forge) in kinds {
        let mut game = base.game.clone();
        forge(&mut game, &base);
        assert_ne!(game, base.game, "{what}");
        let found = check(&game, &facts).map_or_else(Refusal::name, |_| "accepted");
        if found != name {
            wrong.push(format!("{what}: {found}, not {name}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A game that ended early has room for more moves.
#[test]
fn moves_after_the_end_are_refused() {
    let settings = settings(Shape::Square6, TEXT);
    let facts = facts(Shape::Square6, &settings);
    let mut table = Table::new::<Square6>(1);
    let games = play::<Square6>(&settings, &mut table, 0..300);
    let mut game = games.into_iter().find(|game| game.moves.len() < 32).expect("an early end");
    let end = game.moves.len();
    game.moves.push(game.moves[end - 1].clone());
    assert_eq!(check(&game, &facts), Err(Refusal::MoveAfterEnd { index: end }));
}

/// Every name belongs to one kind, and every kind occurs in a test of this file.
#[test]
fn names_are_distinct_and_tested() {
    let names = BTreeSet::from_iter(Refusal::NAMES);
    assert_eq!(names.len(), Refusal::NAMES.len());
    let kinds = [HEADERS, OPENINGS, MOVES, VALUES, POLICIES].concat();
    let mut tested: BTreeSet<_> = kinds.iter().map(|(name, ..)| name).collect();
    tested.insert(&"move-after-end");
    assert_eq!(names, tested);
}

/// A record of the right form that other settings have produced.
#[test]
fn games_of_other_settings_are_refused() {
    let own = "[search]\nsimulations = 16\nsolve_empties = 8";
    let own = settings(Shape::Square7, own);
    let facts = Facts { board: Shape::Square7, ..facts(Shape::Square7, &own) };
    let names = |text: &str| -> BTreeSet<&'static str> {
        let text = text.replace("[selfplay]", "[selfplay]\nfast_simulations = 2");
        let other = settings(Square7::SHAPE, &text);
        let games = play::<Square7>(&other, &mut Table::new::<Square7>(1), 0..20);
        let names = games.iter().map(|game| check(game, &facts));
        names.map(|found| found.map_or_else(Refusal::name, |_| "accepted")).collect()
    };
    let same = "[search]\nsimulations = 5\nsolve_empties = 8\n[selfplay]\n";
    assert_eq!(names(same), BTreeSet::from(["accepted"]), "simulations cannot be seen");
    assert!(
        names("seed = 9\n[search]\nsimulations = 8\nsolve_empties = 8\n[selfplay]")
            .contains("opening-move")
    );
    assert!(names("[search]\nsimulations = 8\nsolve_empties = 6\n[selfplay]").contains("no-exact"));
    let fast = format!("{same}full_share = 0.5");
    assert!(names(&fast).contains("no-policy"));
    let longer = format!("{same}opening_plies = 20");
    assert!(names(&longer).contains("opening-length"));
}
