//! Results from which figures are drawn: rows of methods by view.

use crate::paper::Figure;
pub use crate::paper::PAPER_PRESET;
use crate::sheet::{Sheet, mean, quotient};
use quadrille_gpu::config::Config;
use quadrille_suite::rows::UnitRow;
use quadrille_suite::{MethodRow, Row};

pub(crate) const ORIN: &str = "orin-30w";
pub(crate) const DESKTOP: &str = "rtx-a6000";

/// Number computed from the row of a method; `None` if it is missing.
pub(crate) type Measure = fn(&MethodRow) -> Option<f64>;

pub(crate) const CYCLES: Measure = |row| Some(row.cycles as f64);
pub(crate) const DRAW_MS: Measure = |row| Some(row.frame_ms);
pub(crate) const FRAGMENTS: Measure = |row| Some(row.counts.fragments_blended() as f64);
pub(crate) const QUADS: Measure = |row| Some(row.quads_blended()? as f64);
pub(crate) const FRAME_MS: Measure = |row| Some(row.details.frame?.total_ms);
pub(crate) const FPS: Measure = |row| row.details.frame?.fps;
pub(crate) const SCENE_SPLATS: Measure = |row| Some(row.details.scene?.splats as f64);
pub(crate) const ENERGY_MJ: Measure = |row| Some(row.details.energy_mj.as_ref()?.total);

/// Activity of a unit of the graphics pipeline, by its name.
pub(crate) fn unit<'a>(row: &'a MethodRow, name: &str) -> Option<&'a UnitRow> {
    row.counts.pipeline()?.units.get(name)
}

/// Throughput of a port, as a share of its rate; its utilisation if it has no fixed rate.
pub(crate) fn throughput(row: &MethodRow, name: &str) -> Option<f64> {
    let unit = unit(row, name)?;
    Some(unit.throughput.unwrap_or(unit.utilisation))
}

/// Results of a view in one configuration.
#[derive(Debug, Clone)]
pub struct ViewResult {
    /// Key of the view, and the rows of the methods that were run.
    pub row: Row,
    /// Whether the view is the first of its scene.
    pub is_first: bool,
    /// Whether the scene is one of the large ones, which Figure 23 shows.
    pub is_large: bool,
}

impl ViewResult {
    /// Name of the scene in the suite.
    pub fn scene(&self) -> &str {
        &self.row.key.scene
    }

    /// Name of the view within its scene.
    pub fn name(&self) -> &str {
        &self.row.key.view.name
    }

    /// Number of the frame, if the views of the scene are a sequence.
    pub fn frame(&self) -> Option<usize> {
        self.row.key.frame
    }

    /// Name of the configuration's preset.
    pub fn preset(&self) -> &str {
        &self.row.key.preset
    }

    /// Row of a method; `None` if the method was not run.
    pub(crate) fn method(&self, name: &str) -> Option<&MethodRow> {
        self.row.method(name)
    }

    /// Measure of a method; `None` if it is missing.
    pub(crate) fn number(&self, method: &str, of: Measure) -> Option<f64> {
        of(self.method(method)?)
    }

    /// Measure of the method `over` divided by the measure of the method `under`; `None` if one is unknown or zero.
    pub(crate) fn ratio(&self, over: &str, under: &str, of: Measure) -> Option<f64> {
        quotient(self.number(over, of), self.number(under, of))
    }

    pub(crate) fn speedup(&self, method: &str) -> Option<f64> {
        self.ratio("baseline", method, CYCLES)
    }

    pub(crate) fn pixels(&self) -> f64 {
        let view = &self.row.key.view;
        f64::from(view.width) * f64::from(view.height)
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
    /// Views that fit, without the frames of sequences.
    fn of(&self, fits: impl Fn(&ViewResult) -> bool) -> Vec<&ViewResult> {
        self.views.iter().filter(|view| view.frame().is_none() && fits(view)).collect()
    }

    pub(crate) fn frames(&self) -> Vec<&ViewResult> {
        let views = self.views.iter();
        views.filter(|view| view.frame().is_some() && view.preset() == PAPER_PRESET).collect()
    }

    pub(crate) fn all(&self) -> Vec<&ViewResult> {
        self.of(|view| !view.is_large && view.preset() == PAPER_PRESET)
    }

    pub(crate) fn large(&self) -> Vec<&ViewResult> {
        self.of(|view| view.is_large && view.preset() == PAPER_PRESET)
    }

    pub(crate) fn first(&self, preset: &str) -> Vec<&ViewResult> {
        self.of(|v| v.is_first && !v.is_large && v.preset() == preset)
    }

    pub(crate) fn scenes(&self) -> Vec<Vec<&ViewResult>> {
        let mut scenes: Vec<Vec<&ViewResult>> = Vec::new();
        for view in self.all() {
            match scenes.iter_mut().find(|views| views[0].scene() == view.scene()) {
                Some(views) => views.push(view),
                None => scenes.push(vec![view]),
            }
        }
        scenes
    }

    /// Mean over the scenes of the means over their views.
    pub(crate) fn mean(&self, of: impl Fn(&ViewResult) -> Option<f64>) -> Option<f64> {
        mean(self.scenes().iter().map(|views| mean(views.iter().map(|v| of(v)))))
    }
}

pub(super) fn by_view<'a>(
    figure: &'static Figure,
    views: Vec<&'a ViewResult>,
) -> Sheet<&'a ViewResult> {
    let mut sheet =
        Sheet::labelled(figure, views, "scenes", "scene", |view| view.scene().to_owned());
    sheet.text("view", "view", |view| view.name().to_owned());
    sheet
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use quadrille_suite::details::FigureDetails;
    use quadrille_suite::rows::{MethodCounts, PipelineCounts};
    use quadrille_suite::{JobKey, ViewKey};

    /// A first view of a scene, with these cycles and blended fragments of its methods.
    pub(crate) fn view(scene: &str, methods: &[(&str, u64, u64)]) -> ViewResult {
        let methods = methods.iter().map(|(name, cycles, blended)| {
            let mut counts = PipelineCounts::default();
            counts.fragments.blended = *blended;
            counts.fragments.rasterized = 4 * blended;
            counts.quads.blended = blended / 3;
            let crop = UnitRow { utilisation: 0.75, throughput: Some(0.5), ..UnitRow::default() };
            counts.units.insert("crop".to_owned(), crop);
            MethodRow {
                name: (*name).to_owned(),
                cycles: *cycles,
                frame_ms: 0.5,
                counts: MethodCounts::Pipeline(Box::new(counts)),
                details: FigureDetails::default(),
                host_s: 0.0,
            }
        });
        let key = JobKey {
            scene: scene.to_owned(),
            view: ViewKey { name: "0".to_owned(), width: 64, height: 48 },
            preset: PAPER_PRESET.to_owned(),
            ..JobKey::default()
        };
        let row = Row { key, splats: 10, ..Row::default() }.with_methods(methods.collect());
        ViewResult { row, is_first: true, is_large: false }
    }

    #[test]
    fn numbers_are_of_methods() {
        let view = view("a", &[("baseline", 600, 90), ("het", 300, 30)]);
        assert_eq!(view.speedup("het"), Some(2.0));
        assert_eq!(view.ratio("baseline", "het", FRAGMENTS), Some(3.0));
        assert_eq!(view.ratio("baseline", "qm", CYCLES), None);
        assert_eq!(view.number("het", FRAME_MS), None);
        let het = view.method("het").unwrap();
        assert_eq!(throughput(het, "crop"), Some(0.5));
        assert_eq!(throughput(het, "zrop"), None);
    }
}
