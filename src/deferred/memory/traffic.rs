//! Bytes between the pipelines and memory, by buffer.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Transfers of a buffer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferTraffic {
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub write: u64,
    /// Bytes that the same transfers would have moved without compression.
    #[serde(skip)]
    pub raw: u64,
}

impl BufferTraffic {
    /// Bytes read and written.
    pub fn bytes(&self) -> u64 {
        self.read + self.write
    }

    /// Bytes moved as a share of the bytes without compression; `None` if nothing was moved.
    pub fn ratio(&self) -> Option<f64> {
        (self.raw > 0).then(|| self.bytes() as f64 / self.raw as f64)
    }

    /// Counts a read of `raw` bytes that are stored in `bytes`.
    #[inline]
    pub(crate) fn add_read(&mut self, bytes: u64, raw: u64) {
        self.read += bytes;
        self.raw += raw;
    }

    /// Counts a write of `raw` bytes that are stored in `bytes`.
    #[inline]
    pub(crate) fn add_write(&mut self, bytes: u64, raw: u64) {
        self.write += bytes;
        self.raw += raw;
    }
}

impl AddAssign for BufferTraffic {
    fn add_assign(&mut self, other: Self) {
        self.read += other.read;
        self.write += other.write;
        self.raw += other.raw;
    }
}

/// Transfers of a pipeline, by buffer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineTraffic {
    /// Depths of samples.
    pub depth: BufferTraffic,
    /// Colours of samples, without those that the resolve reads.
    pub colour: BufferTraffic,
    /// Shading point identifiers of samples.
    pub spid: BufferTraffic,
    /// Headers of depth blocks, which are not compressed.
    pub headers: BufferTraffic,
    /// The resolve: colours of samples that it reads, and pixels that it writes uncompressed.
    pub resolve: BufferTraffic,
}

impl PipelineTraffic {
    /// The buffers with their names, in the order of tables and pictures.
    pub fn buffers(&self) -> [(&'static str, BufferTraffic); 5] {
        [
            ("depth", self.depth),
            ("headers", self.headers),
            ("spid", self.spid),
            ("colour", self.colour),
            ("resolve", self.resolve),
        ]
    }

    /// Bytes of all buffers.
    pub fn total(&self) -> u64 {
        self.buffers().iter().map(|(_, b)| b.bytes()).sum()
    }

    /// Bytes of all buffers that the same transfers would have moved without compression.
    pub fn raw(&self) -> u64 {
        self.buffers().iter().map(|(_, b)| b.raw).sum()
    }
}

/// Number of blocks written with each codec.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodecCounts {
    /// Offsets from one reference.
    pub offset: u64,
    /// Offsets from the nearer of two references.
    pub min_max: u64,
    /// Indices into a palette.
    pub palette: u64,
    /// Depth offsets.
    pub depth: u64,
    /// Not compressed.
    pub raw: u64,
}
