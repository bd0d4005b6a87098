//! The ratings of nets over their training, as an SVG picture.

use std::fmt::Write as _;
use std::path::Path;

use super::width::{fit, width};
use super::{Canvas, PLAIN, Style, escape, ticks};
use crate::arena::standings::{Standing, Standings};
use crate::choices::choices;
use crate::players::contestant::Origin;
use crate::players::labels::{Labels, net_name};

const LEFT: f64 = 66.0;
const TOP: f64 = 56.0;
const WIDTH: f64 = 660.0;
const HEIGHT: f64 = 400.0;
/// The least and the most width at the right for the labels of players without training.
const NAMES: (f64, f64) = (188.0, 320.0);
/// The distance from the plotting area to these labels.
const NAMES_AFTER: f64 = 18.0;
/// The style of these labels.
const NAME: Style = Style { size: 11.0, ..PLAIN };
/// The least distance between two such labels.
const LABEL_DISTANCE: f64 = 14.0;
/// Colours that most colour-blind readers can distinguish (Okabe and Ito 2008).
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

choices! {
    /// The horizontal axis of the picture.
    pub enum TrainingAxis {
        /// Training steps.
        #[default]
        Steps = "steps",
        /// Positions of self-play.
        Positions = "positions",
        /// Games of self-play.
        Games = "games",
        /// Minutes of training.
        Minutes = "minutes",
    }
}

impl TrainingAxis {
    fn label(self) -> &'static str {
        match self {
            TrainingAxis::Steps => "learning steps",
            TrainingAxis::Positions => "positions of self-play",
            TrainingAxis::Games => "games of self-play",
            TrainingAxis::Minutes => "minutes of training",
        }
    }

    /// The value of a net on this axis, if it is known.
    pub fn value(self, origin: &Origin) -> Option<f64> {
        match self {
            TrainingAxis::Steps => Some(origin.step as f64),
            TrainingAxis::Positions => origin.positions.map(|positions| positions as f64),
            TrainingAxis::Games => origin.games.map(|games| games as f64),
            TrainingAxis::Minutes => origin.minutes,
        }
    }
}

/// The nets of a run that play with the same settings.
struct Curve<'a> {
    /// The run and the settings.
    name: String,
    /// The same with only the last part of the run's path.
    short: String,
    /// Values on the axis and players, by rising value.
    points: Vec<(f64, &'a Standing)>,
}

/// The ratings of nets over their training. There is a curve for each run and each set of player
/// settings, with 95 % intervals as bars and a band. Other players are horizontal lines.
///
/// `None` if no player has a known value on the axis.
pub fn curve(standings: &Standings, axis: TrainingAxis) -> Option<String> {
    let curves = curves(standings, axis);
    if curves.is_empty() {
        return None;
    }
    let frame = Frame::around(standings, &curves, axis);
    let names = levels(standings).map(|player| width(&level_label(player), NAME));
    let names = names.fold(NAMES.0, f64::max);
    let mut canvas = Canvas::new(LEFT + WIDTH + NAMES_AFTER + names + 4.0, TOP + HEIGHT + 56.0);
    canvas.text(LEFT, 24.0, PLAIN.size(16.0).bold(), "Rating over training");
    let about = format!(
        "board {}, goal: {} discs; Elo, {} = 0; bars and bands are 95 % intervals",
        standings.board,
        standings.goal,
        standings.zero_label()
    );
    canvas.text(LEFT, 42.0, PLAIN.size(11.0).faint(), &about);
    frame.draw_axes(&mut canvas);
    frame.draw_levels(&mut canvas, standings);
    canvas.raw(&format!(
        "<clipPath id=\"frame\"><rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/></clipPath>"
    ));
    for (curve, colour) in curves.iter().zip(COLOURS.iter().cycle()) {
        frame.draw_curve(&mut canvas, curve, colour);
    }
    let labels = Labels::new(curves.iter().map(|curve| (&*curve.name, Some(&*curve.short))));
    for (place, (curve, colour)) in curves.iter().zip(COLOURS.iter().cycle()).enumerate() {
        let y = TOP + 16.0 + 17.0 * place as f64;
        let stroke = format!("stroke=\"{colour}\" stroke-width=\"2.5\"");
        canvas.line((LEFT + 12.0, y), (LEFT + 34.0, y), &stroke);
        let shown = fit(labels.of(&curve.name), PLAIN, WIDTH - 48.0);
        canvas.name(LEFT + 40.0, y + 4.0, PLAIN, &curve.name, &shown);
    }
    Some(canvas.finish())
}

fn curves(standings: &Standings, axis: TrainingAxis) -> Vec<Curve<'_>> {
    let mut curves: Vec<Curve<'_>> = Vec::new();
    for player in &standings.players {
        let Some(origin) = &player.origin else { continue };
        let settings = match player_settings(&player.name) {
            settings if settings.is_empty() => settings,
            settings => format!(", {settings}"),
        };
        let folder = net_name(Path::new(&origin.run)).unwrap_or_else(|| origin.run.clone());
        let (name, short) = (format!("{}{settings}", origin.run), format!("{folder}{settings}"));
        let Some(place) = axis.value(origin) else { continue };
        let point = (place, player);
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve { name, short, points: vec![point] }),
        }
    }
    curves.iter_mut().for_each(|curve| curve.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    curves.sort_by(|a, b| a.name.cmp(&b.name));
    curves
}

/// The players without training.
fn levels(standings: &Standings) -> impl Iterator<Item = &Standing> {
    standings.players.iter().filter(|player| player.origin.is_none())
}

/// The label and the rating of a player without training.
fn level_label(player: &Standing) -> String {
    let rating = format!(" {:.0}", player.rating.elo);
    fit(&player.label, NAME, NAMES.1 - width(&rating, NAME)) + &rating
}

/// The settings in a net player's identity: all of it except the path, and `net`.
fn player_settings(name: &str) -> String {
    let Some((kind, rest)) = name.split_once(':') else { return String::new() };
    let keys = rest.rsplit_once('#').map_or("", |(_, rest)| rest);
    let keys = keys.split_once(',').map_or("", |(_, keys)| keys);
    let kind = if kind == "net" { "" } else { kind };
    [kind, keys].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",")
}

/// The plotting area and its scales.
struct Frame {
    axis: TrainingAxis,
    /// The right end of the axis.
    end: f64,
    /// The lowest and the highest rating.
    low: f64,
    high: f64,
}

impl Frame {
    fn around(standings: &Standings, curves: &[Curve<'_>], axis: TrainingAxis) -> Frame {
        let places = curves.iter().flat_map(|curve| &curve.points).map(|(place, _)| *place);
        let bars = curves.iter().flat_map(|curve| &curve.points).flat_map(|(_, player)| {
            let half = player.rating.half_width();
            [player.rating.elo - half, player.rating.elo + half]
        });
        let elos = standings.players.iter().map(|player| player.rating.elo).chain(bars);
        let (low, high) = elos.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), elo| {
            (low.min(elo), high.max(elo))
        });
        let room = (0.04 * (high - low)).max(30.0);
        let end = places.fold(0.0, f64::max) * 1.02;
        let end = if end > 0.0 { end } else { 1.0 };
        Frame { axis, end, low: low - room, high: high + room }
    }

    fn x(&self, place: f64) -> f64 {
        LEFT + WIDTH * place / self.end
    }

    fn y(&self, elo: f64) -> f64 {
        TOP + HEIGHT * (self.high - elo) / (self.high - self.low)
    }

    fn draw_axes(&self, canvas: &mut Canvas) {
        let (right, bottom) = (LEFT + WIDTH, TOP + HEIGHT);
        for elo in ticks(self.low, self.high, 8.0) {
            let y = self.y(elo);
            let stroke = if elo == 0.0 { "stroke=\"#9a9a9a\"" } else { "stroke=\"#e6e6e6\"" };
            canvas.line((LEFT, y), (right, y), stroke);
            canvas.text(LEFT - 8.0, y + 4.0, PLAIN.anchor("end"), &format!("{elo:.0}"));
        }
        for place in ticks(0.0, self.end, 8.0) {
            let x = self.x(place);
            canvas.line((x, bottom), (x, bottom + 5.0), "stroke=\"#9a9a9a\"");
            canvas.text(x, bottom + 20.0, PLAIN.anchor("middle"), &thousands(place));
        }
        canvas.line((LEFT, bottom), (right, bottom), "stroke=\"#9a9a9a\"");
        let label = PLAIN.faint().anchor("middle");
        canvas.text(LEFT + WIDTH / 2.0, bottom + 42.0, label, self.axis.label());
    }

    /// A horizontal line for each player without training, with its label at the right. Labels that
    /// would overlap are moved.
    fn draw_levels(&self, canvas: &mut Canvas, standings: &Standings) {
        let right = LEFT + WIDTH;
        let wanted: Vec<f64> = levels(standings).map(|player| self.y(player.rating.elo)).collect();
        for ((player, &y), at) in levels(standings).zip(&wanted).zip(spread_labels(&wanted)) {
            canvas.line((LEFT, y), (right, y), "stroke=\"#8c8c8c\" stroke-dasharray=\"3 4\"");
            let Some(at) = at else { continue };
            canvas.line((right, y), (right + 14.0, at), "stroke=\"#c4c4c4\"");
            let label = level_label(player);
            canvas.name(right + NAMES_AFTER, at + 4.0, NAME, &player.name, &label);
        }
    }

    fn draw_curve(&self, canvas: &mut Canvas, curve: &Curve<'_>, colour: &str) {
        let at = |place: f64, elo: f64| format!("{:.1},{:.1}", self.x(place), self.y(elo));
        let edge = |(place, player): &(f64, &Standing), side: f64| {
            at(*place, player.rating.elo + side * player.rating.half_width())
        };
        let points = &curve.points;
        let upper = points.iter().map(|point| edge(point, 1.0));
        let lower = points.iter().rev().map(|point| edge(point, -1.0));
        let band = upper.chain(lower).collect::<Vec<_>>().join(" ");
        let path = points.iter().map(|(place, player)| at(*place, player.rating.elo));
        let path = path.collect::<Vec<_>>().join(" ");
        let mut group = format!(
            "<g clip-path=\"url(#frame)\">\n<polygon points=\"{band}\" fill=\"{colour}\" opacity=\"0.15\"/>\n<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-linejoin=\"round\"/>\n"
        );
        for (place, player) in points {
            let (x, y) = (self.x(*place), self.y(player.rating.elo));
            let (elo, half) = (player.rating.elo, player.rating.half_width());
            let (top, bottom) = (self.y(elo + half), self.y(elo - half));
            let _ = writeln!(
                group,
                "<path d=\"M{x:.1},{top:.1}V{bottom:.1}m-3,0h6M{:.1},{top:.1}h6\" fill=\"none\" stroke=\"{colour}\" opacity=\"0.5\"/>",
                x - 3.0
            );
            let _ = writeln!(
                group,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"><title>{}: {elo:.0} ± {half:.0}</title></circle>",
                escape(&player.name),
            );
        }
        canvas.raw(&(group + "</g>"));
    }
}

/// Vertical positions for labels, near the `wanted` ones, inside the plotting area and at least
/// [`LABEL_DISTANCE`] apart. `None` for labels for which there is no room.
fn spread_labels(wanted: &[f64]) -> Vec<Option<f64>> {
    let room = (HEIGHT / LABEL_DISTANCE) as usize + 1;
    let mut places = Vec::new();
    for &y in wanted.iter().take(room) {
        let least = places.last().map_or(TOP, |above| above + LABEL_DISTANCE);
        places.push(y.max(least));
    }
    let mut most = TOP + HEIGHT;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - LABEL_DISTANCE;
    }
    let left_out = wanted.len() - places.len();
    places.into_iter().map(Some).chain(std::iter::repeat_n(None, left_out)).collect()
}

fn thousands(count: f64) -> String {
    // Removes rounding errors of fractions of a minute.
    let round = |count: f64| (count * 1e6).round() / 1e6;
    match count {
        count if count >= 1e6 => format!("{} M", round(count / 1e6)),
        count if count >= 1e4 => format!("{} k", round(count / 1e3)),
        count => format!("{}", round(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_are_separated_from_the_path() {
        for (name, wanted) in [
            ("quick-001@192", ""),
            ("net:runs/a,b/checkpoints/step-1#00ff,simulations=100", "simulations=100"),
            ("policy:runs/a#00ff", "policy"),
            ("policy:runs/a#00ff,temperature_plies=5", "policy,temperature_plies=5"),
        ] {
            assert_eq!(player_settings(name), wanted, "{name}");
        }
    }

    #[test]
    fn labels_of_levels_do_not_overlap_and_stay_in_the_frame() {
        let (low, high) = (TOP, TOP + HEIGHT);
        for wanted in [
            vec![],
            vec![low + 9.0],
            vec![low; 5],
            vec![high - 1.0; 7],
            vec![low, low + 3.0, low + 200.0, high, high],
            vec![low + 200.0; 60],
        ] {
            let places = spread_labels(&wanted);
            assert_eq!(places.len(), wanted.len());
            let shown: Vec<f64> = places.into_iter().flatten().collect();
            assert_eq!(shown.len(), wanted.len().min(29));
            assert!(
                shown.windows(2).all(|pair| pair[1] - pair[0] > LABEL_DISTANCE - 1e-6),
                "{shown:?}"
            );
            assert!(shown.iter().all(|place| (low..=high + 1e-6).contains(place)), "{shown:?}");
        }
    }

    #[test]
    fn counts_are_short() {
        let counts = [3.0 * 0.1, 500.0, 20_000.0, 2_500_000.0];
        assert_eq!(counts.map(thousands), ["0.3", "500", "20 k", "2.5 M"]);
    }
}
