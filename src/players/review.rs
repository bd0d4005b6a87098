//! A game judged by a player's values: what each move lost, and which moves are mistakes.

use super::control::Analysis;
use super::player::Bound;
use crate::game::{Colour, Geometry, Goal, Position};

/// A move that loses at least this many discs by estimates is a mistake. By exact scores every loss
/// is one.
const MISTAKE_DISCS: f32 = 4.0;
/// Without scores: a move that lowers the chance to win by at least this much is a mistake.
const MISTAKE_CHANCE: f32 = 0.1;

/// The value of a position for black.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Value {
    /// The final disc difference.
    pub score: Option<f32>,
    /// The chance to win, from 0 to 1.
    pub win_chance: Option<f32>,
    /// Whether the score is proven.
    pub is_exact: bool,
}

impl Value {
    /// The value that an analysis gives a position: that of its best move, or the final score.
    ///
    /// ```
    /// use outflank::game::{Goal, Square6, notation};
    /// use outflank::players::control::Analysis;
    /// use outflank::players::open;
    /// use outflank::players::player::Turn;
    /// use outflank::players::review::{Loss, Value};
    ///
    /// let line = "OOO***-O*-*-O*O***OOO*****O*O-*-O-O- O";
    /// let before = notation::parse_obf::<Square6>(line)?.position;
    /// let spec = "alphabeta:depth=1,solve_empties=10".parse()?;
    /// let mut perfect = open::player::<Square6>(&spec, Goal::Most)?;
    /// let mut value = |position| {
    ///     let hints = perfect.hints(&Turn::at(position), 1)?;
    ///     let analysis = Analysis { hints, ..Analysis::default() };
    ///     Ok::<_, Box<dyn std::error::Error>>(Value::of(position, &analysis, Goal::Most))
    /// };
    /// // White plays f2, which gets 4 discs. The best move gets 8.
    /// let f2 = notation::parse_square::<Square6>("f2").expect("a square");
    /// let after = before.play(f2).expect("a legal move").pass_if_forced();
    /// let loss = Loss::between(before.side, value(before)?, value(after)?);
    /// assert_eq!((loss.discs, loss.is_exact), (Some(4.0), true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of<G: Geometry>(position: Position<G>, analysis: &Analysis, goal: Goal) -> Value {
        let is_black = position.side == Colour::Black;
        if position.board.is_over() {
            let score = position.black_view().final_score(goal);
            let win_chance = Some((score.signum() + 1) as f32 / 2.0);
            return Value { score: Some(score as f32), win_chance, is_exact: true };
        }
        let best = analysis.hints.first();
        let score = best.and_then(|best| best.score);
        let chance = best.and_then(|best| best.win_chance);
        Value {
            // `0.0 - s` and not `-s`: an even score must not be -0.
            score: score.map(|score| if is_black { score } else { 0.0 - score }),
            win_chance: chance.map(|chance| if is_black { chance } else { 1.0 - chance }),
            is_exact: best.is_some_and(|best| best.bound == Bound::Exact),
        }
    }
}

/// What a move lost, at least 0.
///
/// ```
/// use outflank::game::Colour;
/// use outflank::players::review::{Loss, Value};
///
/// let value = |score| Value { score: Some(score), win_chance: None, is_exact: false };
/// // Black was 6 discs ahead, and is 1 ahead after its move.
/// let loss = Loss::between(Colour::Black, value(6.0), value(1.0));
/// assert_eq!((loss.discs, loss.is_mistake()), (Some(5.0), true));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Loss {
    /// In discs, if both positions have scores.
    pub discs: Option<f32>,
    /// In the chance to win, from 0 to 1, if both positions have chances.
    pub win_chance: Option<f32>,
    /// Whether the loss in discs is proven.
    pub is_exact: bool,
}

impl Loss {
    /// The loss of `mover` by a move between two positions with these values.
    pub fn between(mover: Colour, before: Value, after: Value) -> Loss {
        let sign = if mover == Colour::Black { 1.0 } else { -1.0 };
        let loss =
            |before: Option<f32>, after: Option<f32>| Some((sign * (before? - after?)).max(0.0));
        Loss {
            discs: loss(before.score, after.score),
            win_chance: loss(before.win_chance, after.win_chance),
            is_exact: before.is_exact && after.is_exact,
        }
    }

    /// Whether the move is a mistake.
    pub fn is_mistake(self) -> bool {
        match (self.discs, self.win_chance) {
            (Some(discs), _) if self.is_exact => discs > 0.0,
            (Some(discs), _) => discs >= MISTAKE_DISCS,
            (None, Some(chance)) => chance >= MISTAKE_CHANCE,
            (None, None) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Square6;
    use crate::players::open;
    use crate::players::player::{Player, Turn};

    fn value(score: f32, is_exact: bool) -> Value {
        Value { score: Some(score), win_chance: Some(0.5 + score / 128.0), is_exact }
    }

    #[test]
    fn a_loss_is_the_drop_of_the_mover_s_value_and_never_a_gain() {
        let (before, after) = (value(6.0, false), value(1.0, false));
        let black = Loss::between(Colour::Black, before, after);
        assert_eq!((black.discs, black.is_mistake()), (Some(5.0), true));
        let white = Loss::between(Colour::White, before, after);
        assert_eq!(
            (white.discs, white.win_chance, white.is_mistake()),
            (Some(0.0), Some(0.0), false)
        );
        let small = Loss::between(Colour::White, value(-2.0, false), value(0.0, false));
        assert!(!small.is_mistake(), "an estimate is not that good");
        assert!(Loss::between(Colour::White, value(-2.0, true), value(0.0, true)).is_mistake());
        let chance = |chance| Value { score: None, win_chance: Some(chance), is_exact: false };
        assert!(Loss::between(Colour::Black, chance(0.7), chance(0.5)).is_mistake());
        assert!(!Loss::between(Colour::Black, chance(0.7), chance(0.65)).is_mistake());
    }

    /// In a solved ending the losses of each side explain the final score.
    #[test]
    fn the_losses_of_an_ending_add_up() {
        let spec = "alphabeta:depth=1,solve_empties=30".parse().expect("a player");
        let mut perfect = open::player::<Square6>(&spec, Goal::Most).expect("a player");
        let mut random =
            open::player::<Square6>(&"random".parse().expect("one"), Goal::Most).expect("a player");
        let mut position = Position::<Square6>::start();
        let play = |player: &mut dyn Player<Square6>, position: Position<Square6>| {
            let choice = player.choose(&[Turn::at(position)]).remove(0).expect("a move");
            position.play(choice.square).expect("legal").pass_if_forced()
        };
        while position.board.empties() > 9 && !position.board.is_over() {
            position = play(random.as_mut(), position);
        }
        let mut judge = |position: Position<Square6>| {
            let hints = match position.board.is_over() {
                true => Vec::new(),
                false => perfect.hints(&Turn::at(position), 1).expect("hints"),
            };
            Value::of(position, &Analysis { hints, ..Analysis::default() }, Goal::Most)
        };
        let first = judge(position);
        let (mut before, mut lost) = (first, [0.0, 0.0]);
        while !position.board.is_over() {
            let mover = position.side;
            position = play(random.as_mut(), position);
            let after = judge(position);
            let loss = Loss::between(mover, before, after);
            assert!(loss.is_exact);
            lost[usize::from(mover == Colour::White)] += loss.discs.expect("discs");
            before = after;
        }
        let last = position.black_view().final_score(Goal::Most) as f32;
        assert_eq!(first.score.expect("a score") - lost[0] + lost[1], last);
        assert!(lost[0] + lost[1] > 0.0, "random moves lose discs");
    }
}
