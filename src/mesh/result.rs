//! What a unit made of a frame, in numbers.

use super::frame::{Shading, Visible};
use super::merge::MergeCounters;

/// Counts of a frame.
#[derive(Debug, Clone, Default)]
pub struct MeshResult {
    /// Grids tessellated.
    pub grids: u64,
    /// Triangles in them.
    pub triangles: u64,
    /// Grids of which a part was not known to be hidden.
    pub grids_visible: u64,
    /// Vertices of those: what Reyes shades.
    pub vertices: u64,
    /// Quads in, and what the unit counted.
    pub merging: MergeCounters,
    /// Quads sent to the shader.
    pub quads_shaded: u64,
    /// Pixels of which a sample shows the scene.
    pub pixels_covered: u64,
    /// Pixels along the side of a shaded cell.
    pub cell_px: u32,
}

impl MeshResult {
    /// The counts of a frame that was shaded as `shading` has it.
    #[must_use]
    pub fn of(visible: &Visible, shading: &Shading) -> Self {
        let grids = visible.chunks.iter().map(|c| c.visible().count() as u64);
        Self {
            grids: visible.grids,
            triangles: visible.triangles,
            grids_visible: grids.sum(),
            vertices: visible.vertices_shaded(),
            merging: shading.counters,
            quads_shaded: shading.quads.len() as u64,
            pixels_covered: visible.pixels_covered(),
            cell_px: visible.settings.pattern.cell_px().unsigned_abs(),
        }
    }

    /// Quads that were merged into another one.
    #[must_use]
    pub fn quads_merged(&self) -> u64 {
        self.merging.tested() - self.quads_shaded
    }

    /// Fragments that the shader runs on: four a quad, covered or not.
    #[must_use]
    pub fn fragments_shaded(&self) -> u64 {
        4 * self.quads_shaded
    }

    /// Fragments shaded for each pixel covered; 0 where nothing is.
    #[must_use]
    pub fn fragments_per_covered_pixel(&self) -> f64 {
        ratio(self.fragments_shaded(), self.pixels_covered)
    }

    /// Quads merged, of all that came to the unit (PMU, section 5: savings).
    #[must_use]
    pub fn savings(&self) -> f64 {
        ratio(self.quads_merged(), self.merging.tested())
    }

    /// Quads merged, of those with a cell covered in part (PMU, section 5: efficiency).
    #[must_use]
    pub fn efficiency(&self) -> f64 {
        ratio(self.quads_merged(), self.merging.partial)
    }
}

/// `a / b`; 0 where `b` is 0.
#[allow(clippy::cast_precision_loss, reason = "counts far below 2^53")]
pub(crate) fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}
