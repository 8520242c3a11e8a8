//! Bandwidth of every port between the raster and the colour buffer, in quads per cycle: once at a rate below all
//! other ports, and once at a higher rate, where another port limits.

use super::bench::{layers, run as draw};
use super::check::Check;
use quadrille_base::raster::tiles::{QUADS_PER_TILE, RASTER_TILE_PX};
use quadrille_gpu::config::Config;
use quadrille_gpu::zrop::framebuffer::{Tests, bytes_per_quad};
use quadrille_machine::{Rate, WARP_QUADS};

const SIDE_PX: u32 = 128;
const LAYERS: u32 = 4;
const QUADS_PER_CYCLE: [u32; 2] = [1, 4];
const TOLERANCE: f64 = 0.01;

/// Number of quads in a fully covered raster tile.
const RASTER_TILE: u32 = (RASTER_TILE_PX / 2) * (RASTER_TILE_PX / 2);
#[allow(clippy::cast_possible_truncation, reason = "eight quads")]
const WARP: u32 = WARP_QUADS as u32;

/// Name of a port's rate field, quads per item, and accessor of the field.
type Port = (&'static str, u32, fn(&mut Config) -> &mut Rate);

const PORTS: [Port; 13] = [
    ("coarse.screen_tiles_tested_per_cycle", QUADS_PER_TILE, |c| {
        &mut c.coarse.screen_tiles_tested_per_cycle
    }),
    ("coarse.tiles_per_cycle", RASTER_TILE, |c| &mut c.coarse.tiles_per_cycle),
    ("hi_z.tiles_per_cycle", RASTER_TILE, |c| &mut c.hi_z.tiles_per_cycle),
    ("fine.tiles_per_cycle", RASTER_TILE, |c| &mut c.fine.tiles_per_cycle),
    ("tc.tiles_in_per_cycle", RASTER_TILE, |c| &mut c.tc.tiles_in_per_cycle),
    ("tc.quads_in_per_cycle", 1, |c| &mut c.tc.quads_in_per_cycle),
    ("tc.quads_out_per_cycle", 1, |c| &mut c.tc.quads_out_per_cycle),
    ("prop.quads_in_per_cycle", 1, |c| &mut c.prop.quads_in_per_cycle),
    ("zrop.quads_per_cycle", 1, |c| &mut c.zrop.quads_per_cycle),
    ("prop.quads_out_per_cycle", 1, |c| &mut c.prop.quads_out_per_cycle),
    ("launch.warps_per_cycle", WARP, |c| &mut c.launch.warps_per_cycle),
    ("cores.warps_out_per_cycle", WARP, |c| &mut c.cores.warps_out_per_cycle),
    ("crop.quads_per_cycle", 1, |c| &mut c.crop.quads_per_cycle),
];

/// Quads per cycle that all ports accept: the minimum over the slowest port, the colour bytes, and the
/// instructions that the schedulers issue.
pub(super) fn ideal_quads_per_cycle(config: &Config) -> f64 {
    let mut config = config.clone();
    let ports = PORTS.map(|(_, quads, rate)| rate(&mut config).in_cycles(1) * f64::from(quads));
    let bytes = bytes_per_quad(config.crop.format) as f64;
    let port = config.crop.bytes_per_cycle.min(config.crop.l2_bytes_per_cycle) as f64;
    let cores = &config.cores;
    let cycles_per_warp = (cores.fragment_instructions * cores.issue_cycles) as f64;
    let shaded = cores.all_schedulers() as f64 / cycles_per_warp * f64::from(WARP);
    ports.into_iter().fold((port / bytes).min(shaded), f64::min)
}

fn measured_quads_per_cycle(config: &Config) -> f64 {
    let [once, twice] = [1, 2].map(|times| {
        let result = draw(&layers(SIDE_PX, times * LAYERS), config, &Tests::default());
        [result.quads.blended, result.cycles]
    });
    (twice[0] - once[0]) as f64 / (twice[1] - once[1]) as f64
}

pub(super) fn run(config: &Config) -> Vec<Check> {
    let rows = PORTS.into_iter().flat_map(|(field, quads, rate)| {
        QUADS_PER_CYCLE.map(|quads_per_cycle| {
            let mut config = config.clone();
            *rate(&mut config) = Rate::new(quads_per_cycle, quads);
            let name = format!("quads blended, {field} at {quads_per_cycle} quads per cycle");
            let (ideal, measured) =
                (ideal_quads_per_cycle(&config), measured_quads_per_cycle(&config));
            Check::ideal(name, ideal, TOLERANCE, measured, "quads per cycle")
        })
    });
    rows.collect()
}
