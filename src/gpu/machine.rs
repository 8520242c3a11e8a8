//! What all units of a draw share: the draw itself, the picture, memory, and the ways back from
//! later units to earlier ones.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::config::Config;
use super::crop::cache::LINE_BYTES;
use super::crop::unit::bytes_per_quad;
use super::draw::Draw;
use super::warp::ShaderIssue;
use super::warp::fragment::{FragmentShader, ShadedQuad};
use super::zrop::early::EarlyTests;
use super::zrop::surface::{Failed, Surface};
use super::zrop::zcache;
use crate::math::SimdLevel;
use crate::pipeline::maps::Maps;
use crate::pipeline::memory::Memory;
use crate::pipeline::packets::{QUADS_PER_TILE, Quad, RasterTile, Shape, WARP_QUADS, Warp};
use crate::pipeline::timing::Cycle;
use crate::raster::outline::Screen;
use crate::raster::polygon::{PixelRect, Polygon};

/// Whether termination bits take time to land.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feedback {
    /// A fragment is terminated only if its pixel's bit was written before its test.
    Timed,
    /// As well, no fragment is blended whose pixel has reached the threshold: what a pipeline
    /// without latency would do.
    Ideal,
}

/// Termination updates on their way from CROP to ZROP, in the order of their times.
#[derive(Debug, Default)]
pub struct Updates {
    due: VecDeque<(Cycle, u64)>,
}

impl Updates {
    /// Sends an update of `quad` that arrives at `due`, no earlier than those before it.
    pub fn push(&mut self, due: Cycle, quad: usize) {
        self.due.push_back((due, quad as u64));
    }

    /// Takes the next update that has arrived by `now`: when it did, and its quad.
    #[inline]
    pub fn next_due(&mut self, now: Cycle) -> Option<(Cycle, u64)> {
        let first = *self.due.front()?;
        (first.0 <= now).then(|| {
            self.due.pop_front();
            first
        })
    }
}

/// Lines of memory that a surface takes: its colours, and behind them what the tests read.
#[derive(Debug, Clone, Copy)]
pub(super) struct SurfaceLines {
    pub(super) colour: usize,
    pub(super) tests: usize,
}

impl SurfaceLines {
    pub(super) fn of(surface: &Surface) -> Self {
        let quads = surface.tiles() as u64 * u64::from(QUADS_PER_TILE);
        let lines = |bytes: u64, line| usize::try_from(bytes.div_ceil(line)).unwrap_or(usize::MAX);
        Self {
            colour: lines(quads * bytes_per_quad(surface.format), LINE_BYTES),
            tests: lines(
                quads * 4 * surface.test_bytes_per_pixel(),
                zcache::LINE_BYTES,
            ),
        }
    }
}

/// The shared state.
pub struct Machine<'a> {
    /// What is drawn.
    pub draw: &'a Draw,
    /// The fragment shader's program.
    pub shader: FragmentShader<'a>,
    /// Colours, stencil, depth.
    pub surface: Surface,
    /// The host's SIMD level; changes no result.
    pub level: SimdLevel,
    /// L2 and DRAM.
    pub memory: Memory,
    /// Issue slots that vertex warps take, for each GPC alike.
    pub shader_issue: ShaderIssue,
    /// Termination updates under way, by GPC.
    pub updates: Vec<Updates>,
    /// Counts a pixel, if asked for.
    pub maps: Option<Box<Maps>>,
}

impl<'a> Machine<'a> {
    /// The state at the start of a draw; no maps are kept.
    #[must_use]
    pub fn new(
        draw: &'a Draw,
        shader: FragmentShader<'a>,
        surface: Surface,
        config: &Config,
    ) -> Self {
        let lines = SurfaceLines::of(&surface);
        Self {
            draw,
            level: shader.level(),
            shader,
            surface,
            memory: Memory::new(&config.l2, &config.dram, lines.colour + lines.tests),
            shader_issue: ShaderIssue::new(&config.cores),
            updates: (0..config.gpu.gpcs).map(|_| Updates::default()).collect(),
            maps: None,
        }
    }

    /// Runs the fragment shader on a warp.
    #[inline]
    pub fn shade(&mut self, warp: &Warp, out: &mut [ShadedQuad; WARP_QUADS]) {
        let across = self.surface.tiles_across();
        let (x, y) = (warp.tile % across, warp.tile / across);
        self.shader.shade(x, y, &warp.quads, out);
        if let Some(maps) = &mut self.maps {
            for quad in warp.quads.iter() {
                maps.shaded(Surface::quad_index(warp.tile, quad.position), quad.mask);
            }
        }
    }
}

impl Screen for Machine<'_> {
    type Outline = Polygon;

    #[inline]
    fn outline(&self, shape: &Shape) -> Option<Polygon> {
        shape.polygon()
    }

    #[inline]
    fn rect(&self) -> PixelRect {
        self.surface.rect()
    }

    #[inline]
    fn tiles_across(&self) -> u32 {
        self.surface.tiles_across()
    }

    #[inline]
    fn hides(&self, tile: &RasterTile) -> bool {
        let depth = self.draw.splats[tile.splat as usize].depth;
        self.surface.hides(tile.tile, tile.quarter, depth)
    }
}

impl EarlyTests for Machine<'_> {
    #[inline]
    fn bytes_per_quad(&self) -> u64 {
        self.surface.test_bytes_per_pixel() * 4
    }

    #[inline]
    fn has_tests(&self) -> bool {
        self.surface.has_tests()
    }

    #[inline]
    fn tests_write(&self) -> bool {
        self.surface.tests_write()
    }

    #[inline]
    fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }

    #[inline]
    fn test(&mut self, tile: u32, quad: &Quad) -> Failed {
        let depth = self.draw.splats[quad.splat as usize].depth;
        self.surface.test((tile, quad.position), quad.mask, depth)
    }

    #[inline]
    fn terminated(&self, tile: u32, position: u8, at: Cycle) -> u8 {
        self.surface.terminated(tile, position, at)
    }

    #[inline]
    fn next_update(&mut self, gpc: usize, now: Cycle) -> Option<(Cycle, u64)> {
        self.updates[gpc].next_due(now)
    }
}
