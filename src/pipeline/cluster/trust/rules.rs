//! Whether a record is one that self-play of this run can produce.
//!
//! The checks need no net and no search. They use what is true of every game of
//! [`SelfPlayGame`]:
//!
//! - The length of the opening follows from the game's number. So do its moves, unless the net
//!   chooses them. Opening moves have no search results.
//! - Then every move is searched until few squares are empty, and the solver plays the rest.
//! - A search has a policy if it is a full one and there is a choice. The greatest weight of a
//!   policy is 65,535, or all are 0.
//! - If a search proves an exact score, its value is the result of that score, its policy has the
//!   moves that are proven to reach it, all with the same weight, and one of them is played. So the
//!   exact score of the next position is the same.
//! - A move after that which was not solved can only worsen the score of the side that made it.
//! - The solver plays perfectly: all of its positions have the same exact score, and the game ends
//!   with it. Its policies have the whole weight on the played move.

use super::refusal::Refusal;
use crate::game::record::{GameRecord, MoveRecord, Source};
use crate::game::{Bitboard, Colour, Geometry, Position, Shape, SquareSet};
use crate::train::game::{SelfPlayGame, SelfPlaySettings};

/// What a run knows of the games that a worker may play.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// The board of the run.
    pub board: Shape,
    /// The settings of its self-play.
    pub settings: &'a SelfPlaySettings,
    /// Whether the worker may use a game number.
    pub is_leased: &'a dyn Fn(u64) -> bool,
    /// Whether the run has a net of this version.
    pub has_net: &'a dyn Fn(u32) -> bool,
}

/// The parts of a game that has passed the checks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checked {
    /// The number of opening moves.
    pub opening: usize,
    /// The index of the first move that the solver played; the number of moves if there is none.
    pub played_out: usize,
    /// Moves with an exact score.
    pub exact: usize,
    /// Moves with a policy.
    pub policies: usize,
}

/// Checks that self-play with these settings can produce `record`. Takes microseconds.
///
/// # Errors
///
/// The first reason why it cannot.
pub fn check(record: &GameRecord, facts: &Facts<'_>) -> Result<Checked, Refusal> {
    let (found, wanted) = (record.shape, facts.board);
    if found != wanted {
        return Err(Refusal::Board { found, wanted });
    }
    let (found, wanted) = (record.goal, facts.settings.goal);
    if found != wanted {
        return Err(Refusal::Goal { found, wanted });
    }
    if record.source != Source::SelfPlay {
        return Err(Refusal::Source { found: record.source });
    }
    if record.resigned {
        return Err(Refusal::Resigned);
    }
    if !(facts.is_leased)(record.id) {
        return Err(Refusal::NumberNotLeased { number: record.id });
    }
    if !(facts.has_net)(record.net_version) {
        return Err(Refusal::NoSuchNet { version: record.net_version });
    }
    dispatch!(record.shape, G => check_moves::<G>(record, facts.settings))
}

fn check_moves<G: Geometry>(
    record: &GameRecord,
    settings: &SelfPlaySettings,
) -> Result<Checked, Refusal> {
    let start = Position::<G>::start();
    let discs = (start.board.mine.widen(), start.board.theirs.widen());
    if (record.start_mine, record.start_theirs) != discs || record.start_side != start.side {
        return Err(Refusal::Start);
    }
    let (found, most) = (record.moves.len(), start.board.empties());
    if found > most as usize {
        return Err(Refusal::TooManyMoves { found, most });
    }
    let opening = check_opening::<G>(record, settings)?;
    let mut position = start;
    let mut bounds = Bounds::new::<G>();
    let mut checked = Checked { opening, played_out: found, exact: 0, policies: 0 };
    for (index, played) in record.moves.iter().enumerate() {
        let legal = position.board.legal();
        if legal.is_empty() {
            return Err(Refusal::MoveAfterEnd { index });
        }
        if played.square.index() >= G::SQUARES || !legal.contains(played.square) {
            return Err(Refusal::IllegalMove { index });
        }
        if index >= opening {
            let empties = position.board.empties();
            let is_solved = empties <= settings.search.solve_empties;
            let searched = Searched { index, played, legal, is_solved };
            searched.check(settings, empties)?;
            bounds.follow(index, played.exact, position.side)?;
            checked.exact += usize::from(played.exact.is_some());
            checked.policies += usize::from(!played.policy.is_empty());
            if is_solved {
                checked.played_out = checked.played_out.min(index);
            }
        }
        let board = position.board.play_unchecked(played.square);
        position = Position { board, side: !position.side }.pass_if_forced();
    }
    check_end(record, position, bounds)?;
    Ok(checked)
}

fn check_end<G: Geometry>(
    record: &GameRecord,
    last: Position<G>,
    Bounds { least, most, .. }: Bounds,
) -> Result<(), Refusal> {
    if !last.board.legal().is_empty() {
        return Err(Refusal::Unfinished);
    }
    let (found, wanted) = (record.score, last.black_view().final_score(record.goal) as i16);
    if found != wanted {
        return Err(Refusal::Score { found, wanted });
    }
    if !(least..=most).contains(&found) {
        return Err(Refusal::ExactEnd { found, least, most });
    }
    Ok(())
}

/// Checks the opening moves, except that they are legal. Returns how many there are.
fn check_opening<G: Geometry>(
    record: &GameRecord,
    settings: &SelfPlaySettings,
) -> Result<usize, Refusal> {
    let drawn = SelfPlayGame::<G>::opening(settings, record.id);
    // A game may end in its opening. That it did end is checked with the last position.
    let wanted = drawn.length.min(record.moves.len() as u32);
    let found = record.opening_moves;
    if u32::from(found) != wanted {
        return Err(Refusal::OpeningLength { found, wanted: drawn.length });
    }
    let opening = &record.moves[..usize::from(found)];
    for (index, played) in opening.iter().enumerate() {
        let wanted = drawn.moves.as_ref().map(|moves| moves.get(index));
        if wanted.is_some_and(|wanted| wanted != Some(&played.square)) {
            return Err(Refusal::OpeningMove { index });
        }
        if !played.policy.is_empty() {
            return Err(Refusal::OpeningPolicy { index });
        }
        if played.value.is_some() {
            return Err(Refusal::OpeningValue { index });
        }
        if played.exact.is_some() {
            return Err(Refusal::OpeningExact { index });
        }
    }
    Ok(opening.len())
}

/// A move after the opening.
struct Searched<'a, G: Geometry> {
    index: usize,
    played: &'a MoveRecord,
    legal: SquareSet<G>,
    /// Whether the solver played it.
    is_solved: bool,
}

impl<G: Geometry> Searched<'_, G> {
    fn check(&self, settings: &SelfPlaySettings, empties: u32) -> Result<(), Refusal> {
        let (index, played) = (self.index, self.played);
        let Some(value) = played.value else { return Err(Refusal::NoValue { index }) };
        // NaN is in no range.
        if !(-1.0..=1.0).contains(&value) {
            return Err(Refusal::Value { index });
        }
        if self.is_solved && played.exact.is_none() {
            return Err(Refusal::NoExact { index, empties });
        }
        if let Some(exact) = played.exact {
            self.check_exact(exact, value)?;
        }
        self.check_policy(settings)
    }

    fn check_exact(&self, exact: i8, found: f32) -> Result<(), Refusal> {
        let (index, squares) = (self.index, G::SQUARES as i16);
        // The loser's discs count twice, so only a draw can differ in parity from the squares.
        let is_possible = exact == 0 || (i16::from(exact) - squares) % 2 == 0;
        if i16::from(exact).abs() > squares || !is_possible {
            return Err(Refusal::ExactRange { index, found: exact });
        }
        if found != f32::from(exact.signum()) {
            return Err(Refusal::ExactValue { index, found, exact });
        }
        Ok(())
    }

    fn check_policy(&self, settings: &SelfPlaySettings) -> Result<(), Refusal> {
        let (index, policy) = (self.index, &self.played.policy);
        let (found, wanted) = (policy.len(), self.legal.len());
        match (found, wanted) {
            (0, 1) => return Ok(()),
            (_, 1) => return Err(Refusal::ForcedPolicy { index }),
            (0, _) if self.is_solved || settings.selfplay.full_share >= 1.0 => {
                return Err(Refusal::NoPolicy { index });
            }
            (0, _) => return Ok(()),
            _ if found != wanted => return Err(Refusal::PolicyLength { index, found, wanted }),
            _ => {}
        }
        let greatest = policy.iter().copied().max().unwrap_or(0);
        // A search with few simulations may give no move a weight. Such a policy trains nothing.
        let is_empty = greatest == 0 && self.played.exact.is_none();
        if greatest != u16::MAX && !is_empty {
            return Err(Refusal::PolicyScale { index, found: greatest });
        }
        if self.played.exact.is_some() {
            let own = self.legal.into_iter().position(|square| square == self.played.square);
            let has_played = own.is_some_and(|place| policy[place] == u16::MAX);
            let best = policy.iter().filter(|&&weight| weight == u16::MAX).count();
            let rest = policy.iter().filter(|&&weight| weight == 0).count();
            if !has_played || best + rest != found || self.is_solved && best != 1 {
                return Err(Refusal::ExactPolicy { index });
            }
        }
        Ok(())
    }
}

/// The bounds on a position's exact score for black that follow from earlier exact scores.
#[derive(Clone, Copy)]
struct Bounds {
    least: i16,
    most: i16,
    squares: i16,
}

impl Bounds {
    fn new<G: Geometry>() -> Bounds {
        let squares = G::SQUARES as i16;
        Bounds { least: -squares, most: squares, squares }
    }

    /// Checks the exact score of a position against the bounds, and follows the move made there.
    fn follow(&mut self, index: usize, exact: Option<i8>, side: Colour) -> Result<(), Refusal> {
        let Some(exact) = exact else {
            // The side may make a mistake, which is good for the other one.
            match side {
                Colour::Black => self.least = -self.squares,
                Colour::White => self.most = self.squares,
            }
            return Ok(());
        };
        let found = match side {
            Colour::Black => i16::from(exact),
            Colour::White => -i16::from(exact),
        };
        let Bounds { least, most, .. } = *self;
        if !(least..=most).contains(&found) {
            return Err(Refusal::ExactChain { index, found, least, most });
        }
        (self.least, self.most) = (found, found);
        Ok(())
    }
}
