//! Chunks: batches of grids rasterized to quads, in submission order.
//!
//! A chunk is a run of opaque or of blended batches of one draw, processed by one task. Blended chunks come last.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::drawn_area::DrawnArea;
use super::settings::FrameSettings;
use crate::project::{Piece, ProjectedGrid, touched_quads};
use crate::shade::AlphaTests;
use quadrille_base::math::fit;
use quadrille_base::raster::geometry::PixelRect;
use quadrille_base::raster::sample_depth::DepthPlane;
use quadrille_base::raster::sampled::SampledPolygon;
use quadrille_base::task::Task;
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::grid::{DrawRun, Grid, GridSource, GridVertex};

/// A quad of a triangle, before the depth test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RasterQuad {
    /// Mask of covered samples; 0 if the triangle only touches the quad.
    pub coverage: u64,
    /// Column and row, in quads.
    pub position: [u16; 2],
    /// Index of the triangle in its grid.
    pub triangle: u16,
    /// Mask of the shading pixels whose centre is covered.
    pub centres: u8,
    /// Whether the triangle faces the viewer.
    pub is_front: bool,
}

/// A rasterized grid and the range of its quads in the chunk.
#[derive(Debug)]
pub struct RasterGrid {
    /// Vertices, topology and material of the grid.
    pub grid: Grid,
    /// Indices into [`Chunk::quads`].
    pub quads: Range<u32>,
    /// Index into [`Chunk::planes`] of the plane of the first triangle.
    pub first_plane: u32,
    /// Number of triangles tessellated for earlier grids of the chunk, drawn or not.
    pub(crate) first_triangle: u32,
    pub(crate) bounds: PixelRect,
    pub(crate) nearest: f32,
    /// Set by the depth test unless the bounding box is certainly hidden by earlier grids.
    pub(crate) is_visible: AtomicBool,
}

/// Grids rasterized by one task, and their quads.
#[derive(Debug, Default)]
pub struct Chunk {
    pub(crate) draw: u32,
    /// Blended fragments are tested but write no depth.
    pub(crate) is_blended: bool,
    pub(crate) first_batch: usize,
    /// Grids with at least one drawn triangle.
    pub grids: Vec<RasterGrid>,
    /// Depth planes of all triangles of all grids; zero for triangles that are not drawn.
    pub planes: Vec<DepthPlane>,
    /// Quads in the order of grid, triangle and raster tile.
    pub quads: Vec<RasterQuad>,
    /// Mask per quad of the samples that an alpha test keeps; empty if no material has a test.
    kept: Vec<u64>,
    pub(crate) passed: Vec<AtomicU64>,
    /// Quads sorted by bin.
    by_bin: Vec<u32>,
    bin_starts: Vec<u32>,
    /// Index in the frame of the first quad of the chunk.
    pub(crate) first_quad: u32,
    pub(crate) grids_in: u64,
    pub(crate) triangles_in: u64,
    pub(crate) drawn: DrawnArea,
}

/// Minimum number of bytes charged per grid, kept or not, so that the budget also bounds the work on a surface with jumps
/// everywhere: 2 million grids in 1 GiB (assumed; about the size of a grid of two triangles).
const LEAST_GRID_BYTES: usize = 512;

/// Limit on the memory of a frame's chunks, counted while they grow, with the task of the frame.
#[derive(Debug)]
pub struct MemoryBudget {
    limit: u64,
    taken: AtomicU64,
    task: Task,
}

impl MemoryBudget {
    /// Creates a budget of `limit` bytes.
    pub fn new(limit: u64, task: &Task) -> Self {
        Self { limit, taken: AtomicU64::new(0), task: task.clone() }
    }

    fn take(&self, bytes: usize) -> ControlFlow<()> {
        self.taken.fetch_add(bytes as u64, Ordering::Relaxed);
        if self.is_spent() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    pub(super) fn is_spent(&self) -> bool {
        self.taken.load(Ordering::Relaxed) > self.limit
    }
}

impl Chunk {
    /// Tessellates batches for the first view and rasterizes them in the second, until `budget` is spent or cancelled.
    pub fn new(
        source: &dyn GridSource,
        DrawRun { batches, is_blended }: DrawRun,
        [tessellation_view, view]: [&MeshCamera; 2],
        settings: &FrameSettings,
        alpha: &AlphaTests,
        budget: &MemoryBudget,
    ) -> Self {
        let mut chunk = Self {
            draw: source.draw(batches.start),
            is_blended,
            first_batch: batches.start,
            ..Self::default()
        };
        let mut projected = ProjectedGrid::default();
        let task = &budget.task;
        let grids = batches.into_iter().try_for_each(|batch| {
            budget.take(0)?;
            source.visit_grids(batch, tessellation_view, task, &mut |grid| {
                let material = &source.materials()[grid.material as usize];
                let draws_backs = settings.faces.draws_backs(material);
                projected.project(view, &grid);
                let bytes = chunk.raster(grid, draws_backs, alpha, view, settings, &projected);
                budget.take(bytes.max(LEAST_GRID_BYTES))
            })
        });
        if grids.is_break() {
            return chunk;
        }
        chunk.sort_by_bin(settings);
        chunk.passed.resize_with(chunk.quads.len(), AtomicU64::default);
        chunk
    }

    /// Rasterizes a grid and keeps it if a triangle is drawn. Returns the size of the grid and its quads in bytes.
    fn raster(
        &mut self,
        grid: Grid,
        draws_backs: bool,
        alpha: &AlphaTests,
        view: &MeshCamera,
        settings: &FrameSettings,
        projected: &ProjectedGrid,
    ) -> usize {
        let triangles = grid.topology.triangles.len();
        let vertices = grid.vertices.len();
        let first_triangle = self.triangles_in;
        self.grids_in += 1;
        self.triangles_in += triangles as u64;
        let [first_quad, first_plane] = [self.quads.len(), self.planes.len()];
        self.planes.resize(first_plane + triangles, DepthPlane::default());
        let is_tested = alpha.tests(grid.material);
        let (picture, pattern) = (settings.shading_area(), settings.pattern);
        let bounds =
            projected.pieces(view, &grid, picture, pattern, draws_backs, |piece, is_drawn| {
                self.planes[first_plane + usize::from(piece.triangle)] = piece.plane;
                if is_drawn {
                    self.drawn.add(&piece);
                    let first = self.quads.len();
                    self.add_quads(&piece, settings);
                    if is_tested && let Some(test) = alpha.of_triangle(&grid, piece.triangle, view)
                    {
                        self.kept.resize(first, u64::MAX);
                        let quads = self.quads[first..].iter();
                        self.kept
                            .extend(quads.map(|quad| test.kept(quad.position, settings.pattern)));
                    }
                }
            });
        let Some(bounds) = bounds else {
            self.planes.truncate(first_plane);
            return 0;
        };
        self.grids.push(RasterGrid {
            grid,
            quads: fit::<u32>(first_quad)..fit::<u32>(self.quads.len()),
            first_plane: fit::<u32>(first_plane),
            first_triangle: u32::try_from(first_triangle).unwrap_or(u32::MAX),
            bounds,
            nearest: projected.nearest,
            is_visible: AtomicBool::new(false),
        });
        // Grids may share a topology; its corners and neighbours are charged to each of them.
        let per_triangle = size_of::<DepthPlane>() + 2 * size_of::<[u16; 3]>();
        let per_quad = size_of::<RasterQuad>() + size_of::<AtomicU64>() + size_of::<u32>();
        size_of::<RasterGrid>()
            + vertices * (size_of::<GridVertex>() + size_of::<u32>())
            + triangles * per_triangle
            + (self.quads.len() - first_quad)
                * (per_quad + if is_tested { size_of::<u64>() } else { 0 })
    }

    #[inline]
    fn add_quads(&mut self, piece: &Piece, settings: &FrameSettings) {
        let outline = SampledPolygon::triangle(piece.corners, settings.pattern, settings.level);
        let Some(outline) = outline else { return };
        touched_quads(&outline, piece.bounds, |position, quad| {
            self.quads.push(RasterQuad {
                coverage: quad.coverage,
                position,
                triangle: piece.triangle,
                centres: quad.centres,
                is_front: piece.is_front(),
            });
        });
    }

    /// Sorts quads by bin; within a bin they stay in submission order.
    fn sort_by_bin(&mut self, settings: &FrameSettings) {
        let mut starts = vec![0; settings.bins() + 1];
        for quad in &self.quads {
            starts[settings.bin_of(quad.position) + 1] += 1;
        }
        for bin in 1..starts.len() {
            starts[bin] += starts[bin - 1];
        }
        let mut next = starts.clone();
        self.by_bin = vec![0; self.quads.len()];
        for (quad, at) in self.quads.iter().zip(0..) {
            let slot = &mut next[settings.bin_of(quad.position)];
            self.by_bin[*slot as usize] = at;
            *slot += 1;
        }
        self.bin_starts = starts;
    }

    /// Mask of the samples that write depth if they pass: the samples kept by the alpha test, or none of a blended quad.
    #[inline]
    pub(crate) fn written(&self, quad: u32) -> u64 {
        self.kept.get(quad as usize).copied().unwrap_or(if self.is_blended { 0 } else { u64::MAX })
    }

    #[inline]
    pub(crate) fn passed(&self, quad: u32) -> u64 {
        self.passed[quad as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn in_bin(&self, bin: usize) -> &[u32] {
        &self.by_bin[self.bin_starts[bin] as usize..self.bin_starts[bin + 1] as usize]
    }

    /// Mask of the shaded samples: the samples that pass the depth test or, if quads are not culled, all covered samples.
    #[inline]
    pub(crate) fn shaded_coverage(&self, quad: u32, settings: &FrameSettings) -> u64 {
        if settings.culls_quads() { self.passed(quad) } else { self.quads[quad as usize].coverage }
    }

    pub(crate) fn visible(&self) -> impl Iterator<Item = &RasterGrid> {
        self.grids.iter().filter(|grid| grid.is_visible.load(Ordering::Relaxed))
    }

    /// Index of the grid of a quad.
    pub fn grid_of(&self, quad: u32) -> usize {
        self.grids.partition_point(|grid| grid.quads.end <= quad)
    }
}
