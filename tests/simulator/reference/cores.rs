//! Shader cores.

use std::collections::VecDeque;

use quadrille::gpu::warp::cores::CoresSpec;
use quadrille_base::shading::under;

use super::packets::{Colour, ColourQuad, Quad, Scene, Warp, fragments};
use super::queue::{Cycle, Fifo, Port};
use super::ratio;

/// A warp in a slot.
#[derive(Debug)]
struct Slot {
    warp: Warp,
    /// Number of the warp.
    number: u64,
    /// Cycle at which its results are there.
    done: Option<Cycle>,
    /// Whether it has passed the port towards CROP.
    is_exported: bool,
}

/// A scheduler: issues the instructions of its warps, the oldest first.
#[derive(Debug, Default)]
struct Scheduler {
    warps: VecDeque<u64>,
    /// Issue cycles left of the first warp, and the cycle of its first issue, once it has begun.
    current: Option<(u64, Cycle)>,
    /// Issue cycles left of vertex warps.
    vertex: u64,
    /// Whether a slot was used in this cycle.
    issued: bool,
}

/// The cores. Warps go to schedulers in turn, and leave in order.
#[derive(Debug)]
pub(super) struct Cores {
    instructions: u64,
    latency: u64,
    /// Issue cycles of a vertex warp.
    vertex_instructions: u64,
    vertex_warps: usize,
    slots: usize,
    merging: bool,
    warps: VecDeque<Slot>,
    launched: u64,
    schedulers: Vec<Scheduler>,
    export: Port,
    pub(super) shaded: u64,
    pub(super) pruned: u64,
    pub(super) merged: u64,
    /// Issue cycles used.
    pub(super) busy: u64,
    pub(super) end: Cycle,
}

impl Cores {
    pub(super) fn new(spec: &CoresSpec, vertex_instructions: u64, merging: bool) -> Self {
        let more =
            if merging { [spec.merge_instructions, spec.merge_latency_cycles] } else { [0, 0] };
        let schedulers = spec.cores * spec.schedulers;
        Self {
            instructions: (spec.fragment_instructions + more[0]) * spec.issue_cycles,
            latency: spec.fragment_latency_cycles + more[1],
            vertex_instructions: vertex_instructions * spec.issue_cycles,
            vertex_warps: 0,
            slots: (spec.cores * spec.warps_per_core) as usize,
            merging,
            warps: VecDeque::new(),
            launched: 0,
            schedulers: (0..schedulers).map(|_| Scheduler::default()).collect(),
            export: Port::new(ratio(spec.warps_out_per_cycle)),
            shaded: 0,
            pruned: 0,
            merged: 0,
            busy: 0,
            end: 0,
        }
    }

    pub(super) fn begin_cycle(&mut self) {
        self.export.begin_cycle();
        for scheduler in &mut self.schedulers {
            scheduler.issued = false;
        }
    }

    pub(super) fn end_cycle(&mut self, now: Cycle) {
        self.export.end_cycle(now);
        let issued = self.schedulers.iter().filter(|s| s.issued).count();
        self.busy += issued as u64;
        // A draw does not end with a vertex warp.
        if issued > 0 && !self.warps.is_empty() {
            self.end = now + 1;
        }
    }

    /// `queue` has no depth of its own: a warp is in it only until it gets a slot.
    pub(super) fn step(
        &mut self,
        now: Cycle,
        scene: &Scene,
        queue: &mut Fifo<Warp>,
        next: &mut Fifo<Vec<ColourQuad>>,
    ) -> bool {
        let mut moved = false;
        while self.retire(now, scene, next) {
            moved = true;
        }
        // A slot that is left in this cycle is taken in it.
        while let Some(warp) = queue.pop() {
            let number = self.launched;
            self.launched += 1;
            let scheduler = (number % self.schedulers.len() as u64) as usize;
            self.schedulers[scheduler].warps.push_back(number);
            self.warps.push_back(Slot { warp, number, done: None, is_exported: false });
            moved = true;
        }
        for scheduler in 0..self.schedulers.len() {
            moved |= self.issue(scheduler, now);
        }
        moved
    }

    /// Runs vertex warps, which go to schedulers in turn as well. They go first and keep no slot.
    pub(super) fn add_vertex_warps(&mut self, count: usize) {
        for _ in 0..count {
            let scheduler = self.vertex_warps % self.schedulers.len();
            self.schedulers[scheduler].vertex += self.vertex_instructions;
            self.vertex_warps += 1;
        }
    }

    /// Number of free slots.
    pub(super) fn room(&self) -> usize {
        self.slots - self.warps.len()
    }

    /// Uses the issue slot of a scheduler in this cycle, if one of its warps has an instruction.
    fn issue(&mut self, scheduler: usize, now: Cycle) -> bool {
        let scheduler = &mut self.schedulers[scheduler];
        if scheduler.issued {
            return false;
        }
        if scheduler.vertex > 0 {
            scheduler.vertex -= 1;
            scheduler.issued = true;
            return true;
        }
        let Some(&number) = scheduler.warps.front() else {
            return false;
        };
        scheduler.issued = true;
        let (left, first) = scheduler.current.unwrap_or((self.instructions, now));
        scheduler.current = Some((left - 1, first));
        if left == 1 {
            scheduler.current = None;
            scheduler.warps.pop_front();
            let slot = self.warps.iter_mut().find(|slot| slot.number == number);
            slot.expect("a warp").done = Some((now + 1).max(first + self.latency));
        }
        true
    }

    /// Lets the oldest warp leave, if it is done.
    fn retire(&mut self, now: Cycle, scene: &Scene, next: &mut Fifo<Vec<ColourQuad>>) -> bool {
        let Some(slot) = self.warps.front_mut() else {
            return false;
        };
        if slot.done.is_none_or(|done| done > now) {
            return false;
        }
        let survives = |quad: &Quad| scene.splats[quad.splat].alpha.is_some();
        if slot.warp.quads.iter().any(survives) {
            if !slot.is_exported {
                if !self.export.is_free() {
                    return false;
                }
                self.export.start(now, 1);
                slot.is_exported = true;
            }
            if !next.has_room() {
                return false;
            }
            let warp = std::mem::take(&mut slot.warp);
            next.push(self.shade(&warp, scene));
        } else {
            let warp = std::mem::take(&mut slot.warp);
            self.shade(&warp, scene);
        }
        self.warps.pop_front();
        self.end = self.end.max(now);
        true
    }

    /// Colours of a warp's quads that have a fragment left, pairs merged.
    fn shade(&mut self, warp: &Warp, scene: &Scene) -> Vec<ColourQuad> {
        let mut out: Vec<ColourQuad> = Vec::new();
        for (number, quad) in warp.quads.iter().enumerate() {
            let splat = &scene.splats[quad.splat];
            self.shaded += fragments(quad.mask);
            let mask = if splat.alpha.is_some() { quad.mask } else { 0 };
            self.pruned += fragments(quad.mask & !mask);
            let alpha = splat.alpha.unwrap_or(0.0);
            let [r, g, b] = splat.colour.map(|c| alpha * c);
            let covered =
                |value: f32| [0, 1, 2, 3].map(|bit| if mask >> bit & 1 == 1 { value } else { 0.0 });
            let colour: Colour = [r, g, b, alpha].map(covered);
            let is_second = self.merging && number % 2 == 1 && warp.pairs >> (number / 2) & 1 == 1;
            match out.last_mut().filter(|_| is_second) {
                Some(first) => {
                    self.merged += fragments(first.mask & mask);
                    first.mask |= mask;
                    first.colour = under(&first.colour, &colour);
                }
                None => {
                    out.push(ColourQuad { tile: warp.tile, position: quad.position, mask, colour });
                }
            }
        }
        out.retain(|quad| quad.mask != 0);
        out
    }

    pub(super) fn has_ended(&self) -> bool {
        self.warps.is_empty()
    }
}
