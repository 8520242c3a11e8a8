//! The views of a conversion: those that splats are pruned by, and those that a report looks from.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::console::Verbosity;
use crate::cli::interrupt;
use crate::cli::summary::Summary;
use crate::cli::views::JudgingViews;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::metrics::Protocol;
use quadrille_render::convert::{
    Action, AttributeErrors, ViewComparison, ViewDifference, attribute_errors, views_between,
    worst_view,
};
use quadrille_render::cpu::RenderSettings;
use quadrille_scene::{Camera, LoadOptions, OutputFormat, SplatTable, Splats, load_table_task};

/// The views of a conversion, which move with the scene.
pub(super) struct Judge<'a> {
    /// The first input, beside which cameras are looked for.
    pub(super) scene: &'a Path,
    pub(super) views: JudgingViews,
    pub(super) verbosity: Verbosity,
    /// Intended actions so far, with their flags, which the views have to follow once they are read.
    moves: Vec<(Action, String)>,
    /// The views in the world of the table, once they were needed.
    cameras: Option<Vec<Camera>>,
    is_pruned: bool,
}

/// Views of a report.
pub(super) struct ReportViews {
    pub(super) cameras: Vec<Camera>,
    /// The camera file or the flag that the views come from.
    source: String,
    /// Names of the views by which splats were pruned.
    pruned_by: Option<Vec<String>>,
    /// Whether the cameras lie halfway between the views by which splats were pruned.
    are_between: bool,
}

impl<'a> Judge<'a> {
    pub(super) fn new(scene: &'a Path, views: JudgingViews, verbosity: Verbosity) -> Self {
        Self {
            scene,
            views,
            verbosity,
            moves: Vec::new(),
            cameras: None,
            is_pruned: false,
        }
    }

    /// Moves the views with the scene.
    ///
    /// # Errors
    /// [`Error::Argument`] for an action that mirrors the scene, if views would have to follow it.
    pub(super) fn follow(&mut self, action: &Action, text: &str) -> Result<()> {
        match &mut self.cameras {
            Some(cameras) => {
                for camera in cameras {
                    *camera = moved(camera, action, text)?;
                }
            }
            None if self.views.is_placed => self.moves.push((action.clone(), text.to_owned())),
            // The views will be found in the moved scene.
            None => {}
        }
        Ok(())
    }

    /// The views by which splats of `table` are pruned.
    pub(super) fn pruning(&mut self, table: &SplatTable) -> Result<Vec<Camera>> {
        self.is_pruned = true;
        let (splats, _) = table.splats_with(interrupt::task())?;
        self.cameras(&splats)
    }

    fn cameras(&mut self, splats: &Splats) -> Result<Vec<Camera>> {
        if let Some(cameras) = &self.cameras {
            return Ok(cameras.clone());
        }
        let mut cameras = self.views.cameras(self.scene, splats, self.verbosity)?;
        for (action, text) in &self.moves {
            for camera in &mut cameras {
                *camera = moved(camera, action, text)?;
            }
        }
        self.cameras = Some(cameras.clone());
        Ok(cameras)
    }

    /// The views of a report on a scene of `splats`: all views or, if splats were pruned by them, others.
    pub(super) fn reporting(&mut self, splats: &Splats) -> Result<ReportViews> {
        let cameras = self.cameras(splats)?;
        let names = || cameras.iter().map(|camera| camera.name.clone()).collect();
        let pruned_by = self.is_pruned.then(names);
        let between = match self.is_pruned {
            true => views_between(&cameras),
            false => Vec::new(),
        };
        if self.is_pruned && between.is_empty() {
            self.verbosity.warn(
                "the report looks from the views by which splats were pruned, since no two of them look in \
                 directions within 90 degrees; pruning always looks better from there",
            );
        }
        let are_between = !between.is_empty();
        Ok(ReportViews {
            cameras: if are_between { between } else { cameras },
            source: self.views.source.clone(),
            pruned_by,
            are_between,
        })
    }
}

fn moved(camera: &Camera, action: &Action, text: &str) -> Result<Camera> {
    action.moved(camera).ok_or_else(|| {
        let expected = "axes that turn the scene, as views can";
        Error::argument(text, expected, "axes that mirror it")
    })
}

/// Loss of a conversion.
pub(super) struct Loss {
    pub(super) from: ReportViews,
    pub(super) views: Vec<ViewDifference>,
    /// Names of the profiles by which the input and the output are drawn.
    pub(super) profiles: [&'static str; 2],
    pub(super) attributes: Option<AttributeErrors>,
}

impl Loss {
    pub(super) fn summary(&self) -> Summary<'_> {
        let views = self.views.iter();
        views
            .map(|view| (view.name.as_str(), &view.comparison))
            .collect()
    }

    pub(super) fn document(&self) -> Value {
        json!({
            "protocol": Protocol::Inria,
            "views_from": self.from.source,
            "pruned_by": self.from.pruned_by,
            "views_are_between": self.from.are_between,
            "profiles": {"input": self.profiles[0], "output": self.profiles[1]},
            "views": self.views,
            "mean": self.summary().mean(),
            "worst_view": worst_view(&self.views).map(|view| &view.name),
            "attributes": self.attributes,
        })
    }

    pub(super) fn page(&self) -> String {
        let look = (Protocol::Inria, [0.0; 3]);
        let table = self.summary().worst_first().table(look, std::iter::empty());
        let source = &self.from.source;
        let from = match (&self.from.pruned_by, self.from.are_between) {
            (None, _) => format!("views from {source}"),
            (Some(views), true) => format!(
                "pruned by {} views from {source}, reported from {} views halfway between neighbours",
                views.len(),
                self.views.len()
            ),
            (Some(views), false) => {
                format!(
                    "pruned by and reported from the same {} views from {source}",
                    views.len()
                )
            }
        };
        let [input, output] = self.profiles;
        let profiles = match input == output {
            true => String::new(),
            false => format!("the input is drawn by the profile {input}, the output by {output}\n"),
        };
        format!("\n{table}{from}\n{profiles}")
    }
}

/// Compares the new file `written`, which holds `table`, with `reference`.
pub(super) fn measure(
    judge: &mut Judge<'_>,
    reference: &SplatTable,
    table: &SplatTable,
    written: &Path,
    format: OutputFormat,
) -> Result<Loss> {
    let task = interrupt::task();
    let written = load_table_task(format.main_file(written), LoadOptions::default(), task)?;
    let before = reference.splats_with(task)?.0;
    let from = judge.reporting(&before)?;
    let after = written.splats_with(task)?.0;
    let profiles = [reference.profile(), written.profile()];
    let settings = profiles.map(|profile| RenderSettings {
        profile,
        ..RenderSettings::default()
    });
    let comparison = ViewComparison {
        scenes: [&before, &after],
        settings,
        protocol: Protocol::Inria,
        background: [0.0; 3],
    };
    let progress = judge.verbosity.progress("views");
    let views = comparison.run(&from.cameras, &progress.task, |_, _, _| Ok(()))?;
    let attributes = attribute_errors(table, &written, format, judge.scene, task)?;
    Ok(Loss {
        from,
        views,
        profiles: profiles.map(|profile| profile.name),
        attributes,
    })
}
