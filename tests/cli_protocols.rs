//! The protocol servers as a graphical board or a controller uses them: commands arrive while a
//! search runs.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Far longer than anything here takes, since the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server.
struct Server {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Server {
    fn start(arguments: &[&str]) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().expect("the program");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Server { child, input, lines }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("it listens");
    }

    /// Reads lines up to and including the first one with this beginning.
    fn until(&self, beginning: &str) -> Vec<String> {
        let mut lines = Vec::new();
        while lines.last().is_none_or(|line: &String| !line.starts_with(beginning)) {
            let line = self.lines.recv_timeout(PATIENCE);
            lines.push(line.unwrap_or_else(|_| panic!("no `{beginning}` after {lines:?}")));
        }
        lines
    }

    /// Waits for the server's end and returns its exit code.
    fn code(mut self) -> Option<i32> {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => break,
                // The panic drops the server, which kills it.
                Err(RecvTimeoutError::Timeout) => panic!("it neither ends nor prints"),
            }
        }
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The kill fails if the server has ended.
        let _ = self.child.kill();
    }
}

/// Players whose searches take at least half an hour.
const SLOW: [&str; 2] = ["alphabeta:depth=40", "rollouts:simulations=100000000"];

#[test]
fn a_board_interrupts_a_search() {
    for player in SLOW {
        let mut board = Server::start(&["nboard", player]);
        for (number, command) in ["hint 2", "go", "hint 60"].into_iter().enumerate() {
            board.send(command);
            let lines = board.until("search ");
            assert!(lines[0].starts_with("status "), "{lines:?}");
            board.send(&format!("ping {number}"));
            let lines = board.until("pong");
            assert_eq!(lines.last(), Some(&format!("pong {number}")));
            assert!(!lines.iter().any(|line| line.starts_with("===")), "{lines:?}");
        }
        board.send("quit");
        assert_eq!(board.code(), Some(0), "{player}");
    }
}

#[test]
fn a_controller_interrupts_an_analysis() {
    for player in ["alphabeta:depth=1", "rollouts:simulations=1"] {
        let mut controller = Server::start(&["gtp", player]);
        controller.send("1 kata-analyze b 5");
        let lines = controller.until("info ");
        assert_eq!(lines[0], "=1");
        controller.until("info ");
        controller.send("2 genmove b");
        let lines = controller.until("=2 ");
        assert_eq!(lines[lines.len() - 2], "", "the analysis has ended");
        controller.send("quit");
        assert_eq!(controller.code(), Some(0), "{player}");
    }
}

#[test]
fn a_server_without_a_player_takes_the_default_one() {
    let mut board = Server::start(&["nboard", "--shape", "6x6"]);
    board.send("nboard 2");
    let lines = board.until("set myname ");
    assert!(lines[0].starts_with("set myname 6x6") && lines[0].contains("sims=1600"), "{lines:?}");
    board.send("quit");
    assert_eq!(board.code(), Some(0));
    let mut controller = Server::start(&["gtp", "--shape", "6x6", "--goal", "fewest"]);
    controller.send("1 showboard");
    assert!(controller.until("black (X)").last().expect("a line").ends_with("black to move"));
    controller.send("quit");
    assert_eq!(controller.code(), Some(0));
}

/// As in `outflank play | head -1`.
#[test]
fn a_closed_output_ends_a_server_without_an_error() {
    for (command, line) in [("play", "board"), ("gtp", "name"), ("nboard", "ping 1")] {
        let mut process = Command::new(env!("CARGO_BIN_EXE_outflank"));
        process.args([command, "random"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = process.stderr(Stdio::piped()).spawn().expect("the program");
        drop(child.stdout.take());
        let mut input = child.stdin.take().expect("a pipe");
        // Fails if the program has met the closed output already.
        let _ = writeln!(input, "{line}");
        drop(input);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{command}");
        assert_eq!(output.status.code(), Some(0), "{command}");
    }
}

#[test]
fn board_and_goal_are_those_of_the_net() {
    for (net, size) in [("6x6", 6), ("cross92", 10)] {
        let player = format!("net:{}/checkpoints/{net},simulations=1", env!("CARGO_MANIFEST_DIR"));
        let mut server = Server::start(&["gtp", &player]);
        server.send(&format!("boardsize {size}"));
        let answer = server.until("");
        assert!(answer[0].starts_with('='), "{net}: {answer:?}");
    }
}
