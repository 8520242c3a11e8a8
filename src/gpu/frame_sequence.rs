//! Frames that machines draw one after another and between which they keep their caches.

use super::config::Config;
use super::machine::Machine;
use super::method::Method;
use super::outcome::Outcome;
use super::wiring::Watch;
use quadrille_base::Result;

/// Frames of a sequence in one configuration, by any number of methods.
#[derive(Debug, Default)]
pub struct FrameSequence {
    /// Last frame of each method.
    last: Vec<Outcome>,
}

impl FrameSequence {
    /// Fields of the configuration that only sequences read.
    pub const READS: [&str; 3] = ["gscore.order", "gscore.depth_bytes", "gscore.span_bytes"];

    /// Creates the machine that draws the next frame of a method.
    pub fn machine(&self, config: &Config, method: Method, watch: Watch) -> Result<Machine> {
        let before = self.last.iter().find(|outcome| outcome.method() == method);
        Ok(Machine::new(config, method, watch)?.in_sequence(before))
    }

    /// Sets the last frame of the outcome's method.
    pub fn keep(&mut self, outcome: Outcome) {
        let method = outcome.method();
        self.last.retain(|before| before.method() != method);
        self.last.push(outcome);
    }
}
