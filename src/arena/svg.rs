//! Standings as pictures that need no program but a browser: the crosstable, and rating over
//! training steps.

use std::fmt::Write as _;

use super::report::points;
use super::standings::{Standing, Standings};

const CELL: f64 = 64.0;
const ROW: f64 = 24.0;
const TEXT: &str = "font-family=\"sans-serif\" font-size=\"12\"";

/// The crosstable: a cell is the greener the more of its points the row's player has, the
/// redder the fewer.
pub fn crosstable(standings: &Standings) -> String {
    let players = &standings.players;
    let longest = players.iter().map(|player| player.name.chars().count()).max().unwrap_or(0);
    let left = 60.0 + 7.0 * longest as f64;
    let (width, height) =
        (left + 130.0 + CELL * players.len() as f64, ROW * (players.len() as f64 + 2.5));
    let mut svg = begin(width, height);
    let title =
        format!("Board {}, goal {}: points of the row's player", standings.board, standings.goal);
    text(&mut svg, 8.0, 16.0, "start", &title);
    text(&mut svg, left + 110.0, ROW + 16.0, "end", "rating");
    for place in 0..players.len() {
        let x = left + 130.0 + CELL * (place as f64 + 0.5);
        text(&mut svg, x, ROW + 16.0, "middle", &(place + 1).to_string());
    }
    for (place, player) in players.iter().enumerate() {
        let y = ROW * (place as f64 + 2.0);
        text(&mut svg, 8.0, y + 16.0, "start", &format!("{}  {}", place + 1, player.name));
        let rating = format!("{:.0} ±{:.0}", player.rating.elo, 1.96 * player.rating.error);
        text(&mut svg, left + 110.0, y + 16.0, "end", &rating);
        for (column, met) in player.against.iter().enumerate() {
            let x = left + 130.0 + CELL * column as f64;
            let share = met.points() / f64::from(met.games().max(1));
            let fill = match met.games() {
                0 => "#eeeeee".into(),
                _ => format!("hsl({:.0},60%,80%)", 120.0 * share),
            };
            let _ = writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{CELL}\" height=\"{ROW}\" fill=\"{fill}\" stroke=\"white\"/>"
            );
            text(&mut svg, x + CELL / 2.0, y + 16.0, "middle", &points(*met));
        }
    }
    svg + "</svg>\n"
}

/// Rating over learning steps, a line for each training run, with 95 % intervals. Players from
/// no run are drawn as level lines.
///
/// `None` if no player comes from a training run.
pub fn curve(standings: &Standings) -> Option<String> {
    let mut runs: Vec<(&str, Vec<(f64, &Standing)>)> = Vec::new();
    for player in &standings.players {
        let Some(origin) = &player.origin else { continue };
        let point = (origin.step as f64, player);
        match runs.iter_mut().find(|(run, _)| *run == origin.run) {
            Some((_, line)) => line.push(point),
            None => runs.push((&origin.run, vec![point])),
        }
    }
    if runs.is_empty() {
        return None;
    }
    runs.iter_mut().for_each(|(_, line)| line.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let frame = Frame::around(standings, &runs);
    let mut svg = begin(Frame::WIDTH + 320.0, Frame::HEIGHT + 60.0);
    frame.draw_axes(&mut svg);
    for player in standings.players.iter().filter(|player| player.origin.is_none()) {
        let y = frame.y(player.rating.elo);
        let _ = writeln!(
            svg,
            "<line x1=\"60\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#bbbbbb\" stroke-dasharray=\"4 4\"/>",
            60.0 + Frame::WIDTH
        );
        text(&mut svg, 66.0 + Frame::WIDTH, y + 4.0, "start", &player.name);
    }
    for (place, (run, line)) in runs.iter().enumerate() {
        let colour = format!("hsl({},70%,40%)", 210 + 75 * place);
        frame.draw_line(&mut svg, line, &colour);
        let y = 30.0 + 16.0 * place as f64;
        let _ = writeln!(svg, "<circle cx=\"76\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>");
        text(&mut svg, 86.0, y + 4.0, "start", run);
    }
    Some(svg + "</svg>\n")
}

/// The plotting area and its scales.
struct Frame {
    steps: f64,
    low: f64,
    high: f64,
}

impl Frame {
    const WIDTH: f64 = 640.0;
    const HEIGHT: f64 = 400.0;

    fn around(standings: &Standings, runs: &[(&str, Vec<(f64, &Standing)>)]) -> Frame {
        let steps = runs.iter().flat_map(|(_, line)| line).map(|(step, _)| *step);
        let elos = standings.players.iter().map(|player| player.rating.elo);
        Frame {
            steps: steps.fold(1.0, f64::max),
            low: elos.clone().fold(f64::INFINITY, f64::min) - 100.0,
            high: elos.fold(f64::NEG_INFINITY, f64::max) + 100.0,
        }
    }

    fn x(&self, step: f64) -> f64 {
        60.0 + Self::WIDTH * step / self.steps
    }

    fn y(&self, elo: f64) -> f64 {
        20.0 + Self::HEIGHT * (self.high - elo) / (self.high - self.low)
    }

    fn draw_axes(&self, svg: &mut String) {
        let (right, bottom) = (60.0 + Self::WIDTH, 20.0 + Self::HEIGHT);
        let _ =
            writeln!(svg, "<path d=\"M60 20 V{bottom} H{right}\" fill=\"none\" stroke=\"black\"/>");
        for part in 0..=4 {
            let share = f64::from(part) / 4.0;
            let elo = self.low + share * (self.high - self.low);
            text(svg, 54.0, self.y(elo) + 4.0, "end", &format!("{elo:.0}"));
            let step = share * self.steps;
            text(svg, self.x(step), bottom + 16.0, "middle", &format!("{step:.0}"));
        }
        text(svg, 60.0 + Self::WIDTH / 2.0, bottom + 34.0, "middle", "learning steps");
        text(svg, 8.0, 12.0, "start", "rating");
    }

    fn draw_line(&self, svg: &mut String, line: &[(f64, &Standing)], colour: &str) {
        let at = |(step, player): &(f64, &Standing)| {
            format!("{:.1},{:.1}", self.x(*step), self.y(player.rating.elo))
        };
        let path = line.iter().map(at).collect::<Vec<_>>().join(" ");
        let _ = writeln!(
            svg,
            "<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>"
        );
        for (step, player) in line {
            let (x, half) = (self.x(*step), 1.96 * player.rating.error);
            let (top, bottom) =
                (self.y(player.rating.elo + half), self.y(player.rating.elo - half));
            let _ = writeln!(
                svg,
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top:.1}\" y2=\"{bottom:.1}\" stroke=\"{colour}\" opacity=\"0.4\"/><circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"><title>{}: {:.0}</title></circle>",
                self.y(player.rating.elo),
                escape(&player.name),
                player.rating.elo
            );
        }
    }
}

fn begin(width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    )
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, content: &str) {
    let content = escape(content);
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {TEXT}>{content}</text>"
    );
}

/// Text as the content of an element; control characters, which XML forbids, become blanks.
fn escape(text: &str) -> String {
    let plain: String =
        text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
