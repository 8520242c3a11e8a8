//! Cameras: pinholes, orthographic cameras, lenses with distortion, fisheyes and panoramas.

use std::borrow::Cow;
use std::f64::consts::{PI, TAU};
use std::fmt::Debug;

use nalgebra::{Matrix3, Vector3};

use quadrille_base::error::{Error, Result};
use quadrille_base::lens::{FisheyeLens, Projection, ReadoutDirection, RollingShutter};
use quadrille_base::shading::{Profile, SplatOrder};

/// Maximum width and height of a picture, in pixels.
pub const MAX_SIDE_PX: u32 = 1 << 15;

/// Least distance of an eye from its target, in world units, whose square still has all digits of f64.
const LEAST_DISTANCE: f64 = 1e-150;

/// Camera whose view space has x right, y down and z forward. Pixel centres are at integers + 0.5.
///
/// [`Camera::new`] guarantees finite values, a right-handed rotation, focal lengths above zero and sides of 1 to 32768
/// pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct Camera {
    /// Name of the view, unique in its file.
    pub name: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Focal lengths in pixels: x, y. For an orthographic camera, pixels per world unit.
    pub focal_px: [f64; 2],
    /// Principal point in pixels: x, y.
    pub principal_px: [f64; 2],
    /// Rotation of world space into view space.
    pub view_from_world: Matrix3<f64>,
    /// Translation after the rotation: `p_view = view_from_world * p_world + translation_in_view`.
    pub translation_in_view: Vector3<f64>,
    /// Mapping of view space to the picture plane, in focal lengths relative to the principal point.
    pub projection: Projection,
    /// Upper limit of the near plane, in world units; `None` for cameras that keep the near plane of the profile.
    pub near_limit: Option<f64>,
    /// Motion while the picture is read, whose pose at half time is that of the camera; `None` for cameras at rest.
    pub rolling_shutter: Option<RollingShutter>,
}

/// Lens and picture size of a camera.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Intrinsics {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Focal lengths in pixels: x, y.
    pub focal_px: [f64; 2],
    /// Principal point in pixels: x, y.
    pub principal_px: [f64; 2],
}

impl Intrinsics {
    /// Intrinsics with a vertical field of view in radians, square pixels and a centred principal point.
    pub fn from_vertical_fov(width: u32, height: u32, fov_radians: f64) -> Self {
        let focal = f64::from(height) / (2.0 * (fov_radians / 2.0).tan());
        Self {
            width,
            height,
            focal_px: [focal; 2],
            principal_px: [f64::from(width) / 2.0, f64::from(height) / 2.0],
        }
    }
}

impl Camera {
    /// Creates a camera. `view_from_world` may deviate from a rotation by 1e-3 (files are rounded), and is used as it is.
    ///
    /// # Errors
    /// [`Error::Argument`] names the first value out of range.
    pub fn new(
        name: impl Into<String>,
        intrinsics: Intrinsics,
        view_from_world: Matrix3<f64>,
        translation_in_view: Vector3<f64>,
    ) -> Result<Self> {
        let name = name.into();
        let Intrinsics { width, height, focal_px, principal_px } = intrinsics;
        let is_side = |side| (1..=MAX_SIDE_PX).contains(&side);
        let off = view_from_world * view_from_world.transpose() - Matrix3::identity();
        let is_rotation = off.abs().max() < 1e-3 && view_from_world.determinant() > 0.0;
        for (what, is_good, expected, found) in [
            ("width", is_side(width), "1 to 32768 pixels", &width as &dyn Debug),
            ("height", is_side(height), "1 to 32768 pixels", &height),
            (
                "focal length",
                focal_px.iter().all(|f| f.is_finite() && *f > 0.0),
                "a finite number of pixels above 0",
                &focal_px,
            ),
            (
                "principal point",
                principal_px.iter().all(|c| c.is_finite()),
                "finite pixels",
                &principal_px,
            ),
            (
                "position",
                translation_in_view.iter().all(|t| t.is_finite()),
                "finite numbers",
                &translation_in_view,
            ),
            ("rotation", is_rotation, "a right-handed orthonormal 3x3 matrix", &view_from_world),
        ] {
            let what = format_args!("camera \"{name}\": {what}");
            Error::refuse_if(!is_good, what, expected, format_args!("{found:?}"))?;
        }
        Ok(Self {
            name,
            width,
            height,
            focal_px,
            principal_px,
            view_from_world,
            translation_in_view,
            projection: Projection::Pinhole,
            near_limit: None,
            rolling_shutter: None,
        })
    }

    /// Depth in world units at or below which splats are culled: the profile's, or less if the camera has a limit.
    pub fn near(&self, profile: &Profile) -> f64 {
        let limit = self.near_limit.filter(|_| profile.is_near_limited);
        limit.map_or(profile.near, |limit| profile.near.min(limit))
    }

    /// Whether depths are along the axis of the camera: as its projection [has them](Projection::has_axial_depth), and for
    /// fisheyes in the profile's order by depth. Else they are distances.
    pub fn has_axial_depth(&self, profile: &Profile) -> bool {
        let is_panorama = self.projection == Projection::Equirectangular;
        let is_by_depth = profile.order == Some(SplatOrder::Depth) && !is_panorama;
        is_by_depth || self.projection.has_axial_depth()
    }

    /// The camera with another projection. Focal lengths and principal point of a panorama follow from the picture's size.
    #[must_use]
    pub fn with_projection(mut self, projection: Projection) -> Self {
        let size = [f64::from(self.width), f64::from(self.height)];
        if projection == Projection::Equirectangular {
            self.focal_px = [size[0] / TAU, size[1] / PI];
            self.principal_px = [size[0] / 2.0, size[1] / 2.0];
        }
        self.projection = projection;
        self
    }

    /// The camera whose picture is read in `direction` while it moves from this pose to the pose of `end`.
    #[must_use]
    pub fn rolling_to(&self, end: &Self, direction: ReadoutDirection) -> Self {
        let poses = [self, end].map(|camera| (camera.view_from_world, camera.translation_in_view));
        let (shutter, (view_from_world, translation_in_view)) =
            RollingShutter::between(poses, direction);
        let rolling_shutter = Some(shutter);
        Self { view_from_world, translation_in_view, rolling_shutter, ..self.clone() }
    }

    /// Share of the picture, 0 to 1, outside the image circle of a lens, by a grid of 64 x 64 samples.
    fn share_beyond_lens(&self) -> f64 {
        const SIDE: u32 = 64;
        let Some([_, reach]) = self.projection.lens_limits() else { return 0.0 };
        let from_centre = |axis: usize, sample: u32| {
            let side = f64::from([self.width, self.height][axis]);
            let at = side * (f64::from(sample) + 0.5) / f64::from(SIDE);
            (at - self.principal_px[axis]) / self.focal_px[axis]
        };
        let all = (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y)));
        let beyond = all.filter(|(x, y)| from_centre(0, *x).hypot(from_centre(1, *y)) > reach);
        beyond.count() as f64 / f64::from(SIDE * SIDE)
    }

    pub(crate) fn lens_warning(cameras: &[Self]) -> Option<String> {
        let shares = cameras.iter().map(|camera| (camera, camera.share_beyond_lens()));
        let (camera, share) = shares.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let [max_angle, _] = camera.projection.lens_limits()?;
        (share > 0.0).then(|| {
            format!(
                "view {}: the lens shows directions up to {:.1} degrees from the axis; {:.0} % of the picture lies beyond and stays empty",
                camera.name,
                max_angle.to_degrees(),
                (100.0 * share).ceil(),
            )
        })
    }

    /// The camera with an equidistant fisheye, centred in the picture, of `fov_radians` vertical field of view.
    #[must_use]
    pub fn through_fisheye(mut self, fov_radians: f64) -> Self {
        let size = [f64::from(self.width), f64::from(self.height)];
        self.focal_px = [size[1] / fov_radians; 2];
        self.principal_px = size.map(|side| side / 2.0);
        self.with_projection(Projection::Fisheye(FisheyeLens::EQUIDISTANT))
    }

    /// The orthographic camera that shows the plane through `target` as this pinhole does.
    ///
    /// # Errors
    /// [`Error::Argument`] if `target` is at the camera's centre.
    pub fn through_parallel_rays(mut self, target: Vector3<f64>) -> Result<Self> {
        let to_target = self.view_from_world * target + self.translation_in_view;
        // A camera that looks away from the target shows its surroundings as large as the target.
        let depth = if to_target.z > 0.0 { to_target.z } else { to_target.norm() };
        let focal_px = self.focal_px.map(|focal| focal / depth);
        if !focal_px.iter().all(|focal| focal.is_finite()) {
            let what = format!("camera \"{}\"", self.name);
            return Err(Error::argument(what, "a target away from its centre", "the same point"));
        }
        self.focal_px = focal_px;
        Ok(self.with_projection(Projection::Orthographic))
    }

    /// The pinhole that shows the plane at `depth` as this orthographic camera does.
    #[must_use]
    pub fn from_parallel_rays(mut self, depth: f64) -> Self {
        self.focal_px = self.focal_px.map(|focal| focal * depth);
        self.with_projection(Projection::Pinhole)
    }

    /// Pinhole with the same pose. It keeps the focal lengths of a lens; for a panorama and an orthographic camera its
    /// vertical field of view is 90 degrees, as for a face of a cube map.
    pub fn as_pinhole(&self) -> Self {
        let mut pinhole = Self { projection: Projection::Pinhole, ..self.clone() };
        if matches!(self.projection, Projection::Equirectangular | Projection::Orthographic) {
            pinhole.focal_px = [f64::from(self.height) / 2.0; 2];
        }
        pinhole
    }

    /// Creates a camera at `eye` that looks at `target`, with `up` towards the top of the picture.
    ///
    /// # Errors
    /// [`Error::Argument`] if `eye` and `target` coincide or `up` is parallel to the line of sight.
    pub fn look_at(
        name: impl Into<String>,
        intrinsics: Intrinsics,
        eye: Vector3<f64>,
        target: Vector3<f64>,
        up: Vector3<f64>,
    ) -> Result<Self> {
        let name = name.into();
        let forward = (target - eye).try_normalize(LEAST_DISTANCE);
        let right = forward.and_then(|f| f.cross(&up).try_normalize(1e-9 * up.norm().max(1e-300)));
        let (Some(forward), Some(right)) = (forward, right) else {
            return Err(Error::argument(
                format!("camera \"{name}\""),
                "an eye that differs from the target and an up direction that is not along the line of sight",
                format!(
                    "eye {:?}, target {:?}, up {:?}",
                    eye.as_slice(),
                    target.as_slice(),
                    up.as_slice()
                ),
            ));
        };
        let down = forward.cross(&right);
        let view_from_world =
            Matrix3::from_rows(&[right.transpose(), down.transpose(), forward.transpose()]);
        Self::new(name, intrinsics, view_from_world, -(view_from_world * eye))
    }

    /// The camera in a space whose origin is at `origin` in world space.
    #[must_use]
    pub fn relative_to(&self, origin: [f64; 3]) -> Cow<'_, Self> {
        if origin == [0.0; 3] {
            return Cow::Borrowed(self);
        }
        let translation_in_view =
            self.translation_in_view + self.view_from_world * Vector3::from(origin);
        Cow::Owned(Self { translation_in_view, ..self.clone() })
    }

    /// The camera's centre in world space.
    pub fn eye(&self) -> Vector3<f64> {
        -(self.view_from_world.transpose() * self.translation_in_view)
    }

    /// Horizontal and vertical field of view in radians, for a centred principal point, without distortion; 0 for an
    /// orthographic camera, whose rays are parallel.
    pub fn fov(&self) -> [f64; 2] {
        self.half_fov_tangents().map(|half| match self.projection {
            Projection::Orthographic => 0.0,
            other if other.has_axial_depth() => 2.0 * half.atan(),
            _ => 2.0 * half,
        })
    }

    /// Tangents of half of the horizontal and vertical field of view of a pinhole, for a centred principal point.
    pub fn half_fov_tangents(&self) -> [f64; 2] {
        [
            f64::from(self.width) / (2.0 * self.focal_px[0]),
            f64::from(self.height) / (2.0 * self.focal_px[1]),
        ]
    }

    /// The same view in a picture of another size. Each axis of the intrinsics scales by its own factor.
    ///
    /// # Errors
    /// [`Error::Argument`] if a side is not 1 to 32768 pixels.
    pub fn resized(&self, width: u32, height: u32) -> Result<Self> {
        let factor =
            [f64::from(width) / f64::from(self.width), f64::from(height) / f64::from(self.height)];
        let scaled = |v: [f64; 2]| [v[0] * factor[0], v[1] * factor[1]];
        let intrinsics = Intrinsics {
            width,
            height,
            focal_px: scaled(self.focal_px),
            principal_px: scaled(self.principal_px),
        };
        let resized = Self::new(
            self.name.clone(),
            intrinsics,
            self.view_from_world,
            self.translation_in_view,
        )?;
        Ok(Self {
            projection: self.projection,
            near_limit: self.near_limit,
            rolling_shutter: self.rolling_shutter,
            ..resized
        })
    }
}
