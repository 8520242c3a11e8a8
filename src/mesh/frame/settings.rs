//! What a frame is made with.

use crate::math::SimdLevel;
use crate::raster::geometry::PixelRect;
use crate::raster::samples::SamplePattern;

/// Which sides of triangles are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Faces {
    /// Fronts alone; both sides of two-sided materials.
    Front,
    /// Both.
    Both,
}

/// What is culled by depth before it is shaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cull {
    /// Grids that earlier ones hide wholly.
    Grids,
    /// As well, samples of quads: the early depth test.
    Quads,
}

/// Sides of a bin, in quads: what one task tests the depth of.
const BIN_QUADS: u16 = 32;

/// What a frame is made with.
#[derive(Debug, Clone, Copy)]
pub struct FrameSettings {
    /// Width and height of the picture in pixels.
    pub size: [u32; 2],
    /// Where the samples lie.
    pub pattern: &'static SamplePattern,
    /// Which sides are drawn.
    pub faces: Faces,
    /// What is culled.
    pub cull: Cull,
    /// The host's SIMD level; changes no result.
    pub level: SimdLevel,
}

impl FrameSettings {
    /// The picture in cells, the last of which may reach beyond it.
    #[must_use]
    pub fn cells(&self) -> PixelRect {
        let [x1, y1] = self.size.map(|px| {
            let cells = px.div_ceil(self.pattern.cell_px().cast_unsigned());
            cells.cast_signed()
        });
        PixelRect {
            x0: 0,
            y0: 0,
            x1,
            y1,
        }
    }

    /// Columns and rows of bins.
    #[must_use]
    pub fn bin_grid(&self) -> [usize; 2] {
        let cells = self.cells();
        [cells.x1, cells.y1]
            .map(|c| (c.cast_unsigned() as usize).div_ceil(2 * usize::from(BIN_QUADS)))
    }

    /// Bins.
    #[must_use]
    pub fn bins(&self) -> usize {
        let [across, down] = self.bin_grid();
        across * down
    }

    /// The bin of a quad.
    #[must_use]
    #[inline]
    pub fn bin_of(&self, place: [u16; 2]) -> usize {
        let [x, y] = place.map(|v| usize::from(v / BIN_QUADS));
        y * self.bin_grid()[0] + x
    }

    /// The first quad of a bin.
    #[must_use]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "quads of a picture fit 16 bits"
    )]
    pub fn bin_corner(&self, bin: usize) -> [u16; 2] {
        let across = self.bin_grid()[0];
        [bin % across, bin / across].map(|v| v as u16 * BIN_QUADS)
    }

    /// Quads along the side of a bin.
    #[must_use]
    pub fn bin_quads(&self) -> u16 {
        BIN_QUADS
    }

    /// Whether the depth test comes before shading.
    #[must_use]
    pub fn culls_quads(&self) -> bool {
        self.cull == Cull::Quads
    }
}
