//! Ratios between methods.

use serde::Serialize;

use quadrille_gpu::outcome::Outcome;
use quadrille_gpu::result::SimulationResult;

/// Counts of the baseline divided by another method's counts; `None` where either is absent or 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratios {
    /// Ratio of cycles.
    pub speedup: Option<f64>,
    /// Blended fragments.
    pub fragments: Option<f64>,
    /// Blended quads.
    pub quads: Option<f64>,
    /// Shaded fragments.
    pub fragments_shaded: Option<f64>,
}

impl Ratios {
    /// Ratios of the baseline over a method.
    pub fn between(baseline: &SimulationResult, method: &Outcome) -> Self {
        let of = |number: fn(&SimulationResult) -> u64| {
            ratio(number(baseline), number(method.pipeline()?))
        };
        Self {
            speedup: ratio(baseline.cycles, method.cycles()),
            fragments: ratio(baseline.fragments.blended, method.fragments_blended()),
            quads: of(|o| o.quads.blended),
            fragments_shaded: of(|o| o.fragments.shaded),
        }
    }
}

/// Effect of early termination within a run: rasterized fragments over those not terminated. The
/// termination ratio of VR-Pipe VII-B compares two runs: see [`Ratios::fragments`].
pub(crate) fn shaded_ratio(outcome: &SimulationResult) -> Option<f64> {
    let fragments = &outcome.fragments;
    ratio(fragments.rasterized, fragments.rasterized - fragments.terminated)
}

/// Effect of quad merging within a run: quads that would be blended without it over blended ones.
pub(crate) fn merge_ratio(outcome: &SimulationResult) -> Option<f64> {
    let quads = &outcome.quads;
    ratio(quads.blended + quads.merged_pairs, quads.blended)
}

/// Ratio on a page: empty without a baseline, a dash if undefined.
pub(super) fn times(ratios: Option<&Ratios>, pick: fn(&Ratios) -> Option<f64>) -> String {
    ratios.map_or(String::new(), |ratios| factor(pick(ratios)))
}

/// Ratio on a page: a dash if undefined.
pub(super) fn factor(ratio: Option<f64>) -> String {
    ratio.map_or("    -".to_owned(), |ratio| format!("{ratio:>5.2}x"))
}

/// `a / b`; `None` if either is 0.
pub(crate) fn ratio(a: u64, b: u64) -> Option<f64> {
    (a > 0 && b > 0).then(|| a as f64 / b as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without splats the pipeline takes no cycle, and the software renderer 352.
    #[test]
    fn nothing_is_no_ratio() {
        assert_eq!(ratio(0, 352), None);
        assert_eq!(ratio(3, 2), Some(1.5));
        let ratios = Ratios {
            speedup: ratio(0, 352),
            fragments: Some(1.5),
            quads: None,
            fragments_shaded: None,
        };
        assert_eq!(times(Some(&ratios), |r| r.speedup), "    -");
        assert_eq!(times(Some(&ratios), |r| r.fragments), " 1.50x");
        assert_eq!(times(None, |r| r.speedup), "");
    }
}
