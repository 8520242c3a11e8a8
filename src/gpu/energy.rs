//! Energy of a draw: events of the emulated machine times the energy of each, and static power times the time of the draw.
//!
//! The model is an estimate with assumed constants. It follows from counters and cycles and changes neither. Static power
//! grows with the shader cores, the L2 and the ROPs. The voltage grows with the clock; the energies of on-chip events and
//! static power grow with its square. No publication settles a constant, so each part of an energy has bounds, and they
//! give a band of energies.

use serde::{Deserialize, Serialize};

use quadrille_machine::{Cycle, SECTOR_BYTES, documented, spec};

spec! {
    /// Energies of events in a process of 7 or 8 nm, and static power.
    EnergySpec in "energy" {
        /// Energy of a 32-bit floating-point addition in pJ.
        fp32_add_pj: f64 = 0.38, 0.0..=1e6, Assumed "Jouppi et al., ISCA 2021, Table 2, 7 nm, quoted from memory; only the column for 45 nm (0.9) is verified";
        /// Energy of a 32-bit floating-point multiplication in pJ.
        fp32_multiply_pj: f64 = 1.31, 0.0..=1e6, Assumed "as energy.fp32_add_pj (45 nm: 3.7)";
        /// Energy of a 16-bit floating-point addition and a multiplication in pJ.
        fp16_multiply_add_pj: f64 = 0.5, 0.0..=1e6, Assumed "as energy.fp32_add_pj: 0.16 and 0.34";
        /// 32-bit register words that a lane reads and writes per instruction.
        register_words: f64 = 3.2, 0.0..=1e3, Assumed "three operands and a result of a multiply-add, fewer of moves, loads and tests";
        /// Energy of a 32-bit register word in pJ.
        register_word_pj: f64 = 3.75, 0.0..=1e6, Assumed "half of a 64-bit word of 8 KB of SRAM (7.5), as energy.fp32_add_pj";
        /// Arithmetic energy of a special function in multiply-adds.
        special_factor: f64 = 4.0, 1.0..=1e3, Assumed "an interpolation from a table: three multiply-adds and the table";
        /// Special functions per run of the fragment shader.
        fragment_special: u64 = 1, 0..=1_000, Assumed "the exponential";
        /// Energy of a 32-byte sector of a cache or memory of a unit or a core, in pJ.
        unit_sector_pj: f64 = 34.0, 0.0..=1e6, Assumed "four 64-bit words of 32 KB of SRAM (8.5), as energy.fp32_add_pj";
        /// Energy of a 32-byte sector of the L2's arrays in pJ.
        l2_sector_pj: f64 = 56.0, 0.0..=1e6, Assumed "four 64-bit words of 1 MB of SRAM (14), as energy.fp32_add_pj";
        /// Energy of a bit over a millimetre of wire in pJ.
        wire_pj_per_bit_mm: f64 = 0.1, 0.0..=1e3, Assumed "common for global wires in 7 nm";
        /// Length of the wires between a unit and the L2 in mm.
        wire_mm: f64 = 10.0, 0.0..=1e3, Assumed "across half of the GPU of a mobile chip";
        /// 16-bit multiply-adds of the blend of a quad.
        blend_multiply_adds: u64 = 16, 0..=1_000, Assumed "four pixels of four channels";
        /// Energy of a raster tile in the fixed-function raster in pJ.
        raster_tile_pj: f64 = 20.0, 0.0..=1e6, Assumed "three edge functions at the corners, and 64 sums of few bits";
        /// Energy in pJ of an entry of a bin or window, which is written once and read once.
        bin_entry_pj: f64 = 17.0, 0.0..=1e6, Assumed "a 64-bit word of 32 KB of SRAM twice, as energy.unit_sector_pj";
        /// Energy of a bit of DRAM in pJ.
        dram_pj_per_bit: f64 = 8.0, 0.0..=1e3, Assumed "between the bounds, with its interface";
        /// Lower bound of the energy of a bit of DRAM in pJ.
        dram_pj_per_bit_low: f64 = 4.0, 0.0..=1e3, Assumed "lowest of the published figures for LPDDR3 and LPDDR4";
        /// Upper bound of the energy of a bit of DRAM in pJ.
        dram_pj_per_bit_high: f64 = 14.0, 0.0..=1e3, Assumed "highest of the published figures for LPDDR3 and LPDDR4";
        /// Power in W under load, without DRAM, of the reference GPU whose static power is scaled.
        rail_w: f64 = 7.6, 0.0..=1e4, Assumed "GPU rail of a Jetson AGX Orin under load in its 30 W mode (NVIDIA's forum, topic 323456)";
        /// Shader cores of the reference GPU. Static power scales with cores, L2 and ROPs, each by its share.
        rail_cores: u64 = 16, 1..=65_536, Assumed "all SMs of the Jetson AGX Orin; its 30 W mode may power fewer";
        /// L2 capacity of the reference GPU in bytes.
        rail_l2_bytes: u64 = 4_194_304, 1..=1_099_511_627_776, Assumed "VR-Pipe Table I, which is configured as that GPU";
        /// ROPs of the reference GPU: RGBA8 pixels blended per cycle.
        rail_rops: u64 = 16, 1..=65_536, Assumed "as energy.rail_l2_bytes";
        /// Share of the L2 in static power.
        l2_share: f64 = 0.2, 0.0..=0.5, Assumed "its share of the area of such a GPU, estimated from die photographs";
        /// Share of the ROPs and the fixed-function raster in static power.
        rop_share: f64 = 0.1, 0.0..=0.5, Assumed "as energy.l2_share";
        /// Voltage in V at the reference GPU's clock. On-chip and static energies grow with its square.
        voltage_v: f64 = 0.65, 0.01..=100.0, Assumed "typical of mobile GPUs in 7 or 8 nm at half of their largest clock";
        /// Voltage change in V per GHz of clock.
        voltage_v_per_ghz: f64 = 0.36, 0.0..=100.0, Assumed "0.9 V at 1300 MHz, the largest clock of that GPU";
        /// Lowest voltage in V, also at lower clocks.
        voltage_least_v: f64 = 0.6, 0.01..=100.0, Assumed "typical minimum of SRAM in such a process";
        /// Clock of the reference GPU in MHz, at which the energies of events hold.
        rail_clock_mhz: f64 = 612.0, 1.0..=100_000.0, Assumed "largest clock of the GPU of a Jetson AGX Orin in its 30 W mode";
        /// Share of static power in `rail_w`.
        static_share: f64 = 0.3, 0.0..=1.0, Assumed "as AccelWattch finds for a V100: 71 of 250 W";
        /// Lower bound of the share of static power.
        static_share_low: f64 = 0.2, 0.0..=1.0, Assumed "a process with little leakage";
        /// Upper bound of the share of static power.
        static_share_high: f64 = 0.5, 0.0..=1.0, Assumed "a warm chip at a low clock";
        /// Factor by which each energy of shaders, caches and fixed-function units may be too high or too low.
        uncertainty: f64 = 2.0, 1.0..=1e3, Assumed "published energies of one event differ by as much";
    }
}

const LANES: f64 = 32.0;
const BITS: f64 = 8.0;
const MJ_PER_PJ: f64 = 1e-9;
const MJ_PER_J: f64 = 1e3;

documented! {
    /// Energy-relevant events of a draw.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct EnergyEvents {
        /// Warp instructions of vertices and fragments, or of a kernel.
        pub instructions: u64,
        /// Subset of `instructions` that the special function unit executes.
        pub special: u64,
        /// Sectors read from and written to first-level caches, shared memory, and the caches of CROP and ZROP.
        pub unit_sectors: u64,
        /// Sectors read from and written to the arrays of the L2, by units and by DRAM.
        pub l2_sectors: u64,
        /// Sectors that cross the wires between units and the L2.
        pub wire_sectors: u64,
        /// Quads blended by CROP.
        pub quads_blended: u64,
        /// Raster tiles of the coarse raster.
        pub raster_tiles: u64,
        /// Entries of bins and windows: quads of tile coalescing and quad reordering, primitives of tile-grid coalescing.
        pub bin_entries: u64,
        /// Bytes moved to and from DRAM.
        pub dram_bytes: u64,
    }
}

documented! {
    /// Energy of a draw in millijoules.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    pub struct Energy {
        /// Energy of static power over the time of the draw.
        #[serde(rename = "static")]
        pub static_mj: f64,
        /// Energy of instructions and register accesses.
        #[serde(rename = "shader")]
        pub shader_mj: f64,
        /// Energy of caches, shared memory, and the wires to the L2.
        #[serde(rename = "caches")]
        pub caches_mj: f64,
        /// Energy of DRAM.
        #[serde(rename = "dram")]
        pub dram_mj: f64,
        /// Energy of fixed-function units: raster, bins and blends.
        #[serde(rename = "rop")]
        pub rop_mj: f64,
        /// Total energy: the sum of the parts.
        #[serde(rename = "total")]
        pub total_mj: f64,
    }
}

/// Clock and size of a GPU, which determine voltage and static power.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GpuSize {
    /// Clock in MHz.
    pub clock_mhz: f64,
    /// Number of shader cores.
    pub cores: u64,
    /// Capacity of the L2 in bytes.
    pub l2_bytes: u64,
    /// ROPs: RGBA8 pixels blended per cycle.
    pub rops: u64,
}

const PARTS: usize = 5;

/// Energy of a draw with its band, and the resulting power.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct EnergyEstimate {
    /// Energy with the constants as configured.
    pub energy: Energy,
    /// Lowest and highest energy of each part in mJ: static, shader, caches, DRAM, fixed-function units.
    pub bounds_mj: [[f64; 2]; PARTS],
    /// Mean power without DRAM in W; 0 for a draw without time.
    pub watts_without_dram: f64,
    /// Power under load, without DRAM, of a GPU with the emulated size and clock, in W.
    pub rail_w: f64,
    /// Counts of events from which the energy follows.
    pub events: EnergyEvents,
}

impl EnergyEstimate {
    /// Whether the draw exceeds the power under load of a GPU of its size, without DRAM.
    pub fn exceeds_rail(&self) -> bool {
        self.watts_without_dram > self.rail_w
    }

    /// Total energy in mJ with each part at its lowest or highest, in all combinations.
    pub fn corners_mj(&self) -> [f64; 1 << PARTS] {
        std::array::from_fn(|corner| {
            self.bounds_mj.iter().enumerate().map(|(at, bounds)| bounds[corner >> at & 1]).sum()
        })
    }

    /// Lowest and highest total energy of the band in mJ.
    pub fn band_mj(&self) -> [f64; 2] {
        [0, 1].map(|end| self.bounds_mj.iter().map(|bounds| bounds[end]).sum())
    }

    /// Energy of `other` relative to this one: as configured, and the lowest and highest ratio of the band.
    /// Both draws share one machine's constants. `None` if one of them takes no energy at some corner.
    pub fn ratio_of(&self, other: &Self) -> Option<[f64; 3]> {
        let pairs = other.corners_mj().into_iter().zip(self.corners_mj());
        let corners = pairs.map(|(other, this)| other / this);
        let ends = [f64::INFINITY, f64::NEG_INFINITY];
        let [low, high] = corners.fold(ends, |[low, high], r| [low.min(r), high.max(r)]);
        let ratios = [other.energy.total_mj / self.energy.total_mj, low, high];
        let is_ratio = |ratio: &f64| ratio.is_finite() && *ratio > 0.0;
        ratios.iter().all(is_ratio).then_some(ratios)
    }
}

impl EnergySpec {
    /// Square of the voltage relative to `rail_clock_mhz`.
    fn voltage_factor(&self, clock_mhz: f64) -> f64 {
        let volts = |mhz: f64| {
            let more = self.voltage_v_per_ghz * (mhz - self.rail_clock_mhz) * 1e-3;
            (self.voltage_v + more).max(self.voltage_least_v)
        };
        (volts(clock_mhz) / volts(self.rail_clock_mhz)).powi(2)
    }

    /// Power in W under load, without DRAM, of a GPU clocked at `rail_clock_mhz`.
    fn rail_of(&self, gpu: &GpuSize) -> f64 {
        let cores = gpu.cores as f64 / self.rail_cores as f64;
        let l2 = gpu.l2_bytes as f64 / self.rail_l2_bytes as f64;
        let rops = gpu.rops as f64 / self.rail_rops as f64;
        let of_cores = 1.0 - self.l2_share - self.rop_share;
        self.rail_w * (of_cores * cores + self.l2_share * l2 + self.rop_share * rops)
    }

    /// Energy of a draw of `cycles` on a GPU, with its band.
    pub fn estimate(&self, events: EnergyEvents, cycles: Cycle, gpu: &GpuSize) -> EnergyEstimate {
        let seconds = cycles as f64 / (gpu.clock_mhz * 1e6);
        let voltage = self.voltage_factor(gpu.clock_mhz);
        let full_w = self.rail_of(gpu) * voltage;
        let energy = self.energy(&events, full_w * self.static_share * seconds, voltage);
        let of_share = |share: f64| full_w * share * seconds * MJ_PER_J;
        let of_bit = |pj: f64| events.dram_bytes as f64 * BITS * pj * MJ_PER_PJ;
        let around = |mj: f64| [mj / self.uncertainty, mj * self.uncertainty];
        let without_dram = energy.total_mj - energy.dram_mj;
        let speed = gpu.clock_mhz / self.rail_clock_mhz;
        EnergyEstimate {
            energy,
            bounds_mj: [
                [self.static_share_low, self.static_share_high].map(of_share),
                around(energy.shader_mj),
                around(energy.caches_mj),
                [self.dram_pj_per_bit_low, self.dram_pj_per_bit_high].map(of_bit),
                around(energy.rop_mj),
            ],
            watts_without_dram: if cycles == 0 { 0.0 } else { without_dram / MJ_PER_J / seconds },
            rail_w: full_w * (self.static_share + (1.0 - self.static_share) * speed),
            events,
        }
    }

    pub(crate) fn dram_mj(&self, bytes: u64) -> f64 {
        bytes as f64 * BITS * self.dram_pj_per_bit * MJ_PER_PJ
    }

    /// Energy of events, whose on-chip part is multiplied by `voltage`, and of `static_j` joules of static power.
    fn energy(&self, events: &EnergyEvents, static_j: f64, voltage: f64) -> Energy {
        let multiply_add = self.fp32_add_pj + self.fp32_multiply_pj;
        let instruction = multiply_add + self.register_words * self.register_word_pj;
        let more_of_special = (self.special_factor - 1.0) * multiply_add;
        let wires = SECTOR_BYTES as f64 * BITS * self.wire_pj_per_bit_mm * self.wire_mm;
        let blend = self.blend_multiply_adds as f64 * self.fp16_multiply_add_pj;
        let shader = LANES
            * (events.instructions as f64 * instruction + events.special as f64 * more_of_special);
        let caches = events.unit_sectors as f64 * self.unit_sector_pj
            + events.l2_sectors as f64 * self.l2_sector_pj
            + events.wire_sectors as f64 * wires;
        let rop = events.quads_blended as f64 * blend
            + events.raster_tiles as f64 * self.raster_tile_pj
            + events.bin_entries as f64 * self.bin_entry_pj;
        let static_mj = static_j * MJ_PER_J;
        let [shader_mj, caches_mj, rop_mj] =
            [shader, caches, rop].map(|pj| pj * voltage * MJ_PER_PJ);
        let dram_mj = self.dram_mj(events.dram_bytes);
        Energy {
            static_mj,
            shader_mj,
            caches_mj,
            dram_mj,
            rop_mj,
            total_mj: static_mj + shader_mj + caches_mj + dram_mj + rop_mj,
        }
    }
}
