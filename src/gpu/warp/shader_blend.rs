//! Blending in the fragment shader instead of CROP (VR-Pipe, section IV-A, Fig. 10).
//!
//! After the alpha cut, the surviving fragments of a warp read the colours of their pixels from the L2, blend and write
//! them back. Lines are requested one by one over the port of the warp's core; first-level caches hold no colours, since
//! other cores change them. Without order, updates of a pixel get lost, and a warp ends when its stores have been accepted.
//! With an [`interlock`](super::interlock) this is a critical section: the warp waits for its ticket, and leaves when its
//! stores have been acknowledged, an L2 latency later. Its update of the region's counter then takes another L2 latency.
//!
//! In a [tile-based GPU](super::tile_fetch), warps read and write the tile buffer in place of the L2, in the order of each
//! pixel.
//!
//! Warps leave their slots in any order, as no unit takes their results. Colours that were never written are
//! fetched from DRAM, since a shader does not know the cleared state (assumption).

use arrayvec::ArrayVec;

use super::interlock::{Interlock, InterlockSpec};
use super::race::Race;
use super::tile_fetch::TileFetch;
use super::warp_slots::{TakenSlot, WarpSlots};
use crate::crop::blend::blend_warp;
use crate::crop::unit::ColourLayout;
use crate::draw_state::DrawState;
use quadrille_base::choice;
use quadrille_base::math::index;
use quadrille_base::raster::tiles::quad_index;
use quadrille_base::shading::ColourFormat;
use quadrille_machine::{
    Calendar, Client, Cycle, MapKind, Memory, Rate, SECTOR_BYTES, ShadedWarp, Visitor, WARP_QUADS,
    spec, statistics,
};

spec! {
    /// Costs of blending in the fragment shader.
    ShaderBlendSpec in "shader_blend" {
        /// Additional instructions of a warp with a surviving fragment.
        instructions: u64 = 6, 0..=100_000, Assumed "load, one minus alpha, a multiply-add for two channels each, pack, store";
        /// Latency from the loaded colours to the store, in cycles.
        latency_cycles: u64 = 24, 0..=1_000_000, Assumed "six dependent instructions of ALU latency 4";
    }
}

statistics! {
    /// Counters of blending in the shader, which replaces CROP.
    pub struct ShaderBlendCounters {
        /// Warps with a surviving fragment.
        pub warps: u64,
        /// Quads with a surviving fragment.
        pub quads: u64,
        /// Fragments blended.
        pub fragments: u64,
        /// Sectors of colour read.
        pub sectors_read: u64,
        /// Sectors of colour written.
        pub sectors_written: u64,
    }
}

choice! {
    /// Order of blending in the shader, with the name of its method.
    pub enum ShaderOrder {
        /// Unordered: updates of a pixel may get lost.
        Unordered = "shader-blend",
        /// Draw order, by critical sections.
        Interlocked = "interlock",
    }
}

impl ShaderOrder {
    /// Upper bound, in cycles, on how far L2 requests are out of time order when `slots` warps wait for each other: `2 *
    /// slots` critical sections with accesses of `l2_latency`. 0 without order, since warps then wait only for memory.
    pub(crate) fn reordered(
        self,
        spec: &ShaderBlendSpec,
        interlock: &InterlockSpec,
        slots: u64,
        l2_latency: Cycle,
    ) -> Cycle {
        let section = 3 * l2_latency + spec.latency_cycles + interlock.entry_cycles;
        match self {
            Self::Unordered => 0,
            Self::Interlocked => 2 * slots * section,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct BlendingCores {
    pub(crate) cores: u64,
    pub(crate) schedulers: u64,
    pub(crate) slots: u64,
    /// Bytes per cycle between the L2 and each core, in each direction.
    pub(crate) l2_bytes_per_cycle: u64,
    pub(crate) format: ColourFormat,
    pub(crate) tiles: usize,
    /// Cycles by which L2 requests may be out of time order.
    pub(crate) reordered: Cycle,
}

#[derive(Debug)]
enum Order {
    Race(Race),
    Interlock(Interlock),
    Tile(TileFetch),
}

#[derive(Debug)]
pub(crate) struct ShaderBlend {
    spec: ShaderBlendSpec,
    order: Order,
    slots: WarpSlots,
    schedulers: usize,
    ports: ColourPorts,
    done: Cycle,
    counters: ShaderBlendCounters,
}

impl ShaderBlend {
    pub(crate) fn new(
        spec: &ShaderBlendSpec,
        interlock: &InterlockSpec,
        order: ShaderOrder,
        on: BlendingCores,
    ) -> Self {
        Self {
            spec: spec.clone(),
            order: match order {
                ShaderOrder::Unordered => Order::Race(Race::default()),
                ShaderOrder::Interlocked => {
                    Order::Interlock(Interlock::new(interlock, on.tiles, on.reordered))
                }
            },
            slots: WarpSlots::new(on.slots),
            schedulers: index(on.schedulers),
            ports: ColourPorts::new(on),
            done: 0,
            counters: ShaderBlendCounters::default(),
        }
    }

    /// Blends from the tile buffer, in the order of each pixel.
    pub(crate) fn in_tile(self, fetch: TileFetch) -> Self {
        Self { order: Order::Tile(fetch), ..self }
    }

    /// Name of the resource for which warps wait before they blend.
    pub(super) fn lock(&self) -> &'static str {
        if matches!(self.order, Order::Tile(_)) { "pixel_order" } else { "interlock" }
    }

    pub(super) fn launch(
        &mut self,
        tile: u32,
        begins_flush: bool,
        arrival: Cycle,
    ) -> (TakenSlot, usize) {
        if let Order::Interlock(interlock) = &mut self.order
            && begins_flush
        {
            interlock.take_ticket(tile);
        }
        let taken = self.slots.take(arrival);
        (taken, taken.slot % self.schedulers)
    }

    pub(super) fn instructions(&self, warp: &ShadedWarp) -> u64 {
        if warp.quads.is_empty() { 0 } else { self.spec.instructions }
    }

    pub(super) fn run(
        &mut self,
        warp: ShadedWarp,
        taken: TakenSlot,
        shaded: Cycle,
        state: &mut DrawState<'_>,
    ) {
        self.count(&warp, state);
        let enters = !warp.quads.is_empty();
        let (end, waited) = match &mut self.order {
            Order::Race(race) => {
                advance(race, taken.at, state);
                let mut stored = shaded;
                if enters {
                    stored = self.ports.blend(&warp, shaded, &self.spec, &mut state.memory);
                    if let Some(picture) = &mut state.race {
                        picture.blend_in_order(state.level, &warp);
                    }
                    race.add(warp, shaded, stored);
                }
                self.done = self.done.max(stored);
                (stored, false)
            }
            Order::Interlock(interlock) => {
                let (tile, latency) = (warp.tile, state.memory.l2.latency());
                let (mut end, mut waited) = (shaded, false);
                if enters {
                    let entered = interlock.enter(tile, shaded);
                    waited = entered > shaded;
                    end = self.ports.blend(&warp, entered, &self.spec, &mut state.memory) + latency;
                    blend_warp(state.level, &mut state.framebuffer, &warp);
                }
                let memory = &mut state.memory;
                let updated = memory.read_kept(Client::Colour, SECTOR_BYTES, end);
                interlock.update(tile, updated);
                self.done = self.done.max(updated);
                (end, waited)
            }
            Order::Tile(fetch) => {
                let (mut end, mut waited) = (shaded, false);
                if enters {
                    let blended_at = state.framebuffer.blended_at(warp.tile);
                    (end, waited) =
                        fetch.blend(&warp, shaded, self.spec.latency_cycles, blended_at);
                    blend_warp(state.level, &mut state.framebuffer, &warp);
                }
                self.done = self.done.max(end);
                (end, waited)
            }
        };
        self.slots.leave(taken.slot, end, waited);
    }

    fn count(&mut self, warp: &ShadedWarp, state: &mut DrawState<'_>) {
        self.counters.warps += u64::from(!warp.quads.is_empty());
        self.counters.quads += warp.quads.len() as u64;
        for quad in warp.quads.iter() {
            if let Some(maps) = &mut state.maps {
                maps.count(MapKind::Blended, quad_index(warp.tile, quad.position), quad.mask);
            }
        }
        self.counters.fragments += warp.quads.fragments();
    }

    pub(super) fn drain(&mut self, state: &mut DrawState<'_>) {
        if let Order::Race(race) = &mut self.order {
            advance(race, Cycle::MAX, state);
        }
    }

    pub(super) fn done(&self) -> Cycle {
        self.done
    }

    pub(super) fn visit(&self, visitor: &mut dyn Visitor) {
        let mut counters = self.counters.clone();
        [counters.sectors_read, counters.sectors_written] = self.ports.sectors;
        if let Order::Tile(fetch) = &self.order {
            fetch.visit(visitor);
            [counters.sectors_read, counters.sectors_written] = [fetch.sectors(); 2];
        } else {
            self.ports.visit(visitor);
        }
        visitor.statistics(ShaderBlendSpec::UNIT, &counters);
        if let Order::Interlock(interlock) = &self.order {
            visitor.statistics(InterlockSpec::UNIT, &interlock.counters);
            if let Some((rate, warps)) = interlock.entries() {
                visitor.cache_port("interlock_entry", rate, warps);
            }
        }
    }
}

fn advance(race: &mut Race, until: Cycle, state: &mut DrawState<'_>) {
    if let Some(picture) = &mut state.race {
        race.advance(until, state.level, &mut state.framebuffer, picture);
    }
}

type WarpLines = ArrayVec<(u32, u8), WARP_QUADS>;

/// Ports of the cores to the L2 for colours. Warps wait long for each other, so requests are out of time order, and
/// calendars hold the joint bandwidth. The requests of one warp also pass the port of its core one by one.
#[derive(Debug)]
struct ColourPorts {
    layout: ColourLayout,
    bytes_per_cycle: u64,
    read: Calendar,
    write: Calendar,
    sectors: [u64; 2],
}

impl ColourPorts {
    fn new(on: BlendingCores) -> Self {
        let all = Rate::of(on.cores * on.l2_bytes_per_cycle, 1);
        Self {
            layout: ColourLayout::new(on.format),
            bytes_per_cycle: on.l2_bytes_per_cycle,
            read: Calendar::spanning(all, on.reordered),
            write: Calendar::spanning(all, on.reordered),
            sectors: [0; 2],
        }
    }

    /// Reads the colours of a warp from `at` on, blends and writes them. Returns the cycle at which the L2 accepts them.
    fn blend(
        &mut self,
        warp: &ShadedWarp,
        at: Cycle,
        spec: &ShaderBlendSpec,
        memory: &mut Memory,
    ) -> Cycle {
        let lines = self.lines(warp);
        let (mut arrived, mut bytes) = (at, 0);
        for &(line, sectors) in &lines {
            let count = u64::from(sectors.count_ones());
            self.sectors[0] += count;
            let sent = self.read.book(count * SECTOR_BYTES, at + bytes / self.bytes_per_cycle);
            arrived = arrived.max(memory.read(Client::Colour, line, sectors, sent));
            bytes += count * SECTOR_BYTES;
        }
        let blended = arrived + spec.latency_cycles;
        let (mut accepted, mut bytes) = (blended, 0);
        for &(line, sectors) in &lines {
            let count = u64::from(sectors.count_ones());
            self.sectors[1] += count;
            let sent = blended + bytes / self.bytes_per_cycle;
            let sent = self.write.book(count * SECTOR_BYTES, sent);
            accepted = accepted.max(memory.write(Client::Colour, line, sectors, sent));
            bytes += count * SECTOR_BYTES;
        }
        accepted
    }

    fn visit(&self, visitor: &mut dyn Visitor) {
        for (name, port) in [("colour_read", &self.read), ("colour_write", &self.write)] {
            visitor.cache_port(name, port.rate(), port.bytes);
        }
    }

    fn lines(&self, warp: &ShadedWarp) -> WarpLines {
        let mut lines = WarpLines::new();
        for quad in warp.quads.iter() {
            let (line, sectors) = self.layout.of(warp.tile, quad.position);
            match lines.iter_mut().find(|(other, _)| *other == line) {
                Some((_, all)) => *all |= sectors,
                None => lines.push((line, sectors)),
            }
        }
        lines
    }
}
