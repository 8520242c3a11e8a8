//! Outcomes of fragments, quads and primitives.

use quadrille_machine::statistics;
use serde::{Deserialize, Serialize};

statistics! {
    /// Fragments by outcome: `hidden + terminated + shaded = rasterized` and `pruned + merged + dropped +
    /// blended = shaded`.
    #[derive(Copy, Serialize, Deserialize)]
    pub struct FragmentCounts {
        /// Covered pixels before any test.
        pub rasterized: u64,
        /// Dropped by Hi-Z, the stencil test or the depth test.
        pub hidden: u64,
        /// Dropped by the termination test.
        pub terminated: u64,
        /// Shaded.
        pub shaded: u64,
        /// Shaded, and below the alpha cut.
        pub pruned: u64,
        /// Removed by quad merging in the shader.
        pub merged: u64,
        /// Not blended because of ideal termination.
        pub dropped: u64,
        /// Blended by CROP.
        pub blended: u64,
        /// Blended into pixels that had already reached the threshold; part of `blended`.
        pub late: u64,
    }
}

statistics! {
    /// Quads by outcome, with the same sums as the fragment counts.
    #[derive(Copy, Serialize, Deserialize)]
    pub struct QuadCounts {
        /// Emitted by the fine raster.
        pub rasterized: u64,
        /// Dropped by the stencil or the depth test.
        pub hidden: u64,
        /// Dropped by the termination test.
        pub terminated: u64,
        /// Shaded.
        pub shaded: u64,
        /// Shaded, without a fragment above the alpha cut.
        pub pruned: u64,
        /// Pairs of quads merged into one in the shader.
        pub merged_pairs: u64,
        /// Not blended because of ideal termination.
        pub dropped: u64,
        /// Blended by CROP.
        pub blended: u64,
        /// Quads at the termination test, by the number (0 to 4) of fragments above the alpha cut in live pixels.
        pub live: [u64; 5],
    }
}

statistics! {
    /// Outcomes of primitives and raster tiles.
    #[derive(Serialize, Deserialize)]
    pub struct PrimitiveCounts {
        /// Splats drawn.
        pub splats: u64,
        /// Primitives before assembly.
        pub primitives: u64,
        /// Primitives culled by assembly.
        pub culled: u64,
        /// Primitives set up, counted once per GPC and tile grid.
        pub set_up: u64,
        /// Primitives set up that touch no raster tile.
        pub missed: u64,
        /// Raster tiles emitted by the coarse raster.
        pub tiles: u64,
        /// Raster tiles dropped by Hi-Z.
        pub tiles_hidden: u64,
        /// Raster tiles without a covered pixel.
        pub tiles_empty: u64,
    }
}
