//! The coarse raster.

use std::collections::VecDeque;

use quadrille::gpu::raster::coarse::CoarseSpec;

use super::packets::{Primitive, Quad, RASTER_TILE, RasterTile, Rect, Scene, TILE};
use super::queue::{Cycle, Fifo, Pipe, Port};
use super::ratio;

/// Walks over the screen tiles in a primitive's box and emits their raster tiles. A screen tile is
/// tested when all raster tiles of the one before have been issued.
#[derive(Debug)]
pub(super) struct Coarse {
    walk: Port,
    pub(super) pipe: Pipe<RasterTile>,
    /// Whether a primitive is in work.
    working: bool,
    /// Screen tiles that are not tested yet.
    screen_tiles: VecDeque<Rect>,
    /// Raster tiles of the tested screen tile that are not issued yet.
    raster_tiles: VecDeque<RasterTile>,
    primitive: Option<Primitive>,
    /// Whether the unit worked in this cycle.
    worked: bool,
    pub(super) busy: u64,
    pub(super) end: Cycle,
}

impl Coarse {
    pub(super) fn new(spec: &CoarseSpec) -> Self {
        Self {
            walk: Port::new(ratio(spec.screen_tiles_tested_per_cycle)),
            pipe: Pipe::new(ratio(spec.tiles_per_cycle), spec.latency_cycles),
            working: false,
            screen_tiles: VecDeque::new(),
            raster_tiles: VecDeque::new(),
            primitive: None,
            worked: false,
            busy: 0,
            end: 0,
        }
    }

    pub(super) fn begin_cycle(&mut self) {
        self.walk.begin_cycle();
        self.pipe.port.begin_cycle();
        self.worked = false;
        if self.screen_tiles.is_empty() && self.raster_tiles.is_empty() {
            self.working = false;
        }
    }

    pub(super) fn end_cycle(&mut self, now: Cycle) {
        self.walk.end_cycle(now);
        self.pipe.port.end_cycle(now);
        // A raster tile that waits for its port stalls the walk.
        let is_walking = (self.worked || !self.walk.is_idle()) && self.raster_tiles.is_empty();
        if is_walking || !self.pipe.port.is_idle() {
            self.busy += 1;
            self.end = now + 1;
        }
    }

    pub(super) fn step(
        &mut self,
        now: Cycle,
        scene: &Scene,
        queue: &mut Fifo<Primitive>,
        next: &mut Fifo<RasterTile>,
    ) -> bool {
        let mut moved = self.pipe.deliver(now, next);
        // A primitive begins in a cycle of its own.
        let is_free = !self.working && self.walk.is_idle() && self.pipe.port.is_idle();
        if is_free
            && self.pipe.can_start()
            && let Some(primitive) = queue.pop()
        {
            self.begin(primitive);
            moved = true;
        }
        loop {
            if !self.raster_tiles.is_empty() {
                if !self.pipe.can_start() {
                    break;
                }
                let tile = self.raster_tiles.pop_front();
                self.pipe.start(now, 1, tile);
            } else if let Some(&square) = self.screen_tiles.front()
                && self.walk.is_free()
            {
                self.screen_tiles.pop_front();
                self.walk.start(now, 1);
                self.test(square, scene);
            } else {
                break;
            }
            self.worked = true;
            moved = true;
        }
        moved
    }

    fn begin(&mut self, primitive: Primitive) {
        let b = primitive.bounds;
        for y in b.y0 / TILE..=(b.y1 - 1) / TILE {
            for x in b.x0 / TILE..=(b.x1 - 1) / TILE {
                self.screen_tiles.push_back(Rect::square(x, y, TILE));
            }
        }
        self.working = true;
        self.primitive = Some(primitive);
    }

    /// Finds the raster tiles of a screen tile that the primitive touches, and their quads.
    fn test(&mut self, square: Rect, scene: &Scene) {
        let Primitive { splat, bounds } = self.primitive.expect("a primitive");
        let outline = &scene.splats[splat].outline;
        let tile = (square.y0 / TILE) as u32 * scene.tiles_across() + (square.x0 / TILE) as u32;
        for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let [x, y] = [square.x0 + column * RASTER_TILE, square.y0 + row * RASTER_TILE];
            let raster_tile = Rect { x0: x, y0: y, x1: x + RASTER_TILE, y1: y + RASTER_TILE };
            if bounds.within(raster_tile).is_empty() || !outline.touches(raster_tile) {
                continue;
            }
            let mut quads = Vec::new();
            for qy in (y..y + RASTER_TILE).step_by(2) {
                for qx in (x..x + RASTER_TILE).step_by(2) {
                    let mask = outline.quad_mask(qx, qy, bounds);
                    let position = ((qy - square.y0) / 2 * 8 + (qx - square.x0) / 2) as u8;
                    if mask != 0 {
                        quads.push(Quad { splat, position, mask });
                    }
                }
            }
            self.raster_tiles.push_back(RasterTile { splat, tile, quads });
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        !self.working && self.pipe.is_idle() && self.walk.is_idle()
    }
}
