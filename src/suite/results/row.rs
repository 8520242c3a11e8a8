//! A view's results.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Measure, Metric};
use crate::gpu::fates::{Fragments, Quads};
use crate::gpu::outcome::Outcome;
use crate::gpu::variant::Variant;

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
    pub fragments: Fragments,
    /// Quads by their fates.
    pub quads: Quads,
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

impl VariantRow {
    /// The row of an outcome at a clock of `clock_mhz`.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "cycles stay far below 2^53")]
    pub(crate) fn of(outcome: &Outcome, clock_mhz: f64) -> Self {
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

/// `a / b`; `None` for a division by 0.
#[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
pub(super) fn ratio(a: u64, b: u64) -> Option<f64> {
    (b > 0).then(|| a as f64 / b as f64)
}

impl Row {
    /// The row of a view's results.
    #[must_use]
    pub(crate) fn new(
        key: &RowKey,
        splats: u64,
        variants: Vec<VariantRow>,
        host: Duration,
    ) -> Self {
        let mut row = Self {
            scene: key.scene.clone(),
            view: key.view.clone(),
            width: key.width,
            height: key.height,
            fingerprint: key.fingerprint.clone(),
            splats,
            variants,
            ratios: BTreeMap::new(),
            termination_ratio: None,
            merge_ratio: None,
            host_s: host.as_secs_f64(),
        };
        let baseline = Variant::BASELINE.to_string();
        let others = row.variants.iter().filter(|v| v.name != baseline);
        let others: Vec<_> = others.map(|v| v.name.clone()).collect();
        if row.variant(&baseline).is_some() {
            for name in others {
                let value = |of| {
                    Metric {
                        of,
                        from: baseline.clone(),
                        to: name.clone(),
                    }
                    .of(&row)
                };
                let ratios = Ratios {
                    speedup: value(Measure::Cycles),
                    fragments: value(Measure::Fragments),
                    quads: value(Measure::Quads),
                };
                row.ratios.insert(name, ratios);
            }
        }
        row.termination_ratio =
            Metric::new(Measure::Fragments, Variant::BASELINE, Variant::HET).of(&row);
        row.merge_ratio = Metric::new(Measure::Quads, Variant::BASELINE, Variant::QM).of(&row);
        row
    }

    /// What the row is the result of.
    #[must_use]
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

    pub(super) fn variant(&self, name: &str) -> Option<&VariantRow> {
        self.variants.iter().find(|v| v.name == name)
    }
}
