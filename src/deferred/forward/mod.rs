//! Pipelines that shade during the raster, in submission order: multisampling, and cached decoupled sampling with and
//! without a depth prepass (section 6).

pub mod cached_decoupled;
pub mod colour;
pub mod depths;
pub mod heat_shares;
pub mod memo;
pub mod msaa;
pub mod sample_order;
pub mod shown;

use super::hits::HitChunk;
use heat_shares::HeatShares;
use memo::MemoCounters;
use shown::ShownFrame;

use super::memory::traffic::{CodecCounts, PipelineTraffic};
use super::shading::spid::Spid;

/// Function from a primitive id and the Morton position of a quad in its grid ([`Spid::quad`]) to the colours of the
/// quad's four points: RGB in linear light, and opacity.
pub(crate) type QuadShaderFn<'a> = Box<dyn FnMut(u32, u32) -> [[f32; 4]; 4] + Send + 'a>;

/// Source of quad shaders, one per pipeline.
pub trait QuadShading: Sync {
    /// Creates a shader, which may keep state between quads.
    fn shader(&self) -> QuadShaderFn<'_>;
}

/// A pipeline, which consumes hits in submission order.
pub trait HitConsumer: Send {
    /// Whether opaque hits are drawn twice, first for depth only.
    fn has_prepass(&self) -> bool {
        false
    }

    /// Consumes opaque hits of the depth prepass.
    fn prepass(&mut self, _chunk: &HitChunk) {}

    /// Consumes opaque hits, after the whole prepass if there is one.
    fn opaque(&mut self, chunk: &HitChunk);

    /// Consumes alpha-tested hits, after all opaque hits. Hits that pass the depth test are shaded, and written if kept.
    fn alpha_tested(&mut self, chunk: &HitChunk);

    /// Consumes hits of blended triangles, after all other hits.
    fn blended(&mut self, chunk: &HitChunk);

    /// Flushes the buffers of the pipeline and returns the results of the frame.
    fn finish(self: Box<Self>) -> PipelineOutcome;
}

/// Result of a pipeline.
#[derive(Debug, Clone, Default)]
pub struct PipelineOutcome {
    /// Quads shaded, with four executions each; 0 for sort-based deferred shading, whose second pass shades.
    pub quads: u64,
    /// Counters of the memo; `None` if the pipeline has no memo.
    pub memo: Option<MemoCounters>,
    /// Memory traffic by buffer, if it was measured.
    pub traffic: Option<PipelineTraffic>,
    /// Blocks of identifiers by codec; only for sort-based deferred shading.
    pub spid_blocks: Option<CodecCounts>,
    /// Shader executions per pixel, row by row, if they were counted.
    pub heat: Option<HeatShares>,
    /// Identifier of each sample before forward draws, in the order of [`VisibleSamples`](super::samples::VisibleSamples):
    /// always for sort-based deferred shading, otherwise on request.
    pub spids: Option<Vec<Spid>>,
    /// Depth of each sample before forward draws; only for sort-based deferred shading.
    pub depths: Option<Vec<f32>>,
    /// Picture and visible primitives; only for pipelines that shade during the raster.
    pub shown: Option<ShownFrame>,
}
