//! Colour unit of the mesh path: writes the visible samples of quads into the sample buffer.
//!
//! Input: shaded warps, in order. A sample is written if the depth buffer still shows its triangle: merging lets
//! overlapping quads change order, so a test after shading decides between them ("Reducing Shading on GPUs using
//! Quad-Fragment Merging", section 3). The test sees quads that were tested while this one was held for merging or packing,
//! but not quads tested while it is shaded. It takes no time, since it reads the cache of the early test (assumptions).
//!
//! A sample has 8-bit RGBA; the samples of a shading pixel are adjacent. Rates and cache are the same as in the
//! emulated pipeline's colour unit ([`CropSpec`]): bytes per cycle, in whole sectors, and quads per cycle. A
//! sector in memory is fetched before it is written, even if it is written as a whole (assumption: the cache
//! works as for blending). A blended quad also waits until the last quad at its position is written.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use super::draw_state::{COLOUR_BYTES, MeshDrawState};
use quadrille_gpu::crop::unit::{CROP_CACHE, CropSpec};
use quadrille_machine::{
    Activity, Cycle, LINE_BYTES, Quad, Queue, Rate, RateLimiter, SECTOR_BYTES, Sink, Stage, Unit,
    UnitCache, Visitor, Warp, statistics,
};
use quadrille_mesh::merge::merged_samples::BLENDED;

const SECTOR_SAMPLES: u64 = SECTOR_BYTES / COLOUR_BYTES;
const LINE_SECTORS: u64 = LINE_BYTES / SECTOR_BYTES;

statistics! {
    /// Quads and samples by outcome in the colour unit.
    #[derive(Serialize, Deserialize)]
    #[serde(default)]
    pub struct ColourCounters {
        /// Quads with a sample written.
        pub quads: u64,
        /// Quads whose samples are all hidden on arrival.
        pub quads_hidden: u64,
        /// Samples written.
        pub samples: u64,
        /// Subset of `samples` blended with the stored colour.
        pub samples_blended: u64,
        /// Shaded samples that are hidden on arrival.
        pub samples_hidden: u64,
        /// Sectors of colour written.
        pub sectors: u64,
    }
}

/// Colour unit of the mesh path: tests the samples of quads again and times the writes of visible ones.
#[derive(Debug)]
pub struct Colour {
    write_cycles: u64,
    lookup: RateLimiter,
    quads: RateLimiter,
    sectors: RateLimiter,
    sector_rate: Rate,
    waiting: Queue,
    cache: UnitCache,
    written: Vec<Cycle>,
    activity: Activity,
    last_done: Cycle,
    /// Quads and samples by outcome.
    pub counters: ColourCounters,
}

impl Colour {
    /// Creates an idle unit for a sample buffer in `memory_lines` of memory.
    pub fn new(spec: &CropSpec, memory_lines: std::ops::Range<u32>) -> Self {
        Self {
            write_cycles: spec.blend_cycles,
            lookup: RateLimiter::new(spec.quads_per_cycle),
            quads: RateLimiter::new(spec.quads_per_cycle),
            sectors: RateLimiter::new(Rate::of(spec.bytes_per_cycle, SECTOR_BYTES)),
            sector_rate: Rate::of(spec.bytes_per_cycle, SECTOR_BYTES),
            waiting: Queue::new(spec.wait_queue),
            cache: UnitCache::new(&spec.cache(), memory_lines),
            written: Vec::new(),
            activity: Activity::of_rate(spec.quads_per_cycle),
            last_done: 0,
            counters: ColourCounters::default(),
        }
    }

    /// Removes the record of a quad. Returns masks of its covered, visible and blended samples, and its index in memory.
    fn shown(quad: &Quad, state: &mut MeshDrawState) -> ([u64; 3], u32) {
        let count = state.pattern().count();
        let record = state.records.remove(quad.primitive as usize);
        let owners = &state.depths.quad(state.depths.position(record.index)).owners;
        let (mut covered, mut shown, mut blended) = (0, 0, 0);
        for (owner, samples) in record.parts {
            covered |= samples;
            if owner == BLENDED {
                blended |= samples;
                continue;
            }
            let mut left = samples;
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                let shows = owners[(bit / count) as usize][(bit % count) as usize];
                shown |= u64::from(shows == owner) << bit;
            }
        }
        ([covered, shown | blended, blended], record.index)
    }

    /// Times the look-up and the write of a quad; returns the cycle of the look-up. A write that `blends` waits for the
    /// last write at its position.
    #[allow(clippy::cast_possible_truncation, reason = "surfaces have fewer than 2^32 lines")]
    fn write(
        &mut self,
        index: u32,
        shown: u64,
        blends: bool,
        arrival: Cycle,
        state: &mut MeshDrawState,
    ) -> Cycle {
        let bytes = 4 * u64::from(state.pattern().count()) * COLOUR_BYTES;
        let sector_bit = |sector: u64| {
            let samples = shown >> (sector * SECTOR_SAMPLES) & ((1 << SECTOR_SAMPLES) - 1);
            u64::from(samples != 0) << sector
        };
        let sectors = bytes.div_ceil(SECTOR_BYTES);
        let written = (0..sectors).fold(0, |mask, sector| mask | sector_bit(sector));
        let first = u64::from(index) * bytes;
        let first_sector = first / SECTOR_BYTES % LINE_SECTORS;
        let lines = written << first_sector;
        let looked_up = self.lookup.serve(self.waiting.entry(arrival));
        let mut ready = looked_up;
        let mut slots = ArrayVec::<u32, 2>::new();
        for k in 0..2 {
            let mask = (lines >> (u64::from(k) * LINE_SECTORS)) as u8 & 15;
            if mask != 0 {
                let line = (first / LINE_BYTES) as u32 + k;
                let (number, there) =
                    self.cache.access(line, mask, true, looked_up, &mut state.memory);
                ready = ready.max(there);
                slots.push(number);
            }
        }
        if blends {
            ready = ready.max(self.written[index as usize]);
        }
        let mut begin = self.quads.serve(ready);
        for _ in 0..written.count_ones() {
            begin = begin.max(self.sectors.serve(ready));
        }
        self.activity.moved += 1;
        self.counters.sectors += u64::from(written.count_ones());
        self.activity.idle_for_data(arrival, begin);
        self.activity.busy_until(self.quads.free().max(self.sectors.free()).max(begin + 1));
        self.waiting.leave(begin);
        let done = begin + self.write_cycles;
        self.written[index as usize] = done;
        for slot in slots {
            self.cache.used(slot, done);
        }
        self.last_done = self.last_done.max(done);
        looked_up
    }
}

impl Unit for Colour {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.activity.least = self.sector_rate.cycles_for(self.counters.sectors);
        visitor.activity("crop", &mut self.activity);
        visitor.statistics("crop", &self.counters);
        self.cache.visit(CROP_CACHE, ["crop_fill", "crop_write"], visitor);
    }
}

impl Stage<MeshDrawState> for Colour {
    type In = Warp;
    type Out = ();

    fn accept(
        &mut self,
        warp: Warp,
        arrival: Cycle,
        state: &mut MeshDrawState,
        _next: &mut impl Sink<(), MeshDrawState>,
    ) -> Cycle {
        let mut left = arrival;
        self.written.resize(state.depths.quads(), 0);
        for quad in warp.quads.iter() {
            let ([covered, shown, blended], index) = Self::shown(quad, state);
            let counters = &mut self.counters;
            counters.samples += u64::from(shown.count_ones());
            counters.samples_blended += u64::from(blended.count_ones());
            counters.samples_hidden += u64::from((covered & !shown).count_ones());
            if shown == 0 {
                counters.quads_hidden += 1;
                continue;
            }
            counters.quads += 1;
            left = left.max(self.write(index, shown, blended != 0, arrival, state));
        }
        self.activity.leave_queue(left);
        left
    }

    fn done(&self) -> Cycle {
        self.last_done
    }
}
