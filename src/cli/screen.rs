//! Text for a person's terminal: as wide as the terminal, and without Markdown's marks. Pipes and
//! files get whole lines.

use console::Term;
use textwrap::{Options, WordSplitter, WrapAlgorithm};

use crate::arena::report::pad;

/// The columns of the terminal at the standard output; `None` for a pipe or a file.
pub fn columns() -> Option<usize> {
    let out = Term::stdout();
    out.is_term().then(|| usize::from(out.size().1))
}

/// The text with lines of at most `columns` characters, broken at blanks; the parts of a broken line
/// begin with `indent`. A longer word has a line of its own.
pub fn wrapped(text: &str, columns: Option<usize>, indent: &str) -> String {
    let Some(columns) = columns else { return text.to_owned() };
    let options = Options::new(columns.max(20))
        .subsequent_indent(indent)
        .break_words(false)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::fill(text, options)
}

/// How a table is laid out.
#[derive(Clone, Copy)]
pub struct Layout {
    /// The columns of texts, which stand to the left; numbers stand to the right.
    pub texts: &'static [usize],
    /// The columns to leave out of a table that is wider than the terminal, in this order.
    pub left_out: &'static [usize],
}

/// A table whose first row is its head. A row that is shorter than the head is a cell of the first
/// column and a text.
pub fn table(rows: &[Vec<String>], layout: Layout, columns: Option<usize>) -> String {
    let cells = rows.first().map_or(0, Vec::len);
    let is_whole = |row: &&Vec<String>| row.len() == cells;
    let width = |column: usize| {
        // A long text must not widen its column.
        let rows = rows.iter().filter(|row| column == 0 || is_whole(row));
        rows.map(|row| row[column].chars().count()).max().unwrap_or(0)
    };
    let mut shown: Vec<(usize, usize)> = (0..cells).map(|column| (column, width(column))).collect();
    for &column in layout.left_out {
        let whole = shown.iter().map(|(_, width)| width + 2).sum::<usize>() - 2;
        if columns.is_some_and(|columns| whole > columns) {
            shown.retain(|&(place, _)| place != column);
        }
    }
    let mut text = String::new();
    for row in rows {
        let cell = |&(column, width): &(usize, usize)| {
            row.get(column).map(|cell| pad(cell, width, layout.texts.contains(&column)))
        };
        let line = shown.iter().filter_map(cell).collect::<Vec<_>>().join("  ");
        let line = if is_whole(&row) { line } else { wrapped(&line, columns, "    ") };
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A page of Markdown, as this program generates them, for a person's terminal: each row of a table
/// is a paragraph, and links are their words alone.
pub fn plain(markdown: &str, columns: usize) -> String {
    let mut page = Page { text: String::new(), columns, paragraph: String::new(), indent: "" };
    let mut head: Vec<String> = Vec::new();
    for line in markdown.lines() {
        let words = without_marks(line);
        if let Some(row) = words.strip_prefix('|') {
            page.end_paragraph();
            let row: Vec<String> = row.trim_end_matches('|').split('|').map(trimmed).collect();
            match &head[..] {
                [] => head = row,
                _ if line.starts_with("|--") => {}
                head => page.begin("      ", &format!("  {}", sentence(head, &row))),
            }
            continue;
        }
        head.clear();
        if let Some(title) = words.strip_prefix('#') {
            page.end_paragraph();
            page.begin("", &title.trim_start_matches(['#', ' ']).to_uppercase());
        } else if words.is_empty() {
            page.end_paragraph();
            page.text.push('\n');
        } else if words.starts_with("- ") {
            page.end_paragraph();
            page.begin("  ", &words);
        } else {
            page.go_on(words.trim());
        }
    }
    page.end_paragraph();
    page.text
}

struct Page {
    text: String,
    columns: usize,
    paragraph: String,
    indent: &'static str,
}

impl Page {
    fn begin(&mut self, indent: &'static str, words: &str) {
        (self.indent, self.paragraph) = (indent, words.to_owned());
    }

    fn go_on(&mut self, words: &str) {
        if self.paragraph.is_empty() {
            self.indent = "";
        } else {
            self.paragraph.push(' ');
        }
        self.paragraph += words;
    }

    fn end_paragraph(&mut self) {
        if !self.paragraph.is_empty() {
            self.text += &wrapped(&self.paragraph, Some(self.columns), self.indent);
            self.text.push('\n');
            self.paragraph.clear();
        }
    }
}

fn trimmed(cell: &str) -> String {
    cell.trim().to_owned()
}

/// A row of a table as a sentence.
fn sentence(head: &[String], row: &[String]) -> String {
    match row {
        [key, default, meaning, allowed] if head[1] == "default" => {
            format!("{key} (default: {default}): {meaning} Allowed: {allowed}.")
        }
        [name, meaning] => format!("{name}: {meaning}"),
        _ => {
            let cells = head.iter().zip(row).map(|(name, cell)| format!("{name} {cell}"));
            cells.collect::<Vec<_>>().join(", ")
        }
    }
}

/// A line without the marks of code and links.
fn without_marks(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, link)) = rest.split_once('[') {
        let Some((words, (_, after))) =
            link.split_once("](").and_then(|(words, place)| Some((words, place.split_once(')')?)))
        else {
            break;
        };
        text += before;
        text += words;
        rest = after;
    }
    text += rest;
    text.replace('`', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_pipes_get_whole_lines() {
        let line = "  1: 20 empties, score +4, 123456 nodes, 0.512 s, f5d6c3d3c4";
        assert_eq!(wrapped(line, None, "     "), line);
        let broken = wrapped(line, Some(40), "     ");
        assert!(broken.lines().all(|line| line.len() <= 40), "{broken}");
        assert_eq!(
            broken.split_whitespace().collect::<Vec<_>>(),
            line.split_whitespace().collect::<Vec<_>>()
        );
        assert!(broken.lines().skip(1).all(|line| line.starts_with("     ")), "{broken}");
    }

    #[test]
    fn the_reference_of_players_has_no_marks_and_fits() {
        let page = crate::players::spec::reference();
        let text = plain(&page, 80);
        let longest = text.lines().max_by_key(|line| line.chars().count()).expect("lines");
        assert!(longest.chars().count() <= 80, "{longest}");
        assert!(!text.contains(['`', '|', '#']), "{text}");
        let depth = "  depth (default: 6): Depth of the search in plies. Allowed:";
        assert!(text.contains(depth), "{text}");
        assert!(text.starts_with("PLAYERS\n\nA player is written as KIND, or as"), "{text}");
    }
}
