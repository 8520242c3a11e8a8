//! The early depth test of all quads, bin by bin, each in submission order.
//!
//! Bins share nothing, so they are tested side by side. A grid is hidden when in every bin that it
//! has quads in, the farthest depths of all raster tiles in its bounding box were nearer than its
//! nearest vertex, at the moment its turn came: what a Hi-Z unit would have known right after the
//! grid was tessellated.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use fearless_simd::{Simd, dispatch};
use rayon::prelude::*;

use super::chunk::Chunk;
use super::settings::FrameSettings;
use crate::mesh::index::index32;
use crate::raster::geometry::PixelRect;
use crate::raster::sample_depth::{DepthFragment, NO_OWNER, QuadDepths};

/// Shading pixels along the side of a raster tile.
const TILE_CELLS: i32 = 8;
/// Quads of a raster tile.
const TILE_QUADS: usize = 16;

/// Which fragment each sample of a quad shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VisibleQuad {
    /// Column and row, in quads.
    pub position: [u16; 2],
    /// Index into [`VisibilityBuffer::samples`] of its first sample; there are four shading pixels'
    /// worth.
    pub first: u32,
}

/// Which fragment each sample of a bin shows; quads that show none are left out.
#[derive(Debug, Clone, Default)]
pub struct VisibilityBuffer {
    /// The quads, row by row.
    pub quads: Vec<VisibleQuad>,
    /// Numbers of quads in the frame, shading pixel by shading pixel, [`NO_OWNER`] for the
    /// background.
    pub samples: Vec<u32>,
}

/// What is known of the depths of a raster tile.
#[derive(Debug, Clone, Copy)]
struct Tile {
    /// The farthest depth; `None` where it has changed since.
    farthest: Option<f32>,
    /// The quad that was too far at the last test; it is tried first.
    far_quad: usize,
}

/// An empty tile.
const EMPTY: Tile = Tile {
    farthest: Some(0.0),
    far_quad: 0,
};

/// The depth buffer of a bin.
#[derive(Debug)]
pub(crate) struct DepthBin {
    settings: FrameSettings,
    /// The first quad of the bin.
    corner: [u16; 2],
    quads: Vec<QuadDepths>,
    tiles: Vec<Cell<Tile>>,
}

impl DepthBin {
    /// The empty buffer of a bin.
    pub(crate) fn new(settings: &FrameSettings, bin: usize) -> Self {
        let side = usize::from(settings.bin_quads());
        Self {
            settings: *settings,
            corner: settings.bin_corner(bin),
            quads: vec![QuadDepths::default(); side * side],
            tiles: vec![Cell::new(EMPTY); side * side / TILE_QUADS],
        }
    }

    /// Reuses the memory as the empty buffer of another bin.
    fn begin(&mut self, bin: usize) {
        self.corner = self.settings.bin_corner(bin);
        self.quads.fill(QuadDepths::default());
        self.tiles.fill(Cell::new(EMPTY));
    }

    /// Column and row in the bin of a quad of the picture.
    #[inline]
    fn local(&self, position: [u16; 2]) -> [usize; 2] {
        [0, 1].map(|axis| usize::from(position[axis] - self.corner[axis]))
    }

    /// The samples of a quad of the picture that lies in the bin.
    #[inline]
    pub(crate) fn quad(&self, position: [u16; 2]) -> &QuadDepths {
        let [column, row] = self.local(position);
        &self.quads[row * usize::from(self.settings.bin_quads()) + column]
    }

    /// Tests the samples of a fragment of a quad of the picture; returns those that pass.
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
            tile.get_mut().farthest = None;
        }
        passed
    }

    /// Whether everything in the raster tiles of `area`, inside the picture, that lie in the bin is
    /// at least as near as `depth`.
    pub(crate) fn hides(&self, area: PixelRect, depth: f32) -> bool {
        let area = area.intersect(self.settings.bin_rect(self.corner));
        let corner = self.corner.map(|q| i32::from(q) * 2);
        let across = i32::from(self.settings.bin_quads()) * 2 / TILE_CELLS;
        let range = |from: i32, to: i32, origin: i32| {
            (from - origin) / TILE_CELLS..(to - origin + TILE_CELLS - 1) / TILE_CELLS
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
            let at = (known.far_quad + k) % TILE_QUADS;
            let quad = &self.quads[first + at / 4 * side + at % 4];
            farthest = farthest.min(quad.farthest(self.settings.pattern));
            if farthest < depth {
                self.tiles[tile].set(Tile {
                    farthest: None,
                    far_quad: at,
                });
                return false;
            }
        }
        self.tiles[tile].set(Tile {
            farthest: Some(farthest),
            ..known
        });
        true
    }

    /// Tests the quads of a chunk that lie in the bin.
    #[inline(always)]
    fn test_chunk<S: Simd>(&mut self, simd: S, chunk: &Chunk, quads: &[u32]) {
        let unit = self.settings.pattern.cell_units() * 2;
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
            let passed = self.test(simd, quad.position, &fragment);
            if passed != 0 {
                chunk.passed[number as usize].store(passed, Ordering::Relaxed);
            }
        }
    }

    /// Which fragment each sample shows.
    pub(crate) fn shown(&self) -> VisibilityBuffer {
        let side = self.settings.bin_quads();
        let count = self.settings.pattern.count() as usize;
        let mut shown = VisibilityBuffer::default();
        let positions = (0..side).flat_map(|y| (0..side).map(move |x| [x, y]));
        for (quad, at) in self.quads.iter().zip(positions) {
            let cells = || quad.owners.iter().flat_map(|cell| &cell[..count]);
            if cells().any(|&o| o != NO_OWNER) {
                shown.quads.push(VisibleQuad {
                    position: [0, 1].map(|axis| self.corner[axis] + at[axis]),
                    first: index32(shown.samples.len()),
                });
                shown.samples.extend(cells());
            }
        }
        shown
    }
}

/// Tests all quads of all chunks, which then know what passed; returns what each bin shows.
#[must_use]
pub fn test(chunks: &[Chunk], settings: &FrameSettings) -> Vec<VisibilityBuffer> {
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
                for chunk in touched() {
                    let level = settings.level.level();
                    dispatch!(level, simd => scratch.test_chunk(simd, chunk, chunk.in_bin(bin)));
                }
                scratch.shown()
            },
        )
        .collect()
}
