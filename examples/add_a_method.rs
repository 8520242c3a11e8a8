//! The program with a method of its own: early termination with tile coalescing that evicts the fullest bin.
//!
//! ```text
//! cargo run --release --example add_a_method -- sim scene.ply --method baseline,het,het-fullest
//! ```

use quadrille::Variant;
use quadrille::gpu::coalesce::flush_policy::{BinStatus, FlushPolicy};
use quadrille::gpu::extension::Extension;
use quadrille::gpu::wiring::extension;

quadrille::machine::spec! {
    /// A flush policy that evicts the fullest bin.
    FullestSpec in "fullest" {
        /// Items from which on a bin counts as full.
        full_items: u64 = 128, 1..=65_536, Assumed "an example";
    }
}

impl FlushPolicy for FullestSpec {
    fn rank(&self, bin: &BinStatus) -> u64 {
        u64::MAX - self.full_items.min(bin.items as u64)
    }
}

pub(crate) fn fullest() -> Extension {
    let wired = extension::<FullestSpec>(|simulator, draw, shader, tests| {
        let policy: FullestSpec = simulator.config().unit();
        simulator.run_with(draw, shader, tests, |gpc| {
            gpc.raster(gpc.tests(policy.clone(), gpc.shading()))
        })
    });
    // Other methods keep their pipelines.
    wired.as_method("het-fullest", Variant::HET)
}

fn main() -> std::process::ExitCode {
    quadrille::cli::run_with([fullest()], std::env::args_os()).into()
}
