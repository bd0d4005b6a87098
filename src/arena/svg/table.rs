//! The crosstable as an SVG picture.

use super::width::{fit, width};
use super::{Canvas, PLAIN, Style};
use crate::arena::report::points;
use crate::arena::standings::{MOST_COLUMNS, Standing, Standings};
use crate::arena::tally::WinDrawLoss;

/// The least width and the height of a cell.
const CELL: (f64, f64) = (58.0, 34.0);
const MARGIN: f64 = 16.0;
/// The height above the first row.
const HEAD: f64 = 94.0;
/// The width between columns.
const GAP: f64 = 10.0;
/// The greatest width of a label.
const LABEL: f64 = 320.0;
/// The columns between the label and the cells.
const FIGURES: [&str; 3] = ["rating", "games", "score"];

const TITLE: Style = Style { size: 16.0, bold: true, ..PLAIN };
const SMALL: Style = Style { size: 11.0, ..PLAIN };
const TINY: Style = Style { size: 9.0, ..PLAIN };

/// The crosstable. A cell is blue if the row's player has more than half of the points, orange if
/// it has less. With more than [`MOST_COLUMNS`] players there are no cells.
pub fn crosstable(standings: &Standings) -> String {
    let players = &standings.players;
    let rows: Vec<Row> = players.iter().enumerate().map(Row::new).collect();
    let columns = if players.len() > MOST_COLUMNS { 0 } else { players.len() };
    let title = format!("Board {}, goal: {} discs", standings.board, standings.goal);
    let mut about = vec!["score of the row's player in %, and points of games".to_owned()];
    if columns < players.len() {
        about = vec![format!("{} players, so the results of pairs are left out", players.len())];
    }
    about.push(format!("rating of {} = 0, ± 95 %", standings.zero_label()));
    let layout = Layout::new(&rows, players);
    let head = about.iter().map(|line| width(line, SMALL)).fold(width(&title, TITLE), f64::max);
    let right = layout.cells + layout.cell * columns as f64;
    let size = (right.max(MARGIN + head) + MARGIN, HEAD + CELL.1 * players.len() as f64 + MARGIN);
    let mut canvas = Canvas::new(size.0, size.1);
    canvas.text(MARGIN, 26.0, TITLE, &title);
    for (line, y) in about.iter().zip([44.0, 59.0]) {
        canvas.text(MARGIN, y, SMALL.faint(), line);
    }
    let head = SMALL.faint().anchor("end");
    for (x, what) in layout.figures.into_iter().zip(FIGURES) {
        canvas.text(x, HEAD - 8.0, head, what);
    }
    for column in 0..columns {
        let x = layout.cells + layout.cell * (column as f64 + 0.5);
        canvas.text(x, HEAD - 8.0, head.anchor("middle"), &(column + 1).to_string());
    }
    for (place, (row, player)) in rows.iter().zip(players).enumerate() {
        let top = HEAD + CELL.1 * place as f64;
        layout.draw_row(&mut canvas, top, row, player);
        if columns > 0 {
            layout.draw_cells(&mut canvas, top, place, player, columns);
        }
    }
    canvas.finish()
}

/// The texts before the cells of a row.
struct Row {
    number: String,
    label: String,
    figures: [String; 3],
}

impl Row {
    fn new((place, player): (usize, &Standing)) -> Row {
        let rating = format!("{:.0} ± {:.0}", player.rating.elo, player.rating.half_width());
        let score = format!("{:.1} %", 100.0 * share(player.total));
        Row {
            number: (place + 1).to_string(),
            label: fit(&player.label, PLAIN, LABEL),
            figures: [rating, player.total.games().to_string(), score],
        }
    }
}

/// The positions of the columns.
struct Layout {
    labels: f64,
    /// The right ends of the columns of [`FIGURES`].
    figures: [f64; 3],
    /// The left end of the first cell.
    cells: f64,
    /// The width of a cell.
    cell: f64,
}

impl Layout {
    fn new(rows: &[Row], players: &[Standing]) -> Layout {
        fn widest(texts: impl Iterator<Item = String>, style: Style) -> f64 {
            texts.map(|text| width(&text, style)).fold(0.0, f64::max)
        }
        let labels = MARGIN + widest(rows.iter().map(|row| row.number.clone()), PLAIN) + GAP;
        let mut right = labels + widest(rows.iter().map(|row| row.label.clone()), PLAIN);
        let figures = [0, 1, 2].map(|figure| {
            let column = rows.iter().map(|row| row.figures[figure].clone());
            right += GAP + widest(column, PLAIN.bold()).max(width(FIGURES[figure], SMALL));
            right
        });
        let met = players.iter().flat_map(|player| &player.against);
        let cell = widest(met.map(|(_, met)| points(*met)), TINY) + 4.0;
        Layout { labels, figures, cells: right + GAP, cell: cell.max(CELL.0) }
    }

    fn draw_row(&self, canvas: &mut Canvas, top: f64, row: &Row, player: &Standing) {
        let y = top + CELL.1 / 2.0 + 4.0;
        canvas.line((MARGIN, top), (self.cells - 6.0, top), "stroke=\"#e4e4e4\"");
        canvas.text(self.labels - GAP, y, PLAIN.faint().anchor("end"), &row.number);
        canvas.name(self.labels, y, PLAIN, &player.name, &row.label);
        let styles = [PLAIN.bold(), PLAIN, PLAIN];
        for ((x, figure), style) in self.figures.into_iter().zip(&row.figures).zip(styles) {
            canvas.text(x, y, style.anchor("end"), figure);
        }
    }

    fn draw_cells(
        &self,
        canvas: &mut Canvas,
        top: f64,
        place: usize,
        player: &Standing,
        columns: usize,
    ) {
        let mut results = vec![WinDrawLoss::default(); columns];
        player.against.iter().for_each(|&(column, met)| results[column] = met);
        for (column, met) in results.into_iter().enumerate() {
            let x = self.cells + self.cell * column as f64;
            draw_cell(canvas, (x, top), self.cell, met, column == place);
        }
    }
}

fn share(met: WinDrawLoss) -> f64 {
    met.points() / f64::from(met.games().max(1))
}

fn draw_cell(canvas: &mut Canvas, (x, top): (f64, f64), width: f64, met: WinDrawLoss, own: bool) {
    let fill = match met.games() {
        _ if own => "#c9c9c9".into(),
        0 => "#f3f3f3".into(),
        _ => shade(share(met)),
    };
    let height = CELL.1;
    canvas.raw(&format!(
        "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height}\" fill=\"{fill}\" stroke=\"white\" stroke-width=\"1.5\"/>"
    ));
    if met.games() > 0 {
        let middle = x + width / 2.0;
        let percent = format!("{:.0}", 100.0 * share(met));
        canvas.text(middle, top + 16.0, PLAIN.size(13.0).anchor("middle"), &percent);
        canvas.text(middle, top + 28.0, TINY.faint().anchor("middle"), &points(met));
    }
}

/// A colour from orange (0) over white (0.5) to blue (1), which most colour-blind readers can
/// distinguish.
fn shade(share: f64) -> String {
    let (strong, weight) = match share < 0.5 {
        true => ([244.0, 165.0, 96.0], 1.0 - 2.0 * share),
        false => ([116.0, 169.0, 220.0], 2.0 * share - 1.0),
    };
    let mix = |part: f64| (250.0 + weight * (part - 250.0)).round();
    let [red, green, blue] = strong.map(mix);
    format!("rgb({red},{green},{blue})")
}
