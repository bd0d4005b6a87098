//! The time that the players of a match have used.

use serde::Serialize;

use super::matches::MatchGame;
use crate::game::Geometry;

/// The time that a player has used in its games, in seconds.
#[derive(Clone, Copy, Default, PartialEq, Debug, Serialize)]
pub struct Times {
    /// For all moves of all games.
    pub total: f64,
    /// For all moves of the game that took it longest.
    pub longest_game: f64,
    /// In iterations of alpha-beta that were not completed.
    pub unfinished: f64,
    /// In those of them that did not change the move either.
    pub wasted: f64,
}

impl Times {
    /// The times of the first and the second player of a match.
    pub fn of_match<G: Geometry>(games: &[MatchGame<G>]) -> [Times; 2] {
        let mut times = [Times::default(); 2];
        for played in games {
            let mut of_game = [0.0; 2];
            let mut position = played.opening.position;
            for choice in &played.choices {
                let player = usize::from(position.side != played.first);
                of_game[player] += choice.seconds;
                times[player].unfinished += choice.unfinished;
                times[player].wasted += choice.wasted;
                // The moves of a game that was played are legal.
                let Some(next) = position.play(choice.square) else { break };
                position = next.pass_if_forced();
            }
            for (times, seconds) in times.iter_mut().zip(of_game) {
                times.total += seconds;
                times.longest_game = times.longest_game.max(seconds);
            }
        }
        times
    }

    /// Whether the player had a time limit that ended its iterations.
    pub fn is_limited(&self) -> bool {
        self.unfinished > 0.0
    }

    /// The times in words; `None` for a player without iterations that were not completed.
    pub fn remark(&self, games: u32) -> Option<String> {
        let share = |part: f64| 100.0 * part / self.total;
        self.is_limited().then(|| {
            format!(
                "{:.2} s a game, at most {:.2} s; {:.0} % of it in iterations that were not completed, \
                 {:.0} % without a better move",
                self.total / f64::from(games.max(1)),
                self.longest_game,
                share(self.unfinished),
                share(self.wasted)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::matches::first_colour;
    use crate::arena::openings::Opening;
    use crate::game::{Colour, Position, Square6};
    use crate::players::player::Choice;

    /// A game of first legal moves. Black takes a second a move, white two, of which one is in an
    /// unfinished iteration.
    fn played(game: u32) -> MatchGame<Square6> {
        let start = Position::start();
        let (mut position, mut choices) = (start, Vec::new());
        while let Some(square) = position.board.legal().next() {
            let black = position.side == Colour::Black;
            let (seconds, unfinished) = if black { (1.0, 0.0) } else { (2.0, 1.0) };
            let wasted = unfinished / 4.0;
            choices.push(Choice { seconds, unfinished, wasted, ..Choice::plain(square) });
            position = position.play(square).expect("a legal move").pass_if_forced();
        }
        let opening = Opening { start, moves: Vec::new(), position: start };
        let (first, score) = (first_colour(game), position.black_view().difference());
        MatchGame { game, first, opening, choices, score, forfeit: None }
    }

    #[test]
    fn each_player_has_its_own_times() {
        let games = [played(0), played(1)];
        let sum = |of: fn(&Choice) -> f64| games[0].choices.iter().map(of).sum::<f64>();
        let white = 2.0 * sum(|choice| choice.unfinished);
        let black = sum(|choice| choice.seconds) - white;
        assert!(black > 0.0 && white > 0.0 && black != white);
        // Each player has each colour once.
        let wanted = Times {
            total: black + white,
            longest_game: black.max(white),
            unfinished: white / 2.0,
            wasted: white / 8.0,
        };
        assert_eq!(Times::of_match(&games), [wanted; 2]);
        let [with_black, with_white] = Times::of_match(&games[..1]);
        assert_eq!((with_black.total, with_black.remark(1)), (black, None));
        let text = format!(
            "{white:.2} s a game, at most {white:.2} s; 50 % of it in iterations that were not \
             completed, 12 % without a better move"
        );
        assert_eq!(with_white.remark(1), Some(text));
    }
}
