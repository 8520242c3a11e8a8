//! A view's results.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::gpu::outcome_counts::{FragmentCounts, QuadCounts};
use crate::gpu::result::SimulationResult;
use crate::gpu::variant::Variant;
use crate::report::ratios::ratio;

/// A unit and the share of its cycles in which it worked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Limit {
    /// The unit that worked most.
    pub unit: String,
    /// 0 to 1.
    pub utilisation: f64,
}

/// What a variant did with a view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct VariantRow {
    /// The variant.
    pub name: String,
    /// From the start of the draw to the end of the last raster operation.
    pub cycles: u64,
    /// The same in milliseconds of the emulated clock.
    pub frame_ms: f64,
    /// Fragments by their fates.
    pub fragments: FragmentCounts,
    /// Quads by their fates.
    pub quads: QuadCounts,
    /// Fragment warps launched.
    pub warps: u64,
    /// The unit that limits, if any worked.
    pub limit: Option<Limit>,
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

/// What tells whether a row is the result of the run that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowKey {
    /// The scene's name in the suite.
    pub scene: String,
    /// The view's name.
    pub view: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The variants, in order.
    pub variants: Vec<String>,
    /// Hash of all else that the results follow from.
    pub fingerprint: String,
}

/// The results of a view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// The scene's name in the suite.
    pub scene: String,
    /// The view's name.
    pub view: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// As in [`RowKey`].
    pub fingerprint: String,
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
    #[allow(clippy::cast_precision_loss, reason = "cycles stay far below 2^53")]
    pub(crate) fn of(outcome: &SimulationResult, clock_mhz: f64) -> Self {
        Self {
            name: outcome.variant.to_string(),
            cycles: outcome.cycles,
            frame_ms: outcome.cycles as f64 / (clock_mhz * 1e3),
            fragments: outcome.fragments,
            quads: outcome.quads,
            warps: outcome.warps,
            limit: outcome.limiting_unit().map(|unit| Limit {
                unit: unit.name.to_owned(),
                utilisation: unit.utilisation(),
            }),
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
            scene: key.scene.clone(),
            view: key.view.clone(),
            width: key.width,
            height: key.height,
            fingerprint: key.fingerprint.clone(),
            splats,
            ratios: ratios.collect(),
            termination_ratio: against(find(Variant::HET)).and_then(|r| r.fragments),
            merge_ratio: against(find(Variant::QM)).and_then(|r| r.quads),
            variants,
            host_s: host.as_secs_f64(),
        }
    }

    /// What the row is the result of.
    pub(crate) fn key(&self) -> RowKey {
        RowKey {
            scene: self.scene.clone(),
            view: self.view.clone(),
            width: self.width,
            height: self.height,
            variants: self.variants.iter().map(|v| v.name.clone()).collect(),
            fingerprint: self.fingerprint.clone(),
        }
    }

    /// The row of a variant, if it was run.
    pub(super) fn variant(&self, name: &str) -> Option<&VariantRow> {
        self.variants.iter().find(|v| v.name == name)
    }
}
