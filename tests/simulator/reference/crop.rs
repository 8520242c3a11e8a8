//! CROP: blending, and detection of terminated pixels.

use std::collections::VecDeque;

use quadrille::ColourFormat;
use quadrille::gpu::config::Config;
use quadrille_base::shading::under;

use super::packets::{Colour, ColourQuad, Scene, fragments};
use super::queue::{Cycle, Fifo, Port, Ratio};
use super::ratio;
use super::zrop::Update;

/// Blends quads in order. The quads of a warp are looked up one after another, while there is a place
/// among those that wait for the port. A quad waits for the blend before it at its place.
#[derive(Debug)]
pub(super) struct Crop {
    format: ColourFormat,
    /// Alpha at which pixels terminate, with early termination.
    threshold: Option<f32>,
    feedback_cycles: u64,
    blend_cycles: u64,
    places: usize,
    lookup: Port,
    pub(super) blend: Port,
    /// Quads of the warp in front of the queue that were looked up.
    looked_up: usize,
    waiting: VecDeque<ColourQuad>,
    /// Updates that have not entered the queue to ZROP, and the end of the blend that each belongs to.
    unsent: VecDeque<Update>,
    /// Updates on their way and waiting at most.
    update_places: usize,
    /// By quad: the colour, and when its last blend is done.
    pub(super) colour: Vec<Colour>,
    blended_at: Vec<Cycle>,
    /// Cycle at which the last blend is done, and its bytes have passed the port.
    pub(super) end: Cycle,
    pub(super) quads: u64,
    pub(super) fragments: u64,
    pub(super) late: u64,
    pub(super) terminations: u64,
}

impl Crop {
    pub(super) fn new(config: &Config, terminating: bool, scene: &Scene) -> Self {
        let spec = &config.crop;
        let bytes = u64::from(spec.format.bytes_per_pixel()) * 4;
        let lanes = ratio(spec.quads_per_cycle);
        let port = Ratio { items: spec.bytes_per_cycle, cycles: bytes };
        // The smaller of the two rates.
        let rate = if port.items * lanes.cycles < lanes.items * port.cycles { port } else { lanes };
        let quads = scene.tiles() as usize * 64;
        Self {
            format: spec.format,
            threshold: terminating.then_some(config.zrop.threshold as f32),
            feedback_cycles: config.zrop.feedback_cycles,
            blend_cycles: spec.blend_cycles,
            places: spec.wait_queue as usize,
            lookup: Port::new(rate),
            blend: Port::new(rate),
            looked_up: 0,
            waiting: VecDeque::new(),
            unsent: VecDeque::new(),
            update_places: config.zrop.update_queue as usize,
            colour: vec![Colour::default(); quads],
            blended_at: vec![0; quads],
            end: 0,
            quads: 0,
            fragments: 0,
            late: 0,
            terminations: 0,
        }
    }

    pub(super) fn begin_cycle(&mut self) {
        self.lookup.begin_cycle();
        self.blend.begin_cycle();
    }

    pub(super) fn end_cycle(&mut self, now: Cycle) {
        self.lookup.end_cycle(now);
        let before = self.blend.taken;
        self.blend.end_cycle(now);
        if self.blend.taken > before {
            self.end = self.end.max(now + 1);
        }
    }

    pub(super) fn step(
        &mut self,
        now: Cycle,
        queue: &mut Fifo<Vec<ColourQuad>>,
        updates: &mut VecDeque<Update>,
    ) -> bool {
        let mut moved = false;
        while updates.len() < self.update_places
            && let Some(update) = self.unsent.pop_front_if(|update| update.due <= now)
        {
            let due = now + self.feedback_cycles;
            updates.push_back(Update { due, ..update });
            moved = true;
        }
        loop {
            if self.blend_one(now) {
                moved = true;
                continue;
            }
            let Some(warp) = queue.front() else { break };
            if !self.lookup.is_free() || self.waiting.len() == self.places {
                break;
            }
            self.lookup.start(now, 1);
            self.waiting.push_back(warp[self.looked_up]);
            self.looked_up += 1;
            if self.looked_up == warp.len() {
                self.looked_up = 0;
                queue.pop();
            }
            moved = true;
        }
        moved
    }

    /// Begins the blend of the first quad that waits, if it can.
    fn blend_one(&mut self, now: Cycle) -> bool {
        let Some(quad) = self.waiting.front().copied() else {
            return false;
        };
        let place = quad.tile as usize * 64 + usize::from(quad.position);
        // Nothing moves in the unit while the updates of a blend that is done do not fit.
        let is_stalled = self.unsent.front().is_some_and(|update| update.due <= now);
        if is_stalled || !self.blend.is_free() || self.blended_at[place] > now {
            return false;
        }
        self.waiting.pop_front();
        self.blend.start(now, 1);
        let done = now + self.blend_cycles;
        self.blended_at[place] = done;
        self.end = self.end.max(done);
        self.quads += 1;
        self.fragments += fragments(quad.mask);
        let before = self.colour[place][3];
        self.colour[place] = (self.format).store(under(&self.colour[place], &quad.colour));
        let after = self.colour[place][3];
        let Some(threshold) = self.threshold else {
            return true;
        };
        for pixel in (0..4).filter(|pixel| quad.mask >> pixel & 1 == 1) {
            if before[pixel] >= threshold {
                self.late += 1;
            } else if after[pixel] >= threshold {
                self.terminations += 1;
                self.unsent.push_back(Update { due: done, quad: place, mask: 1 << pixel });
            }
        }
        true
    }

    pub(super) fn has_ended(&self, now: Cycle) -> bool {
        self.waiting.is_empty() && self.unsent.is_empty() && self.end <= now
    }
}
