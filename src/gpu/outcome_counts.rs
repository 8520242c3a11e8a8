//! Outcomes of fragments, quads and primitives.

use quadrille_machine::statistics;
use serde::{Deserialize, Serialize};

statistics! {
    /// Fragments by outcome: `hidden + terminated + shaded = rasterized` and `pruned + merged + dropped +
    /// blended = shaded`.
    #[derive(Copy, Serialize, Deserialize)]
    pub struct FragmentCounts {
        /// Fragments rasterized: covered pixels before any test.
        pub rasterized: u64,
        /// Fragments dropped by Hi-Z, the stencil test (of whole tiles, too) or the depth test.
        pub hidden: u64,
        /// Fragments dropped by the termination test.
        pub terminated: u64,
        /// Fragments shaded.
        pub shaded: u64,
        /// Fragments shaded whose alpha is below the cut.
        pub pruned: u64,
        /// Fragments removed by quad merging in the shader.
        pub merged: u64,
        /// Fragments not blended because of ideal termination.
        pub dropped: u64,
        /// Fragments blended by CROP or by the shader.
        pub blended: u64,
        /// Fragments blended into pixels that had already reached the threshold; part of `blended`.
        pub late: u64,
    }
}

statistics! {
    /// Quads by outcome, with the same sums as the fragment counts.
    #[derive(Copy, Serialize, Deserialize)]
    pub struct QuadCounts {
        /// Quads emitted by the fine raster, and quads of terminated pixels dropped with their tiles.
        pub rasterized: u64,
        /// Quads dropped by the stencil test or the depth test.
        pub hidden: u64,
        /// Quads dropped by the termination test.
        pub terminated: u64,
        /// Quads shaded.
        pub shaded: u64,
        /// Quads shaded without a fragment above the alpha cut.
        pub pruned: u64,
        /// Pairs of quads merged into one quad in the shader.
        pub merged_pairs: u64,
        /// Quads not blended because of ideal termination.
        pub dropped: u64,
        /// Quads blended by CROP or by the shader.
        pub blended: u64,
        /// Quads at the termination test, by the number (0 to 4) of fragments above the alpha cut in live pixels.
        pub live: [u64; 5],
    }
}

statistics! {
    /// Primitives and raster tiles by outcome.
    #[derive(Serialize, Deserialize)]
    pub struct PrimitiveCounts {
        /// Splats drawn.
        pub splats: u64,
        /// Primitives received by assembly.
        pub primitives: u64,
        /// Primitives culled by assembly.
        pub culled: u64,
        /// Primitives set up, counted once per GPC and tile grid.
        pub set_up: u64,
        /// Primitives set up that touch no raster tile.
        pub missed: u64,
        /// Raster tiles emitted by the coarse raster.
        pub tiles: u64,
        /// Raster tiles dropped ahead of these by the stencil test of whole tiles (`zrop.tile_stencil`).
        pub tiles_dropped: u64,
        /// Raster tiles dropped by Hi-Z.
        pub tiles_hidden: u64,
        /// Raster tiles without a covered pixel.
        pub tiles_empty: u64,
    }
}
