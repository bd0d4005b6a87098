//! The reference of all keys, as a page and as comments.

use std::fmt::Write;

use super::{keys, sections};

const HEAD: &str = "\
# Configuration

A run is configured by a TOML file. Every key has a default, so an empty file is a valid
configuration; `configs/` holds commented ones to start from. `--set key=value` (as often as
needed) changes a key from the command line, with its section in front: `--set
search.simulations=128`. A value that is not TOML is taken as a string, so quotes may be left
out: `--set board=6x6`.

- `outflank config CONFIG [--set key=value]...` checks a configuration, shows all its problems at
  once, and prints it with every default filled in; `--explain` adds what each key means.
- The run directory keeps the configuration as it was resolved, in `config.toml`.
- This page is made by the program (`outflank config --reference`), and a test fails when it is
  out of date.

Some defaults depend on other keys: with `net.tower = \"paper\"` the extra heads and global pooling
are off, `net.inputs` is \"discs\" and `net.dropout` is 0.3; with `net.score_head = false` the default of
`search.score_weight` is 0.
";

/// What a section is for.
fn purpose(section: &str) -> &'static str {
    match section {
        "limits" => "When the run ends by itself: at the first limit that it reaches.",
        "net" => "What the net is made of.",
        "search" => "How a tree search spends its simulations.",
        "selfplay" => "How games are made.",
        "inference" => "How the net is computed in play.",
        "replay" => "Which positions are learnt from, and how often.",
        "learner" => "How the net is fitted.",
        "checkpoint" => "When checkpoints are written and which ones stay.",
        "evaluation" => "Which matches a run plays against fixed opponents to see its strength.",
        _ => "Keys above the first section.",
    }
}

/// `docs/configuration.md`.
pub fn reference() -> String {
    let mut page = String::from(HEAD);
    let keys = keys();
    for section in [""].into_iter().chain(sections::SECTIONS) {
        let title = if section.is_empty() { "Top level".into() } else { format!("`[{section}]`") };
        // Writing to a string cannot fail.
        let _ = write!(page, "\n## {title}\n\n{}\n\n", purpose(section));
        page += "| key | default | what | allowed |\n|---|---|---|---|\n";
        for key in keys.iter().filter(|key| key.section == section) {
            let (name, default) = (key.name, &key.default);
            let allowed = key.allowed.replace('|', "\\|");
            let _ = writeln!(page, "| `{name}` | `{default}` | {} | {allowed} |", key.what);
        }
    }
    page
}

/// Puts a comment above each key of a resolved configuration.
pub(super) fn explain(resolved: &str) -> String {
    let (mut text, mut section) = (String::new(), String::new());
    let keys = keys();
    for line in resolved.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.to_string();
            let _ = writeln!(text, "# {}", purpose(&section));
        }
        let name = line.split(" = ").next().unwrap_or_default();
        if let Some(key) = keys.iter().find(|key| key.section == section && key.name == name) {
            let _ = writeln!(text, "# {} ({})", key.what, key.allowed);
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}
