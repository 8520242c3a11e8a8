//! Settings of a mesh frame and the layout of its bins.

use quadrille_base::choice;
use quadrille_base::math::{SimdLevel, fit};
use quadrille_base::raster::geometry::PixelRect;
use quadrille_base::raster::samples::SamplePattern;
use quadrille_geometry::files::Material;

choice! {
    /// Sides of triangles that are drawn.
    pub enum Faces {
        /// Fronts, and the backs of two-sided materials.
        Material = "material",
        /// Fronts only.
        Front = "front",
        /// Both sides of all materials.
        Both = "both",
    }
}

impl Faces {
    /// Whether the backs of triangles of a material are drawn.
    pub fn draws_backs(self, material: &Material) -> bool {
        match self {
            Self::Material => material.two_sided,
            Self::Front => false,
            Self::Both => true,
        }
    }
}

choice! {
    /// Granularity of depth culling before shading.
    pub enum Cull {
        /// Grids that are completely hidden.
        Grids = "grids",
        /// Hidden grids, and samples that fail the depth test.
        Quads = "quads",
    }
}

/// Side of a bin in quads; one task tests the depths of a bin.
const BIN_QUADS: u16 = 32;

/// Settings that determine what a frame rasterizes and culls.
#[derive(Debug, Clone, Copy)]
pub struct FrameSettings {
    /// Width and height of the picture in pixels.
    pub size: [u32; 2],
    /// Sample positions within a pixel.
    pub pattern: &'static SamplePattern,
    /// Sides of triangles that are drawn.
    pub faces: Faces,
    /// Granularity of depth culling.
    pub cull: Cull,
    /// Limit on the host bytes of a frame's grids and quads; visibility, merging and shading take about as much again.
    pub memory_bytes: u64,
    /// SIMD level of the host; it changes no result.
    pub level: SimdLevel,
}

/// Default of [`FrameSettings::memory_bytes`] (assumed): enough for some 15 million triangles of half a pixel.
pub const MEMORY_BYTES: u64 = 1 << 30;

impl FrameSettings {
    /// Area of the picture in shading pixels. The last column and row may reach beyond the picture.
    pub fn shading_area(&self) -> PixelRect {
        let side = self.pattern.side_px().cast_unsigned();
        let [x1, y1] = self.size.map(|px| px.div_ceil(side).cast_signed());
        PixelRect { x0: 0, y0: 0, x1, y1 }
    }

    fn bins_across(&self) -> usize {
        (self.shading_area().x1.cast_unsigned() as usize).div_ceil(2 * usize::from(BIN_QUADS))
    }

    /// Number of bins that cover the picture.
    pub fn bins(&self) -> usize {
        let side = 2 * usize::from(BIN_QUADS);
        self.bins_across() * (self.shading_area().y1.cast_unsigned() as usize).div_ceil(side)
    }

    /// Index in row order of the bin that holds the quad at `position`.
    #[inline]
    pub fn bin_of(&self, position: [u16; 2]) -> usize {
        let [x, y] = position.map(|v| usize::from(v / BIN_QUADS));
        y * self.bins_across() + x
    }

    /// Indices of the bins that meet `area`, which lies inside the picture.
    pub fn bins_in(&self, area: PixelRect) -> impl Iterator<Item = usize> {
        let side = 2 * usize::from(BIN_QUADS);
        let across = self.bins_across();
        let range = |from: i32, to: i32| {
            let [from, to] = [from, to - 1].map(|v| v.cast_unsigned() as usize / side);
            from..=to
        };
        let columns = range(area.x0, area.x1);
        range(area.y0, area.y1)
            .flat_map(move |row| columns.clone().map(move |column| row * across + column))
    }

    /// Position in quads of a bin's top left quad.
    pub fn bin_corner(&self, bin: usize) -> [u16; 2] {
        let across = self.bins_across();
        [bin % across, bin / across].map(|v| fit::<u16>(v) * BIN_QUADS)
    }

    /// Area in shading pixels of the bin whose top left quad is at `corner`.
    pub fn bin_rect(&self, corner: [u16; 2]) -> PixelRect {
        let [x0, y0] = corner.map(|q| i32::from(q) * 2);
        let side = i32::from(BIN_QUADS) * 2;
        PixelRect { x0, y0, x1: x0 + side, y1: y0 + side }
    }

    pub(crate) fn bin_quads(&self) -> u16 {
        BIN_QUADS
    }

    /// Whether samples that fail the depth test are culled before shading.
    pub fn culls_quads(&self) -> bool {
        self.cull == Cull::Quads
    }
}
