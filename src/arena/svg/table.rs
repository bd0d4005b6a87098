//! The crosstable as a picture.

use super::{Canvas, PLAIN};
use crate::arena::report::points;
use crate::arena::standings::Standings;
use crate::arena::tally::Outcomes;

const CELL: (f64, f64) = (58.0, 34.0);
const MARGIN: f64 = 16.0;
/// Room above the first row.
const HEAD: f64 = 78.0;
/// Letters of a name that are shown.
const NAME: usize = 42;
/// Room for rating, games and score.
const FIGURES: f64 = 190.0;

/// The crosstable: a cell is the bluer the more of its points the row's player has, the more
/// orange the fewer.
pub fn crosstable(standings: &Standings) -> String {
    let players = &standings.players;
    let shown = players.iter().map(|player| player.name.chars().count().min(NAME));
    let names = MARGIN + 28.0 + 6.7 * shown.max().unwrap_or(0).max(10) as f64;
    let cells = names + FIGURES;
    let count = players.len() as f64;
    let mut canvas = Canvas::new(cells + CELL.0 * count + MARGIN, HEAD + CELL.1 * count + MARGIN);
    let title = format!("Board {}, goal: {} discs", standings.board, standings.goal);
    canvas.text(MARGIN, 26.0, PLAIN.size(16.0).bold(), &title);
    let zero = standings.zero.as_deref().unwrap_or("the mean of all");
    let about = format!(
        "score of the row's player in %, and points of games; rating of {zero} = 0, ± 95 %"
    );
    canvas.text(MARGIN, 44.0, PLAIN.size(11.0).faint(), &about);
    let head = PLAIN.size(11.0).faint().anchor("end");
    for (x, what) in [(78.0, "rating"), (128.0, "games"), (178.0, "score")] {
        canvas.text(names + x, HEAD - 8.0, head, what);
    }
    for place in 0..players.len() {
        let x = cells + CELL.0 * (place as f64 + 0.5);
        canvas.text(x, HEAD - 8.0, head.anchor("middle"), &(place + 1).to_string());
    }
    for (place, player) in players.iter().enumerate() {
        let top = HEAD + CELL.1 * place as f64;
        let y = top + CELL.1 / 2.0 + 4.0;
        canvas.line((MARGIN, top), (cells - 6.0, top), "stroke=\"#e4e4e4\"");
        canvas.text(MARGIN + 14.0, y, PLAIN.faint().anchor("end"), &(place + 1).to_string());
        canvas.name(MARGIN + 24.0, y, PLAIN, &player.name, NAME);
        let rating = format!("{:.0} ± {:.0}", player.rating.elo, player.rating.half_width());
        canvas.text(names + 78.0, y, PLAIN.bold().anchor("end"), &rating);
        let games = player.total.games();
        canvas.text(names + 128.0, y, PLAIN.anchor("end"), &games.to_string());
        let score = format!("{:.1} %", 100.0 * share(player.total));
        canvas.text(names + 178.0, y, PLAIN.anchor("end"), &score);
        for (column, met) in player.against.iter().enumerate() {
            cell(&mut canvas, (cells + CELL.0 * column as f64, top), *met, column == place);
        }
    }
    canvas.finish()
}

fn share(met: Outcomes) -> f64 {
    met.points() / f64::from(met.games().max(1))
}

fn cell(canvas: &mut Canvas, (x, top): (f64, f64), met: Outcomes, own: bool) {
    let fill = match met.games() {
        _ if own => "#c9c9c9".into(),
        0 => "#f3f3f3".into(),
        _ => shade(share(met)),
    };
    let (width, height) = CELL;
    canvas.raw(&format!(
        "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\" stroke=\"white\" stroke-width=\"1.5\"/>"
    ));
    if met.games() > 0 {
        let middle = x + width / 2.0;
        let percent = format!("{:.0}", 100.0 * share(met));
        canvas.text(middle, top + 16.0, PLAIN.size(13.0).anchor("middle"), &percent);
        canvas.text(middle, top + 28.0, PLAIN.size(9.0).faint().anchor("middle"), &points(met));
    }
}

/// From orange by white to blue, which nearly everybody can tell apart.
fn shade(share: f64) -> String {
    let (strong, weight) = match share < 0.5 {
        true => ([244.0, 165.0, 96.0], 1.0 - 2.0 * share),
        false => ([116.0, 169.0, 220.0], 2.0 * share - 1.0),
    };
    let mix = |part: f64| (250.0 + weight * (part - 250.0)).round();
    let [red, green, blue] = strong.map(mix);
    format!("rgb({red},{green},{blue})")
}
