//! `outflank play` in a terminal, which `script` of util-linux provides: line editing and the
//! history. However the game ends, the terminal's settings must be restored.

#![cfg(target_os = "linux")]

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// A game in its own terminal, with the keys that are pressed and the output on the screen.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    output: Receiver<Vec<u8>>,
    /// The output so far.
    screen: String,
    /// The end of the output that [`Terminal::wait_for`] has searched, in bytes.
    searched: usize,
}

impl Terminal {
    /// Starts a game in `folder`. The files `before` and `after` there will have the terminal's
    /// settings before and after the game. Prints a message and returns `None` if there is no
    /// `script`.
    fn start(folder: &Path, player: &str, variables: &[(&str, &str)]) -> Option<Terminal> {
        let binary = env!("CARGO_BIN_EXE_outflank");
        let write =
            |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("writable");
        // In single quotes, since the player's specification has double quotes.
        let play = format!("exec '{binary}' play '{player}' --shape 6x6\n");
        write("play.sh", &format!("echo $$ > pid\n{play}"));
        // The shell must survive Ctrl-C, to write the settings after the game.
        let settings = "stty -g > before\nsh play.sh\ncode=$?\nstty -g > after\nexit $code\n";
        write("game.sh", &format!("trap : INT\n{settings}"));
        let mut command = Command::new("script");
        command.args(["-qefc", "sh game.sh", "/dev/null"]).current_dir(folder);
        command.env("TERM", "xterm").env("XDG_STATE_HOME", folder);
        for other in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
            command.env_remove(other);
        }
        command.envs(variables.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let Ok(mut child) = command.spawn() else {
            let _ = writeln!(std::io::stderr(), "SKIPPED: a terminal: there is no `script`");
            return None;
        };
        let keys = child.stdin.take().expect("a pipe");
        let mut stdout = child.stdout.take().expect("a pipe");
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = stdout.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Some(Terminal { child, keys, output, screen: String::new(), searched: 0 })
    }

    /// Waits for a text, at most half a minute. A test must wait for the prompt before it presses
    /// keys. Before the prompt the terminal edits the line itself, and `END_OF_INPUT` is not passed
    /// to the program as a key.
    fn wait_for(&mut self, text: &str) {
        loop {
            if let Some(place) = self.screen[self.searched..].find(text) {
                self.searched += place + text.len();
                return;
            }
            match self.output.recv_timeout(Duration::from_secs(30)) {
                Ok(bytes) => self.screen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("no `{text}`: {:?}", &self.screen[self.searched..]),
            }
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("it listens");
        self.keys.flush().expect("it listens");
    }

    /// Waits for the end and returns the exit code. Asserts that the terminal's settings are
    /// restored.
    fn end(mut self, folder: &Path) -> Option<i32> {
        loop {
            match self.output.recv_timeout(Duration::from_secs(30)) {
                Ok(bytes) => self.screen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(RecvTimeoutError::Disconnected) => break,
                // The panic drops the terminal, which kills the game.
                Err(RecvTimeoutError::Timeout) => {
                    panic!("the game does not end: {:?}", self.screen)
                }
            }
        }
        let code = self.child.wait().expect("it has ended").code();
        let settings =
            |name: &str| std::fs::read_to_string(folder.join(name)).expect("terminal settings");
        assert_eq!(settings("after"), settings("before"), "{:?}", self.screen);
        code
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The kill fails if the game has ended.
        let _ = self.child.kill();
    }
}

const INTERRUPT: &str = "\u{3}";
const END_OF_INPUT: &str = "\u{4}";
const UP: &str = "\u{1b}[A";
const LEFT: &str = "\u{1b}[D";

#[test]
fn lines_can_be_edited_and_are_in_the_history_of_the_next_game() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(mut game) = Terminal::start(folder.path(), "random", &[]) else { return };
    game.wait_for("> ");
    game.press(&format!("moes{LEFT}{LEFT}v\r"));
    game.wait_for("no move has been made");
    game.wait_for("> ");
    game.press(END_OF_INPUT);
    assert_eq!(game.end(folder.path()), Some(0));
    let mut game = Terminal::start(folder.path(), "random", &[]).expect("as before");
    game.wait_for("> ");
    game.press(&format!("{UP}\r"));
    game.wait_for("no move has been made");
    game.wait_for("> ");
    game.press("quit\r");
    assert_eq!(game.end(folder.path()), Some(0));
    let history = folder.path().join("outflank/play_history");
    let history = std::fs::read_to_string(history).expect("a history");
    assert!(history.ends_with("moves\nquit\n"), "{history}");
}

#[test]
fn an_interrupt_at_the_prompt_restores_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(mut game) = Terminal::start(folder.path(), "random", &[]) else { return };
    game.wait_for("> ");
    game.press(&format!("mov{INTERRUPT}"));
    assert_eq!(game.end(folder.path()), Some(130));
}

#[test]
fn an_interrupt_while_a_player_thinks_restores_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let silent = "external:protocol=gtp,command=\"sleep 600\"";
    let Some(mut game) = Terminal::start(folder.path(), silent, &[]) else { return };
    game.wait_for("> ");
    game.press("e4\r");
    game.wait_for("white to move");
    game.press(INTERRUPT);
    assert_eq!(game.end(folder.path()), Some(130));
}

#[test]
fn a_signal_at_the_prompt_restores_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(mut game) = Terminal::start(folder.path(), "random", &[]) else { return };
    game.wait_for("> ");
    let pid = std::fs::read_to_string(folder.path().join("pid")).expect("its number");
    let sent = Command::new("kill").args(["-TERM", pid.trim()]).status().expect("kill");
    assert!(sent.success());
    assert_eq!(game.end(folder.path()), Some(143));
}

#[test]
fn colours_are_used_only_if_allowed() {
    let folder = tempfile::tempdir().expect("a folder");
    for (variables, highlight) in [
        (&[][..], "\u{1b}[7m"),
        (&[("NO_COLOR", "1")], "[X]"),
        (&[("TERM", "dumb"), ("CI", "true"), ("XDG_STATE_HOME", "/dev/null/nowhere")], "[X]"),
        (&[("XDG_STATE_HOME", "/dev/null/nowhere")], "\u{1b}[7m"),
    ] {
        let Some(mut game) = Terminal::start(folder.path(), "random", variables) else { return };
        game.wait_for("> ");
        assert!(!game.screen.contains(highlight), "{:?}", game.screen);
        game.press("e4\r");
        game.wait_for(highlight);
        game.wait_for("> ");
        game.press("quit\r");
        assert_eq!(game.end(folder.path()), Some(0));
    }
}
