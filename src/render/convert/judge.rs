//! Views of a conversion: views for pruning and views for the report.

use std::path::Path;

use super::action::Action;
use super::between::views_between;
use super::host::ConversionHost;
use super::report::{
    ComparedViews, ConversionLoss, DrawnBy, ViewComparison, attribute_errors, worst_view,
};
use crate::cpu::RenderSettings;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::metrics::{MeanComparison, Protocol};
use quadrille_base::shading::Profile;
use quadrille_scene::{Camera, OutputFormat, SceneInput, SplatTable, Splats, load_table};

/// Number of views on an orbit that judges a scene without cameras: one view every 45 degrees.
pub const JUDGING_ORBIT: u32 = 8;

#[derive(Default)]
pub(super) struct Judge {
    /// Intended actions so far with their texts; views that are read later are moved by them.
    moves: Vec<(Action, String)>,
    /// Views in the world of the table; `None` until they are needed.
    cameras: Option<Vec<Camera>>,
    is_pruned: bool,
    /// Near plane of the views in world units; `None` for the near planes of the profiles.
    near: Option<f64>,
}

impl Judge {
    pub(super) fn new(near: Option<f64>) -> Self {
        Self { near, ..Self::default() }
    }

    pub(super) fn profile(&self, table: &SplatTable) -> Profile {
        let profile = table.profile();
        self.near.map_or(profile, |near| profile.with_near(near))
    }

    pub(super) fn follow(
        &mut self,
        action: &Action,
        text: &str,
        host: &dyn ConversionHost,
    ) -> Result<()> {
        match &mut self.cameras {
            Some(cameras) => {
                for camera in cameras {
                    *camera = moved(camera, action, text)?;
                }
            }
            None if host.source_of_views().1 => self.moves.push((action.clone(), text.to_owned())),
            // Such views are chosen from the scene after it has moved.
            None => {}
        }
        Ok(())
    }

    pub(super) fn pruning(
        &mut self,
        table: &SplatTable,
        host: &mut dyn ConversionHost,
    ) -> Result<Vec<Camera>> {
        self.is_pruned = true;
        let (splats, _) = table.splats_with(&host.begin("splats"))?;
        self.cameras(&splats, host)
    }

    fn cameras(&mut self, splats: &Splats, host: &mut dyn ConversionHost) -> Result<Vec<Camera>> {
        if let Some(cameras) = &self.cameras {
            return Ok(cameras.clone());
        }
        let mut cameras = host.views(splats)?;
        for (action, text) in &self.moves {
            for camera in &mut cameras {
                *camera = moved(camera, action, text)?;
            }
        }
        self.cameras = Some(cameras.clone());
        Ok(cameras)
    }

    /// Compares the file `written`, which holds `table`, with `before`; after pruning, in views between the pruning views.
    pub(super) fn measure(
        &mut self,
        before: &SplatTable,
        table: &SplatTable,
        written: &Path,
        format: OutputFormat,
        scene: &Path,
        host: &mut dyn ConversionHost,
    ) -> Result<ConversionLoss> {
        quadrille_base::span!("compare");
        let task = host.begin("splats");
        let written = load_table(SceneInput::file(&format.main_file(written)).task(&task))?;
        let input = before.splats_with(&task)?.0;
        let cameras = self.cameras(&input, host)?;
        let names = || cameras.iter().map(|camera| camera.name.clone()).collect();
        let pruned_by = self.is_pruned.then(names);
        let between = if self.is_pruned { views_between(&cameras) } else { Vec::new() };
        if self.is_pruned && between.is_empty() {
            host.warn(
                "the report uses the views by which splats were pruned, since no two of them look in directions within \
                 90 degrees; its PSNR is higher than from other views",
            );
        }
        let views_are_between = !between.is_empty();
        let output = written.splats_with(&task)?.0;
        let profiles = [before, &written].map(|table| self.profile(table));
        let comparison = ViewComparison {
            scenes: [&input, &output],
            settings: profiles
                .map(|profile| RenderSettings { profile, ..RenderSettings::default() }),
            protocol: Protocol::Inria,
            background: [0.0; 3],
        };
        let from = if views_are_between { &between } else { &cameras };
        let task = host.begin("views");
        let ComparedViews { views, blank } = comparison.run(from, &task, |text| host.warn(text))?;
        let [input, output] = profiles.map(|profile| profile.name);
        Ok(ConversionLoss {
            protocol: Protocol::Inria,
            views_from: host.source_of_views().0,
            pruned_by,
            views_are_between,
            profiles: DrawnBy { input, output },
            mean: (!views.is_empty())
                .then(|| MeanComparison::of(views.iter().map(|view| &view.comparison))),
            worst_view: worst_view(&views).map(|view| view.name.clone()),
            views,
            blank_views: blank,
            attributes: attribute_errors(table, &written, format, scene, &task)?,
        })
    }
}

fn moved(camera: &Camera, action: &Action, text: &str) -> Result<Camera> {
    action.moved(camera).ok_or_else(|| {
        Error::argument(
            text,
            "axes that rotate the scene, since views cannot be mirrored",
            "axes that mirror it",
        )
    })
}
