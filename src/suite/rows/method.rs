//! The row of a method on a view, of `sim --json` and of suites.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::units::{LimitRow, UnitRow, units};
use crate::details::FigureDetails;
use crate::report::ratios::{merge_ratio, ratio, shaded_ratio};
use quadrille_base::units::cycles_to_ms;
use quadrille_gpu::coalesce::bins::Flushes;
use quadrille_gpu::coalesce::quad_reorder::QruCounters;
use quadrille_gpu::compute::outcome::ComputeCounts;
use quadrille_gpu::config::Config;
use quadrille_gpu::geometry::vertex_buffer::VertexBufferPeaks;
use quadrille_gpu::gscore::accelerator::GscoreCounts;
use quadrille_gpu::imitation::ImitationOutcome;
use quadrille_gpu::in_shader::{InShader, InterlockOutcome, ShaderBlendOutcome};
use quadrille_gpu::method::Method;
use quadrille_gpu::outcome::Outcome;
use quadrille_gpu::outcome_counts::{FragmentCounts, PrimitiveCounts, QuadCounts};
use quadrille_gpu::passes::Pass;
use quadrille_gpu::result::SimulationResult;
use quadrille_gpu::variant::Variant;
use quadrille_gpu::warp::attribute_cache::AttributeCounters;
use quadrille_machine::{
    CacheCounters, L2Counters, PackCounters, SECTOR_BYTES, TrafficByClient, documented,
};

/// Results of a method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodRow {
    /// Name of the method.
    pub name: String,
    /// Cycles of the emulated GPU.
    pub cycles: u64,
    /// Duration of `cycles` at the emulated clock, in milliseconds.
    pub frame_ms: f64,
    /// Counts of the machine that the method runs on.
    #[serde(flatten)]
    pub counts: MethodCounts,
    /// Details that figures need, of runs that keep them.
    #[serde(flatten)]
    pub details: FigureDetails,
    /// Time of this method on the host in seconds, with the other methods running at the same time.
    #[serde(default)]
    pub host_s: f64,
}

impl MethodRow {
    /// The row of a method that ran on `config`, without details.
    pub fn new(outcome: &Outcome, config: &Config, host: Duration) -> Self {
        Self {
            name: outcome.method().to_string(),
            cycles: outcome.cycles(),
            frame_ms: cycles_to_ms(outcome.cycles(), config.gpu.clock_mhz),
            counts: MethodCounts::of(outcome, config),
            details: FigureDetails::default(),
            host_s: host.as_secs_f64(),
        }
    }

    /// Quads blended by CROP or by the shader; `None` for methods without quads.
    pub fn quads_blended(&self) -> Option<u64> {
        Some(self.counts.pipeline()?.quads.blended)
    }
}

/// Counts of a method, by the machine that it runs on. They are the same on every host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum MethodCounts {
    /// The graphics pipeline.
    Pipeline(Box<PipelineCounts>),
    /// The software renderer.
    Compute {
        /// Fragments by outcome.
        fragments: BlendedFragments,
        /// Counts of all kernels.
        compute: Box<ComputeCounts>,
    },
    /// The accelerator.
    Gscore {
        /// Fragments by outcome.
        fragments: BlendedFragments,
        /// Counts of all stages.
        gscore: Box<GscoreCounts>,
    },
}

documented! {
    /// Fragment counts of methods that count only blended fragments.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub struct BlendedFragments {
        /// Fragments blended.
        pub blended: u64,
    }
}

impl MethodCounts {
    /// The counts of a run on `config`.
    pub fn of(outcome: &Outcome, config: &Config) -> Self {
        let fragments = BlendedFragments { blended: outcome.fragments_blended() };
        match outcome {
            Outcome::Pipeline(method, result) => {
                Self::Pipeline(Box::new(PipelineCounts::of(*method, result, config)))
            }
            Outcome::Compute(result) => {
                Self::Compute { fragments, compute: Box::new(result.counts.clone()) }
            }
            Outcome::Gscore(result) => {
                Self::Gscore { fragments, gscore: Box::new(result.counts.clone()) }
            }
        }
    }

    /// Fragments blended.
    pub fn fragments_blended(&self) -> u64 {
        match self {
            Self::Pipeline(counts) => counts.fragments.blended,
            Self::Compute { fragments, .. } | Self::Gscore { fragments, .. } => fragments.blended,
        }
    }

    /// Counts of the graphics pipeline, if the method runs on it.
    pub fn pipeline(&self) -> Option<&PipelineCounts> {
        if let Self::Pipeline(counts) = self { Some(counts) } else { None }
    }

    /// Counts of the software renderer, if the method is one.
    pub fn compute(&self) -> Option<&ComputeCounts> {
        if let Self::Compute { compute, .. } = self { Some(compute) } else { None }
    }

    /// Counts of the accelerator, if the method runs on it.
    pub fn gscore(&self) -> Option<&GscoreCounts> {
        if let Self::Gscore { gscore, .. } = self { Some(gscore) } else { None }
    }
}

documented! {
    /// Counts of a method on the graphics pipeline.
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    pub struct PipelineCounts {
        /// Port that limits the draw, and the critical port.
        #[serde(flatten)]
        pub limits: LimitRow,
        /// Fragments by outcome.
        pub fragments: FragmentCounts,
        /// Fragments near the alpha cut that are decided by the exact arithmetic of the reference renderer.
        pub near_cut_fragments: u64,
        /// Quads by outcome.
        pub quads: QuadCounts,
        /// Primitives and raster tiles by outcome.
        pub raster: PrimitiveCounts,
        /// Fragment warps launched.
        pub warps: u64,
        /// Vertex warps run.
        pub vertex_warps: u64,
        /// Flushes of bins by unit.
        pub flushes: FlushesByUnit,
        /// Statistics of quad reordering; zeros in variants without this unit.
        pub qru: QruCounters,
        /// Statistics of warp packing.
        pub pack: PackCounters,
        /// Pixels that reached the termination threshold.
        pub terminations: u64,
        /// Termination updates, one per pixel.
        pub termination_updates: u64,
        /// Fragments rasterized, divided by fragments not terminated.
        pub shaded_ratio: Option<f64>,
        /// Quads blended without merging, divided by quads blended.
        pub merge_ratio: Option<f64>,
        /// Traffic of colours, by cache, L2 and DRAM.
        pub crop: ColourCacheRow,
        /// Statistics of the stencil and depth cache.
        pub zrop_cache: CacheCounters,
        /// Accesses of fragment warps to the first-level caches.
        pub l1: AttributeCounters,
        /// Traffic of the L2.
        pub l2: L2Counters,
        /// Largest numbers of splats in the buffer of vertex results.
        pub vertex_buffer: VertexBufferPeaks,
        /// Bytes moved to and from DRAM.
        pub dram_bytes: u64,
        /// Bytes moved by client.
        pub memory: TrafficByClient,
        /// Cycles of each port by activity.
        pub units: BTreeMap<String, UnitRow>,
        /// Statistics of all units by name, including units from outside the crate.
        pub counters: Map<String, Value>,
        /// Bytes of storage that the method adds per GPC.
        pub storage_bytes_per_gpc: AddedStorage,
        /// Cost of each pass, for rendering in several passes; absent for other methods.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub passes: Option<Vec<Pass>>,
        /// Results of the draws before an imitation of VR-Pipe's additions; absent for other methods.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub imitation: Option<ImitationOutcome>,
        /// Counts of unordered blending in the shader; absent for other methods.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub shader_blend: Option<ShaderBlendOutcome>,
        /// Counts of blending in critical sections; absent for other methods.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub interlock: Option<InterlockOutcome>,
    }
}

documented! {
    /// Flushes of bins by unit.
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    pub struct FlushesByUnit {
        /// Flushes of tile coalescing.
        pub tc: FlushRow,
        /// Flushes of tile-grid coalescing.
        pub tgc: FlushRow,
    }
}

documented! {
    /// Flushes of the bins of one unit.
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    pub struct FlushRow {
        /// Flushes by reason.
        #[serde(flatten)]
        pub by_reason: Flushes,
        /// Flushes for all reasons together.
        pub total: u64,
        /// Mean number of items per flush.
        pub mean_items: Option<f64>,
    }
}

documented! {
    /// Traffic of colours, by cache, L2 and DRAM.
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    pub struct ColourCacheRow {
        /// Statistics of the CROP cache.
        #[serde(flatten)]
        pub cache: CacheCounters,
        /// Bytes between the colour cache and the L2.
        pub l2_bytes: u64,
        /// Bytes of colours between the L2 and DRAM.
        pub dram_bytes: u64,
    }
}

documented! {
    /// Bytes of storage that a method adds to each GPC, and of the L2 for vertex results.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct AddedStorage {
        /// Bytes of the bins of tile-grid coalescing.
        pub tgc: u64,
        /// Bytes of the vertices that tile-grid coalescing reads again.
        pub tgc_fetch: u64,
        /// Bytes of the buffers of quad reordering.
        pub qru: u64,
        /// Bytes of the queues of beats and updates for early termination.
        pub zrop: u64,
        /// Sum of `tgc`, `tgc_fetch`, `qru` and `zrop`.
        pub total: u64,
        /// Bytes of the L2 for vertex results, in all methods but those of a tile-based GPU.
        pub l2_vertex_results: u64,
    }
}

impl PipelineCounts {
    /// The counts of a run of `method` on `config`.
    pub fn of(method: Method, result: &SimulationResult, config: &Config) -> Self {
        let cache = &result.crop_cache;
        let (shader_blend, interlock) = match result.in_shader {
            Some(InShader::Unordered(counts)) => (Some(counts), None),
            Some(InShader::Interlocked(counts)) => (None, Some(counts)),
            None => (None, None),
        };
        let counters = match serde_json::to_value(&result.statistics) {
            Ok(Value::Object(counters)) => counters,
            _ => Map::new(),
        };
        Self {
            limits: LimitRow::of(&result.units),
            fragments: result.fragments,
            near_cut_fragments: result.near_cut_fragments,
            quads: result.quads,
            raster: result.raster.clone(),
            warps: result.warps,
            vertex_warps: result.vertex_warps,
            flushes: FlushesByUnit { tc: FlushRow::of(&result.tc), tgc: FlushRow::of(&result.tgc) },
            qru: result.qru.clone(),
            pack: result.pack.clone(),
            terminations: result.terminations,
            termination_updates: result.updates,
            shaded_ratio: shaded_ratio(result),
            merge_ratio: merge_ratio(result),
            crop: ColourCacheRow {
                cache: cache.clone(),
                l2_bytes: (cache.fetched + cache.written_back) * SECTOR_BYTES,
                dram_bytes: result.traffic.colour.dram_bytes(),
            },
            zrop_cache: result.z_cache.clone(),
            l1: result.l1.clone(),
            l2: result.l2.clone(),
            vertex_buffer: result.vertex_buffer,
            dram_bytes: result.dram_bytes,
            memory: result.traffic,
            units: units(&result.units),
            counters,
            storage_bytes_per_gpc: AddedStorage::of(config, method, result.variant),
            passes: matches!(method, Method::MultiPass(_)).then(|| result.passes.clone()),
            imitation: result.imitation,
            shader_blend,
            interlock,
        }
    }
}

impl FlushRow {
    fn of(flushes: &Flushes) -> Self {
        let total = flushes.total();
        Self { by_reason: flushes.clone(), total, mean_items: ratio(flushes.items, total) }
    }
}

impl AddedStorage {
    fn of(config: &Config, method: Method, variant: Variant) -> Self {
        let when = |on: bool, bytes: u64| if on { bytes } else { 0 };
        let tgc = when(variant.tgc(), config.tgc.storage_bytes());
        let qru = when(variant.qru(), config.qru.storage_bytes());
        let zrop = when(variant.het(), config.zrop.storage_bytes());
        let tgc_fetch = when(variant.tgc(), config.tgc.fetch_bytes(config.vertex.position_bytes));
        Self {
            tgc,
            tgc_fetch,
            qru,
            zrop,
            total: tgc + tgc_fetch + qru + zrop,
            l2_vertex_results: when(!method.has_tiles(), config.vertex_buffer_bytes()),
        }
    }
}
