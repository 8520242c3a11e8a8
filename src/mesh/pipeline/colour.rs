//! Colour: writes the samples that quads still show into a buffer of samples.
//!
//! In: shaded warps, in order. Out: nothing. A sample is written when, according to the depth buffer,
//! it still shows the triangle that covered it. Merging lets quads that overlap change order, so the
//! test after shading decides between them ("Reducing Shading on GPUs using Quad-Fragment Merging",
//! section 3). This test sees quads that were tested while this one was held for merging or packing,
//! not those tested while it is shaded, and reads what the early test has brought into its cache, at
//! no cost of its own (assumptions).
//!
//! A sample has RGBA of 8 bits; the samples of a shading pixel lie side by side; nothing is blended.
//! Rates and cache are those of the emulated pipeline's colour unit ([`CropSpec`]): bytes per cycle,
//! in whole sectors, and quads per cycle. A sector that lies in memory is fetched before it is
//! written, even if all of it will be (assumption: the cache is that of blending).

use serde::Serialize;

use super::draw_state::{COLOUR_BYTES, MeshDrawState};
use crate::gpu::crop::cache::CropCache;
use crate::gpu::crop::unit::CropSpec;
use crate::pipeline::memory::line::{LINE_BYTES, SECTOR_BYTES};
use crate::pipeline::packets::{Quad, Warp};
use crate::pipeline::stage::{Sink, Stage};
use crate::pipeline::statistics::statistics;
use crate::pipeline::timing::{Activity, Cycle, Queue, RateLimiter};
use crate::pipeline::unit::{Unit, Visitor};

/// Samples of a sector.
const SECTOR_SAMPLES: u64 = SECTOR_BYTES / COLOUR_BYTES;
/// Sectors of a line.
const LINE_SECTORS: u64 = LINE_BYTES / SECTOR_BYTES;

statistics! {
    /// Quads and samples by outcome.
    #[derive(Serialize)]
    pub struct ColourCounters {
        /// Quads with a sample written.
        pub quads: u64,
        /// Quads that later ones hid before they arrived.
        pub quads_hidden: u64,
        /// Samples written.
        pub samples: u64,
        /// Samples shaded that later quads hid before they arrived.
        pub samples_hidden: u64,
        /// Sectors written.
        pub sectors: u64,
    }
}

/// Writes samples.
#[derive(Debug)]
pub struct Colour {
    write_cycles: u64,
    lookup: RateLimiter,
    quads: RateLimiter,
    sectors: RateLimiter,
    waiting: Queue,
    cache: CropCache,
    /// Cycles of the writing port.
    activity: Activity,
    last_done: Cycle,
    /// Quads and samples by outcome.
    pub counters: ColourCounters,
}

impl Colour {
    /// Creates an idle unit for a buffer that takes `memory_lines` of memory.
    #[must_use]
    pub fn new(spec: &CropSpec, memory_lines: std::ops::Range<u32>) -> Self {
        Self {
            write_cycles: spec.blend_cycles,
            lookup: RateLimiter::new(spec.quads_per_cycle, 1),
            quads: RateLimiter::new(spec.quads_per_cycle, 1),
            sectors: RateLimiter::new(spec.bytes_per_cycle, SECTOR_BYTES),
            waiting: Queue::new(spec.wait_queue),
            cache: CropCache::new(
                spec.cache_bytes,
                spec.cache_ways,
                spec.l2_bytes_per_cycle,
                memory_lines,
            ),
            activity: Activity::default(),
            last_done: 0,
            counters: ColourCounters::default(),
        }
    }

    /// The samples of a quad, those of them that it still shows, and its index in memory.
    fn shown(quad: &Quad, state: &mut MeshDrawState) -> (u64, u64, u32) {
        let count = state.pattern().count();
        let record = state.shaded(quad);
        let position = state.depths.position(record.index);
        let owners = &state.depths.quad(position).owners;
        let (mut covered, mut shown) = (0, 0);
        for (owner, samples) in record.parts {
            covered |= samples;
            let mut left = samples;
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                let shows = owners[(bit / count) as usize][(bit % count) as usize];
                shown |= u64::from(shows == owner) << bit;
            }
        }
        (covered, shown, record.index)
    }

    /// Times a quad from its look-up to the end of its write; returns when it was looked up.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "surfaces have fewer than 2^32 lines"
    )]
    fn write(
        &mut self,
        index: u32,
        shown: u64,
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
        let entry = self.waiting.entry(arrival);
        let looked_up = self.lookup.serve(entry);
        let mut ready = looked_up;
        let mut slots = [(0, 0); 2];
        for (k, slot) in slots.iter_mut().enumerate() {
            let mask = (lines >> (k as u64 * LINE_SECTORS)) as u8 & 15;
            if mask != 0 {
                let line = (first / LINE_BYTES) as u32 + k as u32;
                let (number, there) = self.cache.access(line, mask, looked_up, &mut state.memory);
                ready = ready.max(there);
                *slot = (number, mask);
            }
        }
        let mut begin = self.quads.serve(ready);
        for _ in 0..written.count_ones() {
            begin = begin.max(self.sectors.serve(ready));
        }
        self.counters.sectors += u64::from(written.count_ones());
        self.activity.idle_for_data(arrival, begin);
        let free = self.quads.free().max(self.sectors.free());
        self.activity.busy_until(free.max(begin + 1));
        self.waiting.leave(begin);
        let done = begin + self.write_cycles;
        for (slot, mask) in slots.into_iter().filter(|(_, mask)| *mask != 0) {
            self.cache.blended(slot, mask, done);
        }
        self.last_done = self.last_done.max(done);
        looked_up
    }
}

impl Unit for Colour {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("colour", &mut self.activity);
        visitor.statistics("colour", &self.counters);
        visitor.statistics("colour_cache", &self.cache.counters);
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
        for quad in warp.quads.iter() {
            let (covered, shown, index) = Self::shown(quad, state);
            let counters = &mut self.counters;
            counters.samples += u64::from(shown.count_ones());
            counters.samples_hidden += u64::from((covered & !shown).count_ones());
            if shown == 0 {
                counters.quads_hidden += 1;
                continue;
            }
            counters.quads += 1;
            left = left.max(self.write(index, shown, arrival, state));
        }
        left
    }

    fn drain(
        &mut self,
        at: Cycle,
        _state: &mut MeshDrawState,
        _next: &mut impl Sink<(), MeshDrawState>,
    ) -> Cycle {
        at.max(self.last_done)
    }
}
