//! Input lines: from a pipe, or from a terminal with line editing and a history.

use std::env;
use std::io::{self, BufRead, BufReader, IsTerminal, Write as _};
use std::path::PathBuf;

use rustyline::error::ReadlineError;
use rustyline::{Config, DefaultEditor};

use super::display;
use crate::cli::interrupt::wait_if_ending;
use crate::protocol::lines::{LONGEST, Line, next_line};

const PROMPT: &str = "> ";
/// The most lines in the history.
const HISTORY: usize = 1000;

/// The result of waiting for a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entry {
    Line(String),
    /// A line that is refused before it is parsed, and why.
    Unusable(&'static str),
    /// The end of the input.
    End,
    /// Ctrl-C.
    Interrupt,
}

/// A source of lines.
pub trait Input {
    /// The next line. A terminal shows a prompt first.
    ///
    /// # Errors
    ///
    /// The input fails.
    fn next(&mut self) -> io::Result<Entry>;
}

/// Standard input, with line editing if it is a terminal.
pub fn of_stdin() -> Box<dyn Input> {
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    if is_terminal
        && !display::is_dumb()
        && let Some(terminal) = Terminal::open(history_file())
    {
        return Box::new(terminal);
    }
    Box::new(Plain { reader: BufReader::new(io::stdin()), prompts: is_terminal })
}

/// Lines without editing.
pub struct Plain<R> {
    pub reader: R,
    /// Whether to print a prompt for each line.
    pub prompts: bool,
}

impl<R: BufRead> Input for Plain<R> {
    fn next(&mut self) -> io::Result<Entry> {
        if self.prompts {
            let mut output = io::stdout();
            output.write_all(PROMPT.as_bytes())?;
            output.flush()?;
        }
        Ok(match next_line(&mut self.reader)? {
            None => Entry::End,
            Some(Line::TooLong) => Entry::Unusable(TOO_LONG),
            Some(Line::Text(text)) => Entry::Line(text),
        })
    }
}

const TOO_LONG: &str = "that line is too long";

/// A terminal whose lines can be edited. It is in raw mode only while a line is typed.
struct Terminal {
    editor: DefaultEditor,
    history: Option<PathBuf>,
}

impl Terminal {
    /// `None` if the terminal has no line editing.
    fn open(history: Option<PathBuf>) -> Option<Terminal> {
        let config = Config::builder()
            .max_history_size(HISTORY)
            .and_then(|config| config.history_ignore_dups(true))
            .ok()?
            // Each pasted line is a command.
            .bracketed_paste(false)
            .build();
        let mut editor = DefaultEditor::with_config(config).ok()?;
        if let Some(file) = &history {
            // Before the first game there is no history.
            let _ = editor.load_history(file);
        }
        Some(Terminal { editor, history })
    }

    /// Adds a line to the history file at once, because a signal may end the game. If the file
    /// cannot be written, the game continues without a history.
    fn remember(&mut self, line: &str) {
        if !matches!(self.editor.add_history_entry(line), Ok(true)) {
            return;
        }
        let Some(file) = &self.history else { return };
        if let Some(folder) = file.parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        let _ = self.editor.append_history(file);
    }
}

impl Input for Terminal {
    fn next(&mut self) -> io::Result<Entry> {
        wait_if_ending();
        match self.editor.readline(PROMPT) {
            Ok(line) if line.len() > LONGEST => Ok(Entry::Unusable(TOO_LONG)),
            Ok(line) => {
                self.remember(line.trim());
                Ok(Entry::Line(line))
            }
            Err(ReadlineError::Interrupted) => Ok(Entry::Interrupt),
            Err(ReadlineError::Eof) => Ok(Entry::End),
            Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
                Ok(Entry::Unusable("that line is not UTF-8"))
            }
            Err(ReadlineError::Io(error)) => Err(error),
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

/// The path of the history file, by the XDG base directory specification.
fn history_file() -> Option<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    let state = env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(absolute);
    let home = || env::home_dir().filter(absolute).map(|home| home.join(".local/state"));
    Some(state.or_else(home)?.join("outflank/play_history"))
}
