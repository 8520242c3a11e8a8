//! Adds a stage between ZROP and quad reordering, and another flush policy for tile coalescing, to
//! the emulated GPU, and compares the changed GPU with the shipped one.
//!
//! ```text
//! cargo run --release --example add_a_unit
//! ```

use quadrille::gpu::coalesce::flush_policy::{BinStatus, FlushPolicy};
use quadrille::gpu::view::PreparedView;
use quadrille::gpu::wiring::Simulator;
use quadrille::gpu::zrop::framebuffer::Tests;
use quadrille::machine::{Beat, IssuePort, Process, Rate, Rigid, RigidUnit};
use quadrille::{Config, Profile, Recipe, Result, SimdLevel, Synthetic, Variant};

quadrille::statistics! {
    /// Counters of the new unit.
    struct CoverageCounters {
        /// Quads with four fragments left after the tests.
        full: u64,
        /// Quads with fewer than four fragments left.
        partial: u64,
    }
}

/// A unit that counts quads by their coverage, one beat per cycle.
#[derive(Debug, Clone)]
struct CoverageProbe {
    /// Latency in cycles.
    latency_cycles: u64,
}

impl Rigid for CoverageProbe {
    const NAME: &'static str = "probe";
    type Counters = CoverageCounters;

    fn port(&self) -> IssuePort {
        IssuePort::new(Rate::ONE, self.latency_cycles)
    }
}

impl<M> Process<M> for CoverageProbe {
    type In = Beat;
    type Out = Beat;

    fn process(&self, beat: Beat, counters: &mut CoverageCounters, _: &M) -> (u64, Option<Beat>) {
        let full = beat.quads.iter().filter(|quad| quad.mask == 0b1111).count() as u64;
        counters.full += full;
        counters.partial += beat.quads.len() as u64 - full;
        (1, Some(beat))
    }
}

/// A policy that evicts the fullest bin and never times out.
#[derive(Debug, Clone, Copy)]
struct FullestFirst;

impl FlushPolicy for FullestFirst {
    fn rank(&self, bin: &BinStatus) -> u64 {
        u64::MAX - bin.items as u64
    }
}

/// Runs a procedural scene through both GPUs and returns the page that `quadrille sim` prints.
pub(crate) fn run() -> Result<String> {
    let scene = Synthetic::new(Recipe::Object, 1, 4000, 0)?;
    let (splats, camera) = (scene.splats(), scene.cameras()[0].resized(256, 144)?);
    let view = PreparedView::new(
        &splats,
        &camera,
        &Profile::default(),
        SimdLevel::best(),
        &quadrille::Task::NEVER,
    )?;
    let (config, tests) = (Config::default(), Tests::default());
    let simulator = Simulator::new(&config, Variant::HET)?;
    let shipped = simulator.run(view.draw(), view.shader(), &tests);
    let changed = simulator.run_with(view.draw(), view.shader(), &tests, |gpc| {
        let probe = RigidUnit::new(&CoverageProbe { latency_cycles: 2 });
        let after_tests = quadrille::chain! { 4 => probe, gpc.shading() };
        gpc.raster(gpc.tests(FullestFirst, after_tests))
    });
    let counters: CoverageCounters = changed.statistics.of();
    let page = quadrille::simulation_page("shipped, changed", &config, vec![shipped, changed]);
    let CoverageCounters { full, partial } = counters;
    Ok(format!("{page}probe: {full} quads full, {partial} partial\n"))
}

#[allow(clippy::print_stdout, reason = "what the example is for")]
fn main() -> Result<()> {
    print!("{}", run()?);
    Ok(())
}
