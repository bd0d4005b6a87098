//! Model files: safetensors with a description of the model and a checksum in the metadata.
//!
//! The metadata have one entry, `outflank`. It is a JSON object with the layout's version, the
//! model's description and the CRC-32 of the tensor data. There is only one entry, because
//! safetensors writes entries in no fixed order, and the same model should give the same bytes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use safetensors::tensor::Metadata;
use safetensors::{SafeTensorError, SafeTensors};
use serde::{Deserialize, Serialize};

use super::files::{self, FileError};
use super::limits;
use crate::model::weights::{LONGEST_HEADER, WeightsError, check_header};

const VERSION: u32 = 1;
const ENTRY: &str = "outflank";

/// Why a file is not a model of this program, or cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ModelFileError {
    /// The operating system reported an error.
    #[error(transparent)]
    File(#[from] FileError),
    /// The bytes are not a complete safetensors file.
    #[error("{} is no model: it is cut off, damaged, or not a safetensors file", path.display())]
    NotSafetensors {
        /// The file.
        path: PathBuf,
        /// The parser's error.
        #[source]
        source: SafeTensorError,
    },
    /// The header is longer than that of any model.
    #[error("{} is no model: it is cut off, damaged, or not a safetensors file", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// The error with the length and the limit.
        #[source]
        source: WeightsError,
    },
    /// The file is from another program.
    #[error("{} holds tensors, but no model of this program", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The description of the net cannot be read.
    #[error("{} has an unreadable description of its model", path.display())]
    Description {
        /// The file.
        path: PathBuf,
        /// The parser's error.
        #[source]
        source: serde_json::Error,
    },
    /// The file is of another version of this program.
    #[error("{} has layout version {found}, this program reads version {VERSION}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// The tensors' checksum is wrong.
    #[error("{} is damaged: the checksum of its tensors is wrong", path.display())]
    Checksum {
        /// The file.
        path: PathBuf,
    },
    /// The tensors cannot be written as safetensors.
    #[error("the model cannot be written as safetensors")]
    Layout(#[source] SafeTensorError),
}

#[derive(Serialize, Deserialize)]
struct Entry {
    version: u32,
    crc32: u32,
    spec: serde_json::Value,
}

/// A checked model file in memory.
///
/// ```
/// use outflank::model::Weights;
/// use outflank::store::model_file::ModelFile;
///
/// let mut weights = Weights::default();
/// weights.insert("bias", vec![2], vec![0.5, -0.5]);
/// let description = serde_json::json!({ "kind": "mine" });
/// let model = ModelFile::seal(&description, &weights.to_bytes(&Default::default()))?;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("mine.safetensors");
/// model.write(&path)?;
/// let read = ModelFile::read(&path)?;
/// assert_eq!(read.description(), &description);
/// assert_eq!(read.weights_checksum(), model.weights_checksum());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct ModelFile {
    bytes: Vec<u8>,
    description: serde_json::Value,
}

fn tensor_data(bytes: &[u8]) -> &[u8] {
    // The first eight bytes are the header's length; a shorter file has no tensors.
    let Some((length, rest)) = bytes.split_first_chunk::<8>() else { return &[] };
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    rest.get(length..).unwrap_or_default()
}

impl ModelFile {
    /// Makes a model file from a model's description and its weights, which are safetensors bytes.
    /// Metadata in `weights` are dropped.
    ///
    /// # Errors
    ///
    /// `weights` are not safetensors bytes.
    pub fn seal(
        description: &serde_json::Value,
        weights: &[u8],
    ) -> Result<ModelFile, ModelFileError> {
        let tensors = SafeTensors::deserialize(weights).map_err(ModelFileError::Layout)?;
        let layout = |crc32| {
            let entry = Entry { version: VERSION, crc32, spec: description.clone() };
            let text = serde_json::json!(entry).to_string();
            let metadata = HashMap::from([(ENTRY.to_string(), text)]);
            safetensors::serialize(tensors.iter(), Some(metadata)).map_err(ModelFileError::Layout)
        };
        // The library chooses the order of the tensors, so the checksum needs a first layout.
        let crc32 = crc32fast::hash(tensor_data(&layout(0)?));
        Ok(ModelFile { bytes: layout(crc32)?, description: description.clone() })
    }

    /// The CRC-32 of the weights, in hexadecimal digits. It does not cover the description, so it
    /// does not change if the same weights are stored again later in a run.
    pub fn weights_checksum(&self) -> String {
        format!("{:08x}", crc32fast::hash(tensor_data(&self.bytes)))
    }

    /// Checks the bytes of a model file; `path` is for the error only.
    ///
    /// # Errors
    ///
    /// The bytes are not a complete model file as [`ModelFile::seal`] makes it.
    pub fn from_bytes(bytes: Vec<u8>, path: &Path) -> Result<ModelFile, ModelFileError> {
        let path = || path.to_path_buf();
        check_header(&bytes).map_err(|source| ModelFileError::Header { path: path(), source })?;
        let not_safetensors = |source| ModelFileError::NotSafetensors { path: path(), source };
        SafeTensors::deserialize(&bytes).map_err(not_safetensors)?;
        let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(not_safetensors)?;
        let text = metadata.metadata().as_ref().and_then(|entries| entries.get(ENTRY));
        let text = text.ok_or_else(|| ModelFileError::Foreign { path: path() })?;
        let described: Entry = serde_json::from_str(text)
            .map_err(|source| ModelFileError::Description { path: path(), source })?;
        if described.version != VERSION {
            return Err(ModelFileError::Version { path: path(), found: described.version });
        }
        if crc32fast::hash(tensor_data(&bytes)) != described.crc32 {
            return Err(ModelFileError::Checksum { path: path() });
        }
        Ok(ModelFile { bytes, description: described.spec })
    }

    /// Reads a model file.
    ///
    /// # Errors
    ///
    /// The file is missing, cut off, damaged, from another program or of another version.
    pub fn read(path: &Path) -> Result<ModelFile, ModelFileError> {
        check_length(path)?;
        ModelFile::from_bytes(files::read_stored(path, limits::NET)?, path)
    }

    /// Writes the model to a file, replacing an old one.
    ///
    /// # Errors
    ///
    /// The file cannot be written. An old file is then unchanged.
    pub fn write(&self, path: &Path) -> Result<(), ModelFileError> {
        Ok(files::write_atomically(path, &self.bytes)?)
    }

    /// The model's description as JSON; see [`Description`](crate::model::Description).
    pub fn description(&self) -> &serde_json::Value {
        &self.description
    }

    /// The file's bytes: safetensors with weights and metadata.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Compares the file's length with its header, before memory is allocated for the whole file.
fn check_length(path: &Path) -> Result<(), ModelFileError> {
    let not_safetensors =
        |source| ModelFileError::NotSafetensors { path: path.to_path_buf(), source };
    let (start, length) = files::read_start(path, 8 + LONGEST_HEADER)?;
    check_header(&start)
        .map_err(|source| ModelFileError::Header { path: path.to_path_buf(), source })?;
    let data = tensor_data(&start).len();
    let header = start.get(8..start.len() - data).unwrap_or_default();
    let described: Metadata = serde_json::from_slice(header)
        .map_err(|source| not_safetensors(SafeTensorError::InvalidHeaderDeserialization(source)))?;
    let whole = (8 + header.len() as u64).saturating_add(described.data_len() as u64);
    if whole == length {
        Ok(())
    } else {
        Err(not_safetensors(SafeTensorError::MetadataIncompleteBuffer))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;
    use safetensors::Dtype;
    use safetensors::tensor::TensorView;
    use serde_json::json;

    use super::*;

    pub fn weights(value: f32) -> Vec<u8> {
        let data: Vec<u8> = [value, 2.0, 3.0, 4.0].iter().flat_map(|f| f.to_le_bytes()).collect();
        let view = |shape| TensorView::new(Dtype::F32, shape, &data).unwrap();
        let tensors = [("stem.weight", view(vec![2, 2])), ("policy.bias", view(vec![4]))];
        safetensors::serialize(tensors, None).unwrap()
    }

    pub fn a_net(value: f32) -> ModelFile {
        ModelFile::seal(&json!({"board": "6x6", "blocks": 2}), &weights(value)).unwrap()
    }

    fn from_bytes(bytes: Vec<u8>) -> Result<ModelFile, ModelFileError> {
        ModelFile::from_bytes(bytes, Path::new("some.safetensors"))
    }

    #[test]
    fn a_net_is_read_with_its_description() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("net.safetensors");
        a_net(1.0).write(&path).unwrap();
        let net = ModelFile::read(&path).unwrap();
        assert_eq!(net, a_net(1.0));
        assert_eq!(net.description(), &json!({"board": "6x6", "blocks": 2}));
        let tensors = SafeTensors::deserialize(net.bytes()).unwrap();
        assert_eq!(tensors.tensor("policy.bias").unwrap().shape(), [4]);
    }

    #[test]
    fn the_same_net_is_the_same_bytes() {
        for _ in 0..20 {
            assert_eq!(a_net(1.0).bytes(), a_net(1.0).bytes());
        }
    }

    #[test]
    fn foreign_and_newer_files_have_different_errors() {
        assert!(matches!(from_bytes(weights(1.0)), Err(ModelFileError::Foreign { .. })));
        assert!(matches!(from_bytes(b"PK".to_vec()), Err(ModelFileError::NotSafetensors { .. })));
        let text = json!({"version": 2, "crc32": 0, "spec": null}).to_string();
        let entries = HashMap::from([(ENTRY.to_string(), text)]);
        let none: [(&str, TensorView); 0] = [];
        let newer = safetensors::serialize(none, Some(entries)).unwrap();
        assert!(matches!(from_bytes(newer), Err(ModelFileError::Version { found: 2, .. })));
    }

    proptest! {
        #[test]
        fn a_net_cut_off_anywhere_is_an_error(cut in any::<prop::sample::Index>()) {
            let mut bytes = a_net(1.0).bytes().to_vec();
            bytes.truncate(cut.index(bytes.len()));
            let error = from_bytes(bytes).unwrap_err();
            prop_assert!(error.to_string().contains("some.safetensors"), "{}", error);
        }

        #[test]
        fn a_flipped_bit_in_the_weights_is_detected(bit in any::<prop::sample::Index>()) {
            let mut bytes = a_net(1.0).bytes().to_vec();
            let data = tensor_data(&bytes).len();
            let start = bytes.len() - data;
            let bit = bit.index(data * 8);
            bytes[start + bit / 8] ^= 1 << (bit % 8);
            let seen = matches!(from_bytes(bytes), Err(ModelFileError::Checksum { .. }));
            prop_assert!(seen);
        }

        #[test]
        fn any_bytes_are_a_net_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assert!(from_bytes(bytes).is_err());
        }
    }
}
