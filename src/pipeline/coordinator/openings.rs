//! What the newest net thinks of a few openings: curves that show how its opinions change.

use super::Coordinator;
use crate::game::{Colour, Geometry, Position, Shape, notation};
use crate::players::models::open_backend;
use crate::predict::{Input, Predictions};

/// The openings of the 8x8 board, by the names that most players know. Most are nearly even; the
/// parallel one is good for black (a search to depth 14 says 3.4 discs).
const OPENINGS: &[(&str, &str)] = &[
    ("parallel", "f5f4"),
    ("diagonal", "f5f6"),
    ("perpendicular", "f5d6"),
    ("tiger", "f5d6c3d3c4"),
    ("rose", "f5d6c5f4e3c6d3f6e6d7"),
    ("buffalo", "f5f6e6f4c3"),
    ("cow", "f5f6e6f4e3"),
    ("heath", "f5f6e6f4g5"),
];

/// The names and positions of the openings on a board, first of all its start.
fn positions<G: Geometry>() -> Vec<(&'static str, Position<G>)> {
    let named = if G::SHAPE == Shape::Square8 { OPENINGS } else { &[] };
    let after = |moves| notation::parse_transcript(moves, Position::start()).ok();
    let openings = [("start", "")].iter().chain(named);
    openings.filter_map(|&(name, moves)| Some((name, after(moves)?.1))).collect()
}

impl<G: Geometry> Coordinator<'_, G> {
    /// Black's chance to win after each opening, 0 to 1, with the names of the curves.
    ///
    /// # Errors
    ///
    /// The weights of the net are not finite, or it cannot be computed.
    pub(super) fn opinions(&self) -> anyhow::Result<Vec<(String, f64)>> {
        let weights = self.learner.finite_weights()?;
        let (inference, device) = (&self.config.inference, &self.config.device);
        let mut backend = open_backend(&self.description, &weights, inference, device)?;
        let openings = positions::<G>();
        let input =
            |(_, position): &(_, Position<G>)| Input::new(position.board, position.board.legal());
        let inputs: Vec<_> = openings.iter().map(input).collect();
        let mut predictions = Predictions::default();
        backend.predict(&inputs, &mut predictions)?;
        let chance = |(index, (name, position)): (usize, &(&str, Position<G>))| {
            let value = f64::from(predictions.get(index, G::SQUARES).value);
            let for_black = if position.side == Colour::Black { value } else { -value };
            (format!("opening/{name}"), (for_black + 1.0) / 2.0)
        };
        Ok(openings.iter().enumerate().map(chance).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Square6, Square8};
    use crate::store::openings::name;

    #[test]
    fn openings_have_the_names_of_the_table() {
        assert_eq!(positions::<Square8>().len(), OPENINGS.len() + 1);
        assert_eq!(positions::<Square6>().len(), 1);
        for &(word, moves) in OPENINGS {
            let start = Position::<Square8>::start();
            let (squares, _) = notation::parse_transcript(moves, start).expect("moves");
            let known = name(start, &squares).expect("a name");
            assert_eq!(known.to_lowercase(), word);
        }
    }
}
