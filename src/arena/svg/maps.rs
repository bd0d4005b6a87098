//! Numbers on the squares of a board, as an SVG picture.

use std::fmt::Write as _;

use super::{Canvas, PLAIN};
use crate::game::Shape;

/// The side of a square.
const CELL: f64 = 34.0;
/// The space around a board, with its title above and its coordinates beside it.
const MARGIN: f64 = 26.0;
/// The most boards side by side.
const ACROSS: usize = 4;
/// Colours that most colour-blind readers can distinguish (Okabe and Ito 2008), for numbers below
/// and above 0.
const COLOURS: [&str; 2] = ["#0072b2", "#e69f00"];

/// A number for each square of a board.
#[derive(Clone, PartialEq, Debug)]
pub struct SquareMap {
    /// What the numbers are.
    pub title: String,
    /// For each square, its number, or `None` if it has none.
    pub numbers: Vec<Option<f32>>,
    /// The number of decimals that are shown.
    pub decimals: usize,
}

impl SquareMap {
    /// The map as lines of text, with column letters and row numbers.
    pub fn text(&self, shape: Shape) -> String {
        let layout = shape.layout();
        let mut text = format!("{}\n  ", self.title);
        for column in 0..layout.width {
            let _ = write!(text, " {:>6}", (b'a' + column as u8) as char);
        }
        for row in 0..layout.width {
            let _ = write!(text, "\n{:2}", row + 1);
            for column in 0..layout.width {
                let cell = (row * layout.width + column) as u8;
                let square = layout.cell_of.iter().position(|&own| own == cell);
                let shown = match square.map(|square| self.numbers[square]) {
                    None => String::new(),
                    Some(None) => "-".into(),
                    Some(Some(number)) => format!("{number:.*}", self.decimals),
                };
                let _ = write!(text, " {shown:>6}");
            }
        }
        // A row of the octagon may end with holes.
        let lines = text.lines().map(|line| line.trim_end().to_owned() + "\n");
        lines.collect()
    }
}

/// The maps as boards, a few in each row. A square is the darker, the farther its number is from 0,
/// on the scale of its board.
pub fn square_maps(shape: Shape, maps: &[SquareMap]) -> String {
    let layout = shape.layout();
    let side = CELL * layout.width as f64 + 2.0 * MARGIN;
    let rows = maps.len().div_ceil(ACROSS);
    let columns = maps.len().clamp(1, ACROSS);
    let mut canvas = Canvas::new(side * columns as f64, side * rows as f64);
    for (index, map) in maps.iter().enumerate() {
        let left = side * (index % ACROSS) as f64 + MARGIN;
        let top = side * (index / ACROSS) as f64 + MARGIN;
        canvas.text(left, top - 16.0, PLAIN.bold(), &map.title);
        let beside = PLAIN.faint().size(10.0).anchor("middle");
        for place in 0..layout.width {
            let middle = CELL * (place as f64 + 0.5);
            let letter = char::from(b'a' + place as u8).to_string();
            canvas.text(left + middle, top - 4.0, beside, &letter);
            canvas.text(left - 10.0, top + middle + 3.5, beside, &(place + 1).to_string());
        }
        draw(&mut canvas, map, shape, (left, top));
    }
    canvas.finish()
}

fn draw(canvas: &mut Canvas, map: &SquareMap, shape: Shape, (left, top): (f64, f64)) {
    let layout = shape.layout();
    let known = map.numbers.iter().flatten();
    let most = known.fold(f32::MIN_POSITIVE, |most, number| most.max(number.abs()));
    for (number, &cell) in map.numbers.iter().zip(&layout.cell_of) {
        let x = left + CELL * (usize::from(cell) % layout.width) as f64;
        let y = top + CELL * (usize::from(cell) / layout.width) as f64;
        let colour = COLOURS[usize::from(number.unwrap_or_default() > 0.0)];
        let strength = number.map_or(0.0, |number| number.abs() / most);
        canvas.raw(&format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{colour}\" \
             fill-opacity=\"{strength:.2}\" stroke=\"#bbbbbb\"/>"
        ));
        if let Some(number) = number {
            let shown = format!("{number:.*}", map.decimals);
            let style = PLAIN.size(10.0).anchor("middle");
            canvas.text(x + CELL / 2.0, y + CELL / 2.0 + 3.5, style, &shown);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(shape: Shape) -> SquareMap {
        let squares = shape.layout().cell_of.len();
        let number = |square| (square != 3).then_some(square as f32 - 20.5);
        let numbers = (0..squares).map(number).collect();
        SquareMap { title: "weights <1>".into(), numbers, decimals: 1 }
    }

    #[test]
    fn a_text_has_every_number_in_its_place() {
        let text = map(Shape::Square8).text(Shape::Square8);
        let lines: Vec<Vec<&str>> =
            text.lines().map(|it| it.split_whitespace().collect()).collect();
        assert_eq!(lines[0], ["weights", "<1>"]);
        assert_eq!(lines[1], ["a", "b", "c", "d", "e", "f", "g", "h"]);
        assert_eq!(lines[2][..6], ["1", "-20.5", "-19.5", "-18.5", "-", "-16.5"]);
        assert_eq!((lines.len(), lines[9][8]), (10, "42.5"));
    }

    #[test]
    fn a_picture_has_a_cell_for_each_square_of_each_board() {
        for shape in Shape::ALL {
            let squares = shape.layout().cell_of.len();
            let picture = square_maps(shape, &vec![map(shape); 5]);
            assert_eq!(picture.matches("stroke=\"#bbbbbb\"").count(), 5 * squares, "{shape}");
            assert_eq!(picture.matches("weights &lt;1&gt;").count(), 5);
            assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
        }
    }
}
