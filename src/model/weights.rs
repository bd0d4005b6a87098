//! Named arrays as plain data. The learner passes weights to actors and files in this form.

use std::collections::BTreeMap;

use half::f16;
use safetensors::{Dtype, SafeTensors};

/// One array of 32-bit floats.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Array {
    /// Sizes, outermost first. The last index varies fastest in memory.
    pub shape: Vec<usize>,
    /// The numbers; their count is the product of `shape`.
    pub values: Vec<f32>,
}

impl Array {
    /// The bits of a number in files.
    fn bits(&self) -> usize {
        let is_exact = |value: &f32| f16::from_f32(*value).to_f32().to_bits() == value.to_bits();
        if self.values.len() >= LARGE && self.values.iter().all(is_exact) { 16 } else { 32 }
    }
}

/// Named arrays in the order of their names: a net's weights, or an optimiser's state.
///
/// It holds no tensors, so that threads can share it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Weights(BTreeMap<String, Array>);

/// The longest safetensors header that is read, in bytes. The largest net has 0.15 MiB.
///
/// Parsing a header takes several times its length in memory, so a malicious file must not have a
/// longer one.
pub const LONGEST_HEADER: u64 = 1 << 20;

/// Arrays of at least so many numbers are written with 16 bits each, if no number changes by it.
const LARGE: usize = 1 << 16;

/// Texts that a file stores beside the weights, by key.
pub type Metadata = BTreeMap<String, String>;

/// Why weights cannot be read, or do not fit a net.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// The bytes are not in safetensors format, or end too early.
    #[error("not in safetensors format")]
    Format(#[from] safetensors::SafeTensorError),
    /// The header is longer than that of any net.
    #[error("the safetensors header is {found} bytes long; at most {LONGEST_HEADER} are read")]
    Header {
        /// The length that the file gives.
        found: u64,
    },
    /// An array does not hold floats of 32 or 16 bits.
    #[error("array `{name}` holds {found:?} numbers; only F32 and F16 can be read")]
    NumberFormat {
        /// The array.
        name: Box<str>,
        /// Its number format.
        found: Dtype,
    },
    /// An array is missing.
    #[error("array `{name}` of shape {wanted:?} is missing")]
    Missing {
        /// The array.
        name: Box<str>,
        /// The shape that the net needs.
        wanted: Vec<usize>,
    },
    /// An array has another shape: the weights belong to another net.
    #[error("array `{name}` has shape {found:?}, but this net needs {wanted:?}")]
    Shape {
        /// The array.
        name: Box<str>,
        /// Its shape.
        found: Vec<usize>,
        /// The shape that the net needs.
        wanted: Vec<usize>,
    },
    /// An array holds an infinity or a NaN, which would spread to everything computed from it.
    #[error("array `{name}` holds {found} at index {index}; only finite numbers can be used")]
    NotFinite {
        /// The array.
        name: Box<str>,
        /// The index in row-major order, from 0.
        index: usize,
        /// The infinity or NaN.
        found: f32,
    },
    /// The net has no array of this name.
    #[error("this net has no array `{name}`")]
    Unknown {
        /// The array.
        name: Box<str>,
    },
}

impl Weights {
    /// Adds or replaces an array.
    ///
    /// # Panics
    ///
    /// The product of `shape` is not the number of values.
    pub fn insert(&mut self, name: impl Into<String>, shape: Vec<usize>, values: Vec<f32>) {
        assert_eq!(shape.iter().product::<usize>(), values.len(), "an array's shape and values");
        self.0.insert(name.into(), Array { shape, values });
    }

    /// The array called `name`.
    ///
    /// # Errors
    ///
    /// There is no such array, or it has another shape than `wanted`.
    pub fn get(&self, name: &str, wanted: &[usize]) -> Result<&[f32], WeightsError> {
        let array = self
            .array(name)
            .ok_or_else(|| WeightsError::Missing { name: name.into(), wanted: wanted.to_vec() })?;
        if array.shape != wanted {
            return Err(WeightsError::Shape {
                name: name.into(),
                found: array.shape.clone(),
                wanted: wanted.to_vec(),
            });
        }
        Ok(&array.values)
    }

    /// The array called `name`, whatever its shape.
    pub fn array(&self, name: &str) -> Option<&Array> {
        self.0.get(name)
    }

    /// The arrays in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Array)> {
        self.0.iter().map(|(name, array)| (name.as_str(), array))
    }

    /// The number of arrays.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no arrays.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The arrays and the metadata in safetensors format. The same content gives the same bytes.
    /// Large arrays whose numbers are all floats of 16 bits are written as such.
    pub fn to_bytes(&self, metadata: &Metadata) -> Vec<u8> {
        // The writer of the safetensors crate keeps metadata in a hash map, whose order differs
        // between processes. Writing the header here makes the bytes reproducible.
        let mut header = serde_json::Map::new();
        header.insert("__metadata__".into(), serde_json::json!(metadata));
        let mut end = 0;
        for (name, array) in &self.0 {
            let (start, bits) = (end, array.bits());
            end += bits / 8 * array.values.len();
            header.insert(
                name.clone(),
                serde_json::json!({
                    "dtype": format!("F{bits}"), "shape": array.shape, "data_offsets": [start, end],
                }),
            );
        }
        let mut text = serde_json::Value::Object(header).to_string().into_bytes();
        text.resize(text.len().next_multiple_of(8), b' ');
        let mut bytes = Vec::with_capacity(8 + text.len() + end);
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text);
        for array in self.0.values() {
            match array.bits() {
                16 => bytes
                    .extend(array.values.iter().flat_map(|&it| f16::from_f32(it).to_le_bytes())),
                _ => bytes.extend(array.values.iter().flat_map(|value| value.to_le_bytes())),
            }
        }
        bytes
    }

    /// Reads arrays and metadata in safetensors format.
    ///
    /// # Errors
    ///
    /// The bytes are not in that format, are cut off, or hold anything but finite floats of 32 or 16
    /// bits.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Weights, Metadata), WeightsError> {
        check_header(bytes)?;
        let (_, header) = SafeTensors::read_metadata(bytes)?;
        let metadata = header.metadata().iter().flatten();
        let metadata = metadata.map(|(key, value)| (key.clone(), value.clone())).collect();
        let mut weights = Weights::default();
        for (name, view) in SafeTensors::deserialize(bytes)?.tensors() {
            let data = view.data();
            let values: Vec<f32> = match view.dtype() {
                Dtype::F32 => data.as_chunks().0.iter().map(|&it| f32::from_le_bytes(it)).collect(),
                Dtype::F16 => {
                    data.as_chunks().0.iter().map(|&it| f16::from_le_bytes(it).to_f32()).collect()
                }
                found => return Err(WeightsError::NumberFormat { name: name.into(), found }),
            };
            if let Some(index) = values.iter().position(|value| !value.is_finite()) {
                let found = values[index];
                return Err(WeightsError::NotFinite { name: name.into(), index, found });
            }
            weights.0.insert(name, Array { shape: view.shape().to_vec(), values });
        }
        Ok((weights, metadata))
    }
}

/// Checks the header length of safetensors bytes.
///
/// # Errors
///
/// The header is longer than [`LONGEST_HEADER`].
pub fn check_header(bytes: &[u8]) -> Result<(), WeightsError> {
    // The parser rejects fewer than eight bytes.
    let length = bytes.first_chunk().map_or(0, |&length| u64::from_le_bytes(length));
    if length > LONGEST_HEADER { Err(WeightsError::Header { found: length }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Weights, Metadata) {
        let mut weights = Weights::default();
        weights.insert("b", vec![2, 3], vec![1.0, -2.5, 3e-20, 4.0, 5.0, 6.0]);
        weights.insert("a", vec![1], vec![f32::MIN_POSITIVE]);
        weights.insert("empty", vec![0, 7], vec![]);
        let metadata = [("spec", "{\"x\":1}"), ("other", "y")];
        (weights, metadata.map(|(key, value)| (key.to_owned(), value.to_owned())).into())
    }

    #[test]
    fn bytes_round_trip_and_repeat() {
        let (weights, metadata) = sample();
        let bytes = weights.to_bytes(&metadata);
        assert_eq!(bytes, weights.clone().to_bytes(&metadata.clone()));
        assert_eq!(Weights::from_bytes(&bytes).unwrap(), (weights, metadata));
    }

    #[test]
    fn large_arrays_of_short_numbers_take_half_the_bytes_and_do_not_change() {
        let mut values: Vec<f32> =
            (0..LARGE).map(|index| (index % 2047) as f32 / 1024.0 - 1.0).collect();
        values[1] = -0.0;
        let bytes_of = |values: &[f32]| {
            let mut weights = Weights::default();
            weights.insert("rows", vec![LARGE / 2, 2], values.to_vec());
            let bytes = weights.to_bytes(&Metadata::new());
            assert_eq!(Weights::from_bytes(&bytes).unwrap().0, weights);
            bytes.len()
        };
        assert!((2 * LARGE..2 * LARGE + 200).contains(&bytes_of(&values)));
        // One number that needs more bits.
        values[9] = 0.1;
        assert!((4 * LARGE..4 * LARGE + 200).contains(&bytes_of(&values)));
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let (weights, metadata) = sample();
        let bytes = weights.to_bytes(&metadata);
        for length in 0..bytes.len() {
            assert!(Weights::from_bytes(&bytes[..length]).is_err(), "{length} bytes were accepted");
        }
        assert!(Weights::from_bytes(b"a text file of some length, not a net").is_err());
    }

    #[test]
    fn a_long_header_is_refused_before_it_is_read() {
        let mut weights = Weights::default();
        for index in 0..20_000 {
            weights.insert(format!("array.{index}"), vec![0], vec![]);
        }
        let error = Weights::from_bytes(&weights.to_bytes(&Metadata::new())).unwrap_err();
        let wanted = "bytes long; at most 1048576 are read";
        assert!(error.to_string().ends_with(wanted), "{error}");
        let error = Weights::from_bytes(&[0xff; 9]).unwrap_err();
        assert!(error.to_string().contains("18446744073709551615 bytes long"), "{error}");
    }

    #[test]
    fn an_error_names_the_number_that_is_not_finite() {
        for found in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let (mut weights, metadata) = sample();
            weights.insert("c", vec![2, 2], vec![f32::MAX, 0.0, found, f32::NAN]);
            let error = Weights::from_bytes(&weights.to_bytes(&metadata)).unwrap_err().to_string();
            assert!(error.starts_with(&format!("array `c` holds {found} at index 2;")), "{error}");
        }
    }

    #[test]
    fn an_error_names_the_wrong_array() {
        let (weights, _) = sample();
        let error = weights.get("b", &[3, 2]).unwrap_err().to_string();
        assert_eq!(error, "array `b` has shape [2, 3], but this net needs [3, 2]");
        let error = weights.get("c", &[4]).unwrap_err().to_string();
        assert_eq!(error, "array `c` of shape [4] is missing");
    }
}
