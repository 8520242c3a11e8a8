//! Projection constants shared by all splats of a frame.

use nalgebra::Vector3;

use super::source::SplatSource;
use quadrille_base::lens::RollingShutter;
use quadrille_base::shading::{ALPHA_CUT, JacobianClamp, OpacityFactor, Profile, SplatOrder};
use quadrille_scene::{Camera, Projection};

/// Margin around the picture in which one of a splat's points must lie, as a share of its width and height (gsplat).
pub(super) const POINTS_MARGIN: f64 = 0.1;

/// Projection constants of a camera and a profile. World space is relative to the origin of the scene's splats.
#[derive(Debug, Clone)]
pub struct ViewTransform {
    /// Width of the picture in pixels.
    pub width: u32,
    /// Height of the picture in pixels.
    pub height: u32,
    /// Rows of the rotation from world to view space.
    pub rotation: [[f64; 3]; 3],
    /// Translation from world to view space, after the rotation.
    pub translation_in_view: [f64; 3],
    /// Camera centre in world space; with a rolling shutter, the mean of the centres at the start and the end.
    pub eye: [f64; 3],
    /// Projection from view space to the picture plane, in focal lengths from the principal point.
    pub projection: Projection,
    /// Focal lengths in pixels.
    pub focal_px: [f64; 2],
    /// Principal point in pixels from the picture's centre.
    pub(crate) principal_from_centre_px: [f64; 2],
    /// Divisor `a z + b` of x and y in a projection onto a plane, as `[a, b]`; see [`Projection::divisor`].
    pub(crate) divisor: [f64; 2],
    /// Minimum and maximum of x/z and of y/z in the Jacobian of a pinhole.
    pub(crate) slope_limits: [[f64; 2]; 2],
    /// Depth (for fisheyes and panoramas, distance) at or below which splats are culled.
    pub near: f64,
    /// Depth above which splats are culled, measured like `near`.
    pub far: f64,
    /// Radius in pixels at or below which splats are not drawn; see [`Profile::least_radius_px`].
    pub least_radius_px: f64,
    /// Variance added to the 2D covariance, in square pixels.
    pub low_pass_px2: f64,
    /// Correction of the opacity for the low-pass filter.
    pub opacity_factor: OpacityFactor,
    /// Whether splats are discs; see [`Profile::is_disc`].
    pub is_disc: bool,
    /// Under a profile of [points](Profile::is_unscented), the columns and rows in which a point of each splat must lie, in
    /// pixels from the picture's centre.
    pub(crate) points_px: Option<[[f64; 2]; 2]>,
    /// Motion of the camera during the readout, for profiles of points.
    pub(super) rolling_shutter: Option<RollingShutter>,
    /// Whether depths are along the axis of the camera; else they are distances.
    pub(crate) is_axial: bool,
    /// Whether splats whose depth is measured along the view are sorted by their distance.
    pub(crate) is_by_distance: bool,
}

impl ViewTransform {
    /// Computes the constants for frames of `splats` by `camera` under `profile`.
    pub fn new<T: SplatSource + ?Sized>(splats: &T, camera: &Camera, profile: &Profile) -> Self {
        Self::of_camera(&camera.relative_to(splats.origin()), profile, splats.order())
    }

    /// Computes the constants for a camera in the world space of the splats, whose file states an order.
    pub(crate) fn of_camera(
        camera: &Camera,
        profile: &Profile,
        stated: Option<SplatOrder>,
    ) -> Self {
        let size = [f64::from(camera.width), f64::from(camera.height)];
        let rows = camera.view_from_world;
        let slope_limits = std::array::from_fn(|axis| {
            let (focal, centre) = (camera.focal_px[axis], camera.principal_px[axis]);
            let tangent = camera.half_fov_tangents()[axis];
            match profile.jacobian_clamp {
                JacobianClamp::FovTangent(k) => [-k * tangent, k * tangent],
                JacobianClamp::EdgePlusTangent(k) => {
                    [-centre / focal - k * tangent, (size[axis] - centre) / focal + k * tangent]
                }
                JacobianClamp::EdgePlusSide(k) => {
                    [(-k * size[axis] - centre) / focal, ((1.0 + k) * size[axis] - centre) / focal]
                }
            }
        });
        let array = |v: Vector3<f64>| [v.x, v.y, v.z];
        let moved = camera.rolling_shutter.map(|shutter| shutter.mean_centre()).unwrap_or_default();
        Self {
            width: camera.width,
            height: camera.height,
            rotation: std::array::from_fn(|r| std::array::from_fn(|c| rows[(r, c)])),
            translation_in_view: array(camera.translation_in_view),
            eye: array(camera.eye() + rows.transpose() * moved),
            projection: camera.projection,
            focal_px: camera.focal_px,
            principal_from_centre_px: std::array::from_fn(|axis| {
                camera.principal_px[axis] - size[axis] / 2.0
            }),
            divisor: camera.projection.divisor().unwrap_or([1.0, 0.0]),
            slope_limits,
            near: camera.near(profile),
            far: profile.far,
            least_radius_px: profile.least_radius_px,
            low_pass_px2: profile.low_pass_px2,
            opacity_factor: profile.opacity_factor,
            is_disc: profile.is_disc,
            points_px: profile.is_unscented.then(|| {
                let reach = |side: f64| (0.5 + POINTS_MARGIN) * side;
                size.map(|side| [-reach(side), reach(side)])
            }),
            rolling_shutter: camera.rolling_shutter,
            is_axial: camera.has_axial_depth(profile),
            is_by_distance: profile.order.or(stated) == Some(SplatOrder::Distance)
                && camera.projection.has_axial_depth(),
        }
    }

    /// Returns the same projection onto a square of `2 * margin + 1` pixels around column `x` and row `y`, for the splats
    /// that may touch this pixel. A panorama, whose edges meet, keeps its width.
    pub(crate) fn around(&self, [x, y]: [u32; 2], margin: u32) -> Self {
        let side = 2 * margin + 1;
        let half_size = self.half_size_px();
        let [across, down] = self.principal_from_centre_px;
        let moved_down = down + half_size[1] - (f64::from(y) + 0.5);
        let (width, moved_across) = match self.period_px() {
            Some(_) => (self.width, across),
            None => (side, across + half_size[0] - (f64::from(x) + 0.5)),
        };
        let moved = [moved_across - across, moved_down - down];
        Self {
            points_px: self
                .points_px
                .map(|ends| [0, 1].map(|axis: usize| ends[axis].map(|end| end + moved[axis]))),
            width,
            height: side,
            principal_from_centre_px: [moved_across, moved_down],
            ..self.clone()
        }
    }

    /// Whether splats are projected in lanes, in place of the definition.
    pub(super) fn has_lanes(&self) -> bool {
        self.projection.is_planar() && !self.is_disc && self.points_px.is_none()
    }

    /// Whether a splat of this depth is culled.
    pub fn culls(&self, depth: f64) -> bool {
        depth <= self.near || depth > self.far
    }

    /// Number by which a splat with a centre in view space and a depth is sorted.
    pub(crate) fn order_of(&self, [x, y, z]: [f64; 3], depth: f64) -> f64 {
        if self.is_by_distance { (x * x + y * y + z * z).sqrt() } else { depth }
    }

    /// Picture width if left and right edges meet, in pixels.
    pub(super) fn period_px(&self) -> Option<f64> {
        (self.projection == Projection::Equirectangular).then(|| f64::from(self.width))
    }

    /// Half of the picture's size in pixels: the offset from centre-relative coordinates to pixels.
    pub fn half_size_px(&self) -> [f64; 2] {
        [f64::from(self.width) / 2.0, f64::from(self.height) / 2.0]
    }
}

/// Squared radius of a footprint in standard deviations, at which `opacity * exp(-r^2 / 2)` equals the
/// alpha cut; negative when the whole splat is below the cut.
pub fn cut_radius_squared(opacity: f64) -> f64 {
    2.0 * (opacity / ALPHA_CUT).ln()
}
