//! The program with a unit of its own between ZROP and quad reordering, whose field flags and suites set:
//!
//! ```text
//! cargo run --release --example own_program -- sim scene.ply --set probe.latency_cycles=0,8,64
//! ```

use quadrille::gpu::extension::Extension;
use quadrille::gpu::wiring::extension;
use quadrille::machine::{Beat, IssuePort, Process, Rate, Rigid, RigidUnit};

quadrille::machine::spec! {
    /// A unit that looks at the coverage of tested quads.
    ProbeSpec in "probe" {
        /// Cycles from a beat's arrival to its departure.
        latency_cycles: u64 = 2, 0..=100_000, Assumed "an example";
    }
}

quadrille::statistics! {
    /// Counters of the probe.
    pub struct ProbeCounters {
        /// Quads with four fragments left after the tests.
        full: u64,
    }
}

impl Rigid for ProbeSpec {
    const NAME: &'static str = "probe";
    type Counters = ProbeCounters;

    fn port(&self) -> IssuePort {
        IssuePort::new(Rate::ONE, self.latency_cycles)
    }
}

impl<M> Process<M> for ProbeSpec {
    type In = Beat;
    type Out = Beat;

    fn process(&self, beat: Beat, counters: &mut ProbeCounters, _: &M) -> (u64, Option<Beat>) {
        counters.full += beat.quads.iter().filter(|quad| quad.mask == 0b1111).count() as u64;
        (1, Some(beat))
    }
}

pub(crate) fn probe() -> Extension {
    extension::<ProbeSpec>(|simulator, draw, shader, tests| {
        let spec: ProbeSpec = simulator.config().unit();
        simulator.run_with(draw, shader, tests, |gpc| {
            let shading = quadrille::chain! { 4 => RigidUnit::new(&spec), gpc.shading() };
            gpc.raster(gpc.tests(gpc.flush_policy(), shading))
        })
    })
}

fn main() -> std::process::ExitCode {
    quadrille::cli::run_with([probe()], std::env::args_os()).into()
}
