//! Cameras that the program chooses: one that shows the main content of a scene, and orbits around it.
//!
//! Trained scenes have no up axis, and most of an outdoor scene's extent is background. Splats are weighted by opacity
//! divided by size: training splits splats until they are as fine as the pixels of the photographs, so nearby objects have
//! the smallest splats. In trained scenes, the weighted median of the distance to the weighted median position is then 0.3
//! to 0.8 of the distance of the trainer's cameras, with and without background; weighted by opacity alone, it is 2.6 times
//! that distance in a garden.

use nalgebra::{Unit, UnitQuaternion, Vector3};
use rayon::prelude::*;

use crate::camera::{Camera, Intrinsics};
use crate::splats::Splats;
use quadrille_base::error::{Error, Result};
use quadrille_base::task::Task;

/// Default up direction, minus y: COLMAP and scenes trained on its models keep the first camera's downward y axis.
pub(crate) const DEFAULT_UP: [f64; 3] = [0.0, -1.0, 0.0];
/// Default vertical field of view, in degrees.
pub const DEFAULT_FOV_DEGREES: f64 = 50.0;
/// Default width and height, in pixels.
pub const DEFAULT_SIDE_PX: [u32; 2] = [1280, 720];

/// Limit on the splats that are examined, enough for quantiles with an error of 1 %.
const MAX_SAMPLES: usize = 1 << 16;
const MAX_ORBIT: u32 = 100_000;
/// Elevation of the default viewpoint above the target, in radians.
const ELEVATION: f64 = 20_f64.to_radians();
/// Azimuth of the default viewpoint in radians: off the axes, so that walls and boxes show two sides.
const AZIMUTH: f64 = 30_f64.to_radians();
const MARGIN: f64 = 1.05;
/// Maximum ratio of the 98 % to the median radius of an object. Objects have 1.6 to 1.8, scenes 5.6 to 15.
const OBJECT_RATIO: f64 = 3.0;

/// Largest near plane of a view that is chosen for a scene, as a share of its distance (assumed). At the default field of
/// view, the sphere of the content begins at 0.6 of the distance; content within a tenth would hide it instead of showing
/// it. Views of trained scenes are at least 2 world units away, so that they keep the 0.2 of the original renderer.
const NEAR_SHARE: f64 = 0.1;

/// Least radius of framed splats, in world units, since squares of much smaller scales lose their digits in f32. Smaller
/// content counts as a point and is framed like a unit sphere.
const LEAST_RADIUS: f64 = 1e-9;

/// Least extent of framed points, in world units: below it, coordinates in f32 lose their digits. A smaller extent counts as
/// a point and is framed like a unit sphere.
pub const LEAST_EXTENT: f64 = f32::MIN_POSITIVE as f64;

/// The main content of a scene, as a sphere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FramingTarget {
    /// Centre in world space.
    pub centre: Vector3<f64>,
    /// Radius in world units, above zero.
    pub radius: f64,
}

impl FramingTarget {
    const UNIT: Self = Self { centre: Vector3::new(0.0, 0.0, 0.0), radius: 1.0 };

    /// Finds the main content: the sphere around the weighted median position that holds 95 % of the weight of an object,
    /// or half of a scene with background. Examines up to 65 536 splats; without any, returns the unit sphere.
    pub fn of(splats: &Splats) -> Self {
        // The task is never cancelled.
        Self::find(splats, &Task::NEVER).unwrap_or(Self::UNIT)
    }

    /// [`Self::of`] for a task that may be cancelled.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn find(splats: &Splats, task: &Task) -> Result<Self> {
        let samples = weighted_samples(splats);
        if samples.is_empty() {
            return Ok(Self::UNIT);
        }
        let quantile_of = |value: &dyn Fn(&Vector3<f64>) -> f64, shares: &[f64]| {
            task.check()?;
            Ok(weighted_quantiles(samples.iter().map(|(p, w)| (value(p), *w)), shares))
        };
        let axis = |axis: usize| Ok::<_, Error>(quantile_of(&|p| p[axis], &[0.5])?[0]);
        let centre = Vector3::new(axis(0)?, axis(1)?, axis(2)?);
        let radii = quantile_of(&|p| (p - centre).norm(), &[0.5, 0.95, 0.98])?;
        let is_object = radii[2] <= OBJECT_RATIO * radii[0];
        let radius = if is_object { radii[1] } else { radii[0] };
        // Splats at one position have only their own extent: three standard deviations.
        let radius = radius.max(3.0 * fine_scale(splats));
        // In f32, a camera closer to the centre than this would coincide with it.
        let from_origin = centre - Vector3::from(splats.origin());
        let radius = radius.max(f64::from(f32::EPSILON) * from_origin.amax());
        let radius = if radius >= LEAST_RADIUS { radius } else { 1.0 };
        Ok(Self { centre, radius })
    }

    /// Distance from the centre, in world units, at which a camera with these intrinsics shows the whole sphere.
    pub fn distance(&self, intrinsics: &Intrinsics) -> f64 {
        let half_tangent = (f64::from(intrinsics.width) / intrinsics.focal_px[0])
            .min(f64::from(intrinsics.height) / intrinsics.focal_px[1])
            / 2.0;
        MARGIN * self.radius / half_tangent.atan().sin()
    }

    /// Limit on the near plane of a view of the content from `distance`, in world units. A view from inside counts as one from
    /// the surface of the sphere.
    pub fn near_limit(&self, distance: f64) -> f64 {
        NEAR_SHARE * distance.max(self.radius)
    }

    /// A viewpoint that shows the whole sphere from 20 degrees above the horizon. `up` may have any length above zero.
    pub fn default_eye(&self, intrinsics: &Intrinsics, up: Vector3<f64>) -> Vector3<f64> {
        let up = up.try_normalize(0.0).unwrap_or_else(|| Vector3::from(DEFAULT_UP));
        // Azimuths start at the world axis that is least parallel to up, projected to the horizon.
        let level = Vector3::ith(up.iamin(), 1.0);
        let front = up.cross(&level).normalize();
        let side = front.cross(&up);
        let outwards =
            (front * AZIMUTH.cos() + side * AZIMUTH.sin()) * ELEVATION.cos() + up * ELEVATION.sin();
        self.centre + outwards * self.distance(intrinsics)
    }
}

/// Rule for the position of the camera if a [`ViewSpec`](super::ViewSpec) has no eye.
#[derive(Debug, Clone)]
pub enum EyeRule {
    /// The position of [`FramingTarget::default_eye`], with the sphere of the subject in view.
    ForSphere,
    /// A fixed position in world space.
    At(Vector3<f64>),
    /// The position of [`fitting_eye`]: as close as possible with all points in view.
    ForPoints {
        /// Direction from the subject to the eye.
        direction: Vector3<f64>,
        /// Points to keep in view, relative to `origin`.
        points: Vec<[f32; 3]>,
        /// Position in world space to which `points` are relative.
        origin: [f64; 3],
    },
}

/// Default view of a scene, for fields that a [`ViewSpec`](super::ViewSpec) omits.
#[derive(Debug, Clone)]
pub struct Framing {
    /// Sphere of the content that the camera shows.
    pub subject: FramingTarget,
    /// Rule for the position of the camera.
    pub eye: EyeRule,
    /// Direction that points up in the picture.
    pub up: [f64; 3],
    /// Vertical field of view in degrees.
    pub fov_degrees: f64,
    /// Width and height in pixels.
    pub size: [u32; 2],
}

impl Framing {
    /// Default view of a subject in a scene of splats: minus y up, 50 degrees, 1280 x 720 pixels.
    pub fn of_splats(subject: FramingTarget) -> Self {
        Self {
            subject,
            eye: EyeRule::ForSphere,
            up: DEFAULT_UP,
            fov_degrees: DEFAULT_FOV_DEGREES,
            size: DEFAULT_SIDE_PX,
        }
    }

    /// Default view of the main content that [`FramingTarget::of`] finds.
    pub fn of(splats: &Splats) -> Self {
        Self::of_splats(FramingTarget::of(splats))
    }
}

/// Mean up direction of cameras, if they agree.
pub fn common_up(cameras: &[Camera]) -> Option<[f64; 3]> {
    /// Minimum length of the mean of unit up vectors: vectors spread evenly within 60 degrees of it reach this.
    const AGREEMENT: f64 = 0.75;
    let up = |camera: &Camera| -camera.view_from_world.row(1).transpose();
    let mean = cameras.iter().map(up).reduce(|sum, up| sum + up)? / cameras.len() as f64;
    (mean.norm() >= AGREEMENT).then(|| mean.normalize().into())
}

/// Nearest eye in `direction` from `target` at which a camera towards `target` shows all `points`, with a
/// margin of 5 %. `direction` and `up` may have any length above zero.
pub fn fitting_eye(
    intrinsics: &Intrinsics,
    target: Vector3<f64>,
    direction: Vector3<f64>,
    up: Vector3<f64>,
    points: &[[f32; 3]],
) -> Vector3<f64> {
    let back = direction.normalize();
    let side = up
        .cross(&back)
        .try_normalize(1e-9)
        .unwrap_or_else(|| Vector3::ith(back.iamin(), 1.0).cross(&back).normalize());
    let above = back.cross(&side);
    let half = [
        f64::from(intrinsics.width) / intrinsics.focal_px[0] / 2.0,
        f64::from(intrinsics.height) / intrinsics.focal_px[1] / 2.0,
    ];
    let needed = points.iter().map(|p| {
        let away = Vector3::from(p.map(f64::from)) - target;
        let aside = (away.dot(&side).abs() / half[0]).max(away.dot(&above).abs() / half[1]);
        MARGIN * aside + away.dot(&back)
    });
    let distance = needed.fold(0.0, f64::max);
    let distance = if distance >= LEAST_EXTENT { distance } else { 1.0 };
    target + back * distance
}

/// Places `count` cameras named `orbit_00` onwards on a circle about the axis through `target` along `up`. The
/// first one is at `eye`, and all look at `target`.
///
/// # Errors
/// [`Error::Argument`] for `count` not from 1 to 100 000, equal `eye` and `target`, or a line of sight along `up`.
pub fn orbit(
    count: u32,
    intrinsics: Intrinsics,
    eye: Vector3<f64>,
    target: Vector3<f64>,
    up: Vector3<f64>,
) -> Result<Vec<Camera>> {
    if !(1..=MAX_ORBIT).contains(&count) {
        return Err(Error::argument("orbit", format!("1 to {MAX_ORBIT} views"), count));
    }
    let digits = (count - 1).to_string().len().max(2);
    let axis = Unit::new_normalize(up);
    (0..count)
        .map(|i| {
            let angle = std::f64::consts::TAU * f64::from(i) / f64::from(count);
            let turned = UnitQuaternion::from_axis_angle(&axis, angle) * (eye - target);
            Camera::look_at(format!("orbit_{i:0digits$}"), intrinsics, target + turned, target, up)
        })
        .collect()
}

/// Positions and weights (opacity by size) of up to 65 536 splats, at even steps in the scene's order.
pub fn weighted_samples(splats: &Splats) -> Vec<(Vector3<f64>, f64)> {
    let floor = fine_scale(splats);
    splats
        .sampled(MAX_SAMPLES)
        .map(|s| {
            let size = s.scale.into_iter().fold(0.0, f32::max);
            let weight = f64::from(s.opacity) / f64::from(size).max(floor).max(1e-30);
            (Vector3::from(splats.position(&s)), weight)
        })
        .filter(|(_, weight)| *weight > 0.0)
        .collect()
}

/// Lower quartile of the splats' largest scales, which limits the weight of finer splats.
fn fine_scale(splats: &Splats) -> f64 {
    let sizes = splats.sampled(MAX_SAMPLES);
    let mut sizes: Vec<f32> = sizes.map(|s| s.scale.into_iter().fold(0.0, f32::max)).collect();
    let quartile = sizes.len().div_ceil(4).saturating_sub(1);
    if quartile >= sizes.len() {
        return 0.0;
    }
    let (_, quartile, _) = sizes.select_nth_unstable_by(quartile, f32::total_cmp);
    f64::from(*quartile)
}

/// Weighted quantiles of `(value, weight)` pairs, one per share from 0 to 1; 0 without pairs.
pub fn weighted_quantiles(values: impl Iterator<Item = (f64, f64)>, shares: &[f64]) -> Vec<f64> {
    let mut values: Vec<(f64, f64)> = values.collect();
    // The sort is stable, so that the weights of equal values are added in one order.
    values.par_sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = values.iter().map(|v| v.1).sum();
    shares
        .iter()
        .map(|share| {
            let mut below = 0.0;
            values
                .iter()
                .find(|(_, weight)| {
                    below += weight;
                    below >= share * total
                })
                .or(values.last())
                .map_or(0.0, |v| v.0)
        })
        .collect()
}
