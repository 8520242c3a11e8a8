//! A frame after its first pass, with the visible identifier and depth of each sample.
//!
//! Triangles are sorted into bins of 64x64 pixels and rasterized on all cores, in submission order per 32x32 pixels.

use fearless_simd::dispatch;
use rayon::prelude::*;

use super::camera::shutter::ShutterView;
use super::geometry::{DrawLayer, Geometry, GeometryChunk};
use super::raster::cost::RasterCounters;
use super::raster::cull::{Cells, Culler};
use super::raster::lanes::TestView;
use super::raster::traverse::RasterView;
use super::raster::triangle::MovingTriangle;
use super::raster_block::{BLOCK_PX, RasterBlock};
use super::sample::pattern::StochasticPattern;
use super::samples::VisibleSamples;
use super::settings::DeferredSettings;
use super::shading::grid_view::GridView;
use quadrille_base::math::narrow;
use quadrille_base::raster::samples::SamplePattern;
use quadrille_base::{Error, Result, Task};
use quadrille_geometry::grid::GridSource;

pub(super) const BIN_PX: u32 = 64;
/// Largest number of samples of a frame: 3 GiB of identifiers and depths.
const MAX_SAMPLES: u64 = 1 << 28;
/// Clipping distance of large triangles' regions from the picture's centre, in larger sides of the picture:
/// surfaces may move by a whole side from their position half-way through the exposure.
const GRID_REACH: f64 = 1.5;
/// Boxes of at least this many bins are culled bin by bin.
const BINS_TESTED: u32 = 16;

/// A frame after its first pass, as input of the second pass.
#[derive(Debug)]
pub struct StochasticFrame {
    /// Camera, with its motion during the exposure.
    pub view: ShutterView,
    /// Settings of the frame.
    pub settings: DeferredSettings,
    /// Tessellated geometry of the frame.
    pub geometry: Geometry,
    /// Counters of the set-up of all triangles and of one raster pass over the opaque triangles.
    pub counters: RasterCounters,
    /// Visible identifier and depth of each sample.
    pub visible: VisibleSamples,
    pub(super) pattern: StochasticPattern,
    /// After cancellation, passes skip the remaining work and their results are invalid.
    pub(super) task: Task,
}

impl StochasticFrame {
    /// Tessellates and rasterizes a scene. Later passes over the frame also stop on cancellation: check `task` after them.
    ///
    /// # Errors
    /// [`Error::Argument`] for an invalid number of samples per pixel; [`Error::Limit`] for too many samples or primitives;
    /// [`Error::Cancelled`].
    pub fn new(
        source: &dyn GridSource,
        view: ShutterView,
        settings: &DeferredSettings,
        task: &Task,
    ) -> Result<Self> {
        Self::check_samples(&view, settings)?;
        let geometry = Geometry::new(source, &view, settings.faces, task)?;
        let mut frame = Self::before_raster(geometry, view, settings, task)?;
        frame.raster();
        task.check()?;
        Ok(frame)
    }

    /// Checks the number of samples per pixel and of the frame.
    ///
    /// # Errors
    /// [`Error::Argument`] for an invalid number of samples per pixel; [`Error::Limit`] for too many samples.
    pub(crate) fn check_samples(view: &ShutterView, settings: &DeferredSettings) -> Result<()> {
        SamplePattern::standard(settings.samples)?;
        let [columns, rows] = view.size().map(|px| u64::from(px.div_ceil(2)) * 2);
        let samples = columns * rows * u64::from(settings.samples);
        Error::check_limit("samples of a frame", MAX_SAMPLES, samples)
    }

    pub(super) fn before_raster(
        geometry: Geometry,
        view: ShutterView,
        settings: &DeferredSettings,
        task: &Task,
    ) -> Result<Self> {
        Self::check_samples(&view, settings)?;
        let pattern = StochasticPattern::new(settings.samples, settings.pattern, settings.seed)?;
        Ok(Self {
            counters: geometry.counters,
            geometry,
            settings: *settings,
            pattern,
            task: task.without_progress(),
            visible: VisibleSamples::background([0; 2], settings.samples, false),
            view,
        })
    }

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

    /// Parameters that all shading grids of the frame share.
    pub(super) fn grid_view(&self) -> GridView {
        GridView {
            rule: self.settings.grid,
            shear: *self.view.shear(),
            near: narrow(self.view.near()),
            centre: self.view.centre_px(),
            reach_px: GRID_REACH * self.view.size().map(f64::from).into_iter().fold(0.0, f64::max),
        }
    }

    /// Rasterizes all bins, with one row of blocks per unit of parallel work.
    pub(super) fn raster(&mut self) {
        quadrille_base::span!("raster");
        let keeps_depths = self.settings.keeps_depths || self.geometry.forward() > 0;
        let samples = self.settings.samples;
        let mut visible = VisibleSamples::background(self.view.size(), samples, keeps_depths);
        let bins = BinLists::new(self);
        let tests = bins.tests;
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
            let blocks = (0..self.view.size()[0]).step_by(BLOCK_PX as usize);
            for x in blocks.take_while(|_| !self.task.is_cancelled()) {
                block.begin([x, y]);
                let triangles = bins.of([x, y]);
                dispatch!(level, simd => block.raster(simd, triangles, &mut counters));
                block.write(spids, depths);
            }
            counters
        });
        let counters: Vec<_> = counters.collect();
        counters.iter().for_each(|c| self.counters.add(c));
        self.counters.tile_tests += tests;
        self.visible = visible;
    }
}

pub(super) fn is_tested_by_bin(triangle: &MovingTriangle) -> bool {
    let [x0, y0, x1, y1] = triangle.area.map(u32::from);
    let bins = |from: u32, to: u32| (to - 1) / BIN_PX - from / BIN_PX + 1;
    bins(x0, x1) * bins(y0, y1) >= BINS_TESTED
}

struct BinLists<'a> {
    across: u32,
    chunks: &'a [GeometryChunk],
    triangles: Vec<[u32; 2]>,
    /// Start of each bin in `triangles`, and the end of the last bin.
    starts: Vec<usize>,
    tests: u64,
}

impl<'a> BinLists<'a> {
    fn new(frame: &'a StochasticFrame) -> Self {
        let [across, down] = frame.view.size().map(|px| px.div_ceil(BIN_PX));
        let chunks = &frame.geometry.chunks;
        let lists: Vec<_> =
            chunks.par_iter().map(|chunk| Self::of_chunk(frame, chunk, across)).collect();
        let mut starts = vec![0; (across * down) as usize + 1];
        for (bin, _) in lists.iter().flat_map(|(pairs, _)| pairs) {
            starts[*bin as usize + 1] += 1;
        }
        for bin in 1..starts.len() {
            starts[bin] += starts[bin - 1];
        }
        let mut ends = starts.clone();
        let mut triangles = vec![[0; 2]; starts[starts.len() - 1]];
        for ((pairs, _), chunk) in lists.iter().zip(0_u32..) {
            for &(bin, number) in pairs {
                let end = &mut ends[bin as usize];
                triangles[*end] = [chunk, number];
                *end += 1;
            }
        }
        Self {
            across,
            chunks,
            triangles,
            starts,
            tests: lists.iter().map(|(_, tests)| tests).sum(),
        }
    }

    fn of(&self, [x, y]: [u32; 2]) -> impl Iterator<Item = &'a MovingTriangle> {
        let bin = (y / BIN_PX * self.across + x / BIN_PX) as usize;
        let chunks = self.chunks;
        self.triangles[self.starts[bin]..self.starts[bin + 1]].iter().map(
            move |&[chunk, number]| {
                &chunks[chunk as usize].layer(DrawLayer::Opaque)[number as usize]
            },
        )
    }

    fn of_chunk(
        frame: &StochasticFrame,
        chunk: &GeometryChunk,
        across: u32,
    ) -> (Vec<(u32, u32)>, u64) {
        let view = frame.raster_view().test;
        let level = frame.settings.level.level();
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut tests = 0;
        for (triangle, number) in chunk.layer(DrawLayer::Opaque).iter().zip(0_u32..) {
            let [x0, y0, x1, y1] = triangle.area.map(u32::from);
            let [from, to] = [[x0, y0], [x1 - 1, y1 - 1]].map(|p| p.map(|v| v / BIN_PX));
            let mut push = |[column, row]: [u32; 2]| pairs.push((row * across + column, number));
            if is_tested_by_bin(triangle) {
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
        (pairs, tests)
    }
}
