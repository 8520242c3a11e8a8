//! Simulation of several pipelines side by side over the same hits in submission order.

use rayon::prelude::*;

use super::backend::resolve::Background;
use super::forward::cached_decoupled::{CachedDecoupled, CachedDecoupledSettings, MeasuredMemory};
use super::forward::colour::SampleColour;
use super::forward::msaa::Msaa;
use super::forward::sample_order::SampleOrder;
use super::forward::{HitConsumer, PipelineOutcome, QuadShading};
use super::geometry::DrawLayer;
use super::hits::HitStream;
use super::memory::depth_buffer::DepthFormat;
use super::memory::spec::MemorySpec;
use super::raster::cost::RasterCounters;
use super::spid_traffic::SpidTraffic;
use quadrille_base::error::Result;

/// A pipeline to simulate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PipelineRun {
    /// Multisampling; only shading is counted, no memory traffic.
    Msaa,
    /// Cached decoupled sampling, which shades quads during the raster when they miss in a memo.
    CachedDecoupled {
        /// Capacity of the memo in quads; `None` for no limit.
        memo_quads: Option<u32>,
        /// Whether a depth prepass comes first.
        has_prepass: bool,
    },
    /// First pass of sort-based deferred shading, which gives traffic and visible samples. The back end shades them.
    Sds {
        /// Side of the tiles in pixels; `None` for one tile.
        tile_px: Option<u32>,
    },
}

/// Settings of [`simulate`].
#[derive(Clone, Copy)]
pub struct SimulationSettings<'a> {
    /// Configuration of caches and bus.
    pub memory: &'a MemorySpec,
    /// Format of stored depths.
    pub depth: DepthFormat,
    /// Format of stored colours of samples.
    pub colour: SampleColour,
    /// Shader of the pipelines that shade during the raster, needed for traffic and pictures; `None` if only counts matter.
    pub shading: Option<&'a dyn QuadShading>,
    /// Whether pipelines that shade during the raster measure traffic. Sort-based deferred shading always does.
    pub measures_traffic: bool,
    /// Background of the pictures of pipelines that shade during the raster; `None` for no pictures.
    pub picture: Option<Background>,
    /// Whether shader executions are counted per pixel.
    pub wants_heat: bool,
    /// Whether pipelines that shade during the raster return the identifier of each sample.
    pub wants_spids: bool,
}

impl<'a> SimulationSettings<'a> {
    fn pipeline(&self, run: PipelineRun, order: SampleOrder) -> Result<Box<dyn HitConsumer + 'a>> {
        Ok(match run {
            PipelineRun::Msaa => {
                Box::new(Msaa::new(order, self.wants_heat, self.picture.zip(self.shading)))
            }
            PipelineRun::CachedDecoupled { memo_quads, has_prepass } => {
                let settings = CachedDecoupledSettings {
                    memo_quads,
                    has_prepass,
                    wants_heat: self.wants_heat,
                    wants_spids: self.wants_spids,
                    picture: self.picture,
                };
                let memory = self.measures_traffic.then_some(MeasuredMemory {
                    spec: self.memory,
                    depth: self.depth,
                    colour: self.colour,
                });
                Box::new(CachedDecoupled::new(order, &settings, memory, self.shading)?)
            }
            PipelineRun::Sds { tile_px } => {
                Box::new(SpidTraffic::new(order, self.memory, self.depth, tile_px)?)
            }
        })
    }
}

/// Results of several pipelines over the same hits.
#[derive(Debug)]
pub struct SharedSimulation {
    /// Results in the order of the runs.
    pub outcomes: Vec<PipelineOutcome>,
    /// Counters of one raster pass over the opaque triangles.
    pub opaque: RasterCounters,
    /// Counters of one raster pass over the alpha-tested and blended triangles.
    pub forward: RasterCounters,
}

/// Runs pipelines over the hits of a frame.
///
/// Pipelines run in parallel, but each takes the hits sequentially: results do not depend on the number of threads.
///
/// # Errors
/// [`Error::Argument`](quadrille_base::error::Error::Argument) when the specification of the memory is out of its bounds,
/// [`Error::Limit`](quadrille_base::error::Error::Limit) for more than 2^32 blocks of memory.
pub fn simulate(
    stream: &dyn HitStream,
    runs: &[PipelineRun],
    settings: &SimulationSettings<'_>,
) -> Result<SharedSimulation> {
    quadrille_base::span!("pipelines");
    settings.memory.validate()?;
    let order = SampleOrder { size: stream.size(), samples: stream.samples() };
    let pipelines = runs.iter().map(|run| settings.pipeline(*run, order));
    let mut pipelines = pipelines.collect::<Result<Vec<_>>>()?;
    let opaque = stream.each_chunk(DrawLayer::Opaque, &mut |chunk| {
        pipelines.par_iter_mut().for_each(|pipeline| {
            if pipeline.has_prepass() { pipeline.prepass(chunk) } else { pipeline.opaque(chunk) }
        });
    });
    if pipelines.iter().any(|pipeline| pipeline.has_prepass()) {
        stream.each_chunk(DrawLayer::Opaque, &mut |chunk| {
            let prepassed = pipelines.par_iter_mut().filter(|p| p.has_prepass());
            prepassed.for_each(|pipeline| pipeline.opaque(chunk));
        });
    }
    let mut forward = stream.each_chunk(DrawLayer::AlphaTested, &mut |chunk| {
        pipelines.par_iter_mut().for_each(|pipeline| pipeline.alpha_tested(chunk));
    });
    let blended = stream.each_chunk(DrawLayer::Blended, &mut |chunk| {
        pipelines.par_iter_mut().for_each(|pipeline| pipeline.blended(chunk));
    });
    forward.add(&blended);
    Ok(SharedSimulation {
        outcomes: pipelines.into_par_iter().map(HitConsumer::finish).collect(),
        opaque,
        forward,
    })
}
