//! Estimates the width of text.

use super::Style;
use crate::players::labels::shorten;

/// Widths of the ASCII characters from blank to tilde in Helvetica, in thousandths of the font
/// size.
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
/// The assumed width of all other characters.
const OTHER: u16 = 1000;
/// A factor for wider fonts, which a browser uses if it has no Helvetica.
const WIDER_FONTS: f64 = 1.2;
/// A factor for bold text.
const BOLD: f64 = 1.1;

/// An upper bound of a text's width for common fonts.
pub(super) fn width(text: &str, style: Style) -> f64 {
    let of = |letter: char| {
        let place = (letter as usize).checked_sub(' ' as usize);
        place.and_then(|place| WIDTHS.get(place)).copied().unwrap_or(OTHER)
    };
    let sum: f64 = text.chars().map(|letter| f64::from(of(letter))).sum();
    sum / 1000.0 * style.size * WIDER_FONTS * if style.bold { BOLD } else { 1.0 }
}

/// The text, shortened in its middle to the width `room`.
pub(super) fn fit(text: &str, style: Style, room: f64) -> String {
    let lengths = (1..=text.chars().count()).rev();
    let mut shorter = lengths.map(|most| shorten(text, most));
    shorter.find(|short| width(short, style) <= room).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::PLAIN;
    use super::*;

    #[test]
    fn text_is_shortened_to_its_room() {
        assert!(width("W", PLAIN) > 3.0 * width("i", PLAIN));
        assert!(width("W", PLAIN.bold()) > width("W", PLAIN));
        for text in ["random", &"W".repeat(60), &"i".repeat(60), "größer als je…", "棋"] {
            for room in [0.0, 20.0, 100.0, 1e4] {
                let shown = fit(text, PLAIN, room);
                assert!(width(&shown, PLAIN) <= room, "{shown} in {room}");
                assert!(room < 1e4 || shown == text);
            }
        }
    }
}
