//! What became of fragments, quads and primitives on their way.

use serde::{Deserialize, Serialize};

/// Fragments by what became of them; the sum of the fates is `rasterized`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FragmentCounts {
    /// Covered pixels, before any test.
    pub rasterized: u64,
    /// Dropped by Hi-Z, the stencil test or the depth test.
    pub hidden: u64,
    /// Dropped by the termination test.
    pub terminated: u64,
    /// Shaded: the rest.
    pub shaded: u64,
    /// Of those, below the cut on alpha.
    pub pruned: u64,
    /// Of those, merged into another in the shader.
    pub merged: u64,
    /// Of those, kept from blending by an ideal termination.
    pub dropped: u64,
    /// Of those, blended by CROP.
    pub blended: u64,
    /// Of the blended, into pixels that had reached the threshold already.
    pub late: u64,
}

/// Quads by what became of them; the sum of the fates is `rasterized`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuadCounts {
    /// Out of the fine raster.
    pub rasterized: u64,
    /// Dropped by the stencil or the depth test.
    pub hidden: u64,
    /// Dropped by the termination test.
    pub terminated: u64,
    /// Shaded: the rest.
    pub shaded: u64,
    /// Of those, without a fragment over the cut.
    pub pruned: u64,
    /// Of those, merged into another in the shader.
    pub merged_pairs: u64,
    /// Of those, kept from blending by an ideal termination.
    pub dropped: u64,
    /// Of those, blended by CROP.
    pub blended: u64,
}

/// Raster tiles and primitives on their way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PrimitiveCounts {
    /// Splats drawn.
    pub splats: u64,
    /// Primitives before assembly.
    pub primitives: u64,
    /// Primitives that assembly dropped.
    pub culled: u64,
    /// Primitives set up, once for each GPC and tile grid.
    pub set_up: u64,
    /// Primitives that touch no raster tile where they were to be drawn.
    pub missed: u64,
    /// Raster tiles out of the coarse raster.
    pub tiles: u64,
    /// Raster tiles dropped by Hi-Z.
    pub tiles_hidden: u64,
    /// Raster tiles without a covered pixel.
    pub tiles_empty: u64,
}
