//! A frame after its first pass: the identifier and depth that each sample shows.
//!
//! Triangles are listed by bins of 64x64 pixels. Bins are rasterized on all cores, in blocks of 32x32
//! pixels, each with its triangles in submission order.

use fearless_simd::dispatch;
use rayon::prelude::*;

use super::camera::shutter::ShutterView;
use super::geometry::{Geometry, GeometryChunk, Layer};
use super::raster::cost::RasterCounters;
use super::raster::cull::{Cells, Culler};
use super::raster::lanes::TestView;
use super::raster::traverse::RasterView;
use super::raster_block::{BLOCK_PX, RasterBlock};
use super::sample::pattern::StochasticPattern;
use super::samples::VisibleSamples;
use super::settings::DeferredSettings;
use super::shading::grid::GridView;
use crate::error::{Error, Result};
use crate::math::narrow;
use crate::mesh::grid::GridSource;

/// Pixels along the side of a bin, whose triangles are listed together.
const BIN_PX: u32 = 64;
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
        let keeps_depths = settings.keeps_depths || geometry.has_blended();
        let mut frame = Self {
            counters: geometry.counters,
            blended_counters: RasterCounters::default(),
            geometry,
            settings: *settings,
            pattern,
            visible: VisibleSamples::background(size, settings.samples, keeps_depths),
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
        let nothing = VisibleSamples::background([0; 2], 0, false);
        let mut visible = std::mem::replace(&mut self.visible, nothing);
        let bins = BinLists::new(self);
        let row =
            visible.blocks()[0] as usize * (BLOCK_PX as usize / 2) * 4 * visible.samples as usize;
        let spids = visible.spids.par_chunks_mut(row);
        let mut depths: Vec<&mut [f32]> = visible.depths.chunks_mut(row).collect();
        depths.resize_with(spids.len(), Default::default);
        let level = self.settings.level.level();
        let counters = spids.zip(depths).enumerate().map(|(row, (spids, depths))| {
            let mut block =
                RasterBlock::new(self.raster_view(), self.grid_view(), self.view.size());
            let mut counters = RasterCounters::default();
            let y = u32::try_from(row).unwrap_or(u32::MAX) * BLOCK_PX;
            for x in (0..self.view.size()[0]).step_by(BLOCK_PX as usize) {
                block.begin([x, y]);
                let bin = (y / BIN_PX * bins.across + x / BIN_PX) as usize;
                for (chunk, list) in self.geometry.chunks.iter().zip(&bins.chunks) {
                    let opaque = chunk.layer(Layer::Opaque);
                    let triangles = list.of(bin).iter().map(|at| &opaque[*at as usize]);
                    dispatch!(level, simd => block.raster(simd, triangles, &mut counters));
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
