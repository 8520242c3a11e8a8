//! Splats before the units that merge quads of a mesh: what becomes of them there, and a mesh made
//! into splats to have both of one subject.
//!
//! The emulated pipeline draws a splat as two triangles that share the diagonal of its box. Here the
//! boxes are rasterized as a mesh's triangles are, with adjacency, and sent through the units in
//! drawing order. Nothing is tested for depth: the fragments are transparent, and all are blended.

pub mod from_mesh;
mod picture;
pub mod units;

use rayon::prelude::*;

use super::grid::{MAX_GRID_TRIANGLES, NO_NEIGHBOUR, Topology};
use super::merge::QuadFragment;
use crate::error::{Error, Result};
use crate::gpu::draw::Draw;
use crate::math::SimdLevel;
use crate::mesh::files::ShaderEffects;
use crate::mesh::project::touched_quads;
use crate::raster::geometry::{PixelRect, Vertex};
use crate::raster::outline::Outline;
use crate::raster::sampled::SampledPolygon;
use crate::raster::samples::SamplePattern;

/// What the splats' fragment shader does beside giving a colour: it discards fragments whose alpha
/// is below 1/255.
pub const SPLAT_SHADER: ShaderEffects = ShaderEffects {
    discards: true,
    writes_depth: false,
    writes_memory: false,
    alpha_to_coverage: false,
    reads_primitive_id: false,
    reads_coverage: false,
};

/// Splats whose boxes make a grid: as many as a triangle mask holds, so that the units could merge
/// quads of different splats if only these shared an edge.
#[allow(clippy::cast_possible_truncation, reason = "512")]
const SPLATS_A_GRID: u32 = MAX_GRID_TRIANGLES as u32 / 2;
/// Splats that are rasterized between two looks at how many quads there are.
const SPLATS_A_BATCH: u32 = 1 << 16;
/// Splats of a task.
const SPLATS_A_TASK: usize = 256;
/// Most quads: 24 bytes each, and 16 more while they are merged.
const MAX_QUADS: u64 = 1 << 26;

/// A quad of one triangle of a splat's box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplatQuad {
    /// Samples covered; none where the triangle only touches the quad.
    pub coverage: u64,
    /// The splat, in drawing order.
    pub splat: u32,
    /// Column and row, in quads.
    pub position: [u16; 2],
    /// Cells whose centre is covered.
    pub centres: u8,
    /// Which triangle of the box: 0 or 1.
    pub half: u8,
    /// Whether the triangle shows its front.
    pub is_front: bool,
}

impl SplatQuad {
    /// The quad as a merging unit takes it.
    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "below the triangles of a grid"
    )]
    fn fragment(&self) -> QuadFragment {
        let first = self.splat.wrapping_mul(4);
        let corners = if self.half == 0 { [0, 1, 2] } else { [0, 2, 3] };
        QuadFragment {
            position: self.position,
            coverage: self.coverage,
            centres: self.centres,
            is_front: self.is_front,
            triangle: (self.splat % SPLATS_A_GRID * 2) as u16 + u16::from(self.half),
            ids: corners.map(|c| first.wrapping_add(c)),
        }
    }
}

/// The quads of a draw's splats in drawing order.
#[derive(Debug)]
pub struct SplatQuads {
    /// The quads, those without coverage among them.
    pub quads: Vec<SplatQuad>,
    /// Where the samples lie.
    pub pattern: &'static SamplePattern,
    /// Width and height of the picture in pixels.
    pub size: [u32; 2],
}

impl SplatQuads {
    /// Rasterizes the splats of a draw; the level changes no result.
    ///
    /// # Errors
    /// [`Error::Limit`] when there are more than 2^26 quads.
    pub fn new(draw: &Draw, pattern: &'static SamplePattern, level: SimdLevel) -> Result<Self> {
        let size = [draw.width, draw.height];
        let mut quads: Vec<SplatQuad> = Vec::new();
        let mut next = 0;
        while next < draw.len() {
            let end = draw.len().min(next.saturating_add(SPLATS_A_BATCH));
            let batch: Vec<u32> = (next..end).collect();
            let tasks: Vec<Vec<SplatQuad>> = batch
                .par_chunks(SPLATS_A_TASK)
                .map(|splats| {
                    let mut out = Vec::new();
                    for &splat in splats {
                        let halves = draw.triangles(splat).into_iter().flatten();
                        for (corners, half) in halves.zip(0..) {
                            raster(corners, [splat, half], size, (pattern, level), &mut out);
                        }
                    }
                    out
                })
                .collect();
            tasks.into_iter().for_each(|task| quads.extend(task));
            if quads.len() as u64 > MAX_QUADS {
                return Err(Error::Limit {
                    what: "quads of the splats (choose a smaller picture)".to_owned(),
                    limit: MAX_QUADS,
                    found: quads.len() as u64,
                });
            }
            next = end;
        }
        Ok(Self {
            quads,
            pattern,
            size,
        })
    }

    /// Quads that cover a sample.
    #[must_use]
    pub fn covered(&self) -> u64 {
        self.quads.iter().filter(|q| q.coverage != 0).count() as u64
    }
}

/// Rasterizes a triangle of a splat's box.
#[allow(
    clippy::cast_possible_truncation,
    reason = "pictures have at most 2^16 pixels a side, boxes two triangles"
)]
fn raster(
    corners: [Vertex; 3],
    [splat, half]: [u32; 2],
    size: [u32; 2],
    (pattern, level): (&'static SamplePattern, SimdLevel),
    out: &mut Vec<SplatQuad>,
) {
    let [x1, y1] = size.map(u32::cast_signed);
    let picture = PixelRect {
        x0: 0,
        y0: 0,
        x1,
        y1,
    };
    let Some(outline) = SampledPolygon::triangle(corners, pattern, level) else {
        return;
    };
    let area = outline.bounds().intersect(picture);
    if area.is_empty() {
        return;
    }
    touched_quads(&outline, area, |position, quad| {
        out.push(SplatQuad {
            coverage: quad.coverage,
            splat,
            position,
            centres: quad.centres,
            half: half as u8,
            is_front: outline.is_front(),
        });
    });
}

/// The boxes of [`SPLATS_A_GRID`] splats: pairs of triangles that share a diagonal.
fn topology() -> Topology {
    let splats = 0..u16::try_from(SPLATS_A_GRID).unwrap_or(0);
    let corners = |k: u16| [[4 * k, 4 * k + 1, 4 * k + 2], [4 * k, 4 * k + 2, 4 * k + 3]];
    let across = |k: u16| {
        let [first, second] = [2 * k, 2 * k + 1];
        [
            [NO_NEIGHBOUR, NO_NEIGHBOUR, second],
            [first, NO_NEIGHBOUR, NO_NEIGHBOUR],
        ]
    };
    Topology {
        triangles: splats.clone().flat_map(corners).collect(),
        neighbours: splats.flat_map(across).collect(),
    }
}
