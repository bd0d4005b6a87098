//! The process of an engine: sends and receives lines, and tolerates any behaviour.
//!
//! One thread waits for reading and writing at the same time, so the time limit of an answer covers
//! both. An engine that does not read its input reaches the limit like one that does not answer.
//! Output is read only during the wait for an answer. At other times it fills the pipe until the
//! engine blocks.

use std::io::{ErrorKind, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::{WaitId, WaitIdOptions, waitid};

use super::running::{self, Engine};
use super::shown;
use crate::players::player::PlayerError;
use crate::search::stop::Stop;

/// The most bytes that an engine may print before its answer.
const MAX_ANSWER_BYTES: usize = 1 << 20;
/// The time that an engine has to end after `quit`.
const QUIT_TIMEOUT: Duration = Duration::from_millis(300);
/// The interval at which a wait checks whether the program is stopping.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A running engine.
pub(super) struct Process {
    child: Child,
    engine: Engine,
    /// Non-blocking.
    stdin: ChildStdin,
    stdout: ChildStdout,
    /// Input that the engine has not read yet.
    unsent: Vec<u8>,
    /// Output that was received but not returned as lines yet.
    unread: Vec<u8>,
    timeout: Duration,
    /// Ends a wait for an answer, and the engine with it.
    pub stop: Stop,
    /// Its exit status, once it has ended.
    status: Option<String>,
}

impl Process {
    /// Starts a command, which is split into words as by a shell.
    pub fn start(command: &str, timeout: Duration, stop: Stop) -> Result<Process, PlayerError> {
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
            unreachable!("both pipes were requested");
        };
        let (unsent, unread) = (Vec::new(), Vec::new());
        let process =
            Process { child, engine, stdin, stdout, unsent, unread, timeout, stop, status: None };
        // This affects only this end of the pipe: the engine's reads still block.
        ioctl_fionbio(&process.stdin, true).map_err(|error| not_started(error.to_string()))?;
        Ok(process)
    }

    /// Queues a line. It is written during the wait for the answer.
    pub fn send(&mut self, line: &str) {
        tracing::debug!("to engine {}: {line}", self.child.id());
        self.unsent.extend_from_slice(line.as_bytes());
        self.unsent.push(b'\n');
    }

    /// Starts the time limit for an answer.
    pub fn answer_reader(&mut self) -> AnswerReader<'_> {
        let deadline = Instant::now() + self.timeout;
        AnswerReader { process: self, deadline, bytes_read: 0 }
    }

    /// The next complete line of `unread`.
    fn take_line(&mut self) -> Option<String> {
        let end = self.unread.iter().position(|&byte| byte == b'\n')?;
        let line = String::from_utf8_lossy(&self.unread[..end]).trim_end().to_owned();
        self.unread.drain(..=end);
        Some(line)
    }

    /// Waits until the engine prints something or reads its input, for at most `time`. Returns the
    /// number of bytes that it printed.
    fn exchange(&mut self, time: Duration) -> Result<usize, PlayerError> {
        let mut pipes =
            [PollFd::new(&self.stdout, PollFlags::IN), PollFd::new(&self.stdin, PollFlags::OUT)];
        let watched = if self.unsent.is_empty() { 1 } else { 2 };
        let time = Timespec::try_from(time.min(POLL_INTERVAL)).ok();
        match poll(&mut pipes[..watched], time.as_ref()) {
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
            // An error of the pipe means the same as its end: the engine has ended.
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

    /// The error for an engine whose pipe is closed: its exit status, or `reason` if it does not
    /// end.
    fn ended(&mut self, reason: &str) -> PlayerError {
        let has_exited = self.exits_within(QUIT_TIMEOUT);
        if running::stopping() {
            return PlayerError::Interrupted;
        }
        let status = self.end();
        PlayerError::Ended { status: if has_exited { shown(&status) } else { reason.into() } }
    }

    /// Whether the engine ends by itself within `time`. The process is not reaped, so that its
    /// number is not given to another process.
    fn exits_within(&self, time: Duration) -> bool {
        let deadline = Instant::now() + time;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        while Instant::now() < deadline && !running::stopping() {
            match waitid(WaitId::Pid(self.engine.leader()), options) {
                Ok(None) | Err(Errno::INTR) => std::thread::sleep(Duration::from_millis(5)),
                Ok(Some(_)) | Err(_) => return true,
            }
        }
        false
    }

    /// Kills the engine and all processes that it started. Returns its exit status.
    fn end(&mut self) -> String {
        if let Some(status) = &self.status {
            return status.clone();
        }
        self.engine.end();
        // After `wait` another process may get its number.
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
            // The write may fail; then the engine is killed without `quit`.
            let _ = self.stdin.write(b"quit\n");
            self.exits_within(QUIT_TIMEOUT);
        }
        self.end();
    }
}

/// Reads the lines of one answer, within the time limit and the limit of bytes.
pub(super) struct AnswerReader<'a> {
    process: &'a mut Process,
    deadline: Instant,
    bytes_read: usize,
}

impl AnswerReader<'_> {
    /// Waits for the next line.
    pub fn line(&mut self) -> Result<String, PlayerError> {
        loop {
            if let Some(line) = self.process.take_line() {
                tracing::debug!("from engine {}: {line}", self.process.child.id());
                return Ok(line);
            }
            if running::stopping() {
                return Err(PlayerError::Interrupted);
            }
            if self.process.stop.is_set() {
                self.process.end();
                return Err(PlayerError::Interrupted);
            }
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let seconds = self.process.timeout.as_secs_f64();
                return Err(PlayerError::Timeout { seconds });
            }
            self.bytes_read += self.process.exchange(left)?;
            if self.bytes_read > MAX_ANSWER_BYTES {
                return Err(PlayerError::TooMuchOutput { limit: MAX_ANSWER_BYTES });
            }
        }
    }
}
