//! Configuration of the emulated GPU: specifications of all units, presets, and overlays.

use crate::optional_parts::{
    ACCELERATOR, CRITICAL_SECTIONS, ENERGY_ESTIMATE, FRAME_ESTIMATE, KERNELS, PASSES, PIPELINE,
    QUAD_REORDERING, SECOND_GPC, SHADER_BLENDING, SOFTWARE, SPLAT_PIPELINE, TILE_FETCH,
    TILE_GRID_COALESCING, TILES,
};
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::compute::program::ComputeSpec;
use super::compute::stream::KernelsSpec;
use super::crop::unit::CropSpec;
use super::energy::EnergySpec;
use super::extension::{Extension, Extensions};
use super::frame::FrameSpec;
use super::geometry::assembly::AssemblySpec;
use super::geometry::crossbar::CrossbarSpec;
use super::geometry::distributor::DistributorSpec;
use super::geometry::vertex::VertexSpec;
use super::gscore::spec::GscoreSpec;
use super::raster::coarse::CoarseSpec;
use super::raster::fine::FineSpec;
use super::raster::hi_z::HiZSpec;
use super::raster::setup::SetupSpec;
use super::tile_gpu::tile_buffer::TileBufferSpec;
use super::tile_owner::{TileMap, TileMapping};
use super::warp::cores::CoresSpec;
use super::warp::interlock::InterlockSpec;
use super::warp::launch::LaunchSpec;
use super::warp::shader_blend::ShaderBlendSpec;
use super::warp::tile_fetch::TileFetchSpec;
use super::warp::update::PassesSpec;
use super::zrop::prop::PropSpec;
use super::zrop::unit::ZropSpec;
use crate::coalesce::binning::BinningSpec;
use crate::coalesce::quad_reorder::QruSpec;
use crate::coalesce::tile_coalescing::TcSpec;
use crate::coalesce::tile_grid_coalescing::TgcSpec;
use quadrille_base::error::{Error, Result};
use quadrille_machine::overlay::{ASSIGNMENT, as_toml, overlaid, parsed};
use quadrille_machine::{DramSpec, Field, L2Spec, PackSpec, Rate, Specification, spec};

spec! {
    /// Configuration of the GPU as a whole.
    GpuSpec in "gpu" {
        /// Clock of all units except the L2 and DRAM, in MHz.
        clock_mhz: f64 = 612.0, 1.0..=100_000.0, Published "VR-Pipe Table I";
        /// Number of graphics processing clusters, each with all units from tile-grid coalescing to CROP.
        gpcs: u64 = 1, 1..=64, Published "VR-Pipe Table I";
        /// Rule that assigns blocks of screen tiles to GPCs.
        tile_mapping: TileMapping = TileMapping::Diagonal, .., Assumed "NVIDIA assigns each screen tile to a GPC (VR-Pipe II-A), by an unpublished rule", only_if SECOND_GPC;
        /// Screen tiles along the side of a block that belongs to one GPC.
        tile_block: u64 = 1, 1..=1024, Assumed "VR-Pipe II-A: each screen tile of 16x16 pixels is assigned to a GPC", only_if SECOND_GPC;
        /// Whether the machine has a graphics pipeline; presets that describe only the shader cores of a GPU have none.
        graphics: bool = true, .., Published "VR-Pipe Table I";
    }
}

impl GpuSpec {
    /// Refuses a machine without a graphics pipeline.
    pub fn check_graphics(&self) -> Result<()> {
        let expected = "true for methods on the graphics pipeline; a preset without it describes shader cores only, \
                        for --method compute (true takes all other units from vr-pipe)";
        Error::refuse_if(!self.graphics, "gpu.graphics", expected, self.graphics)
    }

    /// Returns the map from screen tiles to the GPCs that own them.
    pub fn tile_map(&self) -> TileMap {
        TileMap::new(self.gpcs, self.tile_mapping, self.tile_block)
    }
}

/// Declares the configuration, one field per unit. `only_if PART` after a unit names the optional part that
/// reads those of its fields that name no part themselves.
macro_rules! config {
    ($($field:ident: $spec:ty $(, only_if $part:expr)?;)+) => {
        /// Specifications of all units.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Config {
            $(
                #[doc = concat!("Specification with the keys `", stringify!($field), ".*`.")]
                pub $field: $spec,
            )+
            /// Units that other crates add.
            #[serde(skip_deserializing, skip_serializing_if = "Extensions::is_empty")]
            pub extensions: Extensions,
        }

        impl Config {
            fn validate_fields(&self) -> Result<()> {
                $(self.$field.validate()?;)+
                self.extensions.validate()
            }

            /// Describes every field of every unit.
            #[must_use]
            pub fn fields(&self) -> Vec<Field> {
                let mut all = Vec::new();
                $(
                    let mut fields = self.$field.fields();
                    $(fields.iter_mut().for_each(|f| f.only_if = f.only_if.or(Some($part)));)?
                    all.append(&mut fields);
                )+
                all.extend(self.extensions.fields());
                all
            }
        }
    };
}

config! {
    gpu: GpuSpec;
    distributor: DistributorSpec, only_if SECOND_GPC;
    vertex: VertexSpec, only_if SPLAT_PIPELINE;
    vpo: AssemblySpec, only_if PIPELINE;
    crossbar: CrossbarSpec, only_if SECOND_GPC;
    tgc: TgcSpec, only_if TILE_GRID_COALESCING;
    setup: SetupSpec, only_if PIPELINE;
    coarse: CoarseSpec, only_if PIPELINE;
    hi_z: HiZSpec, only_if PIPELINE;
    fine: FineSpec, only_if PIPELINE;
    tc: TcSpec, only_if SPLAT_PIPELINE;
    prop: PropSpec, only_if PIPELINE;
    zrop: ZropSpec, only_if PIPELINE;
    qru: QruSpec, only_if QUAD_REORDERING;
    pack: PackSpec, only_if PIPELINE;
    launch: LaunchSpec, only_if PIPELINE;
    cores: CoresSpec;
    crop: CropSpec, only_if PIPELINE;
    passes: PassesSpec, only_if PASSES;
    shader_blend: ShaderBlendSpec, only_if SHADER_BLENDING;
    interlock: InterlockSpec, only_if CRITICAL_SECTIONS;
    binning: BinningSpec, only_if TILES;
    tile_buffer: TileBufferSpec, only_if TILES;
    tile_fetch: TileFetchSpec, only_if TILE_FETCH;
    l2: L2Spec;
    dram: DramSpec;
    compute: ComputeSpec, only_if SOFTWARE;
    kernels: KernelsSpec, only_if KERNELS;
    gscore: GscoreSpec, only_if ACCELERATOR;
    frame: FrameSpec, only_if FRAME_ESTIMATE;
    energy: EnergySpec, only_if ENERGY_ESTIMATE;
}

/// A predefined configuration: a set of changes to the default.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// Name of the preset.
    pub name: &'static str,
    /// Modelled hardware, and the source of the values.
    pub about: &'static str,
    toml: &'static str,
}

/// All presets; the first is the default.
pub const PRESETS: [Preset; 10] = [
    Preset { name: "vr-pipe", about: "the simulated GPU of the VR-Pipe paper, Table I", toml: "" },
    Preset {
        name: "orin",
        about: "Jetson AGX Orin, 64 GB, in its MAXN mode: 2 GPCs of 8 SMs of 128 lanes, 1.3 GHz, LPDDR5 at 204.8 \
                GB/s, 4 MB L2 (NVIDIA's technical brief of the Jetson AGX Orin series); an SM's scheduler \
                issues a warp of 32 per cycle; the rest as vr-pipe",
        toml: "[gpu]\nclock_mhz = 1300.0\ngpcs = 2\n[cores]\ncores = 8\nissue_cycles = 1\n[l2]\nclock_mhz = 1300.0\n[dram]\ngb_per_s = 204.8\n",
    },
    Preset {
        name: "orin-30w",
        about: "Jetson AGX Orin, 64 GB, in its 30 W mode, in which the VR-Pipe paper measures (VI-A): as orin at 612 MHz and \
                102.4 GB/s (Table I)",
        toml: "[gpu]\nclock_mhz = 612.0\ngpcs = 2\n[cores]\ncores = 8\nissue_cycles = 1\n[l2]\nclock_mhz = 612.0\n[dram]\ngb_per_s = 102.4\n",
    },
    Preset {
        name: "ampere-gpc",
        about: "one of the 7 GPCs of a GA102 (GeForce RTX 3090): 12 SMs of 128 lanes at 1.695 GHz, 16 \
                ROPs, its share of 936 GB/s and 6 MB L2 (NVIDIA's GA102 whitepaper); an SM's \
                scheduler issues a warp of 32 per cycle; the rest as vr-pipe",
        toml: "[gpu]\nclock_mhz = 1695.0\n[cores]\ncores = 12\nissue_cycles = 1\n[dram]\ngb_per_s = 133.7\n[l2]\nclock_mhz = 1695.0\nbytes = 917504\n",
    },
    Preset {
        name: "rtx-a6000",
        about: "a whole GA102 (RTX A6000): 7 GPCs of 12 SMs of 128 lanes at 1.8 GHz, 112 ROPs, 768 GB/s, \
                6 MB L2 (NVIDIA's GA102 whitepaper); an SM's scheduler issues a warp of 32 per cycle; the \
                rest as vr-pipe",
        toml: "[gpu]\nclock_mhz = 1800.0\ngpcs = 7\n[cores]\ncores = 12\nissue_cycles = 1\n[dram]\ngb_per_s = 768.0\n[l2]\nclock_mhz = 1800.0\nbytes = 6291456\n",
    },
    Preset {
        name: "h100",
        about: "the shader cores of an H100 SXM: 132 SMs of 128 lanes and 64 warps at 1.98 GHz, 3.35 TB/s, 50 MB L2 \
                (the device's properties, NVIDIA's data sheet and tuning guide for Hopper; latencies as benches/hardware \
                measures them); the rest as vr-pipe",
        toml: "[gpu]\nclock_mhz = 1980.0\ngraphics = false\n[cores]\ncores = 132\nissue_cycles = 1\nwarps_per_core = 64\n[l2]\nclock_mhz = 1980.0\nbytes = 52428800\nlatency_ns = 147.0\n[dram]\ngb_per_s = 3350.0\nlatency_ns = 209.0\n[compute]\nshared_bytes_per_core = 233472\n",
    },
    Preset {
        name: "h200",
        about: "the shader cores of an H200 SXM: 132 SMs of 128 lanes and 64 warps at 1.98 GHz, 4.8 TB/s, 60 MB L2 \
                (the device's properties, NVIDIA's data sheet and tuning guide for Hopper; latencies as benches/hardware \
                measures them); the rest as vr-pipe",
        toml: "[gpu]\nclock_mhz = 1980.0\ngraphics = false\n[cores]\ncores = 132\nissue_cycles = 1\nwarps_per_core = 64\n[l2]\nclock_mhz = 1980.0\nbytes = 62914560\nlatency_ns = 145.0\n[dram]\ngb_per_s = 4800.0\nlatency_ns = 196.0\n[compute]\nshared_bytes_per_core = 233472\n",
    },
    Preset {
        name: "mobile",
        about: "a GPU of a phone, for tile-gpu and framebuffer-fetch: a Mali-G710 with 7 cores of 64 lanes (Arm's announcement: \
                7 to 16 cores of 64 multiply-adds per cycle) behind LPDDR5 at 6.4 Gbit/s and 64 bits, 51.2 GB/s. Assumed: 850 \
                MHz; 2 MB L2 in four slices of 64 bytes per cycle; a quad per cycle and core in shading, blending and \
                access to the tile buffer; the rest as vr-pipe",
        toml: "[gpu]\nclock_mhz = 850.0\n[cores]\ncores = 7\n[prop]\nquads_out_per_cycle = 7\n[tile_buffer]\nquads_per_cycle = 7\nbytes_per_cycle = 224\n[tile_fetch]\nbytes_per_cycle = 224\n[l2]\nbytes = 2097152\nslices = 4\nslice_bytes_per_cycle = 64\nclock_mhz = 850.0\n[dram]\ngb_per_s = 51.2\n",
    },
    Preset {
        name: "measured-rop",
        about: "as vr-pipe with the rates of an H200's raster operations relative to blending RGBA16F \
                (benches/hardware/h200.csv): tests at 6.73 times, behind ports that pass more; shading at 2.58 times; \
                entries to critical sections at 0.78 times",
        toml: "[tc]\nquads_out_per_cycle = 16\n[prop]\nquads_in_per_cycle = 16\nquads_out_per_cycle = \"31/6\"\n[zrop]\nquads_per_cycle = \"27/2\"\n[interlock]\nentry_cycles = 5\n",
    },
    Preset {
        name: "emerald-example",
        about: "as vr-pipe with the raster of the Emerald simulator's example \
                (example_graphics_standalone.py): one raster tile per cycle in the coarse raster, Hi-Z, the \
                fine raster and tile coalescing",
        toml: "[coarse]\ntiles_per_cycle = 1\n[hi_z]\ntiles_per_cycle = 1\n[fine]\ntiles_per_cycle = 1\n[tc]\ntiles_in_per_cycle = 1\nquads_in_per_cycle = 16\n",
    },
];

const MAX_ENTRIES: u64 = 1 << 23;
const MAX_CACHE_BYTES: u64 = 1 << 30;

impl Config {
    /// Checks the bounds of all fields, and of the sizes and bandwidths that follow from several fields.
    pub fn validate(&self) -> Result<()> {
        self.validate_fields()?;
        let (tc, tgc, binning, cores) = (&self.tc, &self.tgc, &self.binning, &self.cores);
        let all_cores = ("cores.cores", cores.cores);
        let entries = [
            [("tc.bins", tc.bins), ("tc.bin_size", tc.bin_size)],
            [("tgc.bins", tgc.bins), ("tgc.bin_size", tgc.bin_size)],
            [("binning.bins", binning.bins), ("binning.bin_size", binning.bin_size)],
            [all_cores, ("cores.warps_per_core", cores.warps_per_core)],
            [all_cores, ("cores.schedulers", cores.schedulers)],
        ];
        for sizes in &entries {
            self.check_product(sizes, MAX_ENTRIES)?;
        }
        let caches = [
            &[all_cores, ("cores.l1_bytes", cores.l1_bytes)][..],
            &[("crop.cache_bytes", self.crop.cache_bytes)],
            &[("zrop.cache_bytes", self.zrop.cache_bytes)],
        ];
        for sizes in caches {
            self.check_product(sizes, MAX_CACHE_BYTES)?;
        }
        let clock_mhz = self.gpu.clock_mhz;
        let l2 = self.l2.bytes_per_cycle(clock_mhz);
        check_bandwidth("l2.slices * l2.slice_bytes_per_cycle * l2.clock_mhz / gpu.clock_mhz", l2)?;
        let dram = self.dram.bytes_per_cycle(clock_mhz);
        check_bandwidth("1000 * dram.gb_per_s / gpu.clock_mhz", dram)
    }

    /// L2 bytes that all GPCs reserve for the results of vertex shading, at most half of the L2.
    #[must_use]
    pub fn vertex_buffer_bytes(&self) -> u64 {
        let all = self.gpu.gpcs * self.vertex.buffer_bytes;
        all.min(self.l2.bytes / 2)
    }

    fn check_product(&self, sizes: &[(&str, u64)], most: u64) -> Result<()> {
        let mut factors = vec![("gpu.gpcs", self.gpu.gpcs)];
        factors.extend_from_slice(sizes);
        factors.retain(|(_, size)| *size != 1);
        if factors.iter().map(|(_, size)| size).product::<u64>() <= most {
            return Ok(());
        }
        let (names, sizes): (Vec<_>, Vec<_>) =
            factors.iter().map(|(n, size)| (*n, size.to_string())).unzip();
        let expected = format!("a product of at most {most}");
        Err(Error::argument(names.join(" * "), expected, sizes.join(" * ")))
    }

    /// Returns the preset `name`. The error for an unknown name lists all presets.
    pub fn preset(name: &str) -> Result<Self> {
        let preset = PRESETS.iter().find(|p| p.name == name).ok_or_else(|| {
            let names: Vec<_> = PRESETS.iter().map(|p| p.name).collect();
            Error::unknown_name("preset", format!("one of {}", names.join(", ")), name, names)
        })?;
        Self::default().overlaid(preset.toml, preset.name)
    }

    /// Returns the fields whose values differ from a preset: their names and their values as TOML.
    pub fn changes_from(&self, preset: &str) -> Result<BTreeMap<String, String>> {
        let pairs = self.fields().into_iter().zip(self.extended(preset)?.fields());
        let changed = pairs.filter(|(ours, theirs)| ours.value != theirs.value);
        Ok(changed.map(|(ours, _)| (ours.name, ours.value)).collect())
    }

    /// Returns the configuration with the values in a TOML text. `from` names the text in errors.
    pub fn overlaid(&self, text: &str, from: &str) -> Result<Self> {
        let mut overlay = parsed(text, from)?;
        let mut extensions = self.extensions.clone();
        extensions.overlay(&mut overlay, from)?;
        let own = Self { extensions: Extensions::default(), ..self.clone() };
        let own: Self = overlaid(&own, &overlay.to_string(), from)?;
        let config = Self { extensions, ..own };
        config.validate()?;
        Ok(config)
    }

    /// Adds a unit of another crate, or replaces an added unit of the same name. [`Config::with`] sets its fields, too.
    ///
    /// # Errors
    /// [`Error::Argument`] if the unit has the name of a unit of this crate, or if a default is out of bounds.
    ///
    /// # Examples
    /// ```
    /// use quadrille_gpu::config::Config;
    /// use quadrille_gpu::wiring::extension;
    ///
    /// quadrille_machine::spec! {
    ///     /// A unit that looks at tested quads.
    ///     ProbeSpec in "probe" {
    ///         /// Cycles from a beat's arrival to its departure.
    ///         latency_cycles: u64 = 2, 0..=1000, Assumed "a unit of one's own";
    ///     }
    /// }
    ///
    /// let probe = extension::<ProbeSpec>(|simulator, draw, shader, tests| {
    ///     // A real unit stands between these sections; see `examples/add_a_unit.rs`.
    ///     simulator.run_with(draw, shader, tests, |gpc| {
    ///         gpc.raster(gpc.tests(gpc.flush_policy(), gpc.shading()))
    ///     })
    /// });
    /// let config = Config::default().with_extension(probe)?.with("probe.latency_cycles=8")?;
    /// assert_eq!(config.unit::<ProbeSpec>().latency_cycles, 8);
    /// # Ok::<(), quadrille_base::Error>(())
    /// ```
    pub fn with_extension(&self, extension: Extension) -> Result<Self> {
        extension.check_name(&toml::Table::try_from(Self::default()).unwrap_or_default())?;
        let mut config = self.clone();
        config.extensions.add(extension);
        config.validate()?;
        Ok(config)
    }

    /// Returns a preset together with the added units of this configuration, which have their default values.
    pub fn extended(&self, preset: &str) -> Result<Self> {
        Ok(Self { extensions: self.extensions.at_default(), ..Self::preset(preset)? })
    }

    /// Returns the specification of an added unit, or its default if the unit was not added.
    #[must_use]
    pub fn unit<S: Specification>(&self) -> S {
        self.extensions.spec()
    }

    /// Returns the configuration with one assignment `unit.field=value`.
    pub fn with(&self, assignment: &str) -> Result<Self> {
        if let Some((field, value)) = assignment.split_once('=')
            && !field.contains('.')
        {
            let names = self.fields().into_iter().map(|f| f.name);
            let named = names.filter(|name| name.split('.').next_back() == Some(field.trim()));
            let named: Vec<String> = named.map(|name| format!("{name}={value}")).collect();
            if !named.is_empty() {
                let expected = format!("unit.field=value, as in {}", named.join(" or "));
                return Err(Error::argument(ASSIGNMENT, expected, assignment));
            }
        }
        self.overlaid(&as_toml(assignment)?, ASSIGNMENT)
    }
}

/// Checks that a memory transfers at least 1/1024 byte per cycle, the lowest rate of any port.
fn check_bandwidth(fields: &str, bytes_per_cycle: f64) -> Result<()> {
    let least = Rate::LEAST.in_cycles(1);
    if bytes_per_cycle >= least {
        return Ok(());
    }
    let expected = format!("at least 1/{} byte per cycle of the units", Rate::LEAST.cycles());
    Err(Error::argument(fields, expected, bytes_per_cycle))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// VR-Pipe's Table III states 24.25 KB, 688 B and 24.92 KB in all. Half the bins and half the window halve the storage.
    #[test]
    fn storage_follows_from_the_sizes() {
        let Config { mut tgc, mut qru, zrop, .. } = Config::default();
        assert_eq!(tgc.storage_bytes(), 24_832);
        // The second flush buffer, which the paper does not count.
        assert_eq!(qru.storage_bytes(), 688 + 608);
        qru.buffers = 1;
        assert_eq!(qru.storage_bytes(), 688);
        assert_eq!(tgc.storage_bytes() + qru.storage_bytes(), 25_520);
        // 256 primitives of three vertices of 16 bytes.
        assert_eq!(tgc.fetch_bytes(64), 12_288);
        // 2,048 quads of 42 bits, 64 updates of 34 bits.
        assert_eq!(zrop.storage_bytes(), 10_752 + 272);
        tgc.bins = 64;
        qru.window = 64;
        assert_eq!(tgc.storage_bytes(), 12_416);
        // 38 bits * 64 quads, 64 registers of 7 bits in a byte each, 64 bits.
        assert_eq!(qru.storage_bytes(), 304 + 64 + 8);
    }

    #[test]
    fn shader_cores_alone_run_no_graphics_pipeline() {
        use crate::machine::Machine;
        use crate::method::Method;
        use crate::variant::Variant;
        use crate::wiring::Watch;

        for preset in ["h100", "h200"] {
            let config = Config::preset(preset).unwrap();
            let machine =
                |name: &str| Machine::new(&config, Method::parse(name).unwrap(), Watch::default());
            for name in ["baseline", "het+qm", "multipass:4", "interlock"] {
                let error = machine(name).unwrap_err().to_string();
                assert!(error.contains("gpu.graphics"), "{name}: {error}");
            }
            assert!(machine("compute").is_ok() && machine("gscore").is_ok());
            let whole = config.with("gpu.graphics=true").unwrap();
            assert!(Machine::new(&whole, Variant::BASELINE.into(), Watch::default()).is_ok());
        }
    }
}
