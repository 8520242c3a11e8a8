//! Bytes moved between the pipelines and memory, by buffer.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Bytes of a buffer moved over the memory bus.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferTraffic {
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub write: u64,
    /// Bytes that the same transfers move without compression.
    #[serde(skip)]
    pub raw: u64,
}

impl BufferTraffic {
    /// Bytes read and written.
    pub fn bytes(&self) -> u64 {
        self.read + self.write
    }

    /// Bytes moved relative to the bytes without compression; `None` if nothing was moved.
    pub fn ratio(&self) -> Option<f64> {
        (self.raw > 0).then(|| self.bytes() as f64 / self.raw as f64)
    }

    /// Counts a read of `bytes` bytes, which hold `raw` bytes of uncompressed content.
    #[inline]
    pub(crate) fn add_read(&mut self, bytes: u64, raw: u64) {
        self.read += bytes;
        self.raw += raw;
    }

    /// Counts a write of `bytes` bytes, which hold `raw` bytes of uncompressed content.
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

/// Memory traffic of a pipeline, by buffer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineTraffic {
    /// Depths of samples.
    pub depth: BufferTraffic,
    /// Colours of samples, without the reads of the resolve.
    pub colour: BufferTraffic,
    /// Shading point identifiers of samples.
    pub spid: BufferTraffic,
    /// Headers of depth blocks, which are not compressed.
    pub headers: BufferTraffic,
    /// Resolve: reads of the colours of samples, and uncompressed writes of pixels.
    pub resolve: BufferTraffic,
}

impl PipelineTraffic {
    /// Names and traffic of the buffers, in the order of tables and figures.
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

    /// Bytes that the same transfers of all buffers move without compression.
    pub fn raw(&self) -> u64 {
        self.buffers().iter().map(|(_, b)| b.raw).sum()
    }
}

/// Numbers of blocks written to memory, by codec.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodecCounts {
    /// Blocks with offsets from one reference per channel.
    pub offset: u64,
    /// Blocks with offsets from the nearer of two references.
    pub min_max: u64,
    /// Blocks with indices into a palette.
    pub palette: u64,
    /// Blocks with depth offsets.
    pub depth: u64,
    /// Blocks without compression.
    pub raw: u64,
}
