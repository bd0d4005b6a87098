//! Text for a person's terminal: as wide as the terminal, and without Markdown's marks. Pipes and
//! files get whole lines.

use console::Term;
use textwrap::{Options, WordSplitter, WrapAlgorithm};

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
