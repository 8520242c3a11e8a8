//! A view's results.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::gpu::outcome_counts::{FragmentCounts, QuadCounts};
use crate::gpu::result::SimulationResult;
use crate::gpu::variant::Variant;
use crate::pipeline::collect::UnitCycles;
use crate::report::ratios::ratio;

/// What a variant did with a view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct VariantRow {
    /// The variant.
    pub name: String,
    /// From the start of the draw to the end of the last raster operation.
    pub cycles: u64,
    /// The same in milliseconds of the emulated clock.
    pub frame_ms: f64,
    /// Fragments by their outcomes.
    pub fragments: FragmentCounts,
    /// Quads by their outcomes.
    pub quads: QuadCounts,
    /// Fragment warps launched.
    pub warps: u64,
    /// The unit that worked in the largest share of its cycles, if any worked.
    pub limiting_unit: Option<String>,
    /// That share, from 0 to 1.
    pub limiting_utilisation: Option<f64>,
}

/// How many times less a variant needs than the baseline; `None` where that is 0 by 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ratios {
    /// Cycles.
    pub speedup: Option<f64>,
    /// Fragments blended.
    pub fragments: Option<f64>,
    /// Quads blended.
    pub quads: Option<f64>,
}

/// A view and the size of its picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ViewKey {
    /// The view's name.
    pub name: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

/// What tells whether a row is the result of the view that is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RowKey {
    /// The scene's name in the suite.
    pub scene: String,
    /// The view.
    pub view: ViewKey,
    /// Hash of all else that the results follow from, but for the variants.
    pub fingerprint: String,
}

/// The results of a view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// Which view of which scene.
    #[serde(flatten)]
    pub key: RowKey,
    /// Splats in view.
    pub splats: u64,
    /// The variants, in the suite's order.
    pub variants: Vec<VariantRow>,
    /// Every other variant against the baseline, where that was run.
    pub ratios: BTreeMap<String, Ratios>,
    /// Fragments that the baseline blends over those that `het` blends.
    pub termination_ratio: Option<f64>,
    /// Quads that the baseline blends over those that `qm` blends.
    pub merge_ratio: Option<f64>,
    /// Seconds that the host took, all variants together.
    pub host_s: f64,
}

impl Ratios {
    /// `variant` against `baseline`.
    fn between(baseline: &VariantRow, variant: &VariantRow) -> Self {
        Self {
            speedup: ratio(baseline.cycles, variant.cycles),
            fragments: ratio(baseline.fragments.blended, variant.fragments.blended),
            quads: ratio(baseline.quads.blended, variant.quads.blended),
        }
    }
}

impl VariantRow {
    /// The row of an outcome at a clock of `clock_mhz`.
    pub(crate) fn of(outcome: &SimulationResult, clock_mhz: f64) -> Self {
        let limiting = outcome.limiting_unit();
        Self {
            name: outcome.variant.to_string(),
            cycles: outcome.cycles,
            frame_ms: outcome.cycles as f64 / (clock_mhz * 1e3),
            fragments: outcome.fragments,
            quads: outcome.quads,
            warps: outcome.warps,
            limiting_unit: limiting.map(|unit| unit.name.to_owned()),
            limiting_utilisation: limiting.map(UnitCycles::utilisation),
        }
    }
}

impl Row {
    /// The row of a view's results.
    pub(crate) fn new(
        key: &RowKey,
        splats: u64,
        variants: Vec<VariantRow>,
        host: Duration,
    ) -> Self {
        let find = |variant: Variant| variants.iter().find(|v| v.name == variant.to_string());
        let baseline = find(Variant::BASELINE);
        let against = |variant: Option<&VariantRow>| Some(Ratios::between(baseline?, variant?));
        let others = variants
            .iter()
            .filter(|v| baseline.is_some_and(|b| b.name != v.name));
        let ratios = others.filter_map(|v| Some((v.name.clone(), against(Some(v))?)));
        Self {
            key: key.clone(),
            splats,
            ratios: ratios.collect(),
            termination_ratio: against(find(Variant::HET)).and_then(|r| r.fragments),
            merge_ratio: against(find(Variant::QM)).and_then(|r| r.quads),
            variants,
            host_s: host.as_secs_f64(),
        }
    }

    /// Whether the row is the result of `key` through `variants`, in their order.
    pub(super) fn is_of(&self, key: &RowKey, variants: &[Variant]) -> bool {
        let names = variants.iter().map(ToString::to_string);
        self.key == *key && names.eq(self.variants.iter().map(|v| v.name.clone()))
    }

    /// The row of a variant, if it was run.
    pub(super) fn variant(&self, name: &str) -> Option<&VariantRow> {
        self.variants.iter().find(|v| v.name == name)
    }
}
