use serde::{Deserialize, Serialize};

use super::limits::{MemoQuads, TileSide};
use quadrille_base::choice;
use quadrille_deferred::backend::radix::buffer_bits;
use quadrille_deferred::backend::tiles::TiledCounters;
use quadrille_deferred::draw::{DeferredFrame, DeferredResult};
use quadrille_deferred::forward::colour::SampleColour;
use quadrille_deferred::forward::memo::MemoCounters;
use quadrille_deferred::memory::traffic::{CodecCounts, PipelineTraffic};
use quadrille_deferred::outcome::{BlurAmounts, GridCounts};
use quadrille_deferred::raster::cost::{RasterCost, RasterCounters};
use quadrille_deferred::simulate::PipelineRun;
use quadrille_mesh::result::ratio;

const SPID_BITS: f64 = 64.0;

choice! {
    /// Pipeline that shades frames with motion and defocus blur.
    pub enum DeferredPipeline {
        /// Sort-based deferred shading
        Sds = "sds",
        /// Decoupled sampling with a memo
        CachedDecoupled = "cached-decoupled" | "jrk",
        /// Decoupled sampling with a memo, after a depth prepass
        CachedDecoupledZ = "cached-decoupled+z" | "jrk+z",
        /// Multisampling
        Msaa = "msaa",
    }
}

choice! {
    /// Size of the cells of shading grids.
    pub enum ShadingGridKind {
        /// One pixel per cell
        Pixel = "pixel",
        /// Cells that grow with the blur
        Adaptive = "adaptive",
    }
}

/// A view by a pipeline with one combination of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeferredRow {
    /// Mesh as the command or the suite names it.
    pub mesh: String,
    /// Name of the view.
    pub view: String,
    /// Width of the picture in pixels.
    pub width: u32,
    /// Height of the picture in pixels.
    pub height: u32,
    /// Target area of triangles in pixels, if the mesh was tessellated.
    pub triangle_area_px: Option<f64>,
    /// Triangles of the scene, culled or not.
    pub triangles: u64,
    /// Samples per pixel.
    pub samples: u32,
    /// Blur of the picture in pixels.
    pub blur: BlurAmounts,
    /// Shading grids by kind.
    pub grids: GridCounts,
    /// The pipeline.
    pub pipeline: DeferredPipeline,
    /// Cells of the shading grids.
    pub grid: ShadingGridKind,
    /// Side of the tiles, of pipelines that have tiles.
    pub tile_px: Option<TileSide>,
    /// Capacity of the memo, of pipelines that have one.
    pub memo_quads: Option<MemoQuads>,
    /// Counters of all rasters of the pipeline.
    pub raster: RasterRow,
    /// Quads shaded and shader executions.
    pub shading: ShadingRow,
    /// Pixels with a sample that shows the scene.
    pub pixels_covered: u64,
    /// Vertices shaded.
    pub vertices: VertexRow,
    /// Draws skipped in a tile because none of their primitives shows, summed over the tiles.
    pub draws_skipped: Option<u64>,
    /// Counters of the memo, of pipelines that have one.
    pub memo: Option<MemoCounters>,
    /// Compression of shading point identifiers, if traffic was measured.
    pub spid: Option<SpidRow>,
    /// The sort, of sort-based deferred shading.
    pub sort: Option<SortRow>,
    /// Bytes between chip and memory, if they were measured.
    pub traffic_bytes: Option<TrafficRow>,
    /// PSNR against the mean of other seeds in dB, if requested.
    pub psnr_db: Option<f64>,
    /// Milliseconds on the host.
    pub host_ms: PipelineHostMs,
}

/// Counters of rasters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RasterRow {
    /// Triangles set up.
    pub set_up: u64,
    /// Triangles dropped before the raster.
    pub culled: u64,
    /// Triangles dropped because a coordinate is beyond the range of f32.
    pub not_finite: u64,
    /// Tests of tiles and blocks.
    pub tile_tests: u64,
    /// Samples tested.
    pub sample_tests: u64,
    /// Samples hit.
    pub hits: u64,
    /// Samples hit over samples tested.
    pub efficiency: f64,
    /// Arithmetic operations.
    pub gops: Gops,
}

/// Billions of arithmetic operations by step of the raster.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Gops {
    /// Set-up of triangles.
    pub setup: f64,
    /// Tests of tiles and blocks.
    pub tile: f64,
    /// Tests of samples.
    pub sample: f64,
    /// Interpolation of hits.
    pub hit: f64,
    /// All steps.
    pub total: f64,
}

/// Quads shaded and shader executions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ShadingRow {
    /// Quads shaded.
    pub quads: u64,
    /// Shader executions: four per quad.
    pub executions: u64,
    /// Shader executions per pixel.
    pub per_pixel: f64,
    /// Shader executions per covered pixel.
    pub per_covered_pixel: f64,
}

/// Vertices shaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VertexRow {
    /// Vertices whose positions are projected.
    pub positions: u64,
    /// Vertices whose attributes are shaded.
    pub attributes: u64,
}

/// Compression of shading point identifiers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SpidRow {
    /// Bytes moved over bytes without compression.
    pub ratio: f64,
    /// Mean bits per identifier.
    pub bits: f64,
    /// Blocks by codec.
    pub blocks: Option<CodecCounts>,
}

/// The sort of identifiers on chip.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SortRow {
    /// Tiles in which a sample shows a surface; the others are not sorted.
    pub tiles: u64,
    /// Passes per tile that is sorted.
    pub passes_mean: f64,
    /// Bytes moved on chip with packed values, if they were measured.
    pub on_chip_bytes: Option<u64>,
    /// Bytes moved on chip without packing.
    pub raw_bytes: u64,
    /// Bytes of the keys and values of a tile, which an in-place sort keeps on chip.
    pub buffer_bytes: u64,
    /// Bytes of the keys and values of all samples of the picture.
    pub pairs_bytes: u64,
    /// Bytes of the colours of a tile, which stay on chip until they are resolved.
    pub output_bytes: u64,
}

/// Bytes between chip and memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrafficRow {
    /// Bytes by buffer.
    #[serde(flatten)]
    pub buffers: PipelineTraffic,
    /// Bytes of all buffers.
    pub total: u64,
    /// Bytes of all buffers without compression.
    pub raw: u64,
}

/// Milliseconds on the host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PipelineHostMs {
    /// Tessellation and set-up.
    pub geometry: f64,
    /// The raster.
    pub raster: f64,
    /// The rest of the pipeline.
    pub pipeline: f64,
}

impl DeferredRow {
    /// Describes the result of a pipeline in a frame with colours of the format `colour`, without the names of mesh, view
    /// and grid.
    pub fn new(
        frame: &DeferredFrame,
        result: &DeferredResult,
        cost: &RasterCost,
        colour: SampleColour,
    ) -> Self {
        let executions = 4 * result.quads;
        let pixels = frame.size.iter().copied().map(u64::from).product();
        let (pipeline, tile_px, memo_quads) = described(result.run);
        let [geometry, raster, rest] = result.host_ms;
        Self {
            mesh: String::new(),
            view: String::new(),
            width: frame.size[0],
            height: frame.size[1],
            triangle_area_px: None,
            triangles: frame.triangles,
            samples: frame.samples,
            blur: frame.blur,
            grids: frame.grids,
            pipeline,
            grid: ShadingGridKind::Pixel,
            tile_px,
            memo_quads,
            raster: RasterRow::new(&result.raster, cost),
            shading: ShadingRow {
                quads: result.quads,
                executions,
                per_pixel: ratio(executions, pixels),
                per_covered_pixel: ratio(executions, result.pixels_covered),
            },
            pixels_covered: result.pixels_covered,
            vertices: VertexRow {
                positions: result.raster.vertices,
                attributes: result.vertex_attributes,
            },
            draws_skipped: result.tiled.map(|tiled| tiled.draws_skipped),
            memo: result.memo,
            spid: spid(result),
            sort: result.tiled.map(|tiled| {
                let tile_pixels =
                    tile_px.and_then(|tile| tile.0).map(|side| u64::from(side).pow(2));
                let samples =
                    [tile_pixels.unwrap_or(pixels), pixels].map(|n| n * u64::from(frame.samples));
                SortRow::new(tiled, samples, colour)
            }),
            traffic_bytes: result.traffic.map(TrafficRow::from),
            psnr_db: None,
            host_ms: PipelineHostMs { geometry, raster, pipeline: rest },
        }
    }

    /// Name of the combination of settings in the names of files.
    pub fn variant_name(&self) -> String {
        let mut name = self.pipeline.name().to_owned();
        let tile = self.tile_px.map(|tile| format!("-{tile}"));
        let memo = self.memo_quads.map(|quads| format!("-{quads}"));
        name.extend([tile, memo].into_iter().flatten());
        if self.grid != ShadingGridKind::Pixel {
            name += &format!("-{}", self.grid);
        }
        if let Some(area) = self.triangle_area_px {
            name += &format!("-{area}px");
        }
        name
    }
}

fn described(run: PipelineRun) -> (DeferredPipeline, Option<TileSide>, Option<MemoQuads>) {
    match run {
        PipelineRun::Msaa => (DeferredPipeline::Msaa, None, None),
        PipelineRun::Sds { tile_px } => (DeferredPipeline::Sds, Some(TileSide(tile_px)), None),
        PipelineRun::CachedDecoupled { memo_quads, has_prepass } => {
            let pipeline = match has_prepass {
                true => DeferredPipeline::CachedDecoupledZ,
                false => DeferredPipeline::CachedDecoupled,
            };
            (pipeline, None, Some(MemoQuads(memo_quads)))
        }
    }
}

fn spid(result: &DeferredResult) -> Option<SpidRow> {
    let ratio = result.traffic?.spid.ratio()?;
    Some(SpidRow { ratio, bits: ratio * SPID_BITS, blocks: result.spid_blocks })
}

impl RasterRow {
    fn new(counters: &RasterCounters, cost: &RasterCost) -> Self {
        let ops = counters.ops(cost);
        let giga = |ops: u64| ratio(ops, 1_000_000_000);
        Self {
            set_up: counters.triangles,
            culled: counters.culled(),
            not_finite: counters.not_finite,
            tile_tests: counters.tile_tests,
            sample_tests: counters.sample_tests,
            hits: counters.hits,
            efficiency: ratio(counters.hits, counters.sample_tests),
            gops: Gops {
                setup: giga(ops.set_up),
                tile: giga(ops.tile),
                sample: giga(ops.sample),
                hit: giga(ops.hit),
                total: giga(ops.total()),
            },
        }
    }
}

impl SortRow {
    fn new(tiled: TiledCounters, [tile, picture]: [u64; 2], colour: SampleColour) -> Self {
        let sort = tiled.sort;
        let pair_bits = buffer_bits(tile) / tile;
        Self {
            tiles: sort.tiles,
            passes_mean: sort.passes_mean(),
            on_chip_bytes: (sort.packed_bytes > 0).then_some(sort.packed_bytes),
            raw_bytes: sort.raw_bytes,
            buffer_bytes: tile * pair_bits / 8,
            pairs_bytes: picture * pair_bits / 8,
            output_bytes: tile * 4 * colour.words() as u64,
        }
    }
}

impl From<PipelineTraffic> for TrafficRow {
    fn from(buffers: PipelineTraffic) -> Self {
        Self { total: buffers.total(), raw: buffers.raw(), buffers }
    }
}
