//! ZROP: the termination test, and updates of termination bits.

use std::collections::VecDeque;

use quadrille::gpu::zrop::unit::ZropSpec;

use super::packets::{Beat, Scene, fragments};
use super::queue::{Cycle, Fifo, Pipe, Port};
use super::ratio;

/// A termination bit on its way from CROP.
#[derive(Debug, Clone, Copy)]
pub(super) struct Update {
    /// Cycle at which it arrives.
    pub(super) due: Cycle,
    pub(super) quad: usize,
    /// Mask of its pixel.
    pub(super) mask: u8,
}

/// Tests beats in order. A beat is looked up when there is a place among those that wait for their
/// values, which are there at once, and then passes the port in slots. Updates go first.
#[derive(Debug)]
pub(super) struct Zrop {
    terminating: bool,
    update_cycles: u64,
    quads_per_slot: usize,
    lookup: Port,
    places: usize,
    /// Beats that were looked up, and the number of quads of the first that were tested.
    waiting: VecDeque<Beat>,
    tested: usize,
    passed: Beat,
    pub(super) pipe: Pipe<Beat>,
    pub(super) updates: VecDeque<Update>,
    /// By quad: termination bits.
    bits: Vec<u8>,
    /// By quad and pixel: cycle in which the bit was written.
    pub(super) terminated_at: Vec<[Option<Cycle>; 4]>,
    pub(super) terminated: u64,
    pub(super) updates_performed: u64,
}

impl Zrop {
    pub(super) fn new(spec: &ZropSpec, terminating: bool, scene: &Scene) -> Self {
        let rate = ratio(spec.quads_per_cycle);
        let quads_per_slot = rate.quads_per_slot();
        let slots = rate.of_groups(quads_per_slot);
        let quads = scene.tiles() as usize * 64;
        Self {
            terminating,
            update_cycles: spec.update_cycles,
            quads_per_slot: quads_per_slot as usize,
            lookup: Port::new(slots),
            places: spec.wait_queue as usize,
            waiting: VecDeque::new(),
            tested: 0,
            passed: Beat::default(),
            pipe: Pipe::new(slots, spec.latency_cycles),
            updates: VecDeque::new(),
            bits: vec![0; quads],
            terminated_at: vec![[None; 4]; quads],
            terminated: 0,
            updates_performed: 0,
        }
    }

    pub(super) fn begin_cycle(&mut self) {
        self.lookup.begin_cycle();
        self.pipe.port.begin_cycle();
    }

    pub(super) fn end_cycle(&mut self, now: Cycle) {
        self.lookup.end_cycle(now);
        self.pipe.port.end_cycle(now);
    }

    pub(super) fn step(
        &mut self,
        now: Cycle,
        queue: &mut Fifo<Beat>,
        next: &mut Fifo<Beat>,
    ) -> bool {
        let mut moved = self.pipe.deliver(now, next);
        if !self.terminating {
            while self.pipe.can_start()
                && let Some(beat) = queue.pop()
            {
                let slots = beat.quads.len().div_ceil(self.quads_per_slot).max(1);
                self.pipe.start(now, slots as u64, Some(beat));
                moved = true;
            }
            return moved;
        }
        while self.lookup.is_free()
            && self.waiting.len() < self.places
            && let Some(beat) = queue.pop()
        {
            self.lookup.start(now, 1);
            self.waiting.push_back(beat);
            moved = true;
        }
        // An update goes no further than the port, so it needs no room in the pipeline.
        while self.pipe.port.is_free() && self.update(now)
            || self.pipe.can_start() && self.test_slot(now)
        {
            moved = true;
        }
        moved
    }

    /// Performs the first update if it has arrived.
    fn update(&mut self, now: Cycle) -> bool {
        let Some(update) = self.updates.front().copied().filter(|u| u.due <= now) else {
            return false;
        };
        self.updates.pop_front();
        self.updates_performed += 1;
        self.bits[update.quad] |= update.mask;
        self.terminated_at[update.quad][update.mask.trailing_zeros() as usize] = Some(now);
        self.pipe.port.hold(now, self.update_cycles);
        true
    }

    /// Tests the next quads of the first beat: as many as pass the port together.
    fn test_slot(&mut self, now: Cycle) -> bool {
        let Some(beat) = self.waiting.front() else {
            return false;
        };
        let quads = beat.quads.iter().skip(self.tested).take(self.quads_per_slot);
        for quad in quads {
            let bits = self.bits[beat.tile as usize * 64 + usize::from(quad.position)];
            self.terminated += fragments(quad.mask & bits);
            let mask = quad.mask & !bits;
            if mask != 0 {
                self.passed.quads.push(super::packets::Quad { mask, ..*quad });
            }
        }
        self.tested += self.quads_per_slot;
        let mut out = None;
        if self.tested >= beat.quads.len() {
            self.tested = 0;
            let passed = std::mem::take(&mut self.passed.quads);
            if !passed.is_empty() || beat.last {
                out = Some(Beat { quads: passed, ..beat.clone() });
            }
            self.waiting.pop_front();
        }
        self.pipe.start(now, 1, out);
        true
    }

    pub(super) fn has_ended(&self) -> bool {
        self.waiting.is_empty() && self.updates.is_empty() && self.pipe.is_idle()
    }
}
