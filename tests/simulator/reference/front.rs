//! Vertex shading, and the units that are a port and a pipeline.

use std::collections::VecDeque;

use quadrille::gpu::geometry::vertex::VertexSpec;

use super::packets::{Primitive, Rect, Scene};
use super::queue::{Cycle, Fifo, Pipe, Ratio};
use super::ratio;

/// A vertex warp in the buffer.
#[derive(Debug)]
struct VertexWarp {
    ready: Cycle,
    splats: VecDeque<usize>,
}

/// Vertex shading: one warp is dispatched per cycle while there is room in the buffer, and its splats
/// are emitted in order.
#[derive(Debug)]
pub(super) struct Vertex {
    spec: VertexSpec,
    /// Latency of memory, which delivers nothing.
    memory: u64,
    splats: VecDeque<usize>,
    buffer: VecDeque<VertexWarp>,
    /// Whether a warp was dispatched in this cycle.
    dispatched: bool,
    pub(super) warps: u64,
    /// Cycles at which the data of warps arrive that have not run on the cores.
    arriving: VecDeque<Cycle>,
    pub(super) pipe: Pipe<Primitive>,
}

impl Vertex {
    pub(super) fn new(spec: &VertexSpec, memory: u64, scene: &Scene) -> Self {
        Self {
            spec: spec.clone(),
            memory,
            splats: (0..scene.splats.len()).collect(),
            buffer: VecDeque::new(),
            dispatched: false,
            warps: 0,
            arriving: VecDeque::new(),
            pipe: Pipe::new(ratio(spec.primitives_per_cycle), 0),
        }
    }

    pub(super) fn begin_cycle(&mut self) {
        self.pipe.port.begin_cycle();
        self.dispatched = false;
    }

    pub(super) fn step(&mut self, now: Cycle, next: &mut Fifo<Primitive>) -> bool {
        let mut moved = self.pipe.deliver(now, next);
        // The buffer is held until the next unit has the last primitive.
        if moved && self.buffer.front().is_some_and(|warp| warp.splats.is_empty()) {
            self.buffer.pop_front();
        }
        let has_room = self.buffer.len() < self.spec.warps as usize;
        if !self.dispatched && has_room && !self.splats.is_empty() {
            let count = self.splats.len().min(self.spec.splats_per_warp as usize);
            self.buffer.push_back(VertexWarp {
                ready: now + self.memory + self.spec.latency_cycles,
                splats: self.splats.drain(..count).collect(),
            });
            self.dispatched = true;
            self.warps += 1;
            self.arriving.push_back(now + self.memory);
            moved = true;
        }
        if let Some(warp) = self.buffer.front_mut()
            && warp.ready <= now
            && self.pipe.can_start()
            && let Some(splat) = warp.splats.pop_front()
        {
            let bounds = Rect::square(0, 0, 0);
            self.pipe.start(now, 1, Some(Primitive { splat, bounds }));
            moved = true;
        }
        moved
    }

    /// Number of warps whose data have arrived, once each.
    pub(super) fn arrived(&mut self, now: Cycle) -> usize {
        let count = self.arriving.iter().take_while(|at| **at <= now).count();
        self.arriving.drain(..count);
        count
    }

    pub(super) fn has_ended(&self) -> bool {
        self.splats.is_empty() && self.buffer.is_empty() && self.pipe.is_idle()
    }
}

/// A unit that is a port and a pipeline.
#[derive(Debug)]
pub(super) struct Simple<T> {
    pub(super) pipe: Pipe<T>,
    /// Splat of the last item.
    group: Option<usize>,
}

impl<T> Simple<T> {
    pub(super) fn new(rate: Ratio, latency: u64) -> Self {
        Self { pipe: Pipe::new(rate, latency), group: None }
    }

    /// Moves what can be moved. `group` names what an item belongs to; items of two groups share no
    /// cycle. `work` returns how many items an item counts as, and what it becomes.
    pub(super) fn step<S>(
        &mut self,
        now: Cycle,
        queue: &mut Fifo<S>,
        next: &mut Fifo<T>,
        group: impl Fn(&S) -> usize,
        mut work: impl FnMut(S) -> (u64, Option<T>),
    ) -> bool {
        let mut moved = self.pipe.deliver(now, next);
        while self.pipe.can_start()
            && let Some(item) = queue.front()
        {
            let group = Some(group(item));
            if self.group != group && !self.pipe.port.is_idle() {
                break;
            }
            self.group = group;
            let item = queue.pop().expect("an item");
            let (count, out) = work(item);
            self.pipe.start(now, count, out);
            moved = true;
        }
        moved
    }
}
