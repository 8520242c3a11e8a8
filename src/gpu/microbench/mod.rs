//! Microbenchmarks of VR-Pipe, section VII-A, on the emulated pipeline: draws of rectangles, as the paper
//! measured them on hardware.
//!
//! Each benchmark runs whole draws through a [`Simulator`](crate::gpu::wiring::Simulator) and reads the
//! counters of the results. Expected values are those of the hardware for every configuration.

mod bench;
mod check;
mod crop_footprint;
mod pixels_per_clock;
mod quads_per_pixel;
mod tile_bins;

pub use check::{Basis, Check, Expected};

use super::config::Config;
use crate::error::{Error, Result};

/// A microbenchmark.
#[derive(Debug, Clone, Copy)]
pub struct Microbenchmark {
    /// Name of the benchmark.
    pub name: &'static str,
    /// Quantity that it measures.
    pub about: &'static str,
    run: fn(&Config) -> Vec<Check>,
}

/// All microbenchmarks.
pub const ALL: [Microbenchmark; 4] = [
    Microbenchmark {
        name: "tile-bins",
        about: "how many screen tiles are gathered at once, and when they are flushed",
        run: tile_bins::run,
    },
    Microbenchmark {
        name: "crop-footprint",
        about: "how much colour the CROP cache holds before it turns to the L2 (Fig. 20a)",
        run: crop_footprint::run,
    },
    Microbenchmark {
        name: "pixels-per-clock",
        about: "how many pixels CROP blends per cycle, by colour format (Fig. 20b)",
        run: pixels_per_clock::run,
    },
    Microbenchmark {
        name: "quads-per-pixel",
        about: "that CROP's time follows quads, not pixels (Fig. 20c)",
        run: quads_per_pixel::run,
    },
];

impl Microbenchmark {
    /// Returns the microbenchmark called `name`.
    ///
    /// # Errors
    /// [`Error::Argument`] listing the valid names.
    pub fn named(name: &str) -> Result<Self> {
        ALL.into_iter().find(|m| m.name == name).ok_or_else(|| {
            let names: Vec<_> = ALL.iter().map(|m| m.name).collect();
            Error::argument("microbenchmark", names.join(", "), name)
        })
    }

    /// Runs the benchmark on one GPC of `config`, as the paper draws to the screen tiles of one GPC.
    ///
    /// # Errors
    /// [`Error::Argument`] naming a field of the configuration that does not fit.
    pub fn run(&self, config: &Config) -> Result<Vec<Check>> {
        config.validate()?;
        let mut config = config.clone();
        config.gpu.gpcs = 1;
        Ok((self.run)(&config))
    }
}
