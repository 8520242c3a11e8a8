//! Overdraw of one pixel: each blend needs the result of the one before.

use super::bench::{rectangles, run as draw};
use super::check::Check;
use super::ports::ideal_quads_per_cycle;
use quadrille_gpu::config::Config;
use quadrille_gpu::zrop::framebuffer::Tests;

const RECTANGLES: usize = 1024;
const BLEND_CYCLES: [u64; 3] = [2, 16, 64];
const TOLERANCE: f64 = 0.02;

pub(super) fn run(config: &Config) -> Vec<Check> {
    let rows = BLEND_CYCLES.map(|blend_cycles| {
        let mut config = config.clone();
        config.crop.blend_cycles = blend_cycles;
        let [once, twice] = [1, 2].map(|times| {
            let list = vec![[0, 0, 2, 2]; times * RECTANGLES];
            draw(&rectangles(16, &list), &config, &Tests::default()).cycles
        });
        // A rectangle takes at least one cycle, since some units process one primitive per cycle.
        let port = (1.0 / ideal_quads_per_cycle(&config)).max(1.0);
        let measured = (twice - once) as f64 / RECTANGLES as f64;
        let name = format!("a rectangle over the same pixels, blends of {blend_cycles} cycles");
        Check::ideal(name, port.max(blend_cycles as f64), TOLERANCE, measured, "cycles")
    });
    rows.to_vec()
}
