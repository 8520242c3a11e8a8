//! A frame after its first pass: the identifier and depth that each sample shows.
//!
//! Triangles are listed by bins of 64x64 pixels. Bins are rasterized on all cores, in blocks of 32x32
//! pixels, each with its triangles in submission order.

use fearless_simd::{Simd, dispatch, f32x16, mask32x16, prelude::*, u32x16};
use rayon::prelude::*;

use super::camera::shutter::ShutterView;
use super::geometry::{Geometry, GeometryChunk, Layer};
use super::raster::cost::RasterCounters;
use super::raster::cull::{Cells, Culler};
use super::raster::lanes::{PixelHits, TestView};
use super::raster::traverse::{HitSink, RasterView, traverse};
use super::raster::triangle::MovingTriangle;
use super::sample::pattern::{LANES, StochasticPattern};
use super::samples::VisibleSamples;
use super::settings::DeferredSettings;
use super::shading::grid::{GridView, ShadingGrid};
use super::shading::spid::Spid;
use crate::error::{Error, Result};
use crate::math::narrow;
use crate::mesh::grid::GridSource;

/// Pixels along the side of a bin, whose triangles are listed together.
const BIN_PX: u32 = 64;
/// Pixels along the side of a block of a bin that is rasterized at a time: its samples and their pattern,
/// 0.5 MiB, stay in the second-level cache of a core.
const BLOCK_PX: u32 = 32;
/// Largest number of samples of a frame: 3 GiB of identifiers and depths.
const MAX_SAMPLES: u64 = 1 << 28;
/// Number of bins in a triangle's box from which on it is tested against each of them.
const BINS_TESTED: u32 = 16;

/// A frame after its first pass.
#[derive(Debug)]
pub struct StochasticFrame {
    /// The camera.
    pub view: ShutterView,
    /// The settings.
    pub settings: DeferredSettings,
    /// The geometry.
    pub geometry: Geometry,
    /// Counters of the set-up of all triangles and of one raster of the opaque ones.
    pub counters: RasterCounters,
    /// Counters of one raster of the blended triangles.
    pub blended_counters: RasterCounters,
    /// What each sample shows.
    pub visible: VisibleSamples,
    pub(super) pattern: StochasticPattern,
}

impl StochasticFrame {
    /// Rasterizes a scene.
    ///
    /// # Errors
    /// [`Error::Argument`] for an invalid number of samples per pixel; [`Error::Limit`] for too many samples
    /// or primitives.
    pub fn new(
        source: &dyn GridSource,
        view: ShutterView,
        settings: &DeferredSettings,
    ) -> Result<Self> {
        let pattern = StochasticPattern::new(settings.samples, settings.pattern, settings.seed)?;
        let size = view.size();
        let [columns, rows] = size.map(|px| u64::from(px.div_ceil(2)) * 2);
        let samples = columns * rows * u64::from(settings.samples);
        Error::check_limit("samples of a frame", MAX_SAMPLES, samples)?;
        let geometry = Geometry::new(source, &view, settings.faces)?;
        let mut frame = Self {
            counters: geometry.counters,
            blended_counters: RasterCounters::default(),
            geometry,
            settings: *settings,
            pattern,
            visible: VisibleSamples::background(size, settings.samples),
            view,
        };
        frame.raster();
        frame.blended_counters = frame.count_blended();
        Ok(frame)
    }

    /// Camera of the sample tests.
    pub(super) fn raster_view(&self) -> RasterView<'_> {
        RasterView {
            test: TestView {
                shear: *self.view.shear(),
                near: narrow(self.view.near()),
                centre: self.view.centre_px().map(narrow),
            },
            pattern: &self.pattern,
        }
    }

    /// What the shading grids of all triangles share.
    pub(super) fn grid_view(&self) -> GridView {
        GridView {
            rule: self.settings.grid,
            shear: *self.view.shear(),
            near: narrow(self.view.near()),
            centre: self.view.centre_px(),
        }
    }

    /// Rasterizes all bins, a row of their blocks per task.
    fn raster(&mut self) {
        let nothing = VisibleSamples::background([0; 2], 0);
        let mut visible = std::mem::replace(&mut self.visible, nothing);
        let bins = BinLists::new(self);
        let row =
            visible.blocks()[0] as usize * (BLOCK_PX as usize / 2) * 4 * visible.samples as usize;
        let spids = visible.spids.par_chunks_mut(row);
        let depths = visible.depths.par_chunks_mut(row);
        let level = self.settings.level.level();
        let counters = spids.zip(depths).enumerate().map(|(row, (spids, depths))| {
            let mut block = Block::new(self);
            let mut counters = RasterCounters::default();
            let y = u32::try_from(row).unwrap_or(u32::MAX) * BLOCK_PX;
            for x in (0..self.view.size()[0]).step_by(BLOCK_PX as usize) {
                block.begin([x, y]);
                let bin = (y / BIN_PX * bins.across + x / BIN_PX) as usize;
                for (chunk, list) in self.geometry.chunks.iter().zip(&bins.chunks) {
                    let triangles = list.of(bin);
                    dispatch!(level, simd => block.raster(simd, chunk, triangles, &mut counters));
                }
                block.write(spids, depths);
            }
            counters
        });
        let counters: Vec<_> = counters.collect();
        counters.iter().for_each(|c| self.counters.add(c));
        self.counters.tile_tests += bins.tests;
        self.visible = visible;
    }
}

/// The triangles of a chunk in each bin.
struct BinList {
    /// Indices of triangles, bin by bin, in submission order.
    triangles: Vec<u32>,
    /// Bins with triangles, ascending, and the index into `triangles` of the first of each.
    starts: Vec<(u32, u32)>,
}

impl BinList {
    /// The triangles of a bin.
    fn of(&self, bin: usize) -> &[u32] {
        let at = self
            .starts
            .binary_search_by_key(&bin, |(bin, _)| *bin as usize);
        let Ok(at) = at else { return &[] };
        let first = self.starts[at].1 as usize;
        let end = self.starts.get(at + 1);
        &self.triangles[first..end.map_or(self.triangles.len(), |(_, end)| *end as usize)]
    }
}

/// The triangles of all chunks in each bin.
struct BinLists {
    across: u32,
    chunks: Vec<BinList>,
    /// Tests of triangles against bins.
    tests: u64,
}

impl BinLists {
    fn new(frame: &StochasticFrame) -> Self {
        let across = frame.view.size()[0].div_ceil(BIN_PX);
        let lists: Vec<_> = frame
            .geometry
            .chunks
            .par_iter()
            .map(|chunk| Self::of_chunk(frame, chunk, across))
            .collect();
        let tests = lists.iter().map(|(_, tests)| tests).sum();
        Self {
            across,
            chunks: lists.into_iter().map(|(list, _)| list).collect(),
            tests,
        }
    }

    fn of_chunk(frame: &StochasticFrame, chunk: &GeometryChunk, across: u32) -> (BinList, u64) {
        let view = frame.raster_view().test;
        let level = frame.settings.level.level();
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut tests = 0;
        for (triangle, number) in chunk.layer(Layer::Opaque).iter().zip(0_u32..) {
            let [x0, y0, x1, y1] = triangle.area.map(u32::from);
            let [from, to] = [[x0, y0], [x1 - 1, y1 - 1]].map(|p| p.map(|v| v / BIN_PX));
            let mut push = |[column, row]: [u32; 2]| pairs.push((row * across + column, number));
            if (to[0] - from[0] + 1) * (to[1] - from[1] + 1) >= BINS_TESTED {
                let culler = Culler::new(triangle, &view);
                let mut bins = Cells::new(BIN_PX, [x0, y0, x1, y1]);
                tests += u64::from(bins.remaining());
                while let Some(batch) = dispatch!(level, simd => bins.test(simd, &culler)) {
                    batch.for_each(&mut push);
                }
                continue;
            }
            for row in from[1]..=to[1] {
                for column in from[0]..=to[0] {
                    push([column, row]);
                }
            }
        }
        // Pairs of a bin stay in submission order, since their numbers ascend.
        pairs.sort_unstable();
        let mut list = BinList {
            triangles: Vec::with_capacity(pairs.len()),
            starts: Vec::new(),
        };
        for (bin, triangle) in pairs {
            if list.starts.last().is_none_or(|(last, _)| *last != bin) {
                let first = u32::try_from(list.triangles.len()).unwrap_or(u32::MAX);
                list.starts.push((bin, first));
            }
            list.triangles.push(triangle);
        }
        (list, tests)
    }
}

/// The samples of a block of a bin.
struct Block<'a> {
    frame: &'a StochasticFrame,
    view: RasterView<'a>,
    grids: GridView,
    /// First pixel.
    corner: [u32; 2],
    /// Pixels of the block in the picture.
    size: [u32; 2],
    pixels: Vec<PixelState>,
}

/// What the samples of a pixel show.
#[derive(Debug, Clone, Copy)]
struct PixelState {
    depths: [f32; LANES],
    primitives: [u32; LANES],
    mortons: [u32; LANES],
}

const EMPTY: PixelState = PixelState {
    depths: [0.0; LANES],
    primitives: [0; LANES],
    mortons: [0; LANES],
};

impl<'a> Block<'a> {
    fn new(frame: &'a StochasticFrame) -> Self {
        Self {
            frame,
            view: frame.raster_view(),
            grids: frame.grid_view(),
            corner: [0; 2],
            size: [0; 2],
            pixels: vec![EMPTY; (BLOCK_PX * BLOCK_PX) as usize],
        }
    }

    /// Clears the samples for the block whose first pixel is at a column and row of the picture.
    fn begin(&mut self, corner: [u32; 2]) {
        self.corner = corner;
        let size = self.frame.view.size();
        self.size = [0, 1].map(|k| (size[k] - self.corner[k]).min(BLOCK_PX));
        self.pixels.fill(EMPTY);
    }

    #[inline(always)]
    fn raster<S: Simd>(
        &mut self,
        simd: S,
        chunk: &GeometryChunk,
        triangles: &[u32],
        counters: &mut RasterCounters,
    ) {
        let [x, y] = self.corner;
        let area = [x, y, x + self.size[0], y + self.size[1]];
        let opaque = chunk.layer(Layer::Opaque);
        for &number in triangles {
            let triangle = &opaque[number as usize];
            let mut sink = DepthTest {
                simd,
                corner: self.corner,
                pixels: &mut self.pixels,
                triangle,
                grids: &self.grids,
                grid: None,
            };
            traverse(simd, &self.view, triangle, area, counters, &mut sink);
        }
    }

    /// Copies the samples to the part of the picture that begins with the block's row.
    fn write(&self, spids: &mut [Spid], depths: &mut [f32]) {
        let count = self.frame.settings.samples as usize;
        let across = self.frame.view.size()[0].div_ceil(2) as usize;
        for y in 0..self.size[1] as usize {
            for x in 0..self.size[0] as usize {
                let state = &self.pixels[y * BLOCK_PX as usize + x];
                let column = self.corner[0] as usize / 2 + x / 2;
                let block = y / 2 * across + column;
                let first = (block * 4 + (y % 2) * 2 + x % 2) * count;
                depths[first..first + count].copy_from_slice(&state.depths[..count]);
                let ids = state.primitives.iter().zip(&state.mortons);
                for (out, (&primitive, &morton)) in spids[first..first + count].iter_mut().zip(ids)
                {
                    *out = Spid { primitive, morton };
                }
            }
        }
    }
}

/// The depth test of the hits of a triangle in a block.
struct DepthTest<'a, S: Simd> {
    simd: S,
    corner: [u32; 2],
    pixels: &'a mut [PixelState],
    triangle: &'a MovingTriangle,
    grids: &'a GridView,
    /// Made at the first visible hit.
    grid: Option<ShadingGrid>,
}

impl<S: Simd> HitSink<S> for DepthTest<'_, S> {
    #[inline(always)]
    fn pixel(&mut self, [x, y]: [u32; 2], hits: &PixelHits<S>) {
        let simd = self.simd;
        let at = (y - self.corner[1]) * BLOCK_PX + x - self.corner[0];
        let state = &mut self.pixels[at as usize];
        let stored = f32x16::from_slice(simd, &state.depths);
        let covered = mask32x16::from_bitmask(simd, u64::from(hits.hits));
        let wins = hits.depth.simd_gt(stored) & covered;
        if wins.to_bitmask() == 0 {
            return;
        }
        let (triangle, grids) = (self.triangle, self.grids);
        let grid = self
            .grid
            .get_or_insert_with(|| ShadingGrid::new(triangle, grids));
        let mortons = grid.map_lanes(simd, hits.weights);
        wins.select(hits.depth, stored)
            .store_slice(&mut state.depths);
        let primitives = u32x16::from_slice(simd, &state.primitives);
        let own = u32x16::splat(simd, triangle.primitive);
        wins.select(own, primitives)
            .store_slice(&mut state.primitives);
        let stored = u32x16::from_slice(simd, &state.mortons);
        wins.select(mortons, stored).store_slice(&mut state.mortons);
    }
}
