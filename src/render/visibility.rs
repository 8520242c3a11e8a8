//! Detects cameras that do not see the scene, whose pictures would be black.

use nalgebra::Vector3;

use quadrille_base::shading::Profile;
use quadrille_scene::{Camera, Splats};

/// Maximum number of splats examined: enough for shares with an error of 0.1 %.
const MAX_SAMPLES: usize = 100_000;
/// Share of splats in view below which the camera is probably wrong.
const SUSPICIOUS_SHARE: f64 = 0.005;

/// What a picture shows of its scene. A view that shows nothing is neither compared nor part of a mean, and fails a gate:
/// two empty pictures are identical, whatever the scenes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sight {
    /// Enough splats to need no warning.
    Enough,
    /// Almost no splat, with a warning.
    Little(String),
    /// No splat, with a warning.
    Nothing(String),
}

impl Sight {
    /// Judges the view of `camera` by `in_view`, a renderer's count of the splats whose footprints touch the picture.
    pub fn of(in_view: u64, splats: &Splats, camera: &Camera, profile: &Profile) -> Self {
        if Visibility::is_enough(in_view, splats.len()) {
            return Self::Enough;
        }
        let warning = Visibility::of(splats, camera, profile).warning(&camera.name);
        match (in_view, warning) {
            (0, warning) => Self::Nothing(warning.unwrap_or_else(|| invisible(&camera.name))),
            (_, Some(warning)) => Self::Little(warning),
            (_, None) => Self::Enough,
        }
    }

    /// Whether a picture with this count of splats in view shows nothing.
    pub fn is_nothing(in_view: u64) -> bool {
        in_view == 0
    }

    /// The warning about the view, if it needs one.
    pub fn warning(&self) -> Option<&str> {
        match self {
            Self::Enough => None,
            Self::Little(warning) | Self::Nothing(warning) => Some(warning),
        }
    }

    /// The warning about a view that shows nothing.
    pub fn nothing(self) -> Option<String> {
        if let Self::Nothing(warning) = self { Some(warning) } else { None }
    }
}

fn invisible(view: &str) -> String {
    format!("view \"{view}\": the scene has no visible splat")
}

/// Shares of the splats of opacity above 0 by the position of their centres. The first three sum to 1, or 0 without splats.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Visibility {
    /// Share behind the camera or nearer than the near plane, 0 to 1.
    pub behind: f64,
    /// Share in front of the camera but outside the picture, 0 to 1.
    pub off_screen: f64,
    /// Share inside the picture, 0 to 1.
    pub in_view: f64,
    /// Share inside the picture, but not drawn since it is in front of the camera and nearer than the near plane; part of
    /// `behind`.
    pub cut_by_near: f64,
    /// Share inside the picture if the camera looked the opposite way, as with files in OpenGL axes (y up, z back).
    pub in_view_if_flipped: f64,
}

impl Visibility {
    /// Examines up to 100 000 splats; `profile` has the near plane.
    pub fn of(splats: &Splats, camera: &Camera, profile: &Profile) -> Self {
        let [mut behind, mut off, mut inside, mut cut, mut flipped] = [0_u32; 5];
        let near = camera.near(profile);
        let camera = &*camera.relative_to(splats.origin());
        for splat in splats.sampled(MAX_SAMPLES) {
            if splat.opacity <= 0.0 {
                continue;
            }
            let mean = Vector3::from(splat.mean.map(f64::from));
            let p = camera.view_from_world * mean + camera.translation_in_view;
            let depth = if camera.has_axial_depth(profile) { p.z } else { p.norm() };
            // Points outside a lens's field of view are treated like points behind a pinhole.
            let is_behind = depth <= near || camera.projection.point(p.into()).is_none();
            if is_behind {
                behind += 1;
                cut += u32::from(p.z > 0.0 && is_on_screen(camera, &p));
            } else if is_on_screen(camera, &p) {
                inside += 1;
            } else {
                off += 1;
            }
            let q = Vector3::new(p.x, -p.y, -p.z);
            let is_forward = camera.projection.has_axial_depth();
            flipped += u32::from(is_forward && q.z > near && is_on_screen(camera, &q));
        }
        let total = f64::from((behind + off + inside).max(1));
        let [behind, off_screen, in_view, cut_by_near, in_view_if_flipped] =
            [behind, off, inside, cut, flipped].map(|count| f64::from(count) / total);
        Self { behind, off_screen, in_view, cut_by_near, in_view_if_flipped }
    }

    /// Whether `in_view`, a renderer's count, is a large enough share of a scene's splats to need no warning.
    pub fn is_enough(in_view: u64, splats: usize) -> bool {
        in_view as f64 >= SUSPICIOUS_SHARE * splats as f64 && in_view > 0
    }

    /// Returns a warning that names the view `view`, with a remedy, if almost no splat is in view.
    pub fn warning(&self, view: &str) -> Option<String> {
        if self.in_view >= SUSPICIOUS_SHARE {
            return None;
        }
        if self.behind + self.off_screen == 0.0 {
            return Some(invisible(view));
        }
        let percent = |share: f64| 100.0 * share;
        let hint = if self.cut_by_near > 10.0 * self.in_view.max(SUSPICIOUS_SHARE) {
            "the scene is smaller than the distance of the near plane; a smaller depth with --near shows it"
        } else if self.in_view_if_flipped > 10.0 * self.in_view.max(SUSPICIOUS_SHARE) {
            "the camera looks away from the scene: its file may use OpenGL axes (x right, y up, z back) instead of x right, y down, z forward, or the scene and the cameras may come from different exports"
        } else {
            "check that cameras and scene belong together and share one scale; without cameras, a view is chosen that shows the scene"
        };
        Some(format!(
            "view \"{view}\": {:.1} % of the splats are behind the camera{} and {:.1} % off screen: {hint}",
            percent(self.behind),
            if self.cut_by_near > 0.0 { " or its near plane" } else { "" },
            percent(self.off_screen)
        ))
    }
}

fn is_on_screen(camera: &Camera, p: &Vector3<f64>) -> bool {
    let Some(point) = camera.projection.point((*p).into()) else { return false };
    let at = |axis: usize| camera.focal_px[axis] * point.at[axis] + camera.principal_px[axis];
    (0.0..f64::from(camera.width)).contains(&at(0))
        && (0.0..f64::from(camera.height)).contains(&at(1))
}
