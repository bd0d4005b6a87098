//! JSON files that carry their own checksum: `run.json`, the `state.json` of a checkpoint, and a
//! person's lessons.
//!
//! The member `crc32` is the CRC-32 of the other members: the object without it, written without
//! spaces and with members sorted by name. So a change of formatting or order is allowed, and a
//! changed value is detected. A file without `crc32` is from an older version, or a user edited it
//! and removed the member; it is read without a check.

use std::path::{Path, PathBuf};

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::files::{self, FileError};
use super::limits;

const CHECKSUM: &str = "crc32";

/// Why a JSON file of this program cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JsonFileError {
    /// The operating system reported an error.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not JSON, or a member is missing or wrong.
    #[error("{} cannot be read: it is cut off, damaged, or of another program", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The parser's error.
        #[source]
        source: serde_json::Error,
    },
    /// The file is of another version of this program.
    #[error("{} has layout version {found}, this program reads version {wanted}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The version that this program reads.
        wanted: u32,
    },
    /// The checksum is wrong.
    #[error(
        "{} is damaged or was edited: its checksum is {found:08x}, its member `{CHECKSUM}` says \
         {recorded:08x}; restore a copy, or remove `{CHECKSUM}` to use the file as it is",
        path.display()
    )]
    Checksum {
        /// The file.
        path: PathBuf,
        /// The checksum of its members.
        found: u32,
        /// The checksum that its member `crc32` has.
        recorded: u32,
    },
}

/// The bytes of a file with this content and its checksum.
pub(super) fn to_bytes<T: Serialize>(content: &T) -> serde_json::Result<Vec<u8>> {
    #[derive(Serialize)]
    struct Checked<'a, T> {
        #[serde(flatten)]
        content: &'a T,
        crc32: u32,
    }
    let Value::Object(members) = serde_json::to_value(content)? else {
        return Err(serde_json::Error::custom("only an object can carry a checksum"));
    };
    let crc32 = checksum(&members)?;
    serde_json::to_vec_pretty(&Checked { content, crc32 })
}

/// Reads a file that [`to_bytes`] or an older program version made, if it has layout `version`.
pub(super) fn read<T: DeserializeOwned>(path: &Path, version: u32) -> Result<T, JsonFileError> {
    read_up_to(path, version, limits::STATE)
}

/// The same for a file of at most `limit` bytes.
pub(super) fn read_up_to<T: DeserializeOwned>(
    path: &Path,
    version: u32,
    limit: u64,
) -> Result<T, JsonFileError> {
    #[derive(Deserialize)]
    struct Version {
        version: u64,
    }
    let text = files::read_stored(path, limit)?;
    let unreadable = |source| JsonFileError::Content { path: path.to_path_buf(), source };
    let Version { version: found } = serde_json::from_slice(&text).map_err(unreadable)?;
    if found != u64::from(version) {
        return Err(JsonFileError::Version { path: path.to_path_buf(), found, wanted: version });
    }
    let mut members: Map<String, Value> = serde_json::from_slice(&text).map_err(unreadable)?;
    if let Some(recorded) = members.remove(CHECKSUM) {
        let recorded: u32 = serde_json::from_value(recorded).map_err(unreadable)?;
        let found = checksum(&members).map_err(unreadable)?;
        if found != recorded {
            return Err(JsonFileError::Checksum { path: path.to_path_buf(), found, recorded });
        }
    }
    // Parses the text instead of `members`, so that an error names the line.
    serde_json::from_slice(&text).map_err(unreadable)
}

/// `serde_json`'s map is sorted by name.
fn checksum(members: &Map<String, Value>) -> serde_json::Result<u32> {
    Ok(crc32fast::hash(&serde_json::to_vec(members)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Content {
        version: u32,
        steps: u64,
        minutes: f64,
        name: String,
    }

    fn written(content: &Content) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        files::write_atomically(&path, &to_bytes(content).unwrap()).unwrap();
        (folder, path)
    }

    fn read_content(path: &Path) -> Result<Content, JsonFileError> {
        read(path, 1)
    }

    fn example() -> Content {
        Content { version: 1, steps: u64::MAX, minutes: 1.0 / 3.0, name: "ä".into() }
    }

    #[test]
    fn formatting_and_order_may_change_and_values_may_not() {
        let (_folder, path) = written(&example());
        let mut file: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        std::fs::write(&path, file.to_string()).unwrap();
        assert_eq!(read_content(&path).unwrap(), example());
        file["steps"] = json!(7);
        std::fs::write(&path, file.to_string()).unwrap();
        let error = read_content(&path).unwrap_err();
        assert!(matches!(error, JsonFileError::Checksum { .. }), "{error}");
        // Without `crc32` the file is read as it is.
        file.as_object_mut().unwrap().remove(CHECKSUM);
        std::fs::write(&path, file.to_string()).unwrap();
        assert_eq!(read_content(&path).unwrap().steps, 7);
    }

    /// Files of earlier versions must stay readable, even if the library changes its map's order.
    #[test]
    fn the_checksum_does_not_change_between_versions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let text = r#"{"version": 1, "steps": 3, "minutes": 0.5, "name": "b", "crc32": CRC}"#;
        let rest = br#"{"minutes":0.5,"name":"b","steps":3,"version":1}"#;
        let text = text.replace("CRC", &crc32fast::hash(rest).to_string());
        std::fs::write(&path, text).unwrap();
        assert_eq!(read_content(&path).unwrap().steps, 3);
    }

    proptest! {
        #[test]
        fn content_is_read_as_written(
            (steps, minutes, name) in any::<(u64, f64, String)>()
        ) {
            prop_assume!(minutes.is_finite());
            let content = Content { version: 1, steps, minutes, name };
            let (_folder, path) = written(&content);
            prop_assert_eq!(read_content(&path).unwrap(), content);
        }

        /// After one bit is flipped, the file is refused or has the same content.
        #[test]
        fn no_flipped_bit_changes_a_value(bit in any::<prop::sample::Index>()) {
            let (_folder, path) = written(&example());
            let mut bytes = std::fs::read(&path).unwrap();
            let bit = bit.index(bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, bytes).unwrap();
            if let Ok(content) = read_content(&path) {
                prop_assert_eq!(content, example());
            }
        }
    }
}
