//! Memory behind the caches of fixed-function units: a shared L2 and DRAM with bandwidth, latency and residency.
//!
//! Requests do not come in time order: a later splat's vertices are fetched before an earlier splat's colours. Bandwidth is
//! therefore kept in a [`calendar`]. Replacement in the L2 sees requests in the order in which packets are pushed.

pub mod calendar;
mod clock;
pub mod dram;
pub mod l2;
pub mod line;
pub mod lru;
mod past;
pub mod sector_cache;
pub mod traffic;
pub mod unit_cache;

use std::ops::Range;

use crate::collect::{PortKind, UnitCycles};
use crate::ledger::LedgerSpec;
use crate::timing::Cycle;
use calendar::Calendar;
use dram::{Dram, DramRequest, DramSpec};
use l2::{HeldLines, L2, L2Spec, TileLines};
use line::{LINE_BYTES, SECTOR_BYTES, line_at};
use traffic::Client;

/// Memory system of the GPU: L2 and DRAM.
#[derive(Debug)]
pub struct Memory {
    /// Cache that all units share.
    pub l2: L2,
    /// DRAM behind the L2.
    pub dram: Dram,
    /// Address of the next stream; streams lie behind the cacheable lines, one after another.
    next_streamed: u64,
    cacheable: u32,
    caches_streams: bool,
}

impl Memory {
    /// Creates a memory with `lines` cacheable lines, none of them resident. The units run at `clock_mhz`;
    /// values configured in nanoseconds and in bytes per second do not depend on it.
    pub fn new(l2: &L2Spec, dram: &DramSpec, clock_mhz: f64, lines: u32) -> Self {
        Self {
            l2: L2::new(l2, clock_mhz, lines),
            dram: Dram::new(dram, clock_mhz),
            next_streamed: u64::from(lines) * LINE_BYTES,
            cacheable: lines,
            caches_streams: false,
        }
    }

    /// Extends the calendars to requests up to `cycles` out of time order, for units that wait long. Must be called before
    /// the first request and before [`Memory::keep_timelines`].
    pub fn reorder_within(&mut self, cycles: Cycle) {
        self.l2.reorder_within(cycles);
        self.dram.reorder_within(cycles);
    }

    /// Reads the sectors in mask `sectors` of `line` for `client` at `at`; returns the cycle at which they arrive.
    pub fn read(&mut self, client: Client, line: u32, sectors: u8, at: Cycle) -> Cycle {
        self.l2.read(client, line, sectors, at, &mut self.dram)
    }

    #[inline(always)]
    fn read_sector(&mut self, client: Client, line: u32, sector: usize, at: Cycle) -> Cycle {
        self.l2.read_sector(client, line, sector, at, &mut self.dram)
    }

    /// Writes the sectors in mask `sectors` of `line` for `client` at `at`; returns the cycle at which they are accepted.
    pub fn write(&mut self, client: Client, line: u32, sectors: u8, at: Cycle) -> Cycle {
        self.l2.write(client, line, sectors, at, &mut self.dram)
    }

    /// Reads `bytes` from `address` on, through the L2, for `client` at `at`; returns the cycle at which they arrive.
    pub fn read_bytes(&mut self, client: Client, address: u64, bytes: u64, at: Cycle) -> Cycle {
        let parts = line_parts(address, bytes);
        parts.fold(at, |arrived, (line, sectors)| {
            self.l2.extend_memory(line + 1);
            arrived.max(self.read(client, line, sectors, at))
        })
    }

    /// Writes `bytes` from `address` on, to the L2, for `client` at `at`; returns the cycle at which they are accepted.
    pub fn write_bytes(&mut self, client: Client, address: u64, bytes: u64, at: Cycle) -> Cycle {
        let parts = line_parts(address, bytes);
        parts.fold(at, |accepted, (line, sectors)| {
            self.l2.extend_memory(line + 1);
            accepted.max(self.write(client, line, sectors, at))
        })
    }

    /// Writes `bytes` from `line` on, through the port of the L2 to DRAM without a copy in the L2, for `client` at `at`;
    /// returns the cycle in which the last of them passes DRAM's port.
    pub fn write_through(&mut self, client: Client, line: u32, bytes: u64, at: Cycle) -> Cycle {
        let passed = self.l2.write_past(client, line, bytes, at);
        let address = u64::from(line) * LINE_BYTES;
        self.dram.note(DramRequest { at: passed, address, bytes, is_write: true, client });
        self.dram.write(bytes, passed)
    }

    /// Reads `bytes` from `line` on, from DRAM without a copy in the L2, for `client` at `at`; returns the cycle at which
    /// they arrive.
    pub fn read_through(&mut self, client: Client, line: u32, bytes: u64, at: Cycle) -> Cycle {
        self.read_past(client, Some(line), u64::from(line) * LINE_BYTES, bytes, at)
    }

    fn read_past(
        &mut self,
        client: Client,
        line: Option<u32>,
        address: u64,
        bytes: u64,
        at: Cycle,
    ) -> Cycle {
        self.dram.note(DramRequest { at, address, bytes, is_write: false, client });
        let arrived = self.dram.read(bytes, at);
        (self.l2).count(client, line, bytes, at, |traffic| &mut traffic.dram_read_bytes);
        self.l2.pass(client, bytes, arrived)
    }

    /// First cycle after the L2 and DRAM have accepted the last write; 0 if nothing was written.
    pub fn writes_done(&self) -> Cycle {
        let written = [self.l2.last_write(), self.dram.last_write()];
        let last = written.into_iter().max().filter(|last| *last > 0);
        last.map_or(0, |last| last + 1)
    }

    /// Reads `bytes` that always stay in the L2 for `client` at `at`; returns the cycle at which they arrive.
    pub fn read_kept(&mut self, client: Client, bytes: u64, at: Cycle) -> Cycle {
        self.l2.pass(client, bytes, at)
    }

    /// Writes `bytes` that always stay in the L2 for `client` at `at`; returns the cycle at which they are accepted.
    pub fn write_kept(&mut self, client: Client, bytes: u64, at: Cycle) -> Cycle {
        self.l2.keep(client, bytes, at)
    }

    /// Cycles of the L2 port and the DRAM port in a run of `cycles`. Busy cycles are the bytes divided by the rate.
    pub fn units(&self, cycles: Cycle) -> Vec<UnitCycles> {
        let unit = |name, port: &Calendar| UnitCycles {
            timeline: port.timeline(cycles),
            ..UnitCycles::of_items(name, PortKind::Memory, 1, port.bytes, port.rate(), cycles)
        };
        vec![unit("l2", self.l2.port()), unit("dram", self.dram.port())]
    }

    /// Starts timelines of both ports in windows of `window` cycles.
    pub fn keep_timelines(&mut self, window: Cycle) {
        self.l2.port_mut().keep_timeline(window);
        self.dram.port_mut().keep_timeline(window);
    }

    /// Starts the ledger of traffic, by interval and by the screen tile whose data lie in `tile_lines`.
    pub fn keep_ledger(&mut self, spec: LedgerSpec, tile_lines: TileLines) {
        self.l2.keep_ledger(spec, tile_lines);
    }

    /// Starts to record the requests to DRAM, for [`Dram::take_requests`].
    pub fn keep_requests(&mut self) {
        self.dram.keep_requests();
    }

    /// Begins a frame of a sequence. The L2 then caches streams too: the n-th stream has the same lines in every frame.
    /// The L2 starts with the lines of the frame `before` if both frames have the same number of cacheable lines.
    pub fn begin_frame(&mut self, before: Option<&HeldLines>) {
        self.caches_streams = true;
        self.l2.begin_frame(before, self.cacheable);
    }

    /// Returns the lines that the L2 holds after a frame of a sequence: dirty lines are written back, and the lines in
    /// `dropped` are discarded. `None` if [`Memory::begin_frame`] was not called.
    pub fn end_frame(&self, dropped: &Range<u32>) -> Option<HeldLines> {
        let held = || self.l2.end_frame(self.cacheable, dropped);
        self.caches_streams.then(held)
    }

    fn cached_stream(&mut self, client: Client, bytes: u64, at: Cycle) -> Cycle {
        let first = self.next_streamed;
        self.next_streamed += bytes;
        self.read_bytes(client, first, bytes, at)
    }

    /// Reads a stream of `bytes`, used once per frame and cached only in a sequence; returns the cycle of its arrival.
    pub fn stream(&mut self, client: Client, bytes: u64, at: Cycle) -> Cycle {
        if self.caches_streams {
            return self.cached_stream(client, bytes, at);
        }
        let first = self.next_streamed;
        self.next_streamed += bytes;
        self.read_past(client, None, first, bytes, at)
    }
}

/// Lines of `bytes` from `address` on, with the masks of the sectors that hold them.
fn line_parts(address: u64, bytes: u64) -> impl Iterator<Item = (u32, u8)> {
    let end = address + bytes;
    let mut begin = address;
    std::iter::from_fn(move || {
        let part = begin;
        begin = end.min((part / LINE_BYTES + 1) * LINE_BYTES);
        (part < end).then(|| {
            let sectors = part / SECTOR_BYTES..begin.div_ceil(SECTOR_BYTES);
            let in_line = LINE_BYTES / SECTOR_BYTES;
            (line_at(part), sectors.fold(0, |mask, sector| mask | 1_u8 << (sector % in_line)))
        })
    })
}
