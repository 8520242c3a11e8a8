//! Memory traffic of sort-based deferred shading: identifiers and depths that the first pass writes, and loads and
//! stores of tiles in the second pass (sections 4.1 and 4.2).

use super::forward::depths::SampleDepths;
use super::forward::sample_order::{SampleOrder, each_bit};
use super::forward::{HitConsumer, PipelineOutcome};
use super::geometry::DrawLayer;
use super::hits::{Hit, HitChunk, QuadHits};
use super::memory::bits::BLOCK_WORDS;
use super::memory::codec::BlockFormat;
use super::memory::depth_buffer::{DepthFormat, DepthRule};
use super::memory::spec::MemorySpec;
use super::memory::traffic::{BufferTraffic, PipelineTraffic};
use super::memory::word_buffer::WordBuffer;
use super::shading::spid::Spid;
use quadrille_base::error::Result;

/// Simulates the memory of the first pass, and the loads and stores of the second pass.
#[derive(Debug)]
pub(crate) struct SpidTraffic {
    order: SampleOrder,
    depths: SampleDepths,
    /// Primitives of all samples, followed by their positions in shading space; each half starts at a block of memory.
    spids: WordBuffer,
    /// Index of the first position in `spids`.
    second_half: usize,
    tile_blocks: u32,
    /// Hits of alpha-tested and blended triangles, which the second pass draws tile by tile.
    forward: Vec<ForwardBlock>,
    resolved_pixel_bytes: u64,
}

#[derive(Debug)]
struct ForwardBlock {
    tile: u32,
    quad: QuadHits,
    hits: Vec<Hit>,
    /// Samples whose depths are written if they pass the depth test.
    written: u64,
}

impl SpidTraffic {
    /// Creates the pass of a picture in tiles of `tile_px` pixels, an even number, or in one tile for `None`.
    ///
    /// # Errors
    /// [`Error::Limit`](quadrille_base::error::Error::Limit) for more than 2^32 blocks of memory.
    pub(crate) fn new(
        order: SampleOrder,
        spec: &MemorySpec,
        depth: DepthFormat,
        tile_px: Option<u32>,
    ) -> Result<Self> {
        let second_half = order.count().next_multiple_of(BLOCK_WORDS);
        let words = 2 * second_half;
        Ok(Self {
            order,
            depths: SampleDepths::new(order, Some((spec, depth)))?,
            spids: WordBuffer::new(spec, BlockFormat::Identifiers, words, &[0])?,
            second_half,
            tile_blocks: tile_px.map_or(u32::MAX, |px| (px / 2).max(1)),
            forward: Vec::new(),
            resolved_pixel_bytes: spec.resolved_pixel_bytes,
        })
    }

    fn tile(&self, block: [u16; 2]) -> u32 {
        let across = self.order.blocks()[0].div_ceil(self.tile_blocks);
        let [column, row] = block.map(|at| u32::from(at) / self.tile_blocks);
        row * across + column
    }

    /// Loads of identifiers by all tiles. A tile loads each block of memory that contains one of its samples once.
    fn loads(&self) -> BufferTraffic {
        let [columns, rows] = self.order.blocks();
        let side = self.tile_blocks.min(columns.max(rows)).max(1) as usize;
        let per_block = 4 * self.order.samples as usize;
        let mut loads = BufferTraffic::default();
        let mut blocks = Vec::new();
        for top in (0..rows as usize).step_by(side) {
            for left in (0..columns as usize).step_by(side) {
                blocks.clear();
                for row in top..(top + side).min(rows as usize) {
                    let first = row * columns as usize + left;
                    let end = row * columns as usize + (left + side).min(columns as usize);
                    let samples = first * per_block..end * per_block;
                    for half in [0, self.second_half] {
                        let words = half + samples.start..half + samples.end;
                        let range = words.start / BLOCK_WORDS..words.end.div_ceil(BLOCK_WORDS);
                        blocks.extend(range.filter_map(|block| u32::try_from(block).ok()));
                    }
                }
                blocks.sort_unstable();
                blocks.dedup();
                loads += self.spids.read_from_memory(blocks.iter().copied());
            }
        }
        loads
    }

    /// Keeps the hits of a forward layer for the second pass. Only alpha-tested triangles write depths.
    fn keep(&mut self, chunk: &HitChunk, layer: DrawLayer) {
        let blocks = chunk.blocks().map(|(quad, hits, kept)| ForwardBlock {
            tile: self.tile(quad.block),
            quad: *quad,
            hits: hits.to_vec(),
            written: if layer == DrawLayer::AlphaTested { kept } else { 0 },
        });
        let blocks: Vec<_> = blocks.collect();
        self.forward.extend(blocks);
    }

    /// Tests forward hits against the depths that the second pass loads.
    fn test_forward(&mut self) {
        let mut forward = std::mem::take(&mut self.forward);
        forward.sort_by_key(|block| block.tile);
        for block in &forward {
            let first = self.order.first(block.quad.block);
            self.depths.test_late(first, &block.quad, &block.hits, block.written);
        }
    }

    fn identifiers(&self) -> Vec<Spid> {
        let spid = |sample: usize| Spid {
            primitive: self.spids.sample::<1>(sample)[0],
            morton: self.spids.sample::<1>(self.second_half + sample)[0],
        };
        (0..self.order.count()).map(spid).collect()
    }
}

impl HitConsumer for SpidTraffic {
    fn opaque(&mut self, chunk: &HitChunk) {
        for quad in &chunk.quads {
            let first = self.order.first(quad.block);
            let hits = chunk.of(quad);
            let passed = self.depths.test(first, quad.coverage, hits, DepthRule::Nearer);
            if passed == 0 {
                continue;
            }
            let mut mortons = [0; BLOCK_WORDS];
            let mut hits = hits.iter();
            each_bit(quad.coverage, |bit| {
                mortons[bit as usize] = hits.next().map_or(0, |hit| hit.morton);
            });
            self.spids.write(first, passed, |_| [quad.primitive]);
            self.spids.write(self.second_half + first, passed, |bit| [mortons[bit as usize]]);
        }
    }

    fn alpha_tested(&mut self, chunk: &HitChunk) {
        self.keep(chunk, DrawLayer::AlphaTested);
    }

    fn blended(&mut self, chunk: &HitChunk) {
        self.keep(chunk, DrawLayer::Blended);
    }

    fn finish(mut self: Box<Self>) -> PipelineOutcome {
        self.spids.flush();
        let mut spid = self.spids.traffic();
        spid += self.loads();
        // Read before the forward draws: the second pass of the frame starts from these samples and draws forward itself.
        let (spids, depths_shown) = (self.identifiers(), self.depths.values(self.order.count()));
        self.test_forward();
        let mut traffic = PipelineTraffic { spid, ..PipelineTraffic::default() };
        if let SampleDepths::Modelled(depths) = &mut self.depths {
            depths.flush();
            traffic.depth = depths.traffic();
            traffic.headers = depths.header_traffic();
        }
        let written = self.order.pixels() as u64 * self.resolved_pixel_bytes;
        traffic.resolve.add_write(written, written);
        PipelineOutcome {
            traffic: Some(traffic),
            spid_blocks: Some(self.spids.codecs()),
            spids: Some(spids),
            depths: Some(depths_shown),
            ..PipelineOutcome::default()
        }
    }
}
