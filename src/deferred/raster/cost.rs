//! Cost of the raster in arithmetic operations (section 5.1).

use quadrille_machine::spec;

spec! {
    /// Arithmetic operations per step of the raster.
    RasterCost in "raster" {
        /// Operations per set-up of a triangle.
        set_up_ops: u32 = 250, 0..=1_000_000, Assumed "edge polynomials in time and on the lens, and both culls";
        /// Operations per test of a tile or of a block of 2x2 pixels.
        tile_ops: u32 = 200, 0..=1_000_000, Assumed "bounds of four sides in time and on the lens, and three edges";
        /// Operations per test of a sample.
        sample_ops: u32 = 25, 0..=1_000_000, Published "Laine et al. 2011: 25 fused multiply-adds per test";
        /// Operations per hit, for the interpolation of depth and barycentrics.
        hit_ops: u32 = 10, 0..=1_000_000, Assumed "15 % of the published operations at the published efficiency are 9.8 per hit";
    }
}

/// Counters of the set-up and the raster.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RasterCounters {
    /// Vertices whose positions are projected.
    pub vertices: u64,
    /// Triangles submitted, culled or not.
    pub triangles: u64,
    /// Triangles culled because they are never in the picture.
    pub outside: u64,
    /// Triangles culled because no side that is drawn is ever visible.
    pub(crate) turned_away: u64,
    /// Triangles culled because a coordinate is beyond the range of f32.
    pub not_finite: u64,
    /// Tests of tiles of 8x8 pixels and of blocks of 2x2 pixels.
    pub tile_tests: u64,
    /// Samples tested.
    pub sample_tests: u64,
    /// Samples hit.
    pub hits: u64,
}

/// Arithmetic operations of the raster, by step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RasterOps {
    /// Operations for the set-up of triangles.
    pub set_up: u64,
    /// Operations for tests of tiles and blocks.
    pub tile: u64,
    /// Operations for tests of samples.
    pub sample: u64,
    /// Operations for the depths and barycentrics of hits.
    pub hit: u64,
}

impl RasterCounters {
    /// Triangles culled before the raster, for any reason.
    pub fn culled(&self) -> u64 {
        self.outside + self.turned_away + self.not_finite
    }

    /// Adds the counters of another part of the frame.
    pub fn add(&mut self, other: &Self) {
        self.vertices += other.vertices;
        self.triangles += other.triangles;
        self.outside += other.outside;
        self.turned_away += other.turned_away;
        self.not_finite += other.not_finite;
        self.tile_tests += other.tile_tests;
        self.sample_tests += other.sample_tests;
        self.hits += other.hits;
    }

    /// Multiplies the counters by the operations of each step.
    pub fn ops(&self, cost: &RasterCost) -> RasterOps {
        RasterOps {
            set_up: self.triangles * u64::from(cost.set_up_ops),
            tile: self.tile_tests * u64::from(cost.tile_ops),
            sample: self.sample_tests * u64::from(cost.sample_ops),
            hit: self.hits * u64::from(cost.hit_ops),
        }
    }
}

impl RasterOps {
    /// Sum of the operations of all steps.
    pub fn total(&self) -> u64 {
        self.set_up + self.tile + self.sample + self.hit
    }
}
