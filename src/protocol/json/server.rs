//! Reads queries line by line and answers them on several threads.

use std::io::{self, BufRead, Write};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded, select};
use serde::Serialize;
use serde_json::json;

use super::desk::{Desk, DeskOptions};
use super::problem::Problem;
use super::query::{Request, Terms};
use super::queue::Queue;
use crate::protocol::lines::{LONGEST, Line, next_line};

/// How queries are answered.
#[derive(Clone, Debug)]
pub struct Settings<'a> {
    /// What queries may leave out.
    pub terms: Terms<'a>,
    /// How players are opened.
    pub desk: DeskOptions,
    /// Threads that answer, each with players of its own; at least 1.
    pub threads: usize,
}

/// Answers queries until the input ends and all have their answers. A wrong line gets a [`Problem`]
/// and ends nothing.
///
/// # Errors
///
/// The input or the output fails.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: impl Write + Send,
    settings: &Settings<'_>,
) -> io::Result<()> {
    let queue = Queue::default();
    let (failed, failures) = bounded(1);
    let output = Output { writer: Mutex::new(output), queue: &queue, failed };
    let lines = read_ahead(input);
    std::thread::scope(|scope| {
        for _ in 0..settings.threads.max(1) {
            scope.spawn(|| work(&queue, &output, &settings.desk));
        }
        let result = listen(&lines, &failures, &queue, &output, &settings.terms);
        match &result {
            Ok(()) => queue.close(),
            Err(_) => queue.abandon(),
        }
        result
    })?;
    // A failure after the end of the input.
    failures.try_recv().map_or(Ok(()), Err)
}

/// The lines of the input, read by a thread that ends with it.
fn read_ahead(mut input: impl BufRead + Send + 'static) -> Receiver<io::Result<Line>> {
    let (sender, lines) = bounded(16);
    std::thread::spawn(move || {
        while let Some(line) = next_line(&mut input).transpose() {
            let failed = line.is_err();
            if sender.send(line).is_err() || failed {
                return;
            }
        }
    });
    lines
}

/// Takes lines until the input ends or the output fails.
fn listen<W: Write>(
    lines: &Receiver<io::Result<Line>>,
    failures: &Receiver<io::Error>,
    queue: &Queue,
    output: &Output<'_, W>,
    terms: &Terms<'_>,
) -> io::Result<()> {
    loop {
        select! {
            recv(failures) -> failure => return failure.map_or(Ok(()), Err),
            recv(lines) -> line => match line {
                Err(_) => return Ok(()),
                Ok(line) => obey(&line?, queue, output, terms),
            },
        }
    }
}

fn obey<W: Write>(line: &Line, queue: &Queue, output: &Output<'_, W>, terms: &Terms<'_>) {
    let text = match line {
        Line::TooLong => {
            return output.write(&Problem {
                error: "the line is too long".into(),
                allowed: Some(format!("at most {LONGEST} bytes").into()),
                ..Problem::default()
            });
        }
        Line::Text(text) if text.trim().is_empty() => return,
        Line::Text(text) => text,
    };
    match Request::read(text, terms) {
        Err(problem) => output.write(&problem),
        Ok(Request::Analyse(query)) => queue.push(*query),
        Ok(Request::Terminate { id, of }) => {
            queue.terminate(of.as_deref());
            output.write(&match of {
                Some(of) => json!({ "id": id, "action": "terminate", "terminate_id": of }),
                None => json!({ "id": id, "action": "terminate_all" }),
            });
        }
        Ok(Request::QueryVersion { id }) => {
            let version = env!("CARGO_PKG_VERSION");
            output.write(&json!({ "id": id, "action": "query_version", "version": version }));
        }
    }
}

/// Answers positions until the queue is closed and empty.
fn work<W: Write>(queue: &Queue, output: &Output<'_, W>, options: &DeskOptions) {
    let mut desk = Desk::new(options.clone());
    while let Some((job, turn)) = queue.pop() {
        if !job.failed.load(Ordering::Acquire) {
            let mut sink = |answer| output.write(&answer);
            if let Err(problem) = desk.answer(&job.query, turn, &job.stop, &mut sink)
                && !job.failed.swap(true, Ordering::AcqRel)
            {
                output.write(&problem);
            }
        }
        queue.finish(&job);
    }
}

/// Where answers go, a whole line at a time.
struct Output<'a, W> {
    writer: Mutex<W>,
    queue: &'a Queue,
    failed: Sender<io::Error>,
}

impl<W: Write> Output<'_, W> {
    /// Writes a line. After a failure all work ends.
    fn write(&self, answer: &impl Serialize) {
        let line = serde_json::to_string(answer).map_err(io::Error::other);
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let written =
            line.and_then(|line| writeln!(writer, "{line}")).and_then(|()| writer.flush());
        drop(writer);
        if let Err(error) = written {
            // The first failure is enough.
            let _ = self.failed.try_send(error);
            self.queue.abandon();
        }
    }
}
