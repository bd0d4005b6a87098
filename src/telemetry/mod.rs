//! What a run says about itself: `metrics.jsonl`, TensorBoard curves, and the progress bar.
//!
//! One thread owns all three, fed through a bounded channel; a sender waits when it is full,
//! which takes a disk that cannot take a few lines a second. A sink that fails is left alone
//! and reported at the end: curves are not worth a run.

mod curves;
mod progress;
mod tensorboard;

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use crossbeam_channel::{Receiver, Sender, bounded};

use progress::Display;
pub use progress::{Messages, Progress, above_bar};
use tensorboard::EventFile;

/// Events that may wait for the thread.
const WAITING: usize = 1024;

/// The file of all scalars, one object a line.
pub const METRICS: &str = "metrics.jsonl";
/// The folder of TensorBoard event files: a folder with the run's name, in it one for each start.
pub const TENSORBOARD: &str = "tensorboard";

/// Something to be told.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// Values of curves, at a count of positions made by self-play.
    Scalars {
        /// The position on the x axis.
        positions: u64,
        /// Names, such as `loss/policy`, with their values.
        values: Vec<(String, f64)>,
    },
    /// How far the run has come.
    Progress(Progress),
}

/// A sink that has failed.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// A file cannot be made or written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The thread is gone without a word.
    #[error("the telemetry thread panicked")]
    Panicked,
}

/// The thread that tells.
#[derive(Debug)]
pub struct Telemetry {
    sender: Option<Sender<Event>>,
    thread: Option<JoinHandle<Result<(), TelemetryError>>>,
}

impl Telemetry {
    /// Starts the reports on the run in `run_dir`; `config` is the text of its configuration, and
    /// a `quiet` one writes files only.
    ///
    /// # Errors
    ///
    /// A file cannot be made.
    pub fn start(run_dir: &Path, config: &str, quiet: bool) -> Result<Telemetry, TelemetryError> {
        let mut sinks = Sinks::open(run_dir, quiet)?;
        sinks.write_events(|file| file.config(config));
        let (sender, receiver) = bounded(WAITING);
        let thread = std::thread::spawn(move || sinks.run(&receiver));
        Ok(Telemetry { sender: Some(sender), thread: Some(thread) })
    }

    /// A handle to send events through. [`Telemetry::finish`] waits until all are dropped.
    pub fn sender(&self) -> Sender<Event> {
        match &self.sender {
            Some(sender) => sender.clone(),
            // Only `finish` takes the sender, and it takes the telemetry with it.
            None => bounded(0).0,
        }
    }

    /// Ends the thread once everything is told.
    ///
    /// # Errors
    ///
    /// The first sink that failed.
    pub fn finish(mut self) -> Result<(), TelemetryError> {
        self.sender = None;
        let thread = self.thread.take();
        thread.map_or(Ok(()), |thread| thread.join().unwrap_or(Err(TelemetryError::Panicked)))
    }
}

/// The files and the screen.
struct Sinks {
    metrics_path: PathBuf,
    metrics: Option<File>,
    events: Option<EventFile>,
    display: Display,
    failure: Option<TelemetryError>,
}

impl Sinks {
    fn open(run_dir: &Path, quiet: bool) -> Result<Sinks, TelemetryError> {
        let metrics_path = run_dir.join(METRICS);
        let failed = |source| TelemetryError::Write { path: metrics_path.clone(), source };
        let metrics = open_lines(&metrics_path).map_err(failed)?;
        let events = EventFile::create(&run_dir.join(TENSORBOARD).join(name_of(run_dir)))?;
        let display = Display::new(quiet);
        Ok(Sinks {
            metrics_path,
            metrics: Some(metrics),
            events: Some(events),
            display,
            failure: None,
        })
    }

    fn run(&mut self, events: &Receiver<Event>) -> Result<(), TelemetryError> {
        for event in events {
            match event {
                Event::Scalars { positions, values } => self.scalars(positions, &values),
                Event::Progress(progress) => self.display.show(&progress),
            }
        }
        self.display.finish();
        self.events.take().into_iter().for_each(EventFile::end);
        self.failure.take().map_or(Ok(()), Err)
    }

    fn scalars(&mut self, positions: u64, values: &[(String, f64)]) {
        let map: serde_json::Map<String, serde_json::Value> =
            values.iter().map(|(name, value)| (name.clone(), (*value).into())).collect();
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |t| t.as_secs_f64());
        let line = serde_json::json!({
            "version": 1, "time": time, "positions": positions, "values": map,
        });
        if let Some(file) = &mut self.metrics {
            // One write for each line, so that a kill leaves whole lines or one torn one.
            if let Err(source) = file.write_all(format!("{line}\n").as_bytes()) {
                self.metrics = None;
                self.fail(TelemetryError::Write { path: self.metrics_path.clone(), source });
            }
        }
        self.write_events(|file| file.scalars(positions, values));
    }

    fn write_events(&mut self, write: impl FnOnce(&mut EventFile) -> Result<(), TelemetryError>) {
        let Some(file) = &mut self.events else { return };
        if let Err(error) = write(file) {
            self.events = None;
            self.fail(error);
        }
    }

    fn fail(&mut self, error: TelemetryError) {
        tracing::warn!("no more curves from here on: {error}");
        self.failure.get_or_insert(error);
    }
}

/// The name of a run: that of its directory, whatever path leads there.
fn name_of(run_dir: &Path) -> PathBuf {
    let whole = run_dir.canonicalize().unwrap_or_else(|_| run_dir.to_path_buf());
    whole.file_name().unwrap_or_default().into()
}

/// Opens a file of lines to append to; a torn last line is ended first.
fn open_lines(path: &Path) -> io::Result<File> {
    let mut file = OpenOptions::new().create(true).append(true).read(true).open(path)?;
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalars(positions: u64) -> Event {
        Event::Scalars { positions, values: vec![("loss/total".into(), positions as f64 / 8.0)] }
    }

    #[test]
    fn every_start_adds_whole_lines_and_a_folder_of_its_own() {
        let dir = tempfile::tempdir().expect("a folder");
        let run = dir.path().join("quick-007");
        std::fs::create_dir(&run).expect("a folder");
        for start in 0..3u64 {
            // A start without a point leaves no folder.
            Telemetry::start(&run, "seed = 1\n", true)
                .expect("it starts")
                .finish()
                .expect("it writes");
            let telemetry = Telemetry::start(&run, "seed = 1\n", true).expect("it starts");
            telemetry.sender().send(scalars(start)).expect("it listens");
            telemetry.finish().expect("it writes");
            // A process that is killed while it writes leaves half a line.
            let mut file = OpenOptions::new().append(true).open(run.join(METRICS)).unwrap();
            file.write_all(b"{\"versi").unwrap();
        }
        let text = std::fs::read_to_string(run.join(METRICS)).unwrap();
        let whole: Vec<serde_json::Value> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let positions: Vec<_> = whole.iter().map(|line| line["positions"].as_u64()).collect();
        assert_eq!(positions, [Some(0), Some(1), Some(2)]);
        assert_eq!(whole[2]["values"]["loss/total"], 0.25);
        // TensorBoard shows these folders as the name of a run.
        let starts = std::fs::read_dir(run.join(TENSORBOARD).join("quick-007")).unwrap();
        let mut starts: Vec<_> = starts.map(|start| start.unwrap().file_name()).collect();
        starts.sort();
        assert_eq!(starts, ["start-001", "start-002", "start-003"]);
    }

    #[test]
    fn a_full_disk_is_told_at_the_end_and_stops_nothing() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut sinks = Sinks::open(dir.path(), true).expect("it opens");
        sinks.metrics = Some(OpenOptions::new().write(true).open("/dev/full").unwrap());
        let (sender, receiver) = bounded(8);
        sender.send(scalars(1)).unwrap();
        sender.send(scalars(2)).unwrap();
        drop(sender);
        let error = sinks.run(&receiver).expect_err("the disk is full");
        assert!(error.to_string().ends_with(METRICS), "{error}");
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error_at_once() {
        assert!(Telemetry::start(Path::new("/proc/none"), "", true).is_err());
    }
}
