//! The commands of the prompt.

/// The text of `help`.
pub const HELP: &str = "\
f5            play there (any square of the board; a dot marks where you may)
f5 d6 c3      play several moves, the opponent's too: all, or none if one is
              illegal
hint [N]      the N best moves: win chance, expected final disc difference
              (`=` is exact, `<=` and `>=` are proven bounds), plies or
              simulations searched, and the line of play that is expected
go            let the opponent make your move
undo          take back your last move and the moves after it
moves         list the moves so far
new           start a new game
save FILE     write the game: as GGF if FILE ends in .ggf, else as a transcript
load FILE     read a game in GGF, a transcript, or a position as an OBF line
board         show the board again
help          show this
quit          leave (so does the end of the input)
";

/// A parsed line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command<'a> {
    /// An empty line.
    Nothing,
    Help,
    Board,
    Moves,
    /// With the number of moves, as written.
    Hint(&'a str),
    Go,
    Undo,
    New,
    /// With the file's name, as written.
    Save(&'a str),
    /// With the file's name, as written.
    Load(&'a str),
    Quit,
    /// The whole line, which should name moves.
    Play(&'a str),
}

impl<'a> Command<'a> {
    /// The command of a line.
    pub fn of(line: &'a str) -> Command<'a> {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim_start();
        match word {
            "" => Command::Nothing,
            "help" | "?" => Command::Help,
            "board" => Command::Board,
            "moves" => Command::Moves,
            "hint" => Command::Hint(rest),
            "go" => Command::Go,
            "undo" => Command::Undo,
            "new" => Command::New,
            "save" => Command::Save(rest),
            "load" => Command::Load(rest),
            "quit" | "exit" | "q" => Command::Quit,
            _ => Command::Play(line),
        }
    }
}
