//! Net files: safetensors with a description of the net and a checksum in the metadata.
//!
//! The metadata have one entry, `outflank`. It is a JSON object with the layout's version, the
//! net's specification and the CRC-32 of the tensor data. There is only one entry, because
//! safetensors writes entries in no fixed order, and the same net should give the same bytes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use safetensors::tensor::Metadata;
use safetensors::{SafeTensorError, SafeTensors};
use serde::{Deserialize, Serialize};

use super::files::{self, FileError};
use super::limits;
use crate::net::weights::{LONGEST_HEADER, WeightsError, check_header};

const VERSION: u32 = 1;
const ENTRY: &str = "outflank";

/// Why a file is not a net of this program, or cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum NetFileError {
    /// The operating system reported an error.
    #[error(transparent)]
    File(#[from] FileError),
    /// The bytes are not a complete safetensors file.
    #[error("{} is no net: it is cut off, damaged, or not a safetensors file", path.display())]
    NotSafetensors {
        /// The file.
        path: PathBuf,
        /// The parser's error.
        #[source]
        source: SafeTensorError,
    },
    /// The header is longer than that of any net.
    #[error("{} is no net: it is cut off, damaged, or not a safetensors file", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// The error with the length and the limit.
        #[source]
        source: WeightsError,
    },
    /// The file is from another program.
    #[error("{} holds tensors, but no net of this program", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The description of the net cannot be read.
    #[error("{} has an unreadable description of its net", path.display())]
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
    #[error("the net cannot be written as safetensors")]
    Layout(#[source] SafeTensorError),
}

#[derive(Serialize, Deserialize)]
struct Description {
    version: u32,
    crc32: u32,
    spec: serde_json::Value,
}

/// A checked net file in memory.
#[derive(Clone, PartialEq, Debug)]
pub struct NetFile {
    bytes: Vec<u8>,
    spec: serde_json::Value,
}

fn tensor_data(bytes: &[u8]) -> &[u8] {
    // The first eight bytes are the header's length; a shorter file has no tensors.
    let Some((length, rest)) = bytes.split_first_chunk::<8>() else { return &[] };
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    rest.get(length..).unwrap_or_default()
}

impl NetFile {
    /// Makes a net file from a net's specification and its weights, which are safetensors bytes.
    /// Metadata in `weights` are dropped.
    ///
    /// # Errors
    ///
    /// `weights` are not safetensors bytes.
    pub fn seal(spec: &serde_json::Value, weights: &[u8]) -> Result<NetFile, NetFileError> {
        let tensors = SafeTensors::deserialize(weights).map_err(NetFileError::Layout)?;
        let layout = |crc32| {
            let description = Description { version: VERSION, crc32, spec: spec.clone() };
            let text = serde_json::json!(description).to_string();
            let metadata = HashMap::from([(ENTRY.to_string(), text)]);
            safetensors::serialize(tensors.iter(), Some(metadata)).map_err(NetFileError::Layout)
        };
        // The library chooses the order of the tensors, so the checksum needs a first layout.
        let crc32 = crc32fast::hash(tensor_data(&layout(0)?));
        Ok(NetFile { bytes: layout(crc32)?, spec: spec.clone() })
    }

    /// The CRC-32 of the weights, in hexadecimal digits. It does not cover the description, so it
    /// does not change if the same weights are stored again later in a run.
    pub fn weights_checksum(&self) -> String {
        format!("{:08x}", crc32fast::hash(tensor_data(&self.bytes)))
    }

    /// Checks the bytes of a net file; `path` is for the error only.
    ///
    /// # Errors
    ///
    /// The bytes are not a complete net file as [`NetFile::seal`] makes it.
    pub fn from_bytes(bytes: Vec<u8>, path: &Path) -> Result<NetFile, NetFileError> {
        let path = || path.to_path_buf();
        check_header(&bytes).map_err(|source| NetFileError::Header { path: path(), source })?;
        let not_safetensors = |source| NetFileError::NotSafetensors { path: path(), source };
        SafeTensors::deserialize(&bytes).map_err(not_safetensors)?;
        let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(not_safetensors)?;
        let entry = metadata.metadata().as_ref().and_then(|entries| entries.get(ENTRY));
        let text = entry.ok_or_else(|| NetFileError::Foreign { path: path() })?;
        let description: Description = serde_json::from_str(text)
            .map_err(|source| NetFileError::Description { path: path(), source })?;
        if description.version != VERSION {
            return Err(NetFileError::Version { path: path(), found: description.version });
        }
        if crc32fast::hash(tensor_data(&bytes)) != description.crc32 {
            return Err(NetFileError::Checksum { path: path() });
        }
        Ok(NetFile { bytes, spec: description.spec })
    }

    /// Reads a net file.
    ///
    /// # Errors
    ///
    /// The file is missing, cut off, damaged, from another program or of another version.
    pub fn read(path: &Path) -> Result<NetFile, NetFileError> {
        check_length(path)?;
        NetFile::from_bytes(files::read(path, limits::NET)?, path)
    }

    /// Writes the net to a file, replacing an old one.
    ///
    /// # Errors
    ///
    /// The file cannot be written. An old file is then unchanged.
    pub fn write(&self, path: &Path) -> Result<(), NetFileError> {
        Ok(files::write_atomically(path, &self.bytes)?)
    }

    /// The net's description as JSON; see [`Description`](crate::net::Description).
    pub fn spec(&self) -> &serde_json::Value {
        &self.spec
    }

    /// The file's bytes: safetensors with weights and metadata.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Compares the file's length with its header, before memory is allocated for the whole file.
fn check_length(path: &Path) -> Result<(), NetFileError> {
    let not_safetensors =
        |source| NetFileError::NotSafetensors { path: path.to_path_buf(), source };
    let (start, length) = files::read_start(path, 8 + LONGEST_HEADER)?;
    check_header(&start)
        .map_err(|source| NetFileError::Header { path: path.to_path_buf(), source })?;
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

    pub fn a_net(value: f32) -> NetFile {
        NetFile::seal(&json!({"board": "6x6", "blocks": 2}), &weights(value)).unwrap()
    }

    fn from_bytes(bytes: Vec<u8>) -> Result<NetFile, NetFileError> {
        NetFile::from_bytes(bytes, Path::new("some.safetensors"))
    }

    #[test]
    fn a_net_is_read_with_its_description() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("net.safetensors");
        a_net(1.0).write(&path).unwrap();
        let net = NetFile::read(&path).unwrap();
        assert_eq!(net, a_net(1.0));
        assert_eq!(net.spec(), &json!({"board": "6x6", "blocks": 2}));
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
        assert!(matches!(from_bytes(weights(1.0)), Err(NetFileError::Foreign { .. })));
        assert!(matches!(from_bytes(b"PK".to_vec()), Err(NetFileError::NotSafetensors { .. })));
        let text = json!({"version": 2, "crc32": 0, "spec": null}).to_string();
        let entries = HashMap::from([(ENTRY.to_string(), text)]);
        let none: [(&str, TensorView); 0] = [];
        let newer = safetensors::serialize(none, Some(entries)).unwrap();
        assert!(matches!(from_bytes(newer), Err(NetFileError::Version { found: 2, .. })));
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
            let seen = matches!(from_bytes(bytes), Err(NetFileError::Checksum { .. }));
            prop_assert!(seen);
        }

        #[test]
        fn any_bytes_are_a_net_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assert!(from_bytes(bytes).is_err());
        }
    }
}
