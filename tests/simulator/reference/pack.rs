//! Quad reordering and warp packing.

use std::collections::VecDeque;

use quadrille::gpu::coalesce::quad_reorder::QruSpec;

use super::packets::{BEAT, Beat, Quad, WARP, Warp};
use super::queue::{Cycle, Fifo, Pipe, Port, Ratio};
use super::ratio;

/// A step of the scan.
#[derive(Debug)]
enum Scan {
    /// A quad of a screen tile.
    Quad(u32, Quad),
    /// The quads before it were the last of their scan.
    End,
}

/// Quad reordering. Beats enter a flush buffer, one per cycle; quads are scanned in order; pairs
/// leave beat by beat. A buffer is free when its last beat has been issued.
#[derive(Debug)]
pub(super) struct QuadReorder {
    window: usize,
    buffers: usize,
    /// Buffers in use, and those to be freed at the end of the cycle.
    used: usize,
    leaving: usize,
    fill: Port,
    /// Quads of the beat in front of the queue that have entered.
    entered: usize,
    /// Whether a scan has a buffer, and the number of its quads that have entered.
    scanning: bool,
    in_window: usize,
    steps: VecDeque<Scan>,
    pub(super) scan: Port,
    /// Quads of the scan, without those that are part of a pair.
    alone: Vec<Quad>,
    tile: u32,
    /// Pairs of the next beat.
    paired: Vec<Quad>,
    /// Beats on their way out, and whether each is the last of its buffer.
    out: VecDeque<(Beat, bool)>,
    pub(super) pipe: Pipe<Beat>,
    pub(super) pairs: u64,
    pub(super) singles: u64,
}

impl QuadReorder {
    pub(super) fn new(spec: &QruSpec) -> Self {
        Self {
            window: spec.window as usize,
            buffers: spec.buffers as usize,
            used: 0,
            leaving: 0,
            fill: Port::new(Ratio::ONE),
            entered: 0,
            scanning: false,
            in_window: 0,
            steps: VecDeque::new(),
            scan: Port::new(ratio(spec.quads_per_cycle)),
            alone: Vec::new(),
            tile: 0,
            paired: Vec::new(),
            out: VecDeque::new(),
            pipe: Pipe::new(Ratio::ONE, spec.latency_cycles),
            pairs: 0,
            singles: 0,
        }
    }

    pub(super) fn begin_cycle(&mut self) {
        self.used -= std::mem::take(&mut self.leaving);
        self.fill.begin_cycle();
        self.scan.begin_cycle();
        self.pipe.port.begin_cycle();
    }

    pub(super) fn end_cycle(&mut self, now: Cycle) {
        self.fill.end_cycle(now);
        self.scan.end_cycle(now);
        self.pipe.port.end_cycle(now);
    }

    pub(super) fn step(
        &mut self,
        now: Cycle,
        queue: &mut Fifo<Beat>,
        next: &mut Fifo<Beat>,
    ) -> bool {
        let mut moved = self.pipe.deliver(now, next);
        moved |= self.enter(now, queue);
        moved |= self.scan_some(now);
        while self.pipe.can_start()
            && let Some((beat, is_last)) = self.out.pop_front()
        {
            self.pipe.start(now, 1, Some(beat));
            self.leaving += usize::from(is_last);
            moved = true;
        }
        moved
    }

    /// Moves quads of the beat in front of the queue into a buffer, and beats out of the queue.
    fn enter(&mut self, now: Cycle, queue: &mut Fifo<Beat>) -> bool {
        let mut moved = false;
        while let Some(beat) = queue.front() {
            if let Some(quad) = beat.quads.get(self.entered) {
                if !self.scanning {
                    if self.used == self.buffers {
                        break;
                    }
                    // The buffer is taken when its first quad enters.
                    if self.entered == 0 && !self.fill.is_free() {
                        break;
                    }
                    self.used += 1;
                    self.scanning = true;
                    self.in_window = 0;
                }
                if self.entered == 0 {
                    if !self.fill.is_free() {
                        break;
                    }
                    self.fill.start(now, 1);
                }
                self.steps.push_back(Scan::Quad(beat.tile, *quad));
                self.entered += 1;
                self.in_window += 1;
                if self.in_window == self.window {
                    self.steps.push_back(Scan::End);
                    self.scanning = false;
                }
                moved = true;
                continue;
            }
            if beat.last && self.scanning {
                self.steps.push_back(Scan::End);
                self.scanning = false;
            }
            self.entered = 0;
            queue.pop();
            moved = true;
        }
        moved
    }

    /// Scans quads at the rate of the port.
    fn scan_some(&mut self, now: Cycle) -> bool {
        let mut moved = false;
        while let Some(step) = self.steps.front() {
            match step {
                Scan::Quad(..) if !self.scan.is_free() => break,
                Scan::Quad(tile, quad) => {
                    let quad = *quad;
                    self.tile = *tile;
                    self.scan.start(now, 1);
                    self.scan_quad(quad);
                }
                Scan::End => self.end_scan(),
            }
            self.steps.pop_front();
            moved = true;
        }
        moved
    }

    fn scan_quad(&mut self, quad: Quad) {
        let older = (self.alone.iter()).position(|other| other.position == quad.position);
        let Some(older) = older else {
            self.alone.push(quad);
            return;
        };
        self.pairs += 1;
        self.paired.push(self.alone.remove(older));
        self.paired.push(quad);
        if self.paired.len() == BEAT {
            self.emit(BEAT / 2, false);
        }
    }

    /// Emits the gathered quads, of which the first are `pairs` pairs.
    fn emit(&mut self, pairs: usize, last: bool) {
        let beat = Beat {
            tile: self.tile,
            quads: std::mem::take(&mut self.paired),
            last,
            pairs: ((1_u32 << pairs) - 1) as u8,
        };
        self.out.push_back((beat, false));
    }

    fn end_scan(&mut self) {
        let mut pairs = self.paired.len() / 2;
        for quad in std::mem::take(&mut self.alone) {
            self.singles += 1;
            self.paired.push(quad);
            if self.paired.len() == BEAT {
                self.emit(pairs, false);
                pairs = 0;
            }
        }
        if !self.paired.is_empty() {
            self.emit(pairs, true);
        }
        match self.out.back_mut() {
            Some((_, is_last)) => *is_last = true,
            // Its last beat has been issued: before this cycle, or in it.
            None if self.pipe.port.is_idle() => self.used -= 1,
            None => self.leaving += 1,
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.steps.is_empty() && self.out.is_empty() && self.pipe.is_idle() && !self.scanning
    }
}

/// Packs warps behind PROP's port. While a full warp waits, no quad passes.
#[derive(Debug)]
pub(super) struct Packing {
    pub(super) input: Port,
    /// Quads of the beat in front of the queue that have passed.
    passed: usize,
    warp: Warp,
    /// Whether the warp waits to be issued.
    is_complete: bool,
    pub(super) pipe: Pipe<Warp>,
    pub(super) warps: u64,
}

impl Packing {
    pub(super) fn new(latency: u64, quads_per_cycle: Ratio) -> Self {
        Self {
            input: Port::new(quads_per_cycle),
            passed: 0,
            warp: Warp::default(),
            is_complete: false,
            pipe: Pipe::new(Ratio::ONE, latency),
            warps: 0,
        }
    }

    pub(super) fn begin_cycle(&mut self) {
        self.input.begin_cycle();
        self.pipe.port.begin_cycle();
    }

    pub(super) fn end_cycle(&mut self, now: Cycle) {
        self.input.end_cycle(now);
        self.pipe.port.end_cycle(now);
    }

    pub(super) fn step(
        &mut self,
        now: Cycle,
        queue: &mut Fifo<Beat>,
        next: &mut Fifo<Warp>,
    ) -> bool {
        let mut moved = self.pipe.deliver(now, next);
        loop {
            if self.is_complete {
                // A beat without quads has nothing to wait for.
                if queue.front().is_some_and(|beat| beat.quads.is_empty()) {
                    queue.pop();
                    moved = true;
                    continue;
                }
                if !self.pipe.can_start() {
                    break;
                }
                self.warps += 1;
                self.pipe.start(now, 1, Some(std::mem::take(&mut self.warp)));
                self.is_complete = false;
            } else if !self.pass(now, queue) {
                break;
            }
            moved = true;
        }
        moved
    }

    /// Lets quads of the beat in front of the queue pass, or the beat leave.
    fn pass(&mut self, now: Cycle, queue: &mut Fifo<Beat>) -> bool {
        let Some(beat) = queue.front() else {
            return false;
        };
        let left = beat.quads.len() - self.passed;
        if left > 0 {
            if !self.input.is_free() {
                return false;
            }
            let count = self.input.left(left.min(WARP - self.warp.quads.len()));
            let offset = self.warp.quads.len();
            self.warp.tile = beat.tile;
            self.warp.pairs |= beat.pairs >> (self.passed / 2) << (offset / 2);
            let quads = &beat.quads[self.passed..self.passed + count];
            self.warp.quads.extend_from_slice(quads);
            self.input.start(now, count as u64);
            self.passed += count;
            self.is_complete = self.warp.quads.len() == WARP;
        }
        if self.passed == beat.quads.len() {
            self.is_complete |= beat.last && !self.warp.quads.is_empty();
            self.passed = 0;
            queue.pop();
        }
        true
    }

    pub(super) fn has_ended(&self) -> bool {
        self.warp.quads.is_empty() && self.pipe.is_idle()
    }
}
