//! SVG pictures: the crosstable, the ratings of nets over their training, numbers on a board, and
//! weights over the stages of a model.

mod chart;
mod maps;
mod table;
mod weights;
mod width;

pub use chart::{TrainingAxis, curve};
pub use maps::{SquareMap, square_maps};
pub use table::crosstable;
pub use weights::{FeatureWeights, feature_weights};

use std::fmt::Write as _;

const INK: &str = "#222222";
const FAINT: &str = "#6b6b6b";

/// An SVG picture to which elements are added.
struct Canvas(String);

/// The style of a text.
#[derive(Clone, Copy)]
struct Style {
    anchor: &'static str,
    size: f64,
    bold: bool,
    colour: &'static str,
}

const PLAIN: Style = Style { anchor: "start", size: 12.0, bold: false, colour: INK };

impl Style {
    fn anchor(self, anchor: &'static str) -> Style {
        Style { anchor, ..self }
    }

    fn size(self, size: f64) -> Style {
        Style { size, ..self }
    }

    fn bold(self) -> Style {
        Style { bold: true, ..self }
    }

    fn faint(self) -> Style {
        Style { colour: FAINT, ..self }
    }
}

impl Canvas {
    fn new(width: f64, height: f64) -> Canvas {
        Canvas(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"Helvetica, Arial, sans-serif\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        ))
    }

    fn finish(self) -> String {
        self.0 + "</svg>\n"
    }

    /// Adds an SVG element.
    fn raw(&mut self, element: &str) {
        self.0.push_str(element);
        self.0.push('\n');
    }

    fn text(&mut self, x: f64, y: f64, style: Style, content: &str) {
        let weight = if style.bold { " font-weight=\"bold\"" } else { "" };
        let Style { anchor, size, colour, .. } = style;
        let content = escape(content);
        let _ = writeln!(
            self.0,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\" fill=\"{colour}\"{weight}>{content}</text>"
        );
    }

    /// Adds the text `shown`; the whole `name` appears when the pointer is on it.
    fn name(&mut self, x: f64, y: f64, style: Style, name: &str, shown: &str) {
        let _ = write!(self.0, "<g><title>{}</title>", escape(name));
        self.text(x, y, style, shown);
        self.raw("</g>");
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str) {
        let ((x1, y1), (x2, y2)) = (from, to);
        let _ = writeln!(
            self.0,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {stroke}/>"
        );
    }
}

/// Escapes a text for XML. Control characters, which XML forbids, become blanks.
fn escape(text: &str) -> String {
    let plain: String =
        text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// About `wanted` round numbers from `low` to `high`. Their distance is 1, 2 or 5 times a power of
/// ten.
fn ticks(low: f64, high: f64, wanted: f64) -> Vec<f64> {
    let span = (high - low).max(1e-9);
    let power = 10f64.powf((span / wanted).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|part| part * power);
    let step = steps.into_iter().find(|step| span / step <= wanted).unwrap_or(10.0 * power);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    (first..=last).map(|count| count as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(ticks(-130.0, 420.0, 6.0), [-100.0, 0.0, 100.0, 200.0, 300.0, 400.0]);
        assert_eq!(ticks(0.0, 14.0, 6.0), [0.0, 5.0, 10.0]);
        assert_eq!(ticks(0.0, 200_000.0, 5.0), [0.0, 50_000.0, 100_000.0, 150_000.0, 200_000.0]);
        for (low, high) in [(0.0, 1.0), (-1e6, 3.0), (5.0, 5.0)] {
            let found = ticks(low, high, 6.0);
            assert!(found.len() <= 8 && found.iter().all(|tick| (low..=high).contains(tick)));
        }
    }

    #[test]
    fn special_characters_in_names_are_escaped() {
        let mut canvas = Canvas::new(10.0, 10.0);
        let name = "external:command=\"a <b> & \u{1}\"";
        canvas.name(1.0, 2.0, PLAIN, name, name);
        let svg = canvas.finish();
        assert!(svg.contains("&lt;b&gt; &amp;  ") && !svg.contains('\u{1}'), "{svg}");
    }
}
