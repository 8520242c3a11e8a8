//! The microbenchmarks of VR-Pipe, section VII-A, on the emulated pipeline: what the paper measured
//! on hardware, measured here in the same way, from outside, by drawing rectangles.
//!
//! Each runs whole draws through a [`Simulator`](crate::gpu::wiring::Simulator) and reads the outcome's
//! counters; none knows how a unit works. Expectations are those of the hardware, whatever the
//! configuration: another configuration is another machine, and its results show it.

mod bench;
mod check;
mod crop_footprint;
mod pixels_per_clock;
mod quads_per_pixel;
mod tile_bins;

pub use check::{Check, Expected};

use super::config::Config;
use crate::error::{Error, Result};

/// A microbenchmark: draws that belong together.
#[derive(Debug, Clone, Copy)]
pub struct Microbenchmark {
    /// Its name.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    run: fn(&Config) -> Vec<Check>,
}

/// Every microbenchmark.
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
        about: "how many pixels CROP blends a cycle, by colour format (Fig. 20b)",
        run: pixels_per_clock::run,
    },
    Microbenchmark {
        name: "quads-per-pixel",
        about: "that CROP's time follows quads, not pixels (Fig. 20c)",
        run: quads_per_pixel::run,
    },
];

impl Microbenchmark {
    /// The microbenchmark called `name`.
    ///
    /// # Errors
    /// [`Error::Caller`] listing the names there are.
    pub fn named(name: &str) -> Result<Self> {
        ALL.into_iter().find(|m| m.name == name).ok_or_else(|| {
            let names: Vec<_> = ALL.iter().map(|m| m.name).collect();
            Error::caller("microbenchmark", names.join(", "), name)
        })
    }

    /// Runs it on one GPC of `config`: the paper keeps its draws to screen tiles of one GPC.
    ///
    /// # Errors
    /// [`Error::Caller`] naming a field of the configuration that does not fit.
    pub fn run(&self, config: &Config) -> Result<Vec<Check>> {
        config.validate()?;
        let mut config = config.clone();
        config.gpu.gpcs = 1;
        Ok((self.run)(&config))
    }
}
