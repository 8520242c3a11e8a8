//! The program with another Hi-Z, which drops no tile and passes as many per cycle as its field says:
//!
//! ```text
//! cargo run --release --example replace_a_unit -- sim scene.ply --set wide_hi_z.tiles_per_cycle=2,4,8
//! ```

use quadrille::gpu::extension::Extension;
use quadrille::gpu::raster::fine::Fine;
use quadrille::gpu::raster::hi_z::HiZCounters;
use quadrille::gpu::wiring::extension;
use quadrille::machine::{IssuePort, Process, RasterTile, Rate, Rigid, RigidUnit};

quadrille::machine::spec! {
    /// A unit in place of Hi-Z.
    WideHiZSpec in "wide_hi_z" {
        /// Raster tiles per cycle.
        tiles_per_cycle: Rate = Rate::new(4, 1), Rate::LEAST..=Rate::MOST, Assumed "an example";
    }
}

impl Rigid for WideHiZSpec {
    // Reports have it in the row of the unit that it replaces.
    const NAME: &'static str = "hi_z";
    type Counters = HiZCounters;

    fn port(&self) -> IssuePort {
        IssuePort::new(self.tiles_per_cycle, 1)
    }
}

impl<M> Process<M> for WideHiZSpec {
    type In = RasterTile;
    type Out = RasterTile;

    fn process(&self, tile: RasterTile, all: &mut HiZCounters, _: &M) -> (u64, Option<RasterTile>) {
        all.tiles_in += 1;
        (1, Some(tile))
    }
}

pub(crate) fn wide_hi_z() -> Extension {
    extension::<WideHiZSpec>(|simulator, draw, shader, tests| {
        let (config, spec) = (simulator.config(), simulator.config().unit::<WideHiZSpec>());
        simulator.run_with(draw, shader, tests, |gpc| {
            gpc.coarse_raster(quadrille::chain! {
                config.hi_z.queue => RigidUnit::new(&spec),
                config.fine.queue => Fine::new(&config.fine),
                gpc.tests(gpc.flush_policy(), gpc.shading())
            })
        })
    })
}

fn main() -> std::process::ExitCode {
    quadrille::cli::run_with([wide_hi_z()], std::env::args_os()).into()
}
