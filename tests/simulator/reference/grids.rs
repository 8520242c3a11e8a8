//! Tile-grid coalescing.

use std::collections::VecDeque;

use quadrille::gpu::coalesce::tile_grid_coalescing::TgcSpec;

use super::bins::Bins;
use super::packets::{Primitive, Rect, Scene, TILE};
use super::queue::{Cycle, Fifo, Pipe, Port};
use super::ratio;

/// Gathers primitives by grids of screen tiles. A primitive leaves the queue for a register, from
/// which it is written to the bin of each grid in its box.
#[derive(Debug)]
pub(super) struct GridCoalescing {
    pub(super) bins: Bins<Primitive>,
    pub(super) input: Port,
    pub(super) output: Pipe<Primitive>,
    grid_px: i32,
    grids_across: u32,
    /// Grids and parts of the primitive in the register that are not written yet.
    register: VecDeque<(u32, Primitive)>,
    ended: bool,
}

impl GridCoalescing {
    pub(super) fn new(spec: &TgcSpec, scene: &Scene) -> Self {
        let grid_px = spec.grid_tiles as i32 * TILE;
        Self {
            bins: Bins::new(spec.bins, spec.bin_size, spec.evict, None),
            input: Port::new(ratio(spec.primitives_in_per_cycle)),
            output: Pipe::new(ratio(spec.primitives_out_per_cycle), spec.latency_cycles),
            grid_px,
            grids_across: scene.width.div_ceil(grid_px as u32),
            register: VecDeque::new(),
            ended: false,
        }
    }

    pub(super) fn begin_cycle(&mut self, now: Cycle) {
        self.bins.begin_cycle(now);
        self.input.begin_cycle();
        self.output.port.begin_cycle();
    }

    pub(super) fn end_cycle(&mut self, now: Cycle) {
        self.input.end_cycle(now);
        self.output.port.end_cycle(now);
    }

    /// `ended`: nothing more will enter `queue`.
    pub(super) fn step(
        &mut self,
        now: Cycle,
        queue: &mut Fifo<Primitive>,
        next: &mut Fifo<Primitive>,
        ended: bool,
    ) -> bool {
        let mut moved = self.output.deliver(now, next);
        while self.bins.has_flushed() && self.output.can_start() {
            let leaving = self.bins.take(1);
            self.output.start(now, 1, leaving.items.first().copied());
            moved = true;
        }
        if self.register.is_empty()
            && self.input.is_free()
            && let Some(primitive) = queue.pop()
        {
            self.split(primitive);
            moved = true;
        }
        if let Some((grid, part)) = self.register.front().copied()
            && self.input.is_free()
        {
            let bin = self.bins.bin_for(grid);
            if self.bins.places(bin) > 0 {
                self.bins.write(bin, [part].into_iter(), now);
                self.input.start(now, 1);
                self.register.pop_front();
                moved = true;
            }
        }
        let is_over = ended && queue.is_empty() && self.register.is_empty() && self.input.is_idle();
        if is_over && !self.ended {
            self.ended = true;
            self.bins.flush_all();
            moved = true;
        }
        moved
    }

    /// Cuts a primitive at the borders of grids, row by row.
    fn split(&mut self, primitive: Primitive) {
        let (size, b) = (self.grid_px, primitive.bounds);
        for y in b.y0 / size..=(b.y1 - 1) / size {
            for x in b.x0 / size..=(b.x1 - 1) / size {
                let bounds = b.within(Rect::square(x, y, size));
                let part = Primitive { bounds, ..primitive };
                let grid = y as u32 * self.grids_across + x as u32;
                self.register.push_back((grid, part));
            }
        }
    }

    /// Whether the unit will emit nothing more.
    pub(super) fn has_ended(&self) -> bool {
        self.ended && self.bins.is_empty() && self.output.is_idle()
    }
}
