//! Coarse raster: the raster tiles (8x8 pixels) that a primitive may touch, screen tile by screen
//! tile (VR-Pipe, section V-A).
//!
//! In: primitives with their edges. Out: raster tiles, row by row of screen tiles and within each
//! row by row. Rate: one raster tile a cycle; a primitive that touches none takes a cycle. The test
//! is the usual conservative one, each edge at the tile's most inside corner, so tiles may turn out
//! to be empty in the fine raster. What pixels each tile covers is worked out here, for whole rows
//! at once, and travels along; the fine raster is where it counts.

use crate::gpu::geometry::assembly::TileOwner;
use crate::gpu::machine::Machine;
use crate::gpu::packets::{RASTER_TILE_PX, RasterTile, SetUp, TILE_PX};
use crate::gpu::spec::spec;
use crate::gpu::stage::{Pipe, Sink, Stage};
use crate::gpu::timing::Cycle;

spec! {
    /// Coarse raster.
    CoarseSpec in "coarse" {
        /// Primitives in the queue before it.
        queue: u64 = 2, 1..=65_536, Assumed "as public GPGPU graphics simulators have";
        /// Cycles a raster tile.
        cycles_per_tile: u64 = 1, 1..=1024, Assumed "one raster tile a cycle; bounded below by the published speedups";
        /// Latency in cycles.
        latency_cycles: u64 = 1, 0..=10_000, Assumed "one cycle";
    }
}

/// The unit.
#[derive(Debug)]
pub struct Coarse {
    cycles: u64,
    owner: TileOwner,
    /// Issue port.
    pub pipe: Pipe,
    /// Primitives in.
    pub primitives_in: u64,
    /// Primitives that touch no raster tile of this GPC.
    pub primitives_missed: u64,
    /// Raster tiles out.
    pub tiles_out: u64,
}

impl Coarse {
    /// A unit of this specification, for the screen tiles of `owner`.
    #[must_use]
    pub fn new(spec: &CoarseSpec, owner: TileOwner) -> Self {
        Self {
            cycles: spec.cycles_per_tile,
            owner,
            pipe: Pipe::new(spec.latency_cycles),
            primitives_in: 0,
            primitives_missed: 0,
            tiles_out: 0,
        }
    }
}

impl Stage for Coarse {
    type In = SetUp;
    type Out = RasterTile;

    #[allow(
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        reason = "bounds lie inside the picture"
    )]
    fn accept(
        &mut self,
        item: SetUp,
        arrival: Cycle,
        machine: &mut Machine<'_>,
        next: &mut impl Sink<RasterTile>,
    ) -> Cycle {
        const TILE: i32 = TILE_PX as i32;
        const RASTER: i32 = RASTER_TILE_PX as i32;
        self.primitives_in += 1;
        let bounds = item.bounds;
        let first_start = self.pipe.start(arrival);
        let mut start = first_start;
        let before = self.tiles_out;
        for row in bounds.y0 / TILE..=(bounds.y1 - 1) / TILE {
            let spans = item.polygon.spans(row * TILE, bounds);
            for column in bounds.x0 / TILE..=(bounds.x1 - 1) / TILE {
                if !self.owner.owns(column as u32, row as u32) {
                    continue;
                }
                for quarter in 0..4_u8 {
                    let x = column * TILE + i32::from(quarter & 1) * RASTER;
                    let y = row * TILE + i32::from(quarter >> 1) * RASTER;
                    let outside = x >= bounds.x1
                        || x + RASTER <= bounds.x0
                        || y >= bounds.y1
                        || y + RASTER <= bounds.y0;
                    if outside || !item.polygon.touches(x, y, RASTER) {
                        continue;
                    }
                    let tile = RasterTile {
                        splat: item.splat,
                        tile: row as u32 * machine.surface.tiles_across() + column as u32,
                        quarter,
                        mask: spans.tile_mask(x, usize::from(quarter >> 1) * 8),
                    };
                    self.tiles_out += 1;
                    self.pipe.issue(tile, start, self.cycles, machine, next);
                    start = self.pipe.free();
                }
            }
        }
        if self.tiles_out == before {
            self.primitives_missed += 1;
            self.pipe.work(start, 1);
        }
        first_start
    }

    fn drain(
        &mut self,
        at: Cycle,
        _machine: &mut Machine<'_>,
        _next: &mut impl Sink<RasterTile>,
    ) -> Cycle {
        at.max(self.pipe.done())
    }
}
