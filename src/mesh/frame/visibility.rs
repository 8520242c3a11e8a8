//! The early depth test of all quads, bin by bin, each in submission order.
//!
//! Bins share nothing, so they are tested side by side. A grid is hidden when in every bin that it
//! has quads in, the farthest depths of all raster tiles in its bounding box were nearer than its
//! nearest vertex, at the moment its turn came: what a Hi-Z unit would have known right after the
//! grid was tessellated.

use std::sync::atomic::Ordering;

use fearless_simd::{Simd, dispatch};
use rayon::prelude::*;

use super::chunk::{Chunk, GridQuads};
use super::settings::FrameSettings;
use crate::raster::geometry::PixelRect;
use crate::raster::sample_depth::{DepthFragment, NO_OWNER, QuadDepths};

/// Cells along the side of a raster tile.
const TILE_CELLS: i32 = 8;

/// Which fragment each sample of a quad shows in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuadOwners {
    /// Column and row, in quads.
    pub place: [u16; 2],
    /// Index into [`Owners::samples`] of its first sample; there are four cells' worth.
    pub first: u32,
}

/// Which fragment each sample of a bin shows in the end; quads that show none are left out.
#[derive(Debug, Clone, Default)]
pub struct Owners {
    /// The quads, row by row.
    pub quads: Vec<QuadOwners>,
    /// Numbers of quads in the frame, cell by cell, [`NO_OWNER`] for the background.
    pub samples: Vec<u32>,
}

/// What a bin is tested with.
struct Bin<'a> {
    settings: &'a FrameSettings,
    corner: [u16; 2],
    quads: Vec<QuadDepths>,
    /// Farthest depth of each raster tile, or `None` where it has changed since.
    farthest: Vec<Option<f32>>,
}

impl<'a> Bin<'a> {
    fn new(settings: &'a FrameSettings) -> Self {
        let side = usize::from(settings.bin_quads());
        Self {
            settings,
            corner: [0, 0],
            quads: vec![QuadDepths::default(); side * side],
            farthest: vec![None; side * side / 16],
        }
    }

    fn begin(&mut self, bin: usize) {
        self.corner = self.settings.bin_corner(bin);
        self.quads.fill(QuadDepths::default());
        self.farthest.fill(Some(0.0));
    }

    /// Whether all of a grid's box inside this bin is hidden.
    fn hides(&mut self, span: &GridQuads) -> bool {
        let corner = self.corner.map(|q| i32::from(q) * 2);
        let side = i32::from(self.settings.bin_quads()) * 2;
        let area = span.bounds.intersect(PixelRect {
            x0: corner[0],
            y0: corner[1],
            x1: corner[0] + side,
            y1: corner[1] + side,
        });
        let tiles = side / TILE_CELLS;
        let range = |from: i32, to: i32, origin: i32| {
            (from - origin) / TILE_CELLS..(to - origin + TILE_CELLS - 1) / TILE_CELLS
        };
        range(area.y0, area.y1, corner[1]).all(|row| {
            range(area.x0, area.x1, corner[0])
                .all(|column| self.farthest(row * tiles + column) >= span.nearest)
        })
    }

    /// The farthest depth of a raster tile.
    fn farthest(&mut self, tile: i32) -> f32 {
        let tile = tile.cast_unsigned() as usize;
        if let Some(known) = self.farthest[tile] {
            return known;
        }
        let side = usize::from(self.settings.bin_quads());
        let first = tile / (side / 4) * 4 * side + tile % (side / 4) * 4;
        let quads = (0..16).map(|k| &self.quads[first + k / 4 * side + k % 4]);
        let depths = quads.map(|q| q.farthest(self.settings.pattern));
        let found = depths.fold(f32::INFINITY, f32::min);
        self.farthest[tile] = Some(found);
        found
    }

    /// Tests the quads of a chunk that lie in the bin.
    #[inline(always)]
    fn test<S: Simd>(&mut self, simd: S, chunk: &Chunk, quads: &[u32]) {
        let side = usize::from(self.settings.bin_quads());
        let unit = self.settings.pattern.cell_units() * 2;
        let mut grid = 0;
        let mut is_hidden = true;
        let mut end = 0;
        for &number in quads {
            if number >= end {
                grid += chunk.spans[grid..].partition_point(|s| s.end_quad <= number);
                let span = &chunk.spans[grid];
                end = span.end_quad;
                is_hidden = self.hides(span);
                if !is_hidden {
                    span.is_visible.store(true, Ordering::Relaxed);
                }
            }
            let quad = &chunk.quads[number as usize];
            if is_hidden || quad.coverage == 0 {
                continue;
            }
            let [column, row] = [0, 1].map(|a| usize::from(quad.place[a] - self.corner[a]));
            let plane = chunk.spans[grid].first_plane + u32::from(quad.triangle);
            let fragment = DepthFragment {
                corner: quad.place.map(|q| i32::from(q) * unit),
                coverage: quad.coverage,
                plane: chunk.planes[plane as usize],
                owner: chunk.first_quad + number,
            };
            let depths = &mut self.quads[row * side + column];
            let passed = depths.test_lanes(simd, self.settings.pattern, &fragment);
            if passed != 0 {
                chunk.passed[number as usize].store(passed, Ordering::Relaxed);
                self.farthest[row / 4 * (side / 4) + column / 4] = None;
            }
        }
    }

    fn owners(&self) -> Owners {
        let side = usize::from(self.settings.bin_quads());
        let count = self.settings.pattern.count() as usize;
        let mut owners = Owners::default();
        for (quad, at) in self.quads.iter().zip(0..) {
            let cells = || quad.owners.iter().flat_map(|cell| &cell[..count]);
            if cells().any(|&o| o != NO_OWNER) {
                let place = [at % side, at / side];
                owners.quads.push(QuadOwners {
                    place: [0, 1].map(|a| self.corner[a] + small(place[a])),
                    first: super::chunk::index(owners.samples.len()),
                });
                owners.samples.extend(cells());
            }
        }
        owners
    }
}

#[allow(clippy::cast_possible_truncation, reason = "a place in a bin")]
fn small(v: usize) -> u16 {
    v as u16
}

/// Tests all quads of all chunks, which then know what passed; returns what each bin shows.
#[must_use]
pub fn test(chunks: &[Chunk], settings: &FrameSettings) -> Vec<Owners> {
    (0..settings.bins())
        .into_par_iter()
        .map_init(
            || Bin::new(settings),
            |scratch, bin| {
                let touched = || chunks.iter().filter(|c| !c.in_bin(bin).is_empty());
                if touched().next().is_none() {
                    return Owners::default();
                }
                scratch.begin(bin);
                for chunk in touched() {
                    let level = settings.level.level();
                    dispatch!(level, simd => scratch.test(simd, chunk, chunk.in_bin(bin)));
                }
                scratch.owners()
            },
        )
        .collect()
}
