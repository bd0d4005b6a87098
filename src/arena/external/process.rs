//! A child process that is talked to in lines and may do anything.
//!
//! One thread writes and reads, and waits for both at once, so that the time for an answer covers
//! both: an engine that does not read its input hangs like one that does not answer. What an engine
//! prints is read only while an answer is waited for. It fills its pipe otherwise, and then waits.

use std::io::{ErrorKind, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::{WaitId, WaitIdOptions, waitid};

use super::running::{self, Engine};
use super::shown;
use crate::arena::player::PlayerError;

/// Bytes that an engine may print before its answer.
const FLOOD: usize = 1 << 20;
/// How long an engine may take to leave when it is told to.
const FAREWELL: Duration = Duration::from_millis(300);
/// How often a wait looks whether the program is being stopped.
const TICK: Duration = Duration::from_millis(20);

/// A running engine.
pub(super) struct Process {
    child: Child,
    engine: Engine,
    /// Never blocks a write.
    stdin: ChildStdin,
    stdout: ChildStdout,
    /// What the engine has not taken yet.
    unsent: Vec<u8>,
    /// What it has printed, from the first line that nobody has taken.
    unread: Vec<u8>,
    timeout: Duration,
    /// Its exit status, once it has ended.
    status: Option<String>,
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
        let started = running::start(&mut command);
        let started = started.map_err(|error| not_started(format!("{program}: {error}")))?;
        let (mut child, engine) = started.ok_or(PlayerError::Interrupted)?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both pipes were asked for");
        };
        let (unsent, unread) = (Vec::new(), Vec::new());
        let process =
            Process { child, engine, stdin, stdout, unsent, unread, timeout, status: None };
        // Only this end: the engine's own reads go on to wait.
        ioctl_fionbio(&process.stdin, true).map_err(|error| not_started(error.to_string()))?;
        Ok(process)
    }

    /// Sends a line. It goes out while the answer is waited for.
    pub fn send(&mut self, line: &str) {
        tracing::debug!("to engine {}: {line}", self.child.id());
        self.unsent.extend_from_slice(line.as_bytes());
        self.unsent.push(b'\n');
    }

    /// Begins to wait for an answer.
    pub fn listen(&mut self) -> Listening<'_> {
        let until = Instant::now() + self.timeout;
        Listening { process: self, until, heard: 0 }
    }

    /// The next line that has been read.
    fn take_line(&mut self) -> Option<String> {
        let end = self.unread.iter().position(|&byte| byte == b'\n')?;
        let line = String::from_utf8_lossy(&self.unread[..end]).trim_end().to_owned();
        self.unread.drain(..=end);
        Some(line)
    }

    /// Waits for the engine to print, or to take what it is sent, for at most `patience`. How many
    /// bytes it printed.
    fn exchange(&mut self, patience: Duration) -> Result<usize, PlayerError> {
        let mut pipes =
            [PollFd::new(&self.stdout, PollFlags::IN), PollFd::new(&self.stdin, PollFlags::OUT)];
        let watched = if self.unsent.is_empty() { 1 } else { 2 };
        let patience = Timespec::try_from(patience.min(TICK)).ok();
        match poll(&mut pipes[..watched], patience.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => {
                return Err(PlayerError::Ended { status: error.to_string().into() });
            }
        }
        let [printed, takes] = pipes.map(|pipe| !pipe.revents().is_empty());
        let count = if printed { self.read()? } else { 0 };
        if takes {
            self.write()?;
        }
        Ok(count)
    }

    fn read(&mut self) -> Result<usize, PlayerError> {
        let mut buffer = [0; 8192];
        match self.stdout.read(&mut buffer) {
            Ok(0) => Err(self.ended("it closed its output")),
            Ok(count) => {
                self.unread.extend_from_slice(&buffer[..count]);
                Ok(count)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(0),
            // An error on the pipe means what its end means: the engine is gone.
            Err(_) => Err(self.ended("it closed its output")),
        }
    }

    fn write(&mut self) -> Result<(), PlayerError> {
        match self.stdin.write(&self.unsent) {
            Ok(count) => drop(self.unsent.drain(..count)),
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(_) => return Err(self.ended("it closed its input")),
        }
        Ok(())
    }

    /// The error of an engine that cannot be talked to any more: its exit status, or, if it has
    /// none, what it did instead of ending.
    fn ended(&mut self, instead: &str) -> PlayerError {
        let by_itself = self.leaves(FAREWELL);
        if running::stopping() {
            return PlayerError::Interrupted;
        }
        let status = self.end();
        PlayerError::Ended { status: if by_itself { shown(&status) } else { instead.into() } }
    }

    /// Whether the engine ends by itself within some time. It is not waited for in the system's
    /// sense, so that its process number stays taken.
    fn leaves(&self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        while Instant::now() < until && !running::stopping() {
            match waitid(WaitId::Pid(self.engine.leader()), options) {
                Ok(None) | Err(Errno::INTR) => std::thread::sleep(Duration::from_millis(5)),
                Ok(Some(_)) | Err(_) => return true,
            }
        }
        false
    }

    /// Ends the engine with all that it has started; its exit status.
    fn end(&mut self) -> String {
        if let Some(status) = &self.status {
            return status.clone();
        }
        self.engine.end();
        // Before its number can be another process's.
        self.engine.forget();
        let status = match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        self.status.insert(status).clone()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.status.is_none() {
            // The engine may not listen any more; then it is ended without having been told.
            let _ = self.stdin.write(b"quit\n");
            self.leaves(FAREWELL);
        }
        self.end();
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
            if let Some(line) = self.process.take_line() {
                tracing::debug!("from engine {}: {line}", self.process.child.id());
                return Ok(line);
            }
            if running::stopping() {
                return Err(PlayerError::Interrupted);
            }
            let left = self.until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let seconds = self.process.timeout.as_secs_f64();
                return Err(PlayerError::Hung { seconds });
            }
            self.heard += self.process.exchange(left)?;
            if self.heard > FLOOD {
                return Err(PlayerError::Flooded { limit: FLOOD });
            }
        }
    }
}
