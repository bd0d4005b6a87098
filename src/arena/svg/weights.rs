//! The weights of features over the stages of a model, as an SVG picture.

use std::fmt::Write as _;

use super::{Canvas, FAINT, PLAIN, ticks};

/// The size of the chart of one feature.
const SIZE: (f64, f64) = (190.0, 110.0);
/// The space at the left of a chart and above it.
const SPACE: (f64, f64) = (52.0, 40.0);
/// The most charts side by side.
const ACROSS: usize = 4;
const COLOUR: &str = "#0072b2";

/// The weight of a feature at each stage.
#[derive(Clone, PartialEq, Debug)]
pub struct FeatureWeights {
    /// The name of the feature.
    pub name: String,
    /// One finite weight for each stage, in discs.
    pub weights: Vec<f32>,
}

/// A chart for each feature, a few in each row: its weight over the numbers of discs of the stages,
/// `discs`, which rise.
pub fn feature_weights(discs: &[f32], features: &[FeatureWeights]) -> String {
    let (wide, high) = (SPACE.0 + SIZE.0 + 12.0, SPACE.1 + SIZE.1 + 20.0);
    let columns = features.len().clamp(1, ACROSS);
    let rows = features.len().div_ceil(ACROSS);
    let mut canvas = Canvas::new(wide * columns as f64, high * rows as f64 + 24.0);
    for (index, feature) in features.iter().enumerate() {
        let left = wide * (index % ACROSS) as f64 + SPACE.0;
        let top = high * (index / ACROSS) as f64 + SPACE.1;
        draw(&mut canvas, discs, feature, (left, top));
    }
    let below = high * rows as f64 + 14.0;
    canvas.text(SPACE.0, below, PLAIN.faint(), "weight, in discs, by the discs on the board");
    canvas.finish()
}

fn draw(canvas: &mut Canvas, discs: &[f32], feature: &FeatureWeights, (left, top): (f64, f64)) {
    let bounds = |numbers: &[f32], start: (f64, f64)| {
        let numbers = numbers.iter().map(|&number| f64::from(number));
        numbers.fold(start, |(low, high), number| (low.min(number), high.max(number)))
    };
    // The scale always has 0, so the sign of a weight is seen.
    let (low, most) = bounds(&feature.weights, (0.0, 0.0));
    let (first, last) = bounds(discs, (f64::INFINITY, f64::NEG_INFINITY));
    let x = |discs: f64| left + SIZE.0 * (discs - first) / (last - first).max(1e-9);
    let y = |weight: f64| top + SIZE.1 * (most - weight) / (most - low).max(1e-9);
    canvas.text(left, top - 12.0, PLAIN.bold(), &feature.name);
    let small = PLAIN.faint().size(10.0);
    for tick in ticks(low, most, 5.0) {
        let stroke = if tick == 0.0 { "stroke=\"#9a9a9a\"" } else { "stroke=\"#e6e6e6\"" };
        canvas.line((left, y(tick)), (left + SIZE.0, y(tick)), stroke);
        canvas.text(left - 6.0, y(tick) + 3.5, small.anchor("end"), &format!("{tick}"));
    }
    for tick in ticks(first, last, 5.0) {
        let bottom = top + SIZE.1;
        canvas.line((x(tick), bottom), (x(tick), bottom + 4.0), &format!("stroke=\"{FAINT}\""));
        canvas.text(x(tick), bottom + 15.0, small.anchor("middle"), &format!("{tick}"));
    }
    let mut points = String::new();
    for (&discs, &weight) in discs.iter().zip(&feature.weights) {
        let _ = write!(points, "{:.1},{:.1} ", x(discs.into()), y(weight.into()));
    }
    canvas.raw(&format!(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{COLOUR}\" stroke-width=\"2\"/>",
        points.trim_end()
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_feature_has_a_curve_within_its_chart() {
        let feature = |index: usize| FeatureWeights {
            name: format!("feature <{index}>"),
            weights: vec![index as f32 - 2.0, 40.0, -3.5],
        };
        let features: Vec<_> = (0..6).map(feature).collect();
        let picture = feature_weights(&[4.0, 8.0, 64.0], &features);
        assert_eq!(picture.matches("feature &lt;").count(), 6);
        let curves = picture.split("points=\"").skip(1);
        let curves: Vec<&str> = curves.filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(curves.len(), 6);
        // The second chart: from its left to its right edge, and from the top to the bottom.
        let (left, right) = (2.0 * SPACE.0 + SIZE.0 + 12.0, 2.0 * (SPACE.0 + SIZE.0) + 12.0);
        let middle = left + SIZE.0 * 4.0 / 60.0;
        let level = SPACE.1 + SIZE.1 * 41.0 / 43.5;
        let (top, bottom) = (SPACE.1, SPACE.1 + SIZE.1);
        let wanted = format!("{left:.1},{level:.1} {middle:.1},{top:.1} {right:.1},{bottom:.1}");
        assert_eq!(curves[1], wanted);
    }

    #[test]
    fn a_single_stage_and_no_features_are_drawn() {
        let one = FeatureWeights { name: "one".into(), weights: vec![0.0] };
        assert!(!feature_weights(&[10.0], &[one]).contains("NaN"));
        assert!(feature_weights(&[], &[]).ends_with("</svg>\n"));
    }
}
