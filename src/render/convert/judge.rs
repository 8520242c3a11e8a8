//! Views of a conversion: views for pruning and views for the report.

use std::path::Path;

use super::action::Action;
use super::between::views_between;
use super::converted::PruningViews;
use super::host::ConversionHost;
use super::report::{
    ComparedViews, ConversionLoss, DrawnBy, LevelLoss, ViewComparison, attribute_errors, mean_of,
    worst_view,
};
use crate::cpu::RenderSettings;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::metrics::Protocol;
use quadrille_base::shading::Profile;
use quadrille_scene::{
    Camera, LoadOptions, OutputFormat, SceneInput, SplatTable, Splats, load_table,
};

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
    /// Near plane of the profile of the scene, in units of the world before all moves.
    profile_near: f64,
}

impl Judge {
    pub(super) fn new(near: Option<f64>, profile: &Profile) -> Self {
        Self { near, profile_near: profile.near, ..Self::default() }
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
                    *camera = moved(camera, self.profile_near, action, text)?;
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

    /// The views in the world of `table`, which has been moved.
    pub(super) fn moved_cameras(
        &mut self,
        table: &SplatTable,
        host: &mut dyn ConversionHost,
    ) -> Result<Vec<Camera>> {
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
                *camera = moved(camera, self.profile_near, action, text)?;
            }
        }
        self.cameras = Some(cameras.clone());
        Ok(cameras)
    }

    /// Views that decided which splats are left; `None` without pruning.
    pub(super) fn pruned_by(&self, host: &dyn ConversionHost) -> Option<PruningViews> {
        let cameras = self.cameras.as_ref().filter(|_| self.is_pruned)?;
        Some(PruningViews {
            views_from: host.source_of_views().0,
            views: cameras.iter().map(|camera| camera.name.clone()).collect(),
        })
    }

    /// Compares the file `written`, which holds `levels` of detail, the finest first, with `before`; after pruning, in views
    /// between the pruning views.
    pub(super) fn measure(
        &mut self,
        before: &SplatTable,
        levels: &[&SplatTable],
        written: &Path,
        format: OutputFormat,
        scene: &Path,
        host: &mut dyn ConversionHost,
    ) -> Result<ConversionLoss> {
        quadrille_base::span!("compare");
        let task = host.begin("splats");
        let file = format.main_file(written);
        let level = |number: u32| {
            let options = LoadOptions::new(None, number);
            load_table(SceneInput::file(&file).options(options).task(&task))
        };
        let written = level(0)?;
        let input = before.splats_with(&task)?.0;
        let cameras = self.cameras(&input, host)?;
        let pruned_by = self.pruned_by(host).map(|by| by.views);
        let between = if self.is_pruned { views_between(&cameras) } else { Vec::new() };
        if self.is_pruned && between.is_empty() {
            host.warn(
                "the report uses the views by which splats were pruned, since no two of them look in directions within \
                 90 degrees; its PSNR is higher than from other views",
            );
        }
        let views_are_between = !between.is_empty();
        let profiles = [before, &written].map(|table| self.profile(table));
        let from = if views_are_between { &between } else { &cameras };
        let mut compared = |output: &Splats, has_warnings: bool| {
            let comparison = ViewComparison {
                scenes: [&input, output],
                settings: profiles
                    .map(|profile| RenderSettings { profile, ..RenderSettings::default() }),
                protocol: Protocol::Inria,
                background: [0.0; 3],
            };
            let task = host.begin("views");
            comparison.run(from, &task, |text| {
                if has_warnings {
                    host.warn(text);
                }
            })
        };
        let ComparedViews { views, blank } = compared(&written.splats_with(&task)?.0, true)?;
        let mut coarser_levels = Vec::new();
        for number in (1..).take(levels.len() - 1) {
            let coarser = level(number)?.splats_with(&task)?.0;
            coarser_levels.push(LevelLoss::new(number, &coarser, compared(&coarser, false)?));
        }
        let [input, output] = profiles.map(|profile| profile.name);
        Ok(ConversionLoss {
            protocol: Protocol::Inria,
            views_from: host.source_of_views().0,
            pruned_by,
            views_are_between,
            profiles: DrawnBy { input, output },
            mean: mean_of(&views),
            worst_view: worst_view(&views).map(|view| view.name.clone()),
            views,
            blank_views: blank,
            coarser_levels,
            attributes: attribute_errors(levels[0], &written, format, scene, &task)?,
        })
    }
}

fn moved(camera: &Camera, near: f64, action: &Action, text: &str) -> Result<Camera> {
    action.moved(camera, near).ok_or_else(|| {
        Error::argument(
            text,
            "axes that rotate the scene, since views cannot be mirrored",
            "axes that mirror it",
        )
    })
}
