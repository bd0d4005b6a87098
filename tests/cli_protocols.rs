//! The protocol servers as a graphical board or a controller uses them: while it still writes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Far longer than anything here takes, for a machine that has much else to do.
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

    /// The lines up to the first that begins so.
    fn until(&self, beginning: &str) -> Vec<String> {
        let mut lines = Vec::new();
        while lines.last().is_none_or(|line: &String| !line.starts_with(beginning)) {
            let line = self.lines.recv_timeout(PATIENCE);
            lines.push(line.unwrap_or_else(|_| panic!("no `{beginning}` after {lines:?}")));
        }
        lines
    }

    /// Waits for its end.
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
        // One that has ended need not be killed.
        let _ = self.child.kill();
    }
}

/// The searches of these players take half an hour at least.
const SLOW: [&str; 2] = ["alphabeta:depth=40", "rollouts:simulations=100000000"];

#[test]
fn a_board_interrupts_a_search() {
    for player in SLOW {
        let mut board = Server::start(&["nboard", player]);
        for (number, question) in ["hint 2", "go", "hint 60"].into_iter().enumerate() {
            board.send(question);
            let said = board.until("search ");
            assert!(said[0].starts_with("status "), "{said:?}");
            board.send(&format!("ping {number}"));
            let said = board.until("pong");
            assert_eq!(said.last(), Some(&format!("pong {number}")));
            assert!(!said.iter().any(|line| line.starts_with("===")), "{said:?}");
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
        let said = controller.until("info ");
        assert_eq!(said[0], "=1");
        controller.until("info ");
        controller.send("2 genmove b");
        let said = controller.until("=2 ");
        assert_eq!(said[said.len() - 2], "", "the analysis has ended");
        controller.send("quit");
        assert_eq!(controller.code(), Some(0), "{player}");
    }
}

#[test]
fn a_server_without_a_player_takes_the_default_one() {
    let mut board = Server::start(&["nboard", "--shape", "6x6"]);
    board.send("nboard 2");
    let said = board.until("set myname ");
    assert!(said[0].starts_with("set myname 6x6") && said[0].contains("sims=1600"), "{said:?}");
    board.send("quit");
    assert_eq!(board.code(), Some(0));
    let mut controller = Server::start(&["gtp", "--shape", "6x6", "--goal", "fewest"]);
    controller.send("1 showboard");
    assert!(controller.until("black (X)").last().expect("a line").ends_with("black to move"));
    controller.send("quit");
    assert_eq!(controller.code(), Some(0));
}
