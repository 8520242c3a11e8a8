//! The early depth test of all quads, bin by bin, each in submission order.
//!
//! Bins share nothing, so they are tested in parallel. A grid is hidden if, in every bin where it has quads, the farthest
//! depth of each raster tile in its bounding box is at least as near as its nearest vertex when its turn in submission
//! order comes. A Hi-Z unit has the same information right after the grid is tessellated.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use fearless_simd::{Simd, dispatch};
use rayon::prelude::*;

use super::chunk::Chunk;
use super::settings::FrameSettings;
use quadrille_base::math::fit;
use quadrille_base::raster::geometry::PixelRect;
use quadrille_base::raster::sample_depth::{DepthFragment, NO_OWNER, QuadDepths};
use quadrille_base::task::Task;

const TILE_SIDE: i32 = 8;
const TILE_QUADS: usize = 16;

/// A quad with visible fragments, as ranges of the arrays in [`VisibilityBuffer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VisibleQuad {
    /// Column and row, in quads.
    pub position: [u16; 2],
    /// Index into [`VisibilityBuffer::samples`] of the first sample; the samples of all four shading pixels are contiguous.
    pub first: u32,
    /// Range `[first, end)` in [`VisibilityBuffer::blended`] of the blended quads at this position.
    pub blended: [u32; 2],
}

/// Fragments that the samples of a bin show. Quads that show none are left out.
#[derive(Debug, Clone, Default)]
pub struct VisibilityBuffer {
    /// Quads with a visible fragment, in row order.
    pub quads: Vec<VisibleQuad>,
    /// Frame index of the quad that last wrote each sample's depth, by shading pixel; [`NO_OWNER`] for none.
    pub samples: Vec<u32>,
    /// Frame indices of blended quads with a sample that passes the depth test, in drawing order at each position.
    pub blended: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct TileBound {
    /// Farthest depth of the tile; `None` if a depth has changed since the last test.
    farthest: Option<f32>,
    /// Quad that failed the last test; the next test starts with it.
    far_quad: usize,
}

const EMPTY: TileBound = TileBound { farthest: Some(0.0), far_quad: 0 };

/// Depth buffer of a bin, with the farthest depth of each raster tile.
#[derive(Debug)]
pub struct DepthBin {
    settings: FrameSettings,
    corner: [u16; 2],
    quads: Vec<QuadDepths>,
    tiles: Vec<Cell<TileBound>>,
    /// Blended quads that pass the depth test: index in `quads`, and index in the frame.
    blended: Vec<[u32; 2]>,
}

impl DepthBin {
    /// Creates the depth buffer of bin `bin`, with all samples at the far plane.
    pub fn new(settings: &FrameSettings, bin: usize) -> Self {
        let side = usize::from(settings.bin_quads());
        Self {
            settings: *settings,
            corner: settings.bin_corner(bin),
            quads: vec![QuadDepths::default(); side * side],
            tiles: vec![Cell::new(EMPTY); side * side / TILE_QUADS],
            blended: Vec::new(),
        }
    }

    /// Multiplies all depths by `factor`, the ratio of two near planes, and removes the owners of the samples: a draw behind
    /// the surfaces of an earlier one begins so.
    pub fn scale_depths(&mut self, factor: f32) {
        for quad in &mut self.quads {
            let depths = quad.depths.map(|pixel| pixel.map(|depth| depth * factor));
            *quad = QuadDepths { depths, ..QuadDepths::default() };
        }
        self.tiles.fill(Cell::new(TileBound { farthest: None, ..EMPTY }));
        self.blended.clear();
    }

    fn begin(&mut self, bin: usize) {
        self.corner = self.settings.bin_corner(bin);
        self.quads.fill(QuadDepths::default());
        self.tiles.fill(Cell::new(EMPTY));
        self.blended.clear();
    }

    #[inline]
    fn local(&self, position: [u16; 2]) -> [usize; 2] {
        [0, 1].map(|axis| usize::from(position[axis] - self.corner[axis]))
    }

    #[inline]
    fn place(&self, position: [u16; 2]) -> usize {
        let [column, row] = self.local(position);
        row * usize::from(self.settings.bin_quads()) + column
    }

    /// Samples of the quad at `position` in the picture, which must lie in the bin.
    #[inline]
    pub fn quad(&self, position: [u16; 2]) -> &QuadDepths {
        &self.quads[self.place(position)]
    }

    /// Tests the samples of a fragment; only the samples in `written` may write their depth, as for alpha-tested
    /// and blended fragments. Returns all samples that pass the depth test.
    #[inline(always)]
    pub fn test_written<S: Simd>(
        &mut self,
        simd: S,
        position: [u16; 2],
        fragment: &DepthFragment,
        written: u64,
    ) -> u64 {
        // If all covered samples may write, one call both tests and writes.
        if fragment.coverage & !written == 0 {
            return self.test(simd, position, fragment);
        }
        let mut tested = *self.quad(position);
        let passed = tested.test_lanes(simd, self.settings.pattern, fragment);
        let shown = DepthFragment { coverage: passed & written, ..*fragment };
        if shown.coverage != 0 {
            self.test(simd, position, &shown);
        }
        passed
    }

    #[inline(always)]
    pub(crate) fn test<S: Simd>(
        &mut self,
        simd: S,
        position: [u16; 2],
        fragment: &DepthFragment,
    ) -> u64 {
        let side = usize::from(self.settings.bin_quads());
        let [column, row] = self.local(position);
        let depths = &mut self.quads[row * side + column];
        let passed = depths.test_lanes(simd, self.settings.pattern, fragment);
        if passed != 0 {
            let tile = &mut self.tiles[row / 4 * (side / 4) + column / 4];
            // The bound is not updated here: it is recomputed when a grid is tested against the tile.
            tile.get_mut().farthest = None;
        }
        passed
    }

    /// Whether all samples of the raster tiles that overlap `area`, inside the picture, are at least as near as `depth`.
    pub fn hides(&self, area: PixelRect, depth: f32) -> bool {
        let area = area.intersect(self.settings.bin_rect(self.corner));
        let corner = self.corner.map(|q| i32::from(q) * 2);
        let across = i32::from(self.settings.bin_quads()) * 2 / TILE_SIDE;
        let range = |from: i32, to: i32, origin: i32| {
            (from - origin) / TILE_SIDE..(to - origin + TILE_SIDE - 1) / TILE_SIDE
        };
        range(area.y0, area.y1, corner[1]).all(|row| {
            range(area.x0, area.x1, corner[0])
                .all(|column| self.hides_tile((row * across + column).unsigned_abs(), depth))
        })
    }

    fn hides_tile(&self, tile: u32, depth: f32) -> bool {
        let tile = tile as usize;
        let known = self.tiles[tile].get();
        if let Some(farthest) = known.farthest {
            return farthest >= depth;
        }
        let side = usize::from(self.settings.bin_quads());
        let first = tile / (side / 4) * 4 * side + tile % (side / 4) * 4;
        let mut farthest = f32::INFINITY;
        for k in 0..TILE_QUADS {
            // The quad that failed the last test usually fails again and ends the search at once.
            let at = (known.far_quad + k) % TILE_QUADS;
            let quad = &self.quads[first + at / 4 * side + at % 4];
            farthest = farthest.min(quad.farthest(self.settings.pattern));
            if farthest < depth {
                self.tiles[tile].set(TileBound { farthest: None, far_quad: at });
                return false;
            }
        }
        self.tiles[tile].set(TileBound { farthest: Some(farthest), ..known });
        true
    }

    #[inline(always)]
    fn test_chunk<S: Simd>(&mut self, simd: S, chunk: &Chunk, quads: &[u32]) {
        let unit = self.settings.pattern.side_units() * 2;
        let mut grid = 0;
        let mut is_hidden = true;
        let mut end = 0;
        for &number in quads {
            if number >= end {
                grid += chunk.grids[grid..].partition_point(|g| g.quads.end <= number);
                let span = &chunk.grids[grid];
                end = span.quads.end;
                is_hidden = self.hides(span.bounds, span.nearest);
                if !is_hidden {
                    span.is_visible.store(true, Ordering::Relaxed);
                }
            }
            let quad = &chunk.quads[number as usize];
            if is_hidden || quad.coverage == 0 {
                continue;
            }
            let plane = chunk.grids[grid].first_plane + u32::from(quad.triangle);
            let fragment = DepthFragment {
                corner: quad.position.map(|q| i32::from(q) * unit),
                coverage: quad.coverage,
                plane: chunk.planes[plane as usize],
                owner: chunk.first_quad + number,
            };
            let passed = self.test_written(simd, quad.position, &fragment, chunk.written(number));
            if passed != 0 {
                chunk.passed[number as usize].store(passed, Ordering::Relaxed);
                if chunk.is_blended {
                    self.blended.push([fit::<u32>(self.place(quad.position)), fragment.owner]);
                }
            }
        }
    }

    fn shown(&mut self) -> VisibilityBuffer {
        let side = self.settings.bin_quads();
        let count = self.settings.pattern.count() as usize;
        let mut shown = VisibilityBuffer::default();
        // A stable sort: quads at one position stay in drawing order.
        self.blended.sort_by_key(|[place, _]| *place);
        let mut blended = self.blended.iter().peekable();
        let positions = (0..side).flat_map(|y| (0..side).map(move |x| [x, y]));
        for ((quad, at), number) in self.quads.iter().zip(positions).zip(0_u32..) {
            let samples = || quad.owners.iter().flat_map(|pixel| &pixel[..count]);
            let first = fit::<u32>(shown.blended.len());
            let here = || blended.next_if(|[place, _]| *place == number);
            shown.blended.extend(std::iter::from_fn(here).map(|[_, owner]| owner));
            let end = fit::<u32>(shown.blended.len());
            if end > first || samples().any(|&o| o != NO_OWNER) {
                shown.quads.push(VisibleQuad {
                    position: [0, 1].map(|axis| self.corner[axis] + at[axis]),
                    first: fit::<u32>(shown.samples.len()),
                    blended: [first, end],
                });
                shown.samples.extend(samples());
            }
        }
        shown
    }
}

/// Tests the quads of all chunks and stores in them which samples pass; returns the bins, incomplete if cancelled.
pub fn test(chunks: &[Chunk], settings: &FrameSettings, task: &Task) -> Vec<VisibilityBuffer> {
    (0..settings.bins())
        .into_par_iter()
        .map_init(
            || DepthBin::new(settings, 0),
            |scratch, bin| {
                let touched = || chunks.iter().filter(|c| !c.in_bin(bin).is_empty());
                if touched().next().is_none() {
                    return VisibilityBuffer::default();
                }
                scratch.begin(bin);
                for chunk in touched().take_while(|_| !task.is_cancelled()) {
                    let level = settings.level.level();
                    dispatch!(level, simd => scratch.test_chunk(simd, chunk, chunk.in_bin(bin)));
                }
                scratch.shown()
            },
        )
        .collect()
}
