//! TensorBoard event files.
//!
//! `tensorboard-rs` gives the record format and the summaries. Its own file writer panics when
//! a disk is full and names files by the second, so that two in one folder overwrite each
//! other; here the file is ours, in a folder that nobody else has.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use protobuf::Message;
use tensorboard_proto::event::Event;
use tensorboard_proto::summary::Summary;
use tensorboard_rs::record_writer::RecordWriter;
use tensorboard_rs::summary;

use super::TelemetryError;

/// An event file that is being written.
pub(super) struct EventFile {
    path: PathBuf,
    writer: RecordWriter<File>,
    /// Whether there is a point of any curve.
    used: bool,
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

impl EventFile {
    /// A file in a new folder of `parent`, numbered after those that are there.
    pub fn create(parent: &Path) -> Result<EventFile, TelemetryError> {
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |source| TelemetryError::Write { path, source }
        };
        fs::create_dir_all(parent).map_err(failed(parent))?;
        let folder = (1..)
            .map(|number| parent.join(format!("start-{number:03}")))
            .find_map(|folder| match fs::create_dir(&folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
                result => Some(result.map(|()| folder)),
            })
            .unwrap_or_else(|| Err(io::ErrorKind::AlreadyExists.into()))
            .map_err(failed(parent))?;
        // TensorBoard wants `tfevents` in the name and sorts by the rest.
        let path = folder.join(format!("events.out.tfevents.{:010}.outflank", now() as u64));
        let file = File::create(&path).map_err(failed(&path))?;
        let mut events = EventFile { path, writer: RecordWriter::new(file), used: false };
        let mut first = Event::new();
        first.set_file_version("brain.Event:2".to_string());
        events.write(first)?;
        Ok(events)
    }

    fn write(&mut self, mut event: Event) -> Result<(), TelemetryError> {
        event.set_wall_time(now());
        let failed = |source| TelemetryError::Write { path: self.path.clone(), source };
        let bytes = event.write_to_bytes().map_err(|error| failed(io::Error::other(error)))?;
        self.writer.write(&bytes).map_err(failed)
    }

    fn summary(&mut self, positions: u64, summary: Summary) -> Result<(), TelemetryError> {
        let mut event = Event::new();
        event.set_step(positions as i64);
        event.set_summary(summary);
        self.write(event)
    }

    /// Writes one point of each curve.
    pub fn scalars(
        &mut self,
        positions: u64,
        values: &[(String, f64)],
    ) -> Result<(), TelemetryError> {
        self.used |= !values.is_empty();
        for (name, value) in values {
            self.summary(positions, summary::scalar(name, *value as f32))?;
        }
        Ok(())
    }

    /// Removes a file without a point, and its folder: that of a start that has come to nothing.
    pub fn end(self) {
        if !self.used {
            // Best effort: an empty file is nothing that a run should fail for.
            let _ = fs::remove_file(&self.path);
            let _ = self.path.parent().map(fs::remove_dir);
        }
    }
}
