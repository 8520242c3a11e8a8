//! Microbenchmarks of the emulated pipeline: the benchmarks of VR-Pipe, section VII-A, which draw the
//! rectangles that the paper measured on hardware, and others that compare the pipeline with an ideal model.
//!
//! Each benchmark runs whole draws through a [`Simulator`](quadrille_gpu::wiring::Simulator) and reads the
//! counters of the results. The paper's benchmarks expect the hardware's values in every configuration; the
//! expected values of the others follow from the configuration.

mod bench;
mod check;
mod crop_footprint;
mod l2_footprint;
mod latencies;
mod needles;
mod one_pixel;
mod pixels_per_clock;
mod ports;
mod quads_per_pixel;
mod rates;
pub mod series;
mod several_gpcs;
mod tile_bins;
mod warp_counts;

pub use check::{Basis, Check, Expected};
pub use rates::RateDraw;
pub use warp_counts::WarpDraw;

use quadrille_base::error::{Error, Result};
use quadrille_base::task::Task;
use quadrille_gpu::config::Config;

/// A microbenchmark.
#[derive(Debug, Clone, Copy)]
pub struct Microbenchmark {
    /// Name of the benchmark.
    pub name: &'static str,
    /// Measured quantity.
    pub about: &'static str,
    run: fn(&Config) -> Vec<Check>,
}

const fn benchmark(
    name: &'static str,
    about: &'static str,
    run: fn(&Config) -> Vec<Check>,
) -> Microbenchmark {
    Microbenchmark { name, about, run }
}

/// All microbenchmarks.
pub const ALL: [Microbenchmark; 10] = [
    benchmark(
        "tile-bins",
        "number of screen tiles that are gathered at once, and their flushes",
        tile_bins::run,
    ),
    benchmark(
        "crop-footprint",
        "colour that the CROP cache holds without traffic to the L2 (Fig. 20a)",
        crop_footprint::run,
    ),
    benchmark(
        "pixels-per-clock",
        "pixels that CROP blends per cycle, by colour format (Fig. 20b)",
        pixels_per_clock::run,
    ),
    benchmark(
        "quads-per-pixel",
        "time of CROP by the number of quads, not of pixels (Fig. 20c)",
        quads_per_pixel::run,
    ),
    benchmark("ports", "quads per cycle through each port", ports::run),
    benchmark("one-pixel", "time of dependent blends of one pixel", one_pixel::run),
    benchmark("needles", "time of the coarse raster for boxes of empty screen tiles", needles::run),
    benchmark("latencies", "latency of colours from the L2 and from DRAM", latencies::run),
    benchmark(
        "l2-footprint",
        "colour that the L2 holds, the size of its reads, and the bandwidth of writes",
        l2_footprint::run,
    ),
    benchmark("several-gpcs", "speedup of two and four GPCs over one GPC", several_gpcs::run),
];

impl Microbenchmark {
    /// Returns the microbenchmark called `name`.
    pub fn named(name: &str) -> Result<Self> {
        ALL.into_iter().find(|m| m.name == name).ok_or_else(|| {
            let names: Vec<_> = ALL.iter().map(|m| m.name).collect();
            Error::unknown_name(
                "microbenchmark",
                format!("one of {}", names.join(", ")),
                name,
                names,
            )
        })
    }

    /// Runs the benchmark on one GPC of `config`, as the paper draws to the screen tiles of one GPC, unless
    /// it compares several. A benchmark takes seconds at most: when it is cancelled, it ends on a thread of its own.
    ///
    /// # Errors
    /// [`Error::Argument`] naming a field of the configuration that does not fit, and [`Error::Cancelled`].
    pub fn run(&self, config: &Config, task: &Task) -> Result<Vec<Check>> {
        config.validate()?;
        let (run, mut config) = (self.run, config.clone());
        config.gpu.gpcs = 1;
        task.uninterrupted(move || run(&config))
    }
}
