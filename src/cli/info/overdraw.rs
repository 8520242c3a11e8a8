//! `info --overdraw`: fragments per pixel of views of a scene.

use std::path::Path;

use serde::Serialize;

use crate::cli::session::Session;
use crate::cli::views::views_of;
use quadrille_base::error::Result;
use quadrille_base::image::{Frame, Layer};
use quadrille_base::shading::{Profile, StopRule};
use quadrille_base::units::percent;
use quadrille_render::cpu::{LayerSettings, RenderSettings, Renderer};
use quadrille_scene::cameras::ViewSpec;
use quadrille_scene::{Camera, Scene};
use quadrille_suite::report::table::TextTable;

/// Fragments of a view. All but the number of splats are of the whole picture.
#[derive(Debug, Serialize)]
pub(super) struct ViewOverdraw {
    view: String,
    width: u32,
    height: u32,
    profile: &'static str,
    splats_in_frustum: u64,
    /// Share of the pixels that have a fragment over the alpha cut, 0 to 1.
    fill: f64,
    /// Fragments over the alpha cut per pixel, without a stop rule.
    overdraw: f64,
    /// Most fragments over the alpha cut in a pixel.
    overdraw_most: u32,
    /// Fragments per pixel that are blended under the stop rule of the profile.
    overdraw_blended: f64,
}

impl ViewOverdraw {
    fn of(scene: &Scene, camera: &Camera, profile: Profile, session: &Session) -> Result<Self> {
        let settings = |profile| RenderSettings { profile, level: session.level };
        let layers = LayerSettings { layers: vec![Layer::Count], is_distance: false };
        let (mut renderer, mut frame) = (Renderer::default(), Frame::new(0, 0));
        let mut drawn = |profile| {
            let (splats, settings) = (&scene.splats, settings(profile));
            renderer.render_layers(&mut frame, splats, camera, &settings, &layers, session.task)
        };
        let (pictures, counts, _) = drawn(Profile { stop: StopRule::Never, ..profile })?;
        let (_, stopped, _) = drawn(profile)?;
        let of_pixels = pictures.iter().flat_map(|picture| picture.integers());
        let (filled, most) = of_pixels.fold((0_u64, 0), |(filled, most), &count| {
            (filled + u64::from(count > 0), most.max(count))
        });
        let pixels = f64::from(camera.width) * f64::from(camera.height);
        Ok(Self {
            view: camera.name.clone(),
            width: camera.width,
            height: camera.height,
            profile: profile.name,
            splats_in_frustum: counts.splats_in_frustum,
            fill: filled as f64 / pixels,
            overdraw: counts.fragments_blended as f64 / pixels,
            overdraw_most: most,
            overdraw_blended: stopped.fragments_blended as f64 / pixels,
        })
    }
}

/// Draws the views of a scene by the profile that its file names, else by the default one.
pub(super) fn overdraw(
    path: &Path,
    scene: &Scene,
    views: &ViewSpec,
    session: &Session,
) -> Result<Vec<ViewOverdraw>> {
    let profile = scene.profile_hint.map_or_else(|| Ok(Profile::default()), Profile::named)?;
    session.install(|| {
        let views = views_of(views, path, &scene.splats, session)?;
        views.cameras.iter().map(|view| ViewOverdraw::of(scene, view, profile, session)).collect()
    })
}

pub(super) fn table(views: &[ViewOverdraw]) -> String {
    if views.is_empty() {
        return String::new();
    }
    let headings = ["<view", "pixels", "splats", "fill", "overdraw", "most", "blended"];
    let mut table = TextTable::new(&headings);
    for view in views {
        table.row([
            view.view.clone(),
            format!("{}x{}", view.width, view.height),
            view.splats_in_frustum.to_string(),
            percent(view.fill),
            format!("{:.2}", view.overdraw),
            view.overdraw_most.to_string(),
            format!("{:.2}", view.overdraw_blended),
        ]);
    }
    let meanings = "(splats: in view; fill: share of the pixels with a fragment over the alpha cut; overdraw, most: such fragments \
                    per pixel,\nmean and maximum; blended: fragments per pixel up to the profile's stop rule)";
    format!("\n{table}{meanings}\n")
}
