//! Results of a view.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::gpu::outcome_counts::{FragmentCounts, QuadCounts};
use crate::gpu::result::SimulationResult;
use crate::gpu::variant::Variant;
use crate::pipeline::collect::UnitCycles;
use crate::report::ratios::ratio;

/// Results of a variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct VariantRow {
    pub name: String,
    pub cycles: u64,
    /// Duration of `cycles` at the emulated clock.
    pub frame_ms: f64,
    pub fragments: FragmentCounts,
    pub quads: QuadCounts,
    pub warps: u64,
    /// The port with the highest occupancy.
    pub critical_unit: Option<String>,
    /// Its occupancy, from 0 to 1; below 0.9 latency and bursts limit the view, not this port.
    pub critical_occupancy: Option<f64>,
}

/// Counts of the baseline divided by those of a variant; `None` where the variant's count is 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct RowRatios {
    /// Cycles.
    pub speedup: Option<f64>,
    /// Blended fragments.
    pub fragments: Option<f64>,
    /// Blended quads.
    pub quads: Option<f64>,
}

/// A view and the size of its picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ViewKey {
    pub name: String,
    pub width: u32,
    pub height: u32,
}

/// Identification of the view, scene and settings that a row belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RowKey {
    /// Name of the scene in the suite.
    pub scene: String,
    pub view: ViewKey,
    /// Hash of everything else that the results depend on, except the variants: the sources of the
    /// program, the configuration, the profile, the scene and the camera.
    pub fingerprint: String,
}

/// Configuration of a row.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RowSettings {
    pub preset: String,
    /// Fields whose values differ from those of the preset.
    pub changed: BTreeMap<String, String>,
}

/// Results of a view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    #[serde(flatten)]
    pub key: RowKey,
    #[serde(flatten)]
    pub settings: RowSettings,
    /// Commit that the program was built from, with `-dirty` if its working tree was changed.
    pub commit: String,
    /// Splats in view.
    pub splats: u64,
    /// Variants in the order of the suite.
    pub variants: Vec<VariantRow>,
    /// Ratios of all other variants to the baseline, if it was run.
    pub ratios: BTreeMap<String, RowRatios>,
    /// Blended fragments of the baseline over those of `het`.
    pub termination_ratio: Option<f64>,
    /// Blended quads of the baseline over those of `qm`.
    pub merge_ratio: Option<f64>,
    /// Time on the host in seconds, of all variants together.
    pub host_s: f64,
}

impl RowRatios {
    fn between(baseline: &VariantRow, variant: &VariantRow) -> Self {
        Self {
            speedup: ratio(baseline.cycles, variant.cycles),
            fragments: ratio(baseline.fragments.blended, variant.fragments.blended),
            quads: ratio(baseline.quads.blended, variant.quads.blended),
        }
    }
}

impl VariantRow {
    pub(crate) fn of(outcome: &SimulationResult, clock_mhz: f64) -> Self {
        let critical = outcome.critical_unit();
        Self {
            name: outcome.variant.to_string(),
            cycles: outcome.cycles,
            frame_ms: outcome.cycles as f64 / (clock_mhz * 1e3),
            fragments: outcome.fragments,
            quads: outcome.quads,
            warps: outcome.warps,
            critical_unit: critical.map(|unit| unit.name.to_owned()),
            critical_occupancy: critical.map(UnitCycles::limiting_share),
        }
    }
}

impl Row {
    pub(crate) fn new(
        key: &RowKey,
        settings: &RowSettings,
        splats: u64,
        variants: Vec<VariantRow>,
        host: Duration,
    ) -> Self {
        let find = |variant: Variant| variants.iter().find(|v| v.name == variant.to_string());
        let baseline = find(Variant::BASELINE);
        let against = |variant: Option<&VariantRow>| Some(RowRatios::between(baseline?, variant?));
        let others = variants
            .iter()
            .filter(|v| baseline.is_some_and(|b| b.name != v.name));
        let ratios = others.filter_map(|v| Some((v.name.clone(), against(Some(v))?)));
        Self {
            key: key.clone(),
            settings: settings.clone(),
            commit: env!("QUADRILLE_COMMIT").to_owned(),
            splats,
            ratios: ratios.collect(),
            termination_ratio: against(find(Variant::HET)).and_then(|r| r.fragments),
            merge_ratio: against(find(Variant::QM)).and_then(|r| r.quads),
            variants,
            host_s: host.as_secs_f64(),
        }
    }

    /// Whether the row belongs to `key` with exactly these variants in this order.
    pub(super) fn is_of(&self, key: &RowKey, variants: &[Variant]) -> bool {
        let names = variants.iter().map(ToString::to_string);
        self.key == *key && names.eq(self.variants.iter().map(|v| v.name.clone()))
    }

    pub(super) fn variant(&self, name: &str) -> Option<&VariantRow> {
        self.variants.iter().find(|v| v.name == name)
    }
}
