//! Units of the emulated pipeline on their own: a machine, and a sink that notes what comes.

use quadrille::gpu::config::Config;
use quadrille::gpu::draw::Draw;
use quadrille::gpu::draw_state::DrawState;
use quadrille::gpu::wiring::draw_state;
use quadrille::gpu::zrop::framebuffer::Tests;
use quadrille::machine::stage::Sink;
use quadrille::machine::timing::Cycle;

/// The end of a pipeline of one unit: records the offered items with their cycles, and takes one item per interval
/// of cycles.
#[derive(Debug)]
pub(crate) struct Collector<T> {
    /// Each item, when it was offered and when it was taken.
    pub(crate) items: Vec<(T, Cycle, Cycle)>,
    /// Cycles between two items, 0 for no limit.
    every: u64,
    free: Cycle,
    /// When the unit before said that nothing more comes.
    pub(crate) ended: Option<Cycle>,
}

impl<T> Collector<T> {
    /// A sink that takes an item every `every` cycles, the first at `every`; 0 for at any time.
    pub(crate) fn new(every: u64) -> Self {
        Self { items: Vec::new(), every, free: every, ended: None }
    }

    /// The items alone.
    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.items.iter().map(|(item, ..)| item)
    }

    /// When each was offered.
    pub(crate) fn times(&self) -> Vec<Cycle> {
        self.items.iter().map(|(_, at, _)| *at).collect()
    }
}

impl<T, M> Sink<T, M> for Collector<T> {
    fn offer(&mut self, item: T, at: Cycle, _machine: &mut M) -> Cycle {
        let taken = at.max(self.free);
        self.free = taken + self.every;
        self.items.push((item, at, taken));
        taken
    }

    fn free(&self) -> Cycle {
        self.free
    }

    fn end(&mut self, at: Cycle, _machine: &mut M) {
        assert!(self.ended.is_none(), "ended twice");
        self.ended = Some(at);
    }
}

/// `count` rectangles of 2x2 pixels on a picture of `side` by `side` pixels, each red by its number
/// plus 1 and of alpha 1/4.
pub(crate) fn numbered_draw(side: u32, count: u32) -> Draw {
    let rectangles: Vec<_> = (0..count).map(|n| [n % 4 * 2, n / 4 % 4 * 2, 2, 2]).collect();
    let mut draw = Draw::rectangles(side, side, &rectangles, [1.0; 3], 0.25);
    for (splat, n) in draw.splats.iter_mut().zip(1_u16..) {
        splat.colour[0] = f32::from(n);
    }
    draw
}

/// The machine of a draw, with early termination or without.
pub(crate) fn machine<'a>(
    draw: &'a Draw,
    config: &Config,
    tests: &Tests,
    terminating: bool,
) -> DrawState<'a> {
    draw_state(draw, draw.shader(), tests, config, terminating)
}
