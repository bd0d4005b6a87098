//! The rules for modules and files, and the functions that check a file's text against them.

use std::fmt;

use proc_macro2::{TokenStream, TokenTree};

/// Each module below the crate's root, with its floor. A module may use lower floors only.
const FLOORS: &[(&str, u8)] = &[
    ("game", 0),
    ("choices", 0),
    ("keys", 0),
    ("model", 1),
    ("eval", 2),
    ("predict", 3),
    ("search", 4),
    ("net", 4),
    ("store", 5),
    ("train", 6),
    ("players", 6),
    ("arena", 7),
    ("pipeline", 8),
    ("telemetry", 8),
    ("config", 8),
    ("cli", 9),
    ("protocol", 9),
    ("web", 9),
    ("main", 10),
    ("lib", 10),
];

/// Pairs (user, used) of modules on one floor. Other uses of a neighbour are forbidden.
const NEIGHBOURS: &[(&str, &str)] = &[
    ("choices", "keys"),
    ("pipeline", "telemetry"),
    ("pipeline", "config"),
    ("cli", "protocol"),
    ("cli", "web"),
    ("web", "protocol"),
];

/// Macros with their modules: Rust puts an exported macro at the crate's root.
const ROOT_MACROS: &[(&str, &str)] = &[("dispatch", "game")];

/// Modules that must not use the tensor library. `game` may use no library at all.
const WITHOUT_TENSORS: &[&str] = &[
    "game", "choices", "keys", "model", "eval", "predict", "search", "store", "players", "arena",
    "protocol", "web",
];

/// Files in which `unsafe` is allowed.
const UNSAFE_ALLOWED: &[&str] = &[
    "src/eval/patterns/table.rs",
    "src/game/simd.rs",
    "src/net/allocator.rs",
    "src/net/tile.rs",
    "src/net/vector/x86.rs",
];

/// The most lines of a Rust file.
pub const LONGEST_FILE: usize = 400;

/// Files that may be longer, each with the reason.
const LONG_FILES: &[(&str, &str)] = &[(
    "src/game/geometry.rs",
    "the five shapes share one macro, and each drawing of a shape is data",
)];

/// Words that mark unfinished work, written in parts so that this file does not contain them.
pub const MARKS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// Whether a line of a page is `@NAME@`, a placeholder for missing text.
fn is_placeholder(line: &str) -> bool {
    let name = line.trim().strip_prefix('@').and_then(|line| line.strip_suffix('@'));
    name.is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase()))
}

/// Finds error types whose text contains the text of their source. The program prints an error and
/// its source, so the cause would appear twice.
pub fn check_errors(file: &str, text: &str) -> Vec<Violation> {
    let lines: Vec<&str> = text.lines().collect();
    let attribute = |start: usize| {
        let length = lines[start..].iter().position(|line| line.trim_end().ends_with(")]"));
        let end = start + length.unwrap_or(0);
        (lines[start..=end].concat(), lines.get(end + 1).copied().unwrap_or_default())
    };
    let repeats = |start: usize| {
        let (text, variant) = attribute(start);
        let is_source = ["#[from]", "#[source]"].iter().any(|mark| variant.contains(mark));
        text.contains("{source") || (text.contains("{0") && is_source)
    };
    let starts =
        (0..lines.len()).filter(|&start| lines[start].trim_start().starts_with("#[error("));
    let message = "an error's text repeats its source".to_string();
    let violation =
        |start| Violation { file: file.to_string(), line: start + 1, message: message.clone() };
    starts.filter(|&start| repeats(start)).map(violation).collect()
}

#[derive(Debug, PartialEq)]
pub struct Violation {
    pub file: String,
    pub line: usize,
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

/// A kind of token. Groups are split into their tokens, comments are removed, and literals are
/// `Other`.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Word(String),
    Mark(char),
    Open,
    Close,
    Other,
}

#[derive(Clone, Debug)]
struct Token {
    kind: Kind,
    line: usize,
}

fn flatten(stream: TokenStream, tokens: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        let mut push = |kind| tokens.push(Token { kind, line });
        match tree {
            TokenTree::Ident(word) => push(Kind::Word(word.to_string())),
            TokenTree::Punct(mark) => push(Kind::Mark(mark.as_char())),
            TokenTree::Literal(_) => push(Kind::Other),
            TokenTree::Group(group) => {
                push(Kind::Open);
                flatten(group.stream(), tokens);
                tokens.push(Token { kind: Kind::Close, line: group.span_close().start().line });
            }
        }
    }
}

fn word(tokens: &[Token], index: usize) -> Option<&str> {
    match tokens.get(index).map(|token| &token.kind) {
        Some(Kind::Word(word)) => Some(word),
        _ => None,
    }
}

fn is_path_separator(tokens: &[Token], index: usize) -> bool {
    let colon = |index: usize| tokens.get(index).is_some_and(|token| token.kind == Kind::Mark(':'));
    colon(index) && colon(index + 1)
}

/// The names directly after a path's root, with their lines: one, or those of a `{a::b, c}` group.
fn names_after(tokens: &[Token], index: usize) -> Vec<(String, usize)> {
    let line = tokens.get(index).map_or(0, |token| token.line);
    match tokens.get(index).map(|token| &token.kind) {
        Some(Kind::Word(name)) => vec![(name.clone(), line)],
        Some(Kind::Mark('*')) => vec![("*".to_string(), line)],
        Some(Kind::Open) => {
            let mut names = Vec::new();
            let (mut depth, mut is_start) = (0, true);
            for token in &tokens[index + 1..] {
                match &token.kind {
                    Kind::Open => depth += 1,
                    Kind::Close if depth == 0 => break,
                    Kind::Close => depth -= 1,
                    Kind::Mark(',') if depth == 0 => is_start = true,
                    Kind::Word(name) if is_start => {
                        names.push((name.clone(), token.line));
                        is_start = false;
                    }
                    Kind::Mark('*') if is_start => names.push(("*".to_string(), token.line)),
                    _ => {}
                }
            }
            names
        }
        _ => Vec::new(),
    }
}

/// The module of a file: `src/a/b.rs` is `a::b`, and `src/a/mod.rs` is `a`.
pub fn module_of(file: &str) -> Vec<String> {
    let path = file.trim_start_matches("src/").trim_end_matches(".rs");
    let path = path.strip_suffix("/mod").unwrap_or(path);
    path.split('/').map(String::from).collect()
}

fn floor(module: &str) -> Option<u8> {
    FLOORS.iter().find(|(name, _)| *name == module).map(|(_, floor)| *floor)
}

/// The violation, if module `from` must not use module `to`; both are below the root.
fn check_use(from: &str, to: &str) -> Option<String> {
    let to = ROOT_MACROS.iter().find(|(name, _)| *name == to).map_or(to, |(_, module)| module);
    let Some(from_floor) = floor(from) else {
        return Some(format!(
            "module `{from}` has no floor: give it one in tests/layering/checker.rs"
        ));
    };
    let Some(to_floor) = floor(to) else {
        return Some(format!(
            "`crate::{to}` is on no floor: give it one in tests/layering/checker.rs"
        ));
    };
    let is_allowed = from == to || to_floor < from_floor || NEIGHBOURS.contains(&(from, to));
    (!is_allowed)
        .then(|| format!("`{from}` (floor {from_floor}) must not use `{to}` (floor {to_floor})"))
}

/// Checks the tokens of a file, from the first to the last.
struct Reader<'a> {
    file: &'a str,
    module: Vec<String>,
    libraries: &'a [String],
    tokens: Vec<Token>,
    /// The inline modules around the current token, each with the depth of groups inside it.
    inner: Vec<(String, usize)>,
    depth: usize,
    violations: Vec<Violation>,
}

/// Checks the module uses, the libraries and `unsafe` of one file in `src`.
pub fn check_source(file: &str, text: &str, libraries: &[String]) -> Vec<Violation> {
    let stream: TokenStream = text.parse().unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut tokens = Vec::new();
    flatten(stream, &mut tokens);
    let module = module_of(file);
    let (inner, violations) = (Vec::new(), Vec::new());
    let mut reader = Reader { file, module, libraries, tokens, inner, depth: 0, violations };
    for index in 0..reader.tokens.len() {
        reader.read(index);
    }
    reader.violations
}

impl Reader<'_> {
    fn report(&mut self, line: usize, message: String) {
        self.violations.push(Violation { file: self.file.to_string(), line, message });
    }

    fn read(&mut self, index: usize) {
        match self.tokens[index].kind.clone() {
            Kind::Open => self.depth += 1,
            Kind::Close => {
                self.depth -= 1;
                self.inner.retain(|(_, end)| *end <= self.depth);
            }
            Kind::Word(name) => self.read_word(index, &name),
            Kind::Mark(_) | Kind::Other => {}
        }
    }

    fn read_word(&mut self, index: usize, name: &str) {
        let (tokens, line) = (&self.tokens, self.tokens[index].line);
        // The first word of a path, or a single word.
        let is_first = index < 2 || !is_path_separator(tokens, index - 2);
        let leads_a_path = is_first && is_path_separator(tokens, index + 1);
        let is_used = index > 0 && word(tokens, index - 1) == Some("use");
        match name {
            "mod" if tokens.get(index + 2).is_some_and(|token| token.kind == Kind::Open) => {
                let name = word(tokens, index + 1).unwrap_or_default().to_string();
                self.inner.push((name, self.depth + 1));
            }
            "unsafe" if !UNSAFE_ALLOWED.contains(&self.file) => {
                self.report(line, "`unsafe` is not allowed here".to_string());
            }
            "crate" if leads_a_path => self.check_path(index + 3, 0),
            "super" if leads_a_path => {
                self.check_path(index + 3, self.module.len() + self.inner.len() - 1);
            }
            _ if (leads_a_path || is_used) && self.libraries.iter().any(|known| known == name) => {
                self.check_library(line, name);
            }
            _ => {}
        }
    }

    /// Checks the path whose rest begins at `index`, in a module that is `depth` levels below the
    /// crate's root.
    fn check_path(&mut self, mut index: usize, mut depth: usize) {
        while word(&self.tokens, index) == Some("super")
            && is_path_separator(&self.tokens, index + 1)
        {
            depth = depth.saturating_sub(1);
            index += 3;
        }
        // A path that does not reach the root stays in its own module.
        if depth > 0 {
            return;
        }
        for (to, line) in names_after(&self.tokens, index) {
            if let Some(message) = check_use(&self.module[0], &to) {
                self.report(line, message);
            }
        }
    }

    fn check_library(&mut self, line: usize, name: &str) {
        let module = self.module[0].as_str();
        let is_test = self.inner.iter().any(|(name, _)| name == "tests");
        let is_tensor = name == "tch" && WITHOUT_TENSORS.contains(&module);
        if is_tensor || (module == "game" && !is_test) {
            self.report(line, format!("`{module}` must not use the library `{name}`"));
        }
    }
}

/// Checks a file's text for marks of unfinished work, placeholders and its length.
pub fn check_text(file: &str, text: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut report =
        |line, message| violations.push(Violation { file: file.to_string(), line, message });
    let is_page = file.ends_with(".md");
    for (index, line) in text.lines().enumerate() {
        // Pages may contain the third mark, as in a pattern of file names: `step-` and its letters.
        for mark in MARKS.iter().filter(|mark| !is_page && line.contains(**mark)) {
            report(index + 1, format!("{mark}: finish it, or file an issue"));
        }
        if is_page && is_placeholder(line) {
            report(index + 1, format!("{}: fill it in", line.trim()));
        }
    }
    if UNSAFE_ALLOWED.contains(&file) && !text.contains("unsafe") {
        report(1, "has no `unsafe`: remove it from UNSAFE_ALLOWED".to_string());
    }
    let count = text.lines().count();
    let may_be_long = LONG_FILES.iter().any(|(name, _)| *name == file);
    if file.ends_with(".rs") && (count > LONGEST_FILE) != may_be_long {
        let problem = if may_be_long {
            "is no longer long: remove it from LONG_FILES"
        } else {
            "is too long"
        };
        report(count, format!("{count} lines, where {LONGEST_FILE} are allowed: it {problem}"));
    }
    violations
}
