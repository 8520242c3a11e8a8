//! Numbers that the published means imply, beside the same numbers from our results.

use super::results::{QUADS, Results};
use crate::paper::mean_of;
use crate::sheet::quotient;

/// Numbers implied by the paper's means.
pub(super) struct Derived {
    pub(super) not_raster: f64,
    pub(super) software_over_hardware: f64,
}

/// Numbers that follow from the published speedups of draws and frames: with a share r of raster, a speedup s
/// of the draw makes the frame 1 / (1 - r + r / s) times as fast.
pub(super) fn derived() -> Derived {
    let draw = mean_of("fig16", "speedup of HET+QM");
    let hardware = mean_of("fig17", "VR-Pipe over hardware");
    let raster = (1.0 - 1.0 / hardware) / (1.0 - 1.0 / draw);
    Derived {
        not_raster: 1.0 - raster,
        software_over_hardware: mean_of("fig17", "VR-Pipe over software") / hardware,
    }
}

/// Speedups of HET and of HET+QM divided by their reductions of quads, as means over the scenes.
pub(super) fn per_quad(results: &Results) -> [Option<f64>; 2] {
    ["het", "het+qm"].map(|method| {
        results.mean(|view| quotient(view.speedup(method), view.ratio("baseline", method, QUADS)))
    })
}

/// The two numbers of [`per_quad`] as the published means imply them.
pub(super) fn published_per_quad() -> [f64; 2] {
    let [het, merged] = ["quads, HET", "quads, QM on top of HET"].map(|q| mean_of("fig18", q));
    [
        mean_of("fig16", "speedup of HET") / het,
        mean_of("fig16", "speedup of HET+QM") / (het * merged),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 / (0.275 + 0.725 / 2.07) = 1.60; 2.05 / 1.60 = 1.28.
    #[test]
    fn derived_numbers_follow_from_the_means() {
        let derived = derived();
        let share = derived.not_raster;
        assert!((share - 0.275).abs() < 5e-4, "{share}");
        assert!((derived.software_over_hardware - 1.28).abs() < 5e-3);
    }
}
