//! What variants are compared by.

use serde::Serialize;

use crate::gpu::result::SimulationResult;

/// A variant against the baseline: how many times less it took. `None` where it took nothing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Ratios {
    /// Cycles of the baseline over the variant's.
    pub speedup: Option<f64>,
    /// Blended fragments of the baseline over the variant's.
    pub fragments: Option<f64>,
    /// Blended quads of the baseline over the variant's.
    pub quads: Option<f64>,
    /// Shaded fragments of the baseline over the variant's.
    pub fragments_shaded: Option<f64>,
}

impl Ratios {
    /// `variant` against `baseline`.
    pub(crate) fn between(baseline: &SimulationResult, variant: &SimulationResult) -> Self {
        let of = |number: fn(&SimulationResult) -> u64| ratio(number(baseline), number(variant));
        Self {
            speedup: of(|o| o.cycles),
            fragments: of(|o| o.fragments.blended),
            quads: of(|o| o.quads.blended),
            fragments_shaded: of(|o| o.fragments.shaded),
        }
    }
}

/// Early termination's share in a run by itself: fragments rasterized over those that were not
/// terminated.
pub(crate) fn termination_ratio(outcome: &SimulationResult) -> Option<f64> {
    let fragments = &outcome.fragments;
    ratio(
        fragments.rasterized,
        fragments.rasterized - fragments.terminated,
    )
}

/// Merging's share in a run by itself: quads with something to blend over those blended.
pub(crate) fn merge_ratio(outcome: &SimulationResult) -> Option<f64> {
    let quads = &outcome.quads;
    ratio(quads.blended + quads.merged_pairs, quads.blended)
}

/// `a / b`, unless `b` is 0.
pub(crate) fn ratio(a: u64, b: u64) -> Option<f64> {
    (b > 0).then(|| a as f64 / b as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_over_nothing_is_no_number() {
        assert_eq!(ratio(3, 2), Some(1.5));
        assert_eq!(ratio(0, 0), None);
    }
}
