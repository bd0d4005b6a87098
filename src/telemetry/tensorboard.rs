//! TensorBoard event files.
//!
//! The record format is from `tensorboard-rs`, the messages are from `tensorboard-proto`. The file
//! writer of `tensorboard-rs` is not used: it panics when a disk is full, and two files created in
//! the same second overwrite each other. Here each file is in a new folder.
//!
//! TensorBoard names a run after its folders below `--logdir`, so these are `RUN/start-NNN`.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use protobuf::{Message, RepeatedField};
use tensorboard_proto::event::Event;
use tensorboard_proto::summary::{
    Summary, Summary_Value, SummaryMetadata, SummaryMetadata_PluginData,
};
use tensorboard_proto::tensor::TensorProto;
use tensorboard_proto::tensor_shape::TensorShapeProto;
use tensorboard_proto::types::DataType;
use tensorboard_rs::record_writer::RecordWriter;

use super::TelemetryError;
use super::curves::in_tensorboard;

/// The tag of the run's configuration, a text.
const CONFIG_TAG: &str = "config.toml";

/// An event file that is being written.
pub(super) struct EventFile {
    path: PathBuf,
    writer: RecordWriter<File>,
    /// The curves with a point. TensorBoard reads a curve's description from its first point.
    curves: HashSet<String>,
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

/// The metadata of a tag: the plugin that shows it, and its description.
fn metadata(plugin: &str, description: String) -> SummaryMetadata {
    let mut plugin_data = SummaryMetadata_PluginData::new();
    plugin_data.set_plugin_name(plugin.to_string());
    let mut metadata = SummaryMetadata::new();
    metadata.set_plugin_data(plugin_data);
    metadata.set_summary_description(description);
    metadata
}

impl EventFile {
    /// Creates a file in a new folder in `parent`, which gets the next free number.
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
        // TensorBoard needs `tfevents` in the name and sorts by the rest.
        let path = folder.join(format!("events.out.tfevents.{:010}.outflank", now() as u64));
        let file = File::create(&path).map_err(failed(&path))?;
        let mut events =
            EventFile { path, writer: RecordWriter::new(file), curves: HashSet::new() };
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

    fn summary(&mut self, positions: u64, value: Summary_Value) -> Result<(), TelemetryError> {
        let mut summary = Summary::new();
        summary.set_value(RepeatedField::from_vec(vec![value]));
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
        for (name, number) in values {
            let (tag, description) = in_tensorboard(name);
            let mut value = Summary_Value::new();
            if self.curves.insert(name.clone()) {
                value.set_metadata(metadata("scalars", description));
            }
            value.set_tag(tag);
            value.set_simple_value(*number as f32);
            self.summary(positions, value)?;
        }
        Ok(())
    }

    /// Writes the run's configuration as a text.
    pub fn config(&mut self, text: &str) -> Result<(), TelemetryError> {
        let description = "The run's configuration, every key.".to_string();
        let mut tensor = TensorProto::new();
        tensor.set_dtype(DataType::DT_STRING);
        // No dimensions: one text.
        tensor.set_tensor_shape(TensorShapeProto::new());
        // TensorBoard shows Markdown.
        let markdown = format!("```toml\n{text}\n```");
        tensor.set_string_val(RepeatedField::from_vec(vec![markdown.into_bytes()]));
        let mut value = Summary_Value::new();
        value.set_tag(CONFIG_TAG.to_string());
        value.set_metadata(metadata("text", description));
        value.set_tensor(tensor);
        self.summary(0, value)
    }

    /// Ends the file. A file without points is removed with its folder.
    pub fn end(self) {
        if self.curves.is_empty() {
            // Errors are ignored: an empty file does no harm. A folder with other starts is not
            // empty, so it is not removed.
            let _ = fs::remove_file(&self.path);
            let folders = self.path.ancestors().skip(1).take(2);
            let _ = folders.map(fs::remove_dir).collect::<Vec<_>>();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The summaries of a file: each record is its length, a checksum, an event, a checksum.
    fn summaries(path: &Path) -> Vec<Summary_Value> {
        let bytes = fs::read(path).expect("a file");
        let (mut rest, mut found) = (&bytes[..], Vec::new());
        while let Some((length, after)) = rest.split_first_chunk::<8>() {
            let length = u64::from_le_bytes(*length) as usize;
            let event = Event::parse_from_bytes(&after[4..4 + length]).expect("an event");
            found.extend(event.get_summary().get_value().iter().cloned());
            rest = &after[4 + length + 4..];
        }
        found
    }

    #[test]
    fn the_first_point_of_a_curve_describes_it_and_the_configuration_is_a_text() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut file = EventFile::create(folder.path()).expect("a file");
        file.config("seed = 7").expect("it is written");
        for positions in [10, 20] {
            file.scalars(positions, &[("rating/net".into(), 900.0)]).expect("it is written");
        }
        let values = summaries(&file.path);
        let [config, first, second] = &values[..] else { panic!("{values:?}") };
        assert_eq!(config.get_metadata().get_plugin_data().get_plugin_name(), "text");
        assert_eq!(config.get_tensor().get_string_val(), [b"```toml\nseed = 7\n```".to_vec()]);
        assert_eq!((first.get_tag(), first.get_simple_value()), ("1_strength/rating", 900.0));
        assert!(first.get_metadata().get_summary_description().contains("`rating/net`"));
        assert!(!second.has_metadata() && second.get_tag() == first.get_tag());
    }
}
