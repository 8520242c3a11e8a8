//! Framebuffer of a draw: colours, stencil, depth and termination cycles, by quad in the order of [`quad_index`].

use std::ops::Range;

use super::tile_stencil::{TileStencil, TileStencilTest};
use quadrille_base::image::Frame;
use quadrille_base::math::buffer::Buffer;
use quadrille_base::math::{fit, prefetch};
use quadrille_base::raster::geometry::PixelRect;
use quadrille_base::raster::tiles::{TILE_LENGTH, TILE_PX, TileLayout, quad_index};
use quadrille_base::shading::{
    ColourFormat, CompareOp, DepthTest, QuadColour, StencilOutcome, StencilTest, TERMINATED,
};
use quadrille_machine::{Cycle, Quad, QuadMasks, TileLines, lines_of};

/// Cycle of an event that does not happen.
pub const NEVER: Cycle = Cycle::MAX;

/// Enabled tests of a draw, with the initial buffers.
#[derive(Debug, Clone, Default)]
pub struct Tests {
    /// Stencil test, and the initial stencil buffer: a byte per pixel, row by row.
    pub stencil: Option<(StencilTest, Vec<u8>)>,
    /// Depth test, and the depth buffer: a depth per pixel, row by row. Splats are transparent and write no depth.
    pub depth: Option<(DepthTest, Vec<f32>)>,
}

impl Tests {
    /// Whether an earlier draw has written the buffers. Stencil values of 0 alone are those of a clear.
    pub(crate) fn are_filled(&self) -> bool {
        let mut values = self.stencil.iter().flat_map(|(_, values)| values);
        self.depth.is_some() || values.any(|value| *value != 0)
    }
}

/// Masks of the fragments of a quad that failed a test.
#[derive(Debug, Clone, Copy, Default)]
pub struct Failed {
    /// Fragments that fail the stencil test.
    pub stencil_failed: u8,
    /// Fragments that pass the stencil test and fail the depth test.
    pub depth_failed: u8,
}

/// Whether a fragment that fails against two stored values fails against all values between them.
fn is_ordered(compare: CompareOp) -> bool {
    use CompareOp::{Greater, GreaterOrEqual, Less, LessOrEqual, Never};
    matches!(compare, Never | Less | LessOrEqual | Greater | GreaterOrEqual)
}

/// Colour, stencil and depth buffers of a draw.
#[derive(Debug)]
pub struct Framebuffer {
    /// Storage order of the pixels.
    pub layout: TileLayout,
    pub(crate) colour: Buffer<QuadColour>,
    blended_at: Buffer<Cycle>,
    terminated: Buffer<u8>,
    terminated_at: Buffer<[Cycle; 4]>,
    stencil: Option<(StencilTest, Vec<[u8; 4]>)>,
    depth: Option<(DepthTest, Vec<[f32; 4]>)>,
    tile_stencil: Option<TileStencil>,
    /// Depth range of each raster tile, four per screen tile.
    depth_range: Vec<[f32; 2]>,
    /// Storage format of the colours.
    pub format: ColourFormat,
}

impl Framebuffer {
    /// Creates cleared colours and the initial buffers of `tests`. `terminating` allocates termination bits and cycles.
    pub(crate) fn new(
        width: u32,
        height: u32,
        format: ColourFormat,
        tests: &Tests,
        terminating: bool,
    ) -> Self {
        let layout = TileLayout::new(width, height);
        let quads = layout.quads();
        let mut surface = Self {
            layout,
            colour: Buffer::zeroed(quads),
            blended_at: Buffer::zeroed(quads),
            terminated: Buffer::zeroed(if terminating { quads } else { 0 }),
            terminated_at: Buffer::zeroed(if terminating { quads } else { 0 }),
            stencil: None,
            depth: None,
            tile_stencil: None,
            depth_range: Vec::new(),
            format,
        };
        surface.terminated_at.fill([NEVER; 4]);
        surface.stencil = tests.stencil.as_ref().map(|(test, values)| {
            (StencilTest { top_bit_taken: terminating, ..*test }, surface.by_quads(quads, values))
        });
        surface.depth =
            tests.depth.as_ref().map(|(test, values)| (*test, surface.by_quads(quads, values)));
        if let Some((_, values)) = &tests.depth {
            surface.depth_range = surface.depth_ranges(layout.tiles(), values);
        }
        surface
    }

    /// Enables the stencil test of whole tiles, whose results reach the coarse raster after `feedback_cycles`.
    pub(crate) fn test_tiles(&mut self, tests: &Tests, feedback_cycles: u64) {
        let values = tests.stencil.as_ref().map(|(_, values)| &**values);
        let stencil = self.stencil.as_ref().map(|(test, _)| *test).zip(values);
        self.tile_stencil = Some(TileStencil::new(self.layout, stencil, feedback_cycles));
    }

    /// Tests the stencil of a screen tile as a whole at cycle `now`.
    #[inline]
    pub(crate) fn test_tile(&self, tile: u32, now: Cycle) -> TileStencilTest {
        self.tile_stencil.as_ref().map_or(TileStencilTest::Passes, |tiles| tiles.test(tile, now))
    }

    fn by_quads<T: Copy + Default>(&self, quads: usize, pixels: &[T]) -> Vec<[T; 4]> {
        let mut out = vec![[T::default(); 4]; quads];
        for (row, y) in pixels.chunks(self.layout.width as usize).zip(0..self.layout.height) {
            for (&value, x) in row.iter().zip(0..) {
                let (quad, fragment) = self.layout.locate(x, y);
                out[quad][fragment] = value;
            }
        }
        out
    }

    fn depth_ranges(&self, tiles: usize, pixels: &[f32]) -> Vec<[f32; 2]> {
        let mut ranges = vec![[f32::INFINITY, f32::NEG_INFINITY]; tiles * 4];
        for (row, y) in pixels.chunks(self.layout.width as usize).zip(0..self.layout.height) {
            for (&depth, x) in row.iter().zip(0..) {
                let tile = (y / TILE_PX) * self.layout.tiles_across + x / TILE_PX;
                let quarter = y % TILE_PX / 8 * 2 + x % TILE_PX / 8;
                let [least, greatest] = &mut ranges[(tile * 4 + quarter) as usize];
                (*least, *greatest) = (least.min(depth), greatest.max(depth));
            }
        }
        ranges
    }

    /// Whether a fragment at `depth` fails the depth test at every pixel of a raster tile. It does if the test is monotonic
    /// and fails at both ends of the tile's depth range.
    #[inline]
    pub(crate) fn hides(&self, tile: u32, quarter: u8, depth: f32) -> bool {
        let Some((test, _)) = &self.depth else { return false };
        let [least, greatest] = self.depth_range[tile as usize * 4 + usize::from(quarter)];
        is_ordered(test.compare) && !test.passes(depth, least) && !test.passes(depth, greatest)
    }

    /// Rectangle of the picture in pixels, with its corner at (0, 0).
    pub fn rect(&self) -> PixelRect {
        PixelRect {
            x0: 0,
            y0: 0,
            x1: self.layout.width.cast_signed(),
            y1: self.layout.height.cast_signed(),
        }
    }

    #[inline(always)]
    pub(crate) fn prefetch(&self, tile: u32, quads: &[Quad]) {
        let first = quad_index(tile, 0);
        let colours = self.colour[first..].first_chunk::<TILE_LENGTH>();
        let times = self.blended_at[first..].first_chunk::<TILE_LENGTH>();
        if let (Some(colours), Some(times)) = (colours, times) {
            for quad in quads {
                // The remainder lets the compiler omit the bounds check.
                let position = usize::from(quad.position) % TILE_LENGTH;
                prefetch(colours, position);
                prefetch(times, position);
            }
        }
    }

    #[inline]
    pub(crate) fn blended_at(&mut self, tile: u32) -> &mut [Cycle] {
        let first = quad_index(tile, 0);
        &mut self.blended_at[first..first + TILE_LENGTH]
    }

    /// Prefetches the termination bits of a screen tile, which fill one cache line.
    #[inline(always)]
    pub(crate) fn prefetch_termination(&self, tile: u32) {
        prefetch(&self.terminated, quad_index(tile, 0));
    }

    #[inline]
    pub(crate) fn has_tests(&self) -> bool {
        self.stencil.is_some() || self.depth.is_some()
    }

    pub(crate) fn tests_write(&self) -> bool {
        self.stencil.is_some()
    }

    /// Bytes per pixel that the tests read: a stencil byte and, if tested, a depth of 24 bits.
    pub(crate) fn test_bytes_per_pixel(&self) -> u64 {
        if self.depth.is_some() { 4 } else { 1 }
    }

    #[inline(always)]
    pub(crate) fn terminated(&self, tile: u32, quads: &[Quad]) -> QuadMasks {
        let first = quad_index(tile, 0);
        let tile = &self.terminated[first..first + TILE_LENGTH];
        let of = |quad: &Quad| tile[usize::from(quad.position) % TILE_LENGTH];
        QuadMasks::of_each(quads, of)
    }

    pub(crate) fn terminated_in(&self, quad: usize) -> u8 {
        self.terminated.get(quad).copied().unwrap_or(0)
    }

    /// Writes the termination bits of the fragments in `mask` at cycle `at`.
    #[inline]
    pub(crate) fn terminate(&mut self, quad: usize, mask: u8, at: Cycle) {
        let before = self.terminated[quad];
        self.terminated[quad] = before | mask & 15;
        if let Some(tiles) = &mut self.tile_stencil {
            tiles.terminate(quad / TILE_LENGTH, (mask & 15 & !before).count_ones(), at);
        }
        for (bit, time) in self.terminated_at[quad].iter_mut().enumerate() {
            if mask >> bit & 1 == 1 {
                *time = at.min(*time);
            }
        }
    }

    /// Runs the stencil and depth tests on the fragments in `mask` and updates their stencil values.
    pub fn test(&mut self, tile: u32, position: u8, mask: u8, depth: f32) -> Failed {
        let index = quad_index(tile, position);
        let mut failed = Failed::default();
        for bit in 0..4_u8 {
            if mask >> bit & 1 == 0 {
                continue;
            }
            let lane = usize::from(bit);
            let depth_passes = self
                .depth
                .as_ref()
                .is_none_or(|(test, stored)| test.passes(depth, stored[index][lane]));
            let mut stencil_passes = true;
            if let Some((test, stored)) = &mut self.stencil {
                let value = &mut stored[index][lane];
                stencil_passes = test.passes(*value);
                let outcome = match (stencil_passes, depth_passes) {
                    (false, _) => StencilOutcome::Fail,
                    (true, false) => StencilOutcome::DepthFail,
                    (true, true) => StencilOutcome::Pass,
                };
                *value = test.updated(*value, outcome);
            }
            if !stencil_passes {
                failed.stencil_failed |= 1 << bit;
            } else if !depth_passes {
                failed.depth_failed |= 1 << bit;
            }
        }
        failed
    }

    /// Increments the stencil values of the fragments in `mask`. Returns the number of values that are at their maximum.
    pub(crate) fn count_in_stencil(&mut self, quad: usize, mask: u8) -> u64 {
        let Some((_, stored)) = &mut self.stencil else { return 0 };
        let values = stored[quad].iter_mut().enumerate();
        let values = values.filter(|(lane, _)| mask >> lane & 1 == 1);
        values.fold(0, |full, (_, value)| {
            let counted = value.checked_add(1);
            *value = counted.unwrap_or(*value);
            full + u64::from(counted.is_none())
        })
    }

    /// Colours as stored, premultiplied, in the order of [`quad_index`].
    pub fn colours(&self) -> &[QuadColour] {
        &self.colour
    }

    /// Copies the colour buffer into a picture.
    pub fn frame(&self) -> Frame {
        self.frame_of(self.colours())
    }

    pub(crate) fn frame_of(&self, colours: &[QuadColour]) -> Frame {
        let colour = |quad: usize, fragment: usize| colours[quad].map(|c| c[fragment]);
        Frame::from_pixels(self.layout.width, self.layout.height, self.layout.rows(colour))
    }

    /// Stencil values, row by row. Bit 7 is the termination bit at the end of the draw.
    pub fn stencil(&self) -> Vec<u8> {
        let terminated: &[u8] = &self.terminated;
        self.layout.rows(|quad, fragment| {
            let stored = self.stencil.as_ref().map_or(0, |(_, s)| s[quad][fragment]);
            stored | ((terminated.get(quad).copied().unwrap_or(0) >> fragment & 1) * TERMINATED)
        })
    }

    /// Cycle at which each pixel was terminated, row by row; [`NEVER`] if it was not.
    pub fn termination_cycles(&self) -> Vec<Cycle> {
        let terminated_at: &[[Cycle; 4]] = &self.terminated_at;
        self.layout.rows(|quad, fragment| terminated_at.get(quad).map_or(NEVER, |t| t[fragment]))
    }
}

/// Bytes that the four colours of a quad occupy.
pub fn bytes_per_quad(format: ColourFormat) -> u64 {
    u64::from(format.bytes_per_pixel()) * 4
}

/// Memory lines of a framebuffer: first the colours, then the stencil and depth values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FramebufferLines {
    pub colour: Range<u32>,
    pub tests: Range<u32>,
}

impl FramebufferLines {
    /// Places `framebuffer` from line 0 on.
    pub(crate) fn of(framebuffer: &Framebuffer) -> Self {
        let quads = framebuffer.layout.quads() as u64;
        let lines = |bytes_per_quad: u64| lines_of(quads * bytes_per_quad);
        let colour = lines(bytes_per_quad(framebuffer.format));
        let tests = lines(4 * framebuffer.test_bytes_per_pixel());
        Self { colour: 0..colour, tests: colour..colour + tests }
    }

    pub(crate) fn by_tile(&self, tiles: usize) -> TileLines {
        let tiles: u32 = fit(tiles);
        let buffers = [&self.colour, &self.tests].map(|lines| (lines.start, lines.len()));
        let of = |(first, lines): (u32, usize)| (first, fit::<u32>(lines) / tiles, tiles);
        buffers.into_iter().filter(|(_, lines)| *lines > 0).map(of).collect()
    }
}
