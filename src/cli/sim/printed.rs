//! Output of `sim`: pages at once, documents and rows at the end.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::cli::console::print;
use crate::cli::session::Progress;
use quadrille_base::Result;
use quadrille_suite::details::EnergyDetails;
use quadrille_suite::report::screen;
use quadrille_suite::report::simulated::Simulated;
use quadrille_suite::{Configuration, JobKey, MethodRow, Row, ViewKey};

#[derive(Default)]
pub(super) struct Printed {
    pub(super) documents: Vec<Value>,
    /// Fields of the rates of ports that limit a run, by port.
    limits: BTreeMap<&'static str, String>,
    /// Whether a page has the bars of units of the pipeline.
    has_bars: bool,
    pages: usize,
    pub(super) rows: Vec<Row>,
}

impl Printed {
    /// Meaning of the rows of all pages, with the fields of the limits.
    pub(super) fn legend(&self) -> String {
        let fields = self.limits.iter().map(|(port, fields)| format!("{port} by {fields}"));
        let fields: Vec<_> = fields.collect();
        match fields.is_empty() {
            true => screen::LEGEND.to_owned(),
            false => format!("{}\nrates of the limits: {}", screen::LEGEND, fields.join("; ")),
        }
    }

    pub(super) fn add_limits(&mut self, simulated: &Simulated<'_>) {
        self.has_bars |= simulated.pipelines().next().is_some();
        self.limits.extend(screen::fields_of_limits(simulated));
    }

    pub(super) fn has_bars(&self) -> bool {
        self.has_bars
    }

    pub(super) fn page(&mut self, progress: &Progress, page: &str) -> Result<()> {
        let gap = if self.pages > 0 { "\n" } else { "" };
        self.pages += 1;
        progress.bar.suspend(|| print(format!("{gap}{page}")))
    }
}

pub(super) fn scene_name(path: &str) -> String {
    let stem = Path::new(path).file_stem();
    stem.map_or_else(|| path.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// Builds the row of a view in one configuration. It has no fingerprint, since all rows come from this call. `scene` is
/// the scene's name or, in the table of a sweep, the view's.
pub(super) fn row(scene: String, simulated: &Simulated<'_>, configuration: &Configuration) -> Row {
    let view = &simulated.view;
    let key = JobKey {
        scene,
        seed: None,
        view: ViewKey { name: view.name.clone(), width: view.width, height: view.height },
        frame: None,
        configuration: configuration.name.clone(),
        preset: configuration.preset.clone(),
        changed: configuration.changed.clone(),
    };
    let runs = simulated.runs.iter();
    let methods = runs.map(|run| {
        let mut row = MethodRow::new(&run.outcome, simulated.config, run.host);
        row.details.frame = run.frame;
        row.details.energy_mj = run.energy.as_ref().map(EnergyDetails::of);
        row
    });
    let host: Duration = simulated.host.iter().sum();
    let row = Row {
        key,
        profile: simulated.profile.to_owned(),
        commit: quadrille::PROGRAM.commit.to_owned(),
        splats: view.splats_in_frustum,
        mesh_draw: simulated.mesh_draw.clone(),
        host_s: host.as_secs_f64(),
        ..Row::default()
    };
    row.with_methods(methods.collect())
}
