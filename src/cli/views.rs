//! Views that flags describe, and messages about them.

use std::path::Path;

use super::session::Session;
use super::view_page::check_pinholes;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::{FRAME_BYTES, check_memory};
use quadrille_render::convert::JUDGING_ORBIT;
use quadrille_render::viewpoint;
use quadrille_scene::cameras::{ViewSpec, Views, find_camera_file};
use quadrille_scene::{Camera, Splats};

#[derive(Debug, Clone)]
pub(crate) struct JudgingViews {
    views: ViewSpec,
    pub(crate) source: String,
    /// Whether files or flags place the views in the world of the scene as it was read.
    pub(crate) is_placed: bool,
    needs_pinholes: bool,
}

impl JudgingViews {
    /// Chooses the views from which a scene is compared. Without flags that choose views, these are all cameras of
    /// the file beside `scene` or, without such a file, a circle of views. If `refused_by` names a flag, the circle is
    /// an error, since that flag needs real cameras.
    pub(crate) fn new(
        views: &ViewSpec,
        scene: &Path,
        refused_by: Option<&str>,
        session: &Session,
    ) -> Result<Self> {
        let mut chosen = views.clone();
        let has_place =
            views.is_moved() || views.eye.is_some() || views.target.is_some() || views.up.is_some();
        let is_chosen =
            views.propose_views.is_some() || views.orbit.is_some() || views.eye.is_some();
        if views.cameras.is_none() && !is_chosen {
            let beside = (!has_place).then(|| find_camera_file(scene)).flatten();
            let file = scene.display();
            match (beside, refused_by) {
                (Some(path), _) => {
                    session.note(&format!(
                        "views: the cameras of {}, which lies beside {file}",
                        path.display()
                    ));
                    chosen.cameras = Some(path);
                }
                (None, Some(flag)) => {
                    let needed = "--cameras FILE, --orbit N, --propose-views N or --eye X,Y,Z";
                    let needed = format!("{needed}: there is no camera file beside {file}");
                    return Err(Error::needs(flag, needed));
                }
                (None, None) => {
                    chosen.orbit = Some(JUDGING_ORBIT);
                    session.note(&format!(
                        "views: a circle of {JUDGING_ORBIT} around the content, since no camera file lies beside \
                         {file} (--cameras, --orbit or --propose-views choose others)"
                    ));
                }
            }
        }
        let source = match (&chosen.cameras, chosen.propose_views, chosen.orbit) {
            (Some(path), _, _) => path.display().to_string(),
            (None, Some(count), _) => format!("--propose-views {count}"),
            (None, None, Some(count)) => format!("--orbit {count}"),
            (None, None, None) => "--eye".to_owned(),
        };
        Ok(Self {
            source,
            is_placed: has_place || chosen.cameras.is_some(),
            views: chosen.with_all_unless_selected(),
            needs_pinholes: false,
        })
    }

    /// The views, which `--cameras-out` writes if `is_written`: all must be pinholes.
    pub(crate) fn of_pinholes(self, is_written: bool) -> Self {
        Self { needs_pinholes: is_written, ..self }
    }

    pub(crate) fn cameras(
        &self,
        scene: &Path,
        splats: &Splats,
        session: &Session,
    ) -> Result<Vec<Camera>> {
        let cameras = views_of(&self.views, scene, splats, session)?.cameras;
        check_frames(&cameras, FRAME_BYTES)?;
        if self.needs_pinholes {
            check_pinholes(&cameras)?;
        }
        Ok(cameras)
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.views.files()
    }
}

/// Refuses views whose pictures do not fit in memory at `pixel_bytes` per pixel.
pub(super) fn check_frames(cameras: &[Camera], pixel_bytes: u64) -> Result<()> {
    let mut sizes = cameras.iter().map(|camera| [camera.width, camera.height]);
    sizes.try_for_each(|size| check_memory(size, pixel_bytes))
}

pub(crate) fn views_of(
    views: &ViewSpec,
    scene: &Path,
    splats: &Splats,
    session: &Session,
) -> Result<Views> {
    let found = viewpoint::views(views, Some(scene), || Ok(splats), session.task)?;
    report(&found, session);
    if let (None, Some(path)) = (&views.view, views.camera_file_beside(scene)) {
        let path = path.display();
        session.note(&format!(
            "{path} holds cameras of the scene; --view 0 draws the first of them, --view all draws all"
        ));
    }
    Ok(found)
}

pub(super) fn report(views: &Views, session: &Session) {
    views.remarks.iter().for_each(|remark| session.remark(remark));
    views.warnings.iter().for_each(|warning| session.warn(warning));
    for camera in &views.cameras {
        let [x, y, z] = camera.eye().into();
        let [wide, high] = camera.focal_px;
        session.remark(&format!(
            "view {}: eye {x:.4},{y:.4},{z:.4}, {} x {} pixels, focal length {wide:.2} x {high:.2} pixels{}",
            camera.name,
            camera.width,
            camera.height,
            camera.near_limit.map(|near| format!(", near plane at most {near}")).unwrap_or_default()
        ));
    }
    if let Some(completed) = &views.completed {
        session.remark(&format!("flags of this view: {}", completed.flags()));
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use nalgebra::Vector3;

    use quadrille_scene::Intrinsics;
    use quadrille_scene::cameras::Framing;
    use quadrille_suite::report::cameras::look_at_flags;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        views: ViewSpec,
    }

    #[test]
    fn flags_describe_a_camera_to_the_last_bit() {
        let third = 1.0 / 3.0;
        for (points, fov_degrees, size) in [
            (
                [[-third, 0.1, 1e-17], [7e20, -0.0, 2.0], [0.0, -third, third]],
                49.999_999_999_999_99,
                [980, 545],
            ),
            ([[1e-300, -5.5, 3.0], [0.0, 0.1 + 0.2, 0.0], [0.0, 0.0, -1.0]], 1e-3, [1, 32_768]),
        ] {
            let flags = look_at_flags(points, fov_degrees, size);
            let words = std::iter::once("program").chain(flags.split(' '));
            let spec = Program::try_parse_from(words).unwrap().views;
            let framing = || Ok(Framing::of(&Splats::from_splats(0, [])));
            let [camera] = &spec.views(None, framing).unwrap().cameras[..] else {
                panic!("{flags}: another number of views");
            };
            let lens = Intrinsics::from_vertical_fov(size[0], size[1], fov_degrees.to_radians());
            let [eye, target, up] = points.map(Vector3::from);
            let expected = Camera::look_at(&*camera.name, lens, eye, target, up).unwrap();
            assert_eq!(camera, &expected, "{flags}");
        }
    }
}
