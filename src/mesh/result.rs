//! Counts of a mesh frame for reports.

use super::frame::{Shading, VisibleFrame};
use super::merge::MergeCounters;

/// Counts of a frame that was shaded through a merging unit.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct MeshResult {
    /// Number of grids tessellated.
    pub grids: u64,
    /// Number of triangles in the tessellated grids.
    pub triangles: u64,
    /// Mean area in pixels of the triangles that are drawn, hidden or not; `None` if there are none.
    pub mean_area_px: Option<f64>,
    /// Number of grids that are not hidden.
    pub grids_visible: u64,
    /// Number of vertices of visible grids. Reyes shades all of them.
    pub vertices: u64,
    /// Counters of the quads before the merging unit and of the unit itself.
    pub merging: MergeCounters,
    /// Number of quads sent to the shader.
    pub quads_shaded: u64,
    /// Number of pixels with a sample that shows the scene.
    pub pixels_covered: u64,
    /// Side of a shading pixel, in pixels.
    pub shading_pixel_px: u32,
}

impl MeshResult {
    /// Collects the counts of a frame and its shading.
    pub fn of(visible: &VisibleFrame, shading: &Shading) -> Self {
        let grids = visible.chunks.iter().map(|c| c.visible().count() as u64);
        Self {
            grids: visible.grids,
            triangles: visible.triangles,
            mean_area_px: visible.drawn.mean_px(),
            grids_visible: grids.sum(),
            vertices: visible.vertices_shaded(),
            merging: shading.counters,
            quads_shaded: shading.quads.len() as u64,
            pixels_covered: visible.pixels_covered(),
            shading_pixel_px: visible.settings.pattern.side_px().unsigned_abs(),
        }
    }

    /// Number of quads merged into another one.
    pub fn quads_merged(&self) -> u64 {
        self.merging.tested() - self.quads_shaded
    }

    /// Number of fragments that the shader runs on: four per quad, covered or not.
    pub fn fragments_shaded(&self) -> u64 {
        4 * self.quads_shaded
    }
}

/// Returns `a / b`, or 0 if `b` is 0.
pub fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}
