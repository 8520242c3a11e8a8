//! Timing of the blocks of the raster kernel: residency, rounds, barriers, issue, and memory.
//!
//! Blocks are dispatched in tile order, first to the cores round robin, then to the slot that becomes free first. In every
//! round a block votes, loads its entries (identifiers, then the rest), waits at a barrier, and loops over the entries.
//!
//! A scheduler issues the work of rounds first come, first served. Votes and loads go before that work: they delay all
//! later work, but not the ends of warps that are already computed. A warp ends its round when its instructions have been
//! issued, but no earlier than its chain of dependent instructions, its special function unit, and the load and store unit
//! of its core allow. The round ends with its slowest warp. The colour of an entry comes through memory for the first warp
//! of a block that blends it, and from the first-level cache for the others.
//!
//! An issue gap of a scheduler has the reason for which the block that ends the gap waited.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use super::addresses::Addresses;
use super::assign::TileLists;
use super::block::{BLOCK_THREADS, BLOCK_WARPS, BlockDraw, BlockOutcome, RoundWork};
use super::program::ComputeSpec;
use crate::warp::cores::CoresSpec;
use quadrille_base::math::{fit, index};
use quadrille_base::raster::tiles::{TILE_PX, TileLayout};
use quadrille_base::task::Task;
use quadrille_machine::{Cycle, Memory, statistics};

/// Lanes of a warp, and entries whose addresses it loads at once.
const LANES: usize = BLOCK_THREADS / BLOCK_WARPS;

statistics! {
    /// Scheduler cycles by activity; their sum is schedulers times run time.
    #[derive(Copy, Serialize, Deserialize)]
    pub struct CyclesByReason {
        /// Cycles in which an instruction held the lanes.
        pub issue: u64,
        /// Cycles of waiting for earlier instructions of the same warp.
        pub chain: u64,
        /// Cycles of waiting for slower warps of the block.
        pub barrier: u64,
        /// Cycles of waiting for the entries of a round from memory.
        pub memory: u64,
        /// Cycles after the last instruction of the scheduler.
        pub tail: u64,
    }
}

impl CyclesByReason {
    /// Name and cycles of every activity.
    pub fn named(&self) -> [(&'static str, u64); 5] {
        [
            ("issue", self.issue),
            ("chain", self.chain),
            ("barrier", self.barrier),
            ("memory", self.memory),
            ("tail", self.tail),
        ]
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct KernelTime {
    pub(super) cycles: Cycle,
    pub(super) instructions: u64,
    pub(super) by_reason: CyclesByReason,
}

#[derive(Clone, Copy)]
pub(super) struct KernelInput<'a> {
    pub(super) spec: &'a ComputeSpec,
    pub(super) cores: &'a CoresSpec,
    pub(super) gpcs: u64,
    pub(super) draw: BlockDraw<'a>,
    pub(super) lists: &'a TileLists,
    pub(super) blocks: &'a [BlockOutcome],
    pub(super) addresses: &'a Addresses,
}

/// Cycles of a warp's last issue and of its completion.
#[derive(Debug, Clone, Copy, Default)]
struct WarpEnd {
    issued: Cycle,
    done: Cycle,
}

#[derive(Debug, Clone, Default)]
struct BlockSlot {
    core: usize,
    block: usize,
    round: usize,
    warps: [WarpEnd; BLOCK_WARPS],
}

#[derive(Debug, Clone, Copy, Default)]
struct Scheduler {
    issued: Cycle,
    special: Cycle,
}

struct KernelRun<'a> {
    input: KernelInput<'a>,
    memory: &'a mut Memory,
    schedulers: Vec<Scheduler>,
    per_core: usize,
    loads: Vec<Cycle>,
    time: KernelTime,
}

pub(super) fn run(input: KernelInput<'_>, memory: &mut Memory, task: &Task) -> KernelTime {
    let cores = index(input.cores.cores * input.gpcs);
    let per_core = index(input.cores.schedulers);
    let mut run = KernelRun {
        input,
        memory,
        schedulers: vec![Scheduler::default(); cores * per_core],
        per_core,
        loads: vec![0; cores],
        time: KernelTime::default(),
    };
    let slots = cores * index(input.spec.blocks_per_core(input.cores));
    let mut slots: Vec<_> = (0..slots.min(input.blocks.len()))
        .map(|block| BlockSlot { core: block % cores, block, ..BlockSlot::default() })
        .collect();
    let mut next_block = slots.len();
    let mut ready: BinaryHeap<_> = (0..slots.len()).map(|slot| Reverse((0, slot))).collect();
    while let Some(Reverse((at, number))) = ready.pop() {
        if task.is_cancelled() {
            break;
        }
        let slot = &mut slots[number];
        let at = if slot.round < input.blocks[slot.block].rounds.len() {
            run.round(slot, at)
        } else {
            let ended = run.end(slot, at);
            if next_block == input.blocks.len() {
                continue;
            }
            (slot.block, slot.round) = (next_block, 0);
            next_block += 1;
            ended
        };
        ready.push(Reverse((at, number)));
    }
    run.finish()
}

impl KernelRun<'_> {
    fn round(&mut self, slot: &mut BlockSlot, at: Cycle) -> Cycle {
        let spec = self.input.spec;
        let setup = if slot.round == 0 { spec.setup_instructions } else { 0 };
        let issued = self.issue_ahead(slot, at, setup + spec.fetch_instructions);
        let list = self.input.lists.tile(slot.block);
        let first = slot.round * BLOCK_THREADS;
        let entries = &list[first..list.len().min(first + BLOCK_THREADS)];
        let fetched = self.fetch(self.input.lists.start(slot.block) + first, entries, issued);
        let round = &self.input.blocks[slot.block].rounds[slot.round];
        let wait = self.colour_wait(round, entries, fetched);
        for (warp, work) in round.warps.iter().enumerate() {
            let cost = spec.cost(work, self.input.draw.stop);
            let number = self.scheduler_of(slot, warp);
            self.idle_until(number, fetched, slot.warps[warp], [at, fetched]);
            let issue = cost.instructions * self.input.cores.issue_cycles;
            self.time.instructions += cost.instructions;
            self.time.by_reason.issue += issue;
            let scheduler = &mut self.schedulers[number];
            scheduler.issued += issue;
            scheduler.special = scheduler.special.max(fetched) + cost.special * spec.special_cycles;
            let loads = &mut self.loads[slot.core];
            *loads = fetched.max(*loads) + cost.loads * spec.load_cycles;
            let chain = fetched + cost.chain + u64::from(work.first) * wait;
            slot.warps[warp] = WarpEnd {
                issued: scheduler.issued,
                done: scheduler.issued.max(scheduler.special).max(*loads).max(chain),
            };
        }
        slot.round += 1;
        slot.warps.iter().map(|warp| warp.done).fold(fetched, Cycle::max)
    }

    fn end(&mut self, slot: &mut BlockSlot, at: Cycle) -> Cycle {
        let spec = self.input.spec;
        let setup = if slot.round == 0 { spec.setup_instructions } else { 0 };
        let issued = self.issue_ahead(slot, at, setup + spec.end_instructions);
        let done = issued.into_iter().fold(at, Cycle::max);
        for (warp, end) in slot.warps.iter_mut().zip(issued) {
            *warp = WarpEnd { issued: end, done: end };
        }
        let [width, height] = self.input.draw.size;
        let across = TileLayout::new(width, height).tiles_across as usize;
        let origin =
            [slot.block % across, slot.block / across].map(|tile| fit::<u32>(tile) * TILE_PX);
        let accepted = self.input.addresses.write_tile(self.memory, origin, done);
        self.time.cycles = self.time.cycles.max(accepted);
        accepted
    }

    /// Issues `instructions` of each warp of a block from `at` on, before other work; returns the issue cycle of each warp.
    fn issue_ahead(
        &mut self,
        slot: &BlockSlot,
        at: Cycle,
        instructions: u64,
    ) -> [Cycle; BLOCK_WARPS] {
        let issue = instructions * self.input.cores.issue_cycles;
        std::array::from_fn(|warp| {
            let number = self.scheduler_of(slot, warp);
            self.idle_until(number, at, slot.warps[warp], [at, at]);
            self.schedulers[number].issued += issue;
            self.time.instructions += instructions;
            self.time.by_reason.issue += issue;
            at + issue * (warp / self.per_core + 1) as u64
        })
    }

    /// Loads the entries of a round, from list position `start` on. `issued` holds the cycle at which each warp loads.
    /// Returns the last arrival.
    fn fetch(&mut self, start: usize, entries: &[u32], issued: [Cycle; BLOCK_WARPS]) -> Cycle {
        let (addresses, splats) = (self.input.addresses, self.input.draw.splats);
        let mut arrived = issued.into_iter().fold(0, Cycle::max);
        for ((warp, entries), issued) in entries.chunks(LANES).enumerate().zip(issued) {
            let ids = addresses.read_ids(self.memory, start + warp * LANES, entries.len(), issued);
            arrived = arrived.max(addresses.gather(self.memory, entries, splats, ids));
        }
        arrived
    }

    /// Reads the colours of the blended entries of a round at `at`; returns the mean latency.
    fn colour_wait(&mut self, round: &RoundWork, entries: &[u32], at: Cycle) -> Cycle {
        let (mut waited, mut count) = (0, 0);
        for (word, entries) in round.blended.iter().zip(entries.chunks(64)) {
            let mut left = *word;
            while left != 0 {
                let splat = entries[left.trailing_zeros() as usize];
                left &= left - 1;
                let splat = &self.input.draw.splats[splat as usize];
                waited += self.input.addresses.read_colour(self.memory, splat, at) - at;
                count += 1;
            }
        }
        waited / count.max(1)
    }

    fn scheduler_of(&self, slot: &BlockSlot, warp: usize) -> usize {
        slot.core * self.per_core + warp % self.per_core
    }

    /// Accounts for the idle cycles of a scheduler before `until`, when it gets work of a block. The warp of that block
    /// ended its last round at `warp` and loaded its entries in the cycles of `fetch`.
    fn idle_until(&mut self, number: usize, until: Cycle, warp: WarpEnd, fetch: [Cycle; 2]) {
        let scheduler = &mut self.schedulers[number];
        let from = scheduler.issued;
        if from >= until {
            return;
        }
        scheduler.issued = until;
        let within = |begin: Cycle, end: Cycle| until.min(end).saturating_sub(from.max(begin));
        let reasons = &mut self.time.by_reason;
        let chain = within(warp.issued, warp.done);
        let memory = within(fetch[0], fetch[1]);
        reasons.chain += chain;
        reasons.memory += memory;
        reasons.barrier += until - from - chain - memory;
    }

    fn finish(mut self) -> KernelTime {
        let issued = self.schedulers.iter().map(|scheduler| scheduler.issued);
        self.time.cycles = self.time.cycles.max(issued.fold(self.memory.writes_done(), Cycle::max));
        let tails = self.schedulers.iter().map(|scheduler| self.time.cycles - scheduler.issued);
        self.time.by_reason.tail = tails.sum();
        self.time
    }
}
