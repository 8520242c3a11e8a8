//! From batches of grids to quads, in submission order: projection, edge set-up, coverage.
//!
//! A chunk is the work of one task: a run of batches of one draw. Chunks are independent of each
//! other; everything in them is in submission order.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::settings::{Faces, FrameSettings};
use crate::mesh::assemble::{PlacedVertex, place, triangles};
use crate::mesh::grid::{Grid, Source};
use crate::mesh::view::View;
use crate::raster::geometry::PixelRect;
use crate::raster::outline::raster_tiles;
use crate::raster::sample_depth::DepthPlane;
use crate::raster::sampled::SampledPolygon;

/// A quad of a triangle as the raster makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RasterQuad {
    /// Samples covered; none where the triangle only touches the quad.
    pub coverage: u64,
    /// Column and row, in quads.
    pub place: [u16; 2],
    /// The triangle in its grid.
    pub triangle: u16,
    /// Cells whose centre is covered.
    pub centres: u8,
    /// Whether the triangle shows its front.
    pub is_front: bool,
}

/// What became of a grid.
#[derive(Debug)]
pub struct GridQuads {
    /// Index into [`Chunk::quads`] of its first quad.
    pub first_quad: u32,
    /// Index after its last.
    pub end_quad: u32,
    /// Index into [`Chunk::planes`] of its first triangle's.
    pub first_plane: u32,
    /// The cells it may cover.
    pub bounds: PixelRect,
    /// The depth of its nearest vertex.
    pub nearest: f32,
    /// Whether the depth test found any part of it that earlier grids did not hide for sure.
    pub is_visible: AtomicBool,
}

/// The work of one task.
#[derive(Debug, Default)]
pub struct Chunk {
    /// The draw it is part of.
    pub draw: u32,
    /// Its grids, those without any quad left out.
    pub grids: Vec<Grid>,
    /// What each grid became.
    pub spans: Vec<GridQuads>,
    /// Depth planes of all triangles of all grids.
    pub planes: Vec<DepthPlane>,
    /// The quads, grid by grid, triangle by triangle, raster tile by raster tile.
    pub quads: Vec<RasterQuad>,
    /// For each quad: the samples that pass the early depth test.
    pub passed: Vec<AtomicU64>,
    /// Indices of quads by the bin they lie in.
    pub by_bin: Vec<u32>,
    /// Where each bin's begin in `by_bin`; one more entry than there are bins.
    pub bin_starts: Vec<u32>,
    /// Number of the chunk's first quad in the frame.
    pub first_quad: u32,
    /// Counters.
    pub counters: RasterCounters,
}

/// What the raster found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RasterCounters {
    /// Grids tessellated.
    pub grids: u64,
    /// Triangles in them.
    pub triangles: u64,
    /// Triangles without area, or wholly outside the picture.
    pub triangles_dropped: u64,
    /// Triangles that show their back and were culled.
    pub triangles_back: u64,
    /// Pieces that clipping added.
    pub pieces: u64,
}

impl std::ops::AddAssign for RasterCounters {
    fn add_assign(&mut self, other: Self) {
        self.grids += other.grids;
        self.triangles += other.triangles;
        self.triangles_dropped += other.triangles_dropped;
        self.triangles_back += other.triangles_back;
        self.pieces += other.pieces;
    }
}

/// A place for depths that nothing was drawn with.
const NO_PLANE: DepthPlane = DepthPlane {
    origin: [0, 0],
    depth: 0.0,
    slope: [0.0; 2],
};

impl Chunk {
    /// Tessellates the batches `batches` of `source`, all of one draw, for the first view, and
    /// rasters them in the second.
    #[must_use]
    pub fn new(
        source: &dyn Source,
        batches: std::ops::Range<usize>,
        [made_for, view]: [&View; 2],
        settings: &FrameSettings,
    ) -> Self {
        let mut chunk = Self {
            draw: source.draw(batches.start),
            ..Self::default()
        };
        let mut grids = Vec::new();
        let mut placed = Vec::new();
        for batch in batches {
            source.grids(batch, made_for, &mut grids);
            for grid in grids.drain(..) {
                let both = source.materials()[grid.material as usize].two_sided
                    || settings.faces == Faces::Both;
                chunk.raster(grid, both, view, settings, &mut placed);
            }
        }
        chunk.sort_by_bin(settings);
        chunk
            .passed
            .resize_with(chunk.quads.len(), AtomicU64::default);
        chunk
    }

    /// Rasters a grid; keeps it when it has quads.
    fn raster(
        &mut self,
        grid: Grid,
        both_faces: bool,
        view: &View,
        settings: &FrameSettings,
        placed: &mut Vec<PlacedVertex>,
    ) {
        self.counters.grids += 1;
        self.counters.triangles += grid.topology.triangles.len() as u64;
        placed.clear();
        placed.extend(grid.vertices.iter().map(|v| place(view, v.position)));
        let picture = settings.cells();
        let first_quad = index(self.quads.len());
        let first_plane = index(self.planes.len());
        let mut bounds: Option<PixelRect> = None;
        let nearest = placed.iter().map(PlacedVertex::depth).fold(0.0, f32::max);
        for (triangle, corners) in (0..).zip(&grid.topology.triangles) {
            let corners = corners.map(|c| &placed[usize::from(c)]);
            let mut plane = NO_PLANE;
            let mut pieces = 0;
            triangles(view, corners, |corners, depth_plane| {
                plane = depth_plane;
                pieces += 1;
                let area = SampledPolygon::bounds_of(corners, settings.pattern);
                let area = area.intersect(picture);
                let facing = SampledPolygon::facing(corners).filter(|_| !area.is_empty());
                if facing == Some(false) && !both_faces {
                    self.counters.triangles_back += 1;
                    return;
                }
                let outline = facing.and_then(|_| {
                    SampledPolygon::triangle(corners, settings.pattern, settings.level)
                });
                let Some(outline) = outline else {
                    self.counters.triangles_dropped += 1;
                    return;
                };
                bounds = Some(bounds.map_or(area, |b| around(b, area)));
                raster_tiles(
                    &outline,
                    area,
                    |_, _| true,
                    |[column, row], quarter, _mask, tile| {
                        let corner = [
                            index16(column * 8 + u32::from(quarter & 1) * 4),
                            index16(row * 8 + u32::from(quarter >> 1) * 4),
                        ];
                        let mut left = tile.touched;
                        while left != 0 {
                            let position = left.trailing_zeros();
                            left &= left - 1;
                            let quad = tile.quads[position as usize];
                            let place = [position & 3, position >> 2].map(index16);
                            self.quads.push(RasterQuad {
                                coverage: quad.coverage,
                                place: [corner[0] + place[0], corner[1] + place[1]],
                                triangle,
                                centres: quad.centres,
                                is_front: outline.is_front(),
                            });
                        }
                    },
                );
            });
            self.counters.triangles_dropped += u64::from(pieces == 0);
            self.counters.pieces += u64::saturating_sub(pieces, 1);
            self.planes.push(plane);
        }
        let Some(bounds) = bounds else {
            self.planes.truncate(first_plane as usize);
            return;
        };
        self.spans.push(GridQuads {
            first_quad,
            end_quad: index(self.quads.len()),
            first_plane,
            bounds,
            nearest,
            is_visible: AtomicBool::new(false),
        });
        self.grids.push(grid);
    }

    /// Sorts the quads' indices by bin, in order within each.
    fn sort_by_bin(&mut self, settings: &FrameSettings) {
        let mut starts = vec![0; settings.bins() + 1];
        for quad in &self.quads {
            starts[settings.bin_of(quad.place) + 1] += 1;
        }
        for bin in 1..starts.len() {
            starts[bin] += starts[bin - 1];
        }
        let mut next = starts.clone();
        self.by_bin = vec![0; self.quads.len()];
        for (quad, at) in self.quads.iter().zip(0..) {
            let slot = &mut next[settings.bin_of(quad.place)];
            self.by_bin[*slot as usize] = at;
            *slot += 1;
        }
        self.bin_starts = starts;
    }

    /// The quads of a bin, in order.
    #[must_use]
    pub fn in_bin(&self, bin: usize) -> &[u32] {
        &self.by_bin[self.bin_starts[bin] as usize..self.bin_starts[bin + 1] as usize]
    }

    /// The samples of a quad that are shaded: those that passed the depth test or, without one
    /// before shading, all.
    #[must_use]
    #[inline]
    pub fn shaded_coverage(&self, quad: usize, settings: &FrameSettings) -> u64 {
        if settings.culls_quads() {
            self.passed[quad].load(Ordering::Relaxed)
        } else {
            self.quads[quad].coverage
        }
    }

    /// The grids that the depth test found visible, with their quads.
    pub fn visible(&self) -> impl Iterator<Item = (&Grid, &GridQuads)> {
        let grids = self.grids.iter().zip(&self.spans);
        grids.filter(|(_, span)| span.is_visible.load(Ordering::Relaxed))
    }

    /// The grid that a quad is of.
    #[must_use]
    pub fn grid_of(&self, quad: u32) -> usize {
        self.spans.partition_point(|span| span.end_quad <= quad)
    }
}

fn around(a: PixelRect, b: PixelRect) -> PixelRect {
    PixelRect {
        x0: a.x0.min(b.x0),
        y0: a.y0.min(b.y0),
        x1: a.x1.max(b.x1),
        y1: a.y1.max(b.y1),
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "checked: a frame holds fewer than 2^32 quads"
)]
pub(super) fn index(v: usize) -> u32 {
    debug_assert!(u32::try_from(v).is_ok());
    v as u32
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "pictures have at most 2^15 pixels a side"
)]
fn index16(v: u32) -> u16 {
    v as u16
}
