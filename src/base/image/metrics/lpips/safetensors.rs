//! Files in the safetensors format: a header's length in 8 bytes, the header as JSON, and arrays in little-endian.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::Deserialize;

use crate::error::{Error, Result};

const LENGTH_BYTES: u64 = 8;

/// Largest accepted header; a header of 31 arrays has about 3 KiB.
const MAX_HEADER_BYTES: u64 = 1 << 16;

const F32: &str = "F32";

#[derive(Deserialize)]
struct Header {
    #[serde(rename = "__metadata__")]
    _metadata: Option<serde::de::IgnoredAny>,
    #[serde(flatten)]
    tensors: BTreeMap<String, Tensor>,
}

#[derive(Deserialize)]
struct Tensor {
    dtype: String,
    shape: Vec<u64>,
    /// Start and end of the array in bytes, counted from the end of the header.
    data_offsets: [u64; 2],
}

pub(super) struct Expected {
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
}

/// Reads finite f32 arrays from the file `path`, in the order of `expected`. Other arrays are skipped.
pub(super) fn read(path: &Path, expected: &[Expected]) -> Result<Vec<Vec<f32>>> {
    let reading = |reason| Error::read(path, reason);
    let mut file = File::open(path).map_err(reading)?;
    let length = file.metadata().map_err(reading)?.len();
    let header_bytes = header_length(path, &mut file, length)?;
    let mut text = vec![0; usize::try_from(header_bytes).unwrap_or_default()];
    file.read_exact(&mut text).map_err(reading)?;
    let header: Header = serde_json::from_slice(&text).map_err(|error| {
        Error::malformed(path, "header", "a JSON object with an entry per array", error)
    })?;
    let data = LENGTH_BYTES + header_bytes;
    let arrays = expected.iter().map(|expected| {
        let tensor = header.tensors.get(&expected.name).ok_or_else(|| {
            let names: Vec<_> = header.tensors.keys().map(String::as_str).collect();
            Error::malformed(path, "header", &expected.name, names.join(", "))
        })?;
        let place = format!("array {}", expected.name);
        let offset = tensor
            .offset(expected, length - data)
            .map_err(|(wanted, found)| Error::malformed(path, &place, wanted, found))?;
        file.seek(SeekFrom::Start(data + offset)).map_err(reading)?;
        let mut bytes = vec![0; 4 * expected.shape.iter().product::<usize>()];
        file.read_exact(&mut bytes).map_err(reading)?;
        let (values, _) = bytes.as_chunks::<4>();
        let values: Vec<f32> = values.iter().copied().map(f32::from_le_bytes).collect();
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(values),
            Some(at) => {
                let place = format!("{place}, element {at}");
                Err(Error::malformed(path, place, "a finite number", values[at]))
            }
        }
    });
    arrays.collect()
}

fn header_length(path: &Path, file: &mut File, length: u64) -> Result<u64> {
    let mut bytes = [0; 8];
    let found = format_args!("{length} bytes");
    Error::malformed_if(length < LENGTH_BYTES, path, "file", "at least 8 bytes", found)?;
    let read = file.read_exact(&mut bytes);
    read.map_err(|reason| Error::read(path, reason))?;
    let header = u64::from_le_bytes(bytes);
    let most = MAX_HEADER_BYTES.min(length - LENGTH_BYTES);
    let expected = format_args!("at most {most}");
    Error::malformed_if(header > most, path, "length of the header", expected, header)?;
    Ok(header)
}

impl Tensor {
    /// Returns the offset of the array, or the expected and the actual content if type, shape or place do not match.
    fn offset(&self, expected: &Expected, length: u64) -> Result<u64, (String, String)> {
        let shape: Vec<u64> = expected.shape.iter().map(|&side| side as u64).collect();
        if self.dtype != F32 || self.shape != shape {
            let wanted = format!("{F32} of shape {shape:?}");
            return Err((wanted, format!("{} of shape {:?}", self.dtype, self.shape)));
        }
        let bytes = 4 * shape.iter().product::<u64>();
        let [start, end] = self.data_offsets;
        if end > length || start.checked_add(bytes) != Some(end) {
            let wanted = format!("{bytes} bytes within the {length} bytes of data");
            return Err((wanted, format!("bytes {start} to {end}")));
        }
        Ok(start)
    }
}
