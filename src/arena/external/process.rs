//! A child process that is talked to in lines, trusted with nothing.
//!
//! A thread reads what the engine prints and hands it on line by line over a bounded channel;
//! when nobody takes the lines the thread waits, and so does the engine. Of a line that is too
//! long only the beginning is kept, so no output of an engine takes memory.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use super::{deadline, shown};
use crate::arena::player::PlayerError;

/// Bytes of a line that are kept.
const LINE: usize = 4096;
/// Bytes that an engine may print before its answer.
const FLOOD: usize = 1 << 20;
/// Lines that wait to be read; a full channel makes the engine wait.
const WAITING: usize = 64;
/// How long an engine may take to leave when it is told to.
const FAREWELL: Duration = Duration::from_millis(300);

/// Something that an engine printed.
struct Printed {
    /// A line without its end; `None` for a piece of a line that is too long to keep.
    line: Option<String>,
    /// How many bytes it took.
    bytes: usize,
}

/// A running engine.
pub(super) struct Process {
    child: Child,
    stdin: ChildStdin,
    printed: Receiver<Printed>,
    timeout: Duration,
    farewell: &'static str,
}

impl Process {
    /// Starts a command, split like a shell does.
    pub fn start(command: &str, timeout: Duration) -> Result<Process, PlayerError> {
        let not_started = |reason: String| PlayerError::NotStarted { reason: reason.into() };
        let words = shlex::split(command).unwrap_or_default();
        let [program, arguments @ ..] = &words[..] else {
            return Err(not_started("the command is empty".into()));
        };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // A Ctrl-C at the terminal is for the match, which ends its engines itself.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let failed = |error: std::io::Error| not_started(format!("{program}: {error}"));
        let mut child = running(|engines| {
            command.spawn().inspect(|child| engines.push(child.id())).map_err(failed)
        })?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
            return Err(not_started("it has no pipes".into()));
        };
        let (sender, printed) = crossbeam_channel::bounded(WAITING);
        std::thread::spawn(move || read_lines(stdout, &sender));
        Ok(Process { child, stdin, printed, timeout, farewell: "quit" })
    }

    /// Sends a line.
    pub fn send(&mut self, line: &str) -> Result<(), PlayerError> {
        tracing::debug!("to engine {}: {line}", self.child.id());
        let written = self.stdin.write_all(format!("{line}\n").as_bytes());
        match written.and_then(|()| self.stdin.flush()) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.ended()),
        }
    }

    /// Begins to wait for an answer.
    pub fn listen(&mut self) -> Listening<'_> {
        let until = deadline(self.timeout);
        Listening { process: self, until, heard: 0 }
    }

    fn ended(&mut self) -> PlayerError {
        let status = match wait(&mut self.child, FAREWELL) {
            Some(status) => status,
            None => "it closed its output".into(),
        };
        PlayerError::Ended { status: shown(&status) }
    }
}

/// The time and patience that an engine has for one answer.
pub(super) struct Listening<'a> {
    process: &'a mut Process,
    until: Instant,
    heard: usize,
}

impl Listening<'_> {
    /// The next line.
    pub fn line(&mut self) -> Result<String, PlayerError> {
        loop {
            let left = self.until.saturating_duration_since(Instant::now());
            let printed = match self.process.printed.recv_timeout(left) {
                Ok(printed) => printed,
                Err(RecvTimeoutError::Timeout) => {
                    let seconds = self.process.timeout.as_secs_f64();
                    return Err(PlayerError::Hung { seconds });
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.process.ended()),
            };
            self.heard += printed.bytes;
            if self.heard > FLOOD {
                return Err(PlayerError::Flooded { limit: FLOOD });
            }
            if let Some(line) = printed.line {
                tracing::debug!("from engine {}: {line}", self.process.child.id());
                return Ok(line);
            }
        }
    }
}

/// The exit status as text once the child has ended, if it does so in time.
fn wait(child: &mut Child, patience: Duration) -> Option<String> {
    let until = deadline(patience);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.to_string()),
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
            _ => return None,
        }
    }
}

/// Ends engines and whatever they have started and left behind: each leads a process group of its
/// own.
#[cfg(unix)]
fn kill_groups(leaders: &[u32]) {
    if leaders.is_empty() {
        return;
    }
    let groups: String = leaders.iter().map(|leader| format!(" -{leader}")).collect();
    // Whether anybody is left to be killed is not known, and need not be.
    let _ = Command::new("sh")
        .args(["-c", &format!("kill -9{groups}")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

#[cfg(not(unix))]
fn kill_groups(_leaders: &[u32]) {}

/// The engines that run, by their process groups.
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn running<R>(work: impl FnOnce(&mut Vec<u32>) -> R) -> R {
    work(&mut RUNNING.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Ends all engines that run, and lets no other start: for a process that ends without dropping
/// them.
pub fn end_all() {
    let engines = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    kill_groups(&engines);
    std::mem::forget(engines);
}

impl Drop for Process {
    fn drop(&mut self) {
        // The engine may be gone already; then there is nobody to tell and nothing to kill.
        let _ = writeln!(self.stdin, "{}", self.farewell);
        let left = wait(&mut self.child, FAREWELL).is_some();
        kill_groups(&[self.child.id()]);
        if !left {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        running(|engines| engines.retain(|&engine| engine != self.child.id()));
    }
}

fn read_lines(mut stdout: ChildStdout, sender: &Sender<Printed>) {
    let (mut buffer, mut line, mut bytes) = ([0; 8192], Vec::new(), 0);
    // An error on the pipe means what its end means: the engine is gone.
    while let Ok(count @ 1..) = stdout.read(&mut buffer) {
        for &byte in &buffer[..count] {
            bytes += 1;
            match byte {
                b'\n' => {
                    let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                    let taken = std::mem::take(&mut bytes);
                    line.clear();
                    if sender.send(Printed { line: Some(text), bytes: taken }).is_err() {
                        return;
                    }
                }
                _ if line.len() < LINE => line.push(byte),
                _ => {}
            }
        }
        // An endless line must count too before it ends.
        if bytes > LINE {
            let taken = std::mem::take(&mut bytes);
            if sender.send(Printed { line: None, bytes: taken }).is_err() {
                return;
            }
        }
    }
}
