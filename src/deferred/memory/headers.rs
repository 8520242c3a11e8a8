//! Headers of depth blocks, which decide many tests without a read of depths (section 5.3, after Morein 2000).

use super::bits::BLOCK_WORDS;
use super::cache::{BlockCache, CacheAccess, Capacity};
use super::spec::MemorySpec;
use super::traffic::BufferTraffic;

/// Header of a depth block. [`BlockCache`] models its control bits, which hold the packed size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DepthHeader {
    /// Farthest depth of the block; 0, infinitely far, as long as a sample is clear.
    pub far: f32,
    /// Mask of the clear samples.
    pub clear: u64,
}

impl DepthHeader {
    /// Header of a clear block.
    pub(crate) const CLEAR: Self = Self { far: 0.0, clear: u64::MAX };

    /// Header after a write of the samples in `written`; `depths` holds the depths of the whole block.
    #[inline]
    pub(crate) fn after(self, written: u64, depths: &[f32; BLOCK_WORDS]) -> Self {
        let clear = self.clear & !written;
        let far = match clear {
            0 => depths.iter().fold(f32::INFINITY, |far, &d| far.min(d)),
            _ => 0.0,
        };
        Self { far, clear }
    }
}

/// Headers of all depth blocks, with their cache.
#[derive(Debug)]
pub(crate) struct DepthHeaders {
    headers: Vec<DepthHeader>,
    cache: BlockCache,
    line_bytes: u64,
    per_line: u32,
}

impl DepthHeaders {
    /// Creates headers of `blocks` clear blocks. A line that was never written back is clear and needs no read.
    pub(crate) fn new(spec: &MemorySpec, capacity: Capacity, blocks: u32) -> Self {
        let line_bytes = spec.header_line_bytes.max(spec.header_bytes);
        let per_line = u32::try_from(line_bytes / spec.header_bytes).unwrap_or(u32::MAX);
        let lines = blocks.div_ceil(per_line);
        Self {
            headers: vec![DepthHeader::CLEAR; blocks as usize],
            cache: BlockCache::with_block_bytes(capacity, lines, line_bytes),
            line_bytes,
            per_line,
        }
    }

    /// Reads the header of a block through the cache.
    #[inline]
    pub(crate) fn read(&mut self, block: u32) -> DepthHeader {
        self.access(block, CacheAccess::Read);
        self.headers[block as usize]
    }

    /// Writes the header of a block through the cache, if it differs.
    #[inline]
    pub(crate) fn write(&mut self, block: u32, header: DepthHeader) {
        if self.headers[block as usize] != header {
            self.headers[block as usize] = header;
            self.access(block, CacheAccess::Write);
        }
    }

    /// Clear mask of a block, without an access to the cache.
    #[inline]
    pub(crate) fn clear_mask(&self, block: u32) -> u64 {
        self.headers[block as usize].clear
    }

    fn access(&mut self, block: u32, access: CacheAccess) {
        let line_bytes = self.line_bytes;
        self.cache.access(block / self.per_line, access, |_| line_bytes);
    }

    /// Writes back all changed lines.
    pub(crate) fn flush(&mut self) {
        let line_bytes = self.line_bytes;
        self.cache.flush(|_| line_bytes);
    }

    /// Bytes moved so far.
    pub(crate) fn traffic(&self) -> BufferTraffic {
        self.cache.traffic()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_depth_counts_once_no_sample_is_clear() {
        let mut depths = [0.5; BLOCK_WORDS];
        depths[9] = 0.25;
        let half = DepthHeader::CLEAR.after(0xffff_ffff, &depths);
        assert_eq!((half.far, half.clear), (0.0, 0xffff_ffff << 32));
        let full = half.after(half.clear, &depths);
        assert_eq!((full.far, full.clear), (0.25, 0));
    }

    #[test]
    fn four_headers_share_a_line() {
        let mut headers = DepthHeaders::new(&MemorySpec::default(), Capacity::Bytes(64), 12);
        let header = DepthHeader { far: 1.0, clear: 0 };
        (0..4).for_each(|block| headers.write(block, header));
        assert_eq!(headers.traffic(), BufferTraffic::default());
        assert_eq!(headers.read(4), DepthHeader::CLEAR);
        assert_eq!(headers.traffic().write, 64);
        assert_eq!(headers.read(1), header);
        assert_eq!(headers.traffic().read, 64);
        // The same header again changes nothing.
        headers.write(2, header);
        headers.flush();
        assert_eq!(headers.traffic().write, 64);
    }
}
