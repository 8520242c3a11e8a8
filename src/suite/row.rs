//! Rows of results: one per job, with a record per method.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::key::JobKey;
use super::rows::{MeshDrawRow, MethodRow};
use crate::report::ratios::ratio;

/// Prefix of keys with host times, which differ from run to run.
const HOST_PREFIX: &str = "host_";

/// Counts of the baseline divided by a method's counts; `None` where the method's count is 0 or absent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RowRatios {
    /// Cycles.
    pub speedup: Option<f64>,
    /// Blended fragments.
    pub fragments: Option<f64>,
    /// Blended quads.
    pub quads: Option<f64>,
}

/// Results of a view by some methods.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Scene, view and configuration.
    #[serde(flatten)]
    pub key: JobKey,
    /// Hash of everything that the results depend on, except the methods: the sources of the program,
    /// the configuration, the profile, the scene, the camera and, of a frame, the cameras before it.
    pub fingerprint: String,
    /// Hashes of the scene and, with the profile, of the view, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, String>,
    /// Name of the profile that the splats were projected with.
    #[serde(default)]
    pub profile: String,
    /// Commit that the program was built from, with `-dirty` if its working tree was changed.
    #[serde(default)]
    pub commit: String,
    /// Splats in view.
    pub splats: u64,
    /// Methods in the order of the suite.
    #[serde(alias = "variants")]
    pub methods: Vec<MethodRow>,
    /// Ratios of all other methods to the baseline, if it was run.
    pub ratios: BTreeMap<String, RowRatios>,
    /// Fragments that the baseline blends per pixel: the depth complexity of the view.
    #[serde(default)]
    pub overdraw: Option<f64>,
    /// Blended fragments of the baseline divided by blended fragments of `het`.
    pub termination_ratio: Option<f64>,
    /// Blended quads of the baseline divided by blended quads of `qm`.
    pub merge_ratio: Option<f64>,
    /// Draw of the meshes before the splats, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh_draw: Option<MeshDrawRow>,
    /// Time on the host in seconds, of all methods together.
    pub host_s: f64,
}

impl MethodRow {
    /// Describes the first number that differs from `other`'s, except for times of the host.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        let numbers = |row: &Self| serde_json::to_value(row).unwrap_or_default();
        difference(&self.name, &numbers(self), &numbers(other))
    }
}

pub(super) fn difference(path: &str, ours: &Value, theirs: &Value) -> Option<String> {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let keys = ours.keys().chain(theirs.keys());
            keys.filter(|key| !key.starts_with(HOST_PREFIX)).find_map(|key| {
                let of = |object: &Map<String, Value>| object.get(key).cloned().unwrap_or_default();
                difference(&format!("{path}.{key}"), &of(ours), &of(theirs))
            })
        }
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => (0..)
            .zip(ours.iter().zip(theirs))
            .find_map(|(index, (a, b))| difference(&format!("{path}[{index}]"), a, b)),
        _ => (ours != theirs).then(|| format!("{path} {ours} instead of {theirs}")),
    }
}

impl RowRatios {
    fn between(baseline: &MethodRow, method: &MethodRow) -> Self {
        let fragments = [baseline, method].map(|row| row.counts.fragments_blended());
        Self {
            speedup: ratio(baseline.cycles, method.cycles),
            fragments: ratio(fragments[0], fragments[1]),
            quads: baseline
                .quads_blended()
                .zip(method.quads_blended())
                .and_then(|(a, b)| ratio(a, b)),
        }
    }
}

impl Row {
    /// The row with other methods, and their ratios.
    #[must_use]
    pub fn with_methods(mut self, methods: Vec<MethodRow>) -> Self {
        let find = |name: &str| methods.iter().find(|v| v.name == name);
        let baseline = find("baseline");
        let against = |method: Option<&MethodRow>| Some(RowRatios::between(baseline?, method?));
        let others = methods.iter().filter(|v| v.name != "baseline");
        let ratios = others.filter_map(|v| Some((v.name.clone(), against(Some(v))?)));
        self.ratios = ratios.collect();
        self.termination_ratio = against(find("het")).and_then(|r| r.fragments);
        self.merge_ratio = against(find("qm")).and_then(|r| r.quads);
        let pixels = u64::from(self.key.view.width) * u64::from(self.key.view.height);
        self.overdraw = baseline.and_then(|row| ratio(row.counts.fragments_blended(), pixels));
        self.methods = methods;
        self
    }

    /// The row, unless its view shows no splat.
    pub fn shown(&self) -> Option<&Self> {
        (self.splats > 0).then_some(self)
    }

    /// Results of the method called `name`.
    pub fn method(&self, name: &str) -> Option<&MethodRow> {
        self.methods.iter().find(|v| v.name == name)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::ViewKey;
    use crate::details::FigureDetails;
    use crate::rows::{MethodCounts, PipelineCounts, UnitRow};

    /// A row of three methods with these cycles, two blended fragments per cycle, and no quads.
    pub(crate) fn row(scene: &str, view: &str, cycles: [u64; 3]) -> Row {
        let key = JobKey {
            scene: scene.to_owned(),
            seed: None,
            view: ViewKey { name: view.to_owned(), width: 8, height: 8 },
            preset: "vr-pipe".to_owned(),
            ..JobKey::default()
        };
        let methods = ["baseline", "het", "het+qm"].iter().zip(cycles).map(|(name, cycles)| {
            let mut counts = PipelineCounts::default();
            counts.fragments.blended = cycles * 2;
            let idle = BTreeMap::from([("starved by cores".to_owned(), 3)]);
            let crop = UnitRow { busy: cycles, idle, ..UnitRow::default() };
            counts.units.insert("crop".to_owned(), crop);
            MethodRow {
                name: (*name).to_owned(),
                cycles,
                frame_ms: 0.1,
                counts: MethodCounts::Pipeline(Box::new(counts)),
                details: FigureDetails::default(),
                host_s: 0.25,
            }
        });
        let [profile, commit] = ["inria", "unknown"].map(str::to_owned);
        let row = Row { key, profile, commit, splats: 1, host_s: 0.5, ..Row::default() };
        row.with_methods(methods.collect())
    }

    #[test]
    fn rows_read_back() {
        let mut row = row("a", "0", [600, 300, 200]);
        row.key.seed = Some(u64::MAX);
        row.key.changed.insert("tc.bins".to_owned(), "8".to_owned());
        let text = serde_json::to_string(&row).unwrap();
        assert_eq!(serde_json::from_str::<Row>(&text).unwrap(), row);
        // Earlier releases wrote "variants".
        let old = text.replacen("\"methods\":", "\"variants\":", 1);
        assert_ne!(old, text);
        assert_eq!(serde_json::from_str::<Row>(&old).unwrap(), row);
    }

    #[test]
    fn ratios_are_of_the_baseline() {
        let row = row("a", "0", [600, 300, 200]);
        assert_eq!(row.ratios["het"].speedup, Some(2.0));
        assert_eq!(row.ratios["het+qm"].fragments, Some(3.0));
        assert_eq!(row.ratios["het+qm"].quads, None);
        assert_eq!(row.termination_ratio, Some(2.0));
        assert_eq!(row.merge_ratio, None);
        assert_eq!(row.overdraw, Some(1200.0 / 64.0));
    }

    #[test]
    fn differences_name_the_number_and_leave_out_host_times() {
        let [first, mut second] =
            [(); 2].map(|()| row("a", "0", [600, 300, 200]).methods.remove(0));
        second.host_s = 99.0;
        assert_eq!(first.difference(&second), None);
        let units = |row: &mut MethodRow, change: fn(&mut BTreeMap<String, UnitRow>)| {
            let MethodCounts::Pipeline(counts) = &mut row.counts else { unreachable!() };
            change(&mut counts.units);
        };
        units(&mut second, |units| units.get_mut("crop").unwrap().busy = 601);
        let found = first.difference(&second).unwrap();
        assert_eq!(found, "baseline.units.crop.busy 600 instead of 601");
        units(&mut second, BTreeMap::clear);
        assert!(first.difference(&second).unwrap().starts_with("baseline.units"));
    }
}
