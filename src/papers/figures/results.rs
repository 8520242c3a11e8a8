//! Results that figures are drawn from: methods of views, with their reports.

use serde_json::{Map, Value};

use crate::paper::Figure;
pub use crate::paper::PAPER_PRESET;
use crate::sheet::{Sheet, mean, quotient};
use quadrille_gpu::config::Config;

pub(crate) const ORIN: &str = "orin";
pub(crate) const DESKTOP: &str = "rtx-a6000";

/// Results of a method on a view.
#[derive(Debug, Clone)]
pub struct MethodResult {
    /// Name of the method.
    pub name: String,
    /// Cycles of the emulated GPU.
    pub cycles: u64,
    /// Duration of `cycles` in milliseconds.
    pub frame_ms: f64,
    /// Everything else that the method reports.
    pub report: Map<String, Value>,
}

impl MethodResult {
    pub(crate) fn value(&self, path: &str) -> Option<&Value> {
        let mut keys = path.split('.');
        let first = self.report.get(keys.next()?)?;
        keys.try_fold(first, |value, key| match value {
            Value::Array(elements) => elements.get(key.parse::<usize>().ok()?),
            value => value.get(key),
        })
    }

    pub(crate) fn number(&self, path: &str) -> Option<f64> {
        match path {
            "cycles" => Some(self.cycles as f64),
            "frame_ms" => Some(self.frame_ms),
            _ => self.value(path)?.as_f64(),
        }
    }

    /// Throughput of a port as a share of its rate; its utilisation if it has no fixed rate.
    pub(crate) fn throughput(&self, unit: &str) -> Option<f64> {
        let number = |key: &str| self.number(&format!("units.{unit}.{key}"));
        number("throughput").or_else(|| number("utilisation"))
    }
}

/// Results of a view in one configuration.
#[derive(Debug, Clone)]
pub struct ViewResult {
    /// Name of the scene.
    pub scene: String,
    /// Name of the view.
    pub view: String,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Preset of the configuration.
    pub preset: String,
    /// Whether the view is the first of its scene.
    pub is_first: bool,
    /// Whether the scene is one of the large ones, which Figure 23 shows.
    pub is_large: bool,
    /// Splats in view.
    pub splats: u64,
    /// Methods whose results are known.
    pub methods: Vec<MethodResult>,
}

impl ViewResult {
    pub(crate) fn method(&self, name: &str) -> Option<&MethodResult> {
        self.methods.iter().find(|m| m.name == name)
    }

    pub(crate) fn number(&self, method: &str, path: &str) -> Option<f64> {
        self.method(method)?.number(path)
    }

    /// A number of `over` divided by the same number of `under`; `None` if one is unknown or zero.
    pub(crate) fn ratio(&self, over: &str, under: &str, path: &str) -> Option<f64> {
        quotient(self.number(over, path), self.number(under, path))
    }

    pub(crate) fn speedup(&self, method: &str) -> Option<f64> {
        self.ratio("baseline", method, "cycles")
    }

    pub(crate) fn pixels(&self) -> f64 {
        f64::from(self.size[0]) * f64::from(self.size[1])
    }
}

/// All results of a report.
#[derive(Debug, Clone)]
pub struct Results {
    /// Views in the order of the suite, each in one configuration.
    pub views: Vec<ViewResult>,
    /// The configuration of the paper's GPU.
    pub config: Config,
}

impl Results {
    fn of(&self, fits: impl Fn(&ViewResult) -> bool) -> Vec<&ViewResult> {
        self.views.iter().filter(|view| fits(view)).collect()
    }

    pub(crate) fn all(&self) -> Vec<&ViewResult> {
        self.of(|view| !view.is_large && view.preset == PAPER_PRESET)
    }

    pub(crate) fn large(&self) -> Vec<&ViewResult> {
        self.of(|view| view.is_large && view.preset == PAPER_PRESET)
    }

    pub(crate) fn first(&self, preset: &str) -> Vec<&ViewResult> {
        self.of(|v| v.is_first && !v.is_large && v.preset == preset)
    }

    pub(crate) fn scenes(&self) -> Vec<Vec<&ViewResult>> {
        let mut scenes: Vec<Vec<&ViewResult>> = Vec::new();
        for view in self.all() {
            match scenes.iter_mut().find(|views| views[0].scene == view.scene) {
                Some(views) => views.push(view),
                None => scenes.push(vec![view]),
            }
        }
        scenes
    }

    /// Mean over the scenes of the means over their views.
    pub(crate) fn mean(&self, of: impl Fn(&ViewResult) -> Option<f64>) -> Option<f64> {
        let scenes = self.scenes();
        mean(scenes.iter().map(|views| mean(views.iter().map(|v| of(v)))))
    }
}

pub(super) fn by_view<'a>(
    figure: &'static Figure,
    views: Vec<&'a ViewResult>,
) -> Sheet<&'a ViewResult> {
    let mut sheet = Sheet::new(figure, views, "scenes", |view| view.scene.clone());
    sheet
        .text("scene", "scene", |view| view.scene.clone())
        .text("view", "view", |view| view.view.clone());
    sheet
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    /// A first view of a scene, with these cycles and blended fragments of its methods.
    pub(crate) fn view(scene: &str, methods: &[(&str, u64, u64)]) -> ViewResult {
        let methods = methods.iter().map(|(name, cycles, blended)| {
            let report = json!({
                "fragments": { "blended": blended, "rasterized": 4 * blended },
                "quads": { "blended": blended / 3 },
                "units": { "crop": { "utilisation": 0.75, "throughput": 0.5 } },
            });
            MethodResult {
                name: (*name).to_owned(),
                cycles: *cycles,
                frame_ms: 0.5,
                report: report.as_object().cloned().unwrap(),
            }
        });
        ViewResult {
            scene: scene.to_owned(),
            view: "0".to_owned(),
            size: [64, 48],
            preset: PAPER_PRESET.to_owned(),
            is_first: true,
            is_large: false,
            splats: 10,
            methods: methods.collect(),
        }
    }

    #[test]
    fn numbers_are_found_by_path() {
        let view = view("a", &[("baseline", 600, 90), ("het", 300, 30)]);
        assert_eq!(view.speedup("het"), Some(2.0));
        assert_eq!(view.ratio("baseline", "het", "fragments.blended"), Some(3.0));
        assert_eq!(view.ratio("baseline", "qm", "cycles"), None);
        assert_eq!(view.number("het", "fragments.lost"), None);
        let het = view.method("het").unwrap();
        assert_eq!(het.throughput("crop"), Some(0.5));
        assert_eq!(het.throughput("zrop"), None);
    }
}
