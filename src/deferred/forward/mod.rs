//! Pipelines that shade during the raster, over the hits in submission order: multisampling, and cached
//! decoupled sampling with and without a depth prepass (section 6).

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

/// A function from a primitive and the number of a quad in its grid ([`Spid::quad`]) to the colours of the
/// quad's four points in linear light, each followed by its opacity.
pub(crate) type QuadShaderFn<'a> = Box<dyn FnMut(u32, u32) -> [[f32; 4]; 4] + Send + 'a>;

/// Shading of quads by their names.
pub trait QuadShading: Sync {
    /// Creates a shader.
    fn shader(&self) -> QuadShaderFn<'_>;
}

/// A pipeline, as a consumer of the ordered hits.
pub trait HitConsumer: Send {
    /// Whether the opaque hits are drawn twice, first by depth alone.
    fn has_prepass(&self) -> bool {
        false
    }

    /// Takes opaque hits of the prepass.
    fn prepass(&mut self, _chunk: &HitChunk) {}

    /// Takes opaque hits.
    fn opaque(&mut self, chunk: &HitChunk);

    /// Takes hits with an alpha test, after all opaque ones: those past the depth test are shaded, and written if kept.
    fn alpha_tested(&mut self, chunk: &HitChunk);

    /// Takes hits of blended draws, after all others.
    fn blended(&mut self, chunk: &HitChunk);

    /// Flushes the buffers of the pipeline, and returns the counts and pictures of the frame.
    fn finish(self: Box<Self>) -> PipelineOutcome;
}

/// Result of a pipeline.
#[derive(Debug, Clone, Default)]
pub struct PipelineOutcome {
    /// Quads that the shader ran for, four executions each; 0 for the front end of the sorted back end.
    pub quads: u64,
    /// Counters of the memo; `None` if the pipeline has no memo.
    pub memo: Option<MemoCounters>,
    /// Transfers of the buffers, if they were measured.
    pub traffic: Option<PipelineTraffic>,
    /// Compression of the identifiers, if the pipeline stores them and traffic was measured.
    pub spid_blocks: Option<CodecCounts>,
    /// Shader executions per pixel, row by row, if they were wanted.
    pub heat: Option<HeatShares>,
    /// Identifier of each sample in the order of [`VisibleSamples`](super::samples::VisibleSamples), before
    /// forward draws: always from the front end of the sorted back end, otherwise on request.
    pub spids: Option<Vec<Spid>>,
    /// Depth of each sample before forward draws, from the front end of the sorted back end.
    pub depths: Option<Vec<f32>>,
    /// Picture and visible primitives, from pipelines that shade during the raster.
    pub shown: Option<ShownFrame>,
}
