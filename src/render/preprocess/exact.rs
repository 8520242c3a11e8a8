//! Definition of the projection, one splat at a time in f64; also projects splats for which f32 is too inaccurate.

use nalgebra::{Matrix2x3, Matrix3, Quaternion, UnitQuaternion, Vector3};

use super::disc::ExactDisc;
use super::points::moments_on_plane;
use super::projected::{PixelBounds, ProjectedSplat};
use super::view_transform::{ViewTransform, cut_radius_squared};
use quadrille_base::math::{SH_C0, narrow, sh_colour, whole};
use quadrille_base::shading::{OpacityFactor, fragment_alpha};
use quadrille_scene::{Projection, Splat};

/// Maximum number of footprints per splat: two in a panorama, whose left and right edges meet.
pub(super) const MAX_FOOTPRINTS: usize = 2;

/// A splat on the picture plane, in f64.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExactSplat {
    /// Depth in view space, or the distance from the camera; see [`quadrille_scene::Camera::has_axial_depth`].
    pub depth: f64,
    /// Number by which the splat is sorted: the depth, or the distance.
    pub order: f64,
    /// Centre in pixels from the picture's centre.
    pub mean_from_centre_px: [f64; 2],
    /// 2D covariance with the low-pass filter: xx, xy, yy, square pixels. The unit matrix for a disc.
    pub covariance: [f64; 3],
    /// Determinant of the covariance, > 0.
    pub determinant: f64,
    /// Disc of which the splat is drawn in place of the covariance, under a profile of discs.
    pub disc: Option<ExactDisc>,
    /// Opacity, multiplied by the profile's factor.
    pub opacity: f64,
    /// Linear colour, not clamped above; >= 0.
    pub colour: [f64; 3],
}

fn to_view(view: &ViewTransform, mean: [f32; 3]) -> [f64; 3] {
    let p = mean.map(f64::from);
    std::array::from_fn(|r| {
        let row = view.rotation[r];
        row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + view.translation_in_view[r]
    })
}

struct PlaneCentre {
    /// Position in pixels from the picture's centre.
    px: [f64; 2],
    /// Derivatives of the pixel position by the position in view space.
    jacobian: Matrix2x3<f64>,
    depth: f64,
    order: f64,
}

/// Projects a point in view space; `None` if it is culled or outside the domain of the projection.
fn plane_centre(view: &ViewTransform, p_view: [f64; 3]) -> Option<PlaneCentre> {
    if !view.projection.is_planar() {
        return lens_centre(view, p_view);
    }
    let [x, y, z] = p_view;
    if view.culls(z) {
        return None;
    }
    let [per_z, constant] = view.divisor;
    let divisor = per_z * z + constant;
    let slope = |v: f64, [low, high]: [f64; 2]| per_z * (v / divisor).clamp(low, high);
    let [tx, ty] = [slope(x, view.slope_limits[0]), slope(y, view.slope_limits[1])];
    let [fx, fy] = view.focal_px;
    let (rx, ry) = (fx / divisor, fy / divisor);
    Some(PlaneCentre {
        px: [
            fx * x / divisor + view.principal_from_centre_px[0],
            fy * y / divisor + view.principal_from_centre_px[1],
        ],
        jacobian: Matrix2x3::new(rx, 0.0, -fx * tx / divisor, 0.0, ry, -fy * ty / divisor),
        depth: z,
        order: view.order_of(p_view, z),
    })
}

/// [`plane_centre`] for lenses with distortion, fisheyes and panoramas.
fn lens_centre(view: &ViewTransform, p_view: [f64; 3]) -> Option<PlaneCentre> {
    let [x, y, z] = p_view;
    let depth = if view.is_axial { z } else { Vector3::from(p_view).norm() };
    if depth.is_nan() || view.culls(depth) {
        return None;
    }
    let mut point = view.projection.point(p_view)?;
    if view.projection.has_axial_depth() {
        // The derivative has the limits of a pinhole.
        let slopes = [x / z, y / z];
        let limited = [0, 1].map(|axis| {
            let [low, high] = view.slope_limits[axis];
            slopes[axis].clamp(low, high)
        });
        if limited != slopes {
            let limited = view.projection.point([limited[0] * z, limited[1] * z, z]);
            point.gradient = limited.unwrap_or(point).gradient;
        }
    }
    let px = [0, 1]
        .map(|axis| view.focal_px[axis] * point.at[axis] + view.principal_from_centre_px[axis]);
    Some(PlaneCentre {
        px,
        jacobian: Matrix2x3::from_fn(|r, c| view.focal_px[r] * point.gradient[r][c]),
        depth,
        order: view.order_of(p_view, depth),
    })
}

/// Factor that limits the width of a footprint to the circumference of a panorama. Without it, a splat near a
/// pole would overlap itself, since its stretch is unbounded there.
fn width_factor(view: &ViewTransform, opacity: f64, xx: f64) -> f64 {
    let Some(period) = view.period_px() else { return 1.0 };
    let radius_squared = cut_radius_squared(opacity);
    let largest = ((period / 2.0).powi(2) / radius_squared - view.low_pass_px2).max(0.0);
    if radius_squared > 0.0 && xx > largest { (largest / xx).sqrt() } else { 1.0 }
}

/// 2x3 factor `J W R S` of the projected covariance before the low-pass filter, `J W R S S^T R^T W^T J^T`.
fn covariance_factor(
    view: &ViewTransform,
    jacobian: &Matrix2x3<f64>,
    splat: &Splat,
) -> Matrix2x3<f64> {
    let view_from_world = Matrix3::from_fn(|r, c| view.rotation[r][c]);
    let [w, i, j, k] = splat.rotation.map(f64::from);
    let world_from_splat =
        UnitQuaternion::from_quaternion(Quaternion::new(w, i, j, k)).to_rotation_matrix();
    let scale = Matrix3::from_diagonal(&Vector3::from(splat.scale.map(f64::from)));
    jacobian * view_from_world * world_from_splat.matrix() * scale
}

pub(crate) fn distance(view: &ViewTransform, mean: [f32; 3]) -> f64 {
    Vector3::from(to_view(view, mean)).norm()
}

/// Normal in view space: the shortest axis (the first one if equal; for discs, the third), turned towards the camera.
pub(crate) fn facing_normal(view: &ViewTransform, splat: &Splat) -> [f64; 3] {
    let scale = splat.scale;
    let shortest = match view.is_disc {
        true => 2,
        false => (1..3).fold(0, |best, i| if scale[i] < scale[best] { i } else { best }),
    };
    let [w, i, j, k] = splat.rotation.map(f64::from);
    let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, i, j, k));
    let in_world = turn * Vector3::ith(shortest, 1.0);
    let in_view = Matrix3::from_fn(|r, c| view.rotation[r][c]) * in_world;
    let to_splat = match view.projection {
        Projection::Orthographic => Vector3::z(),
        _ => Vector3::from(to_view(view, splat.mean)),
    };
    let sign = if in_view.dot(&to_splat) > 0.0 { -1.0 } else { 1.0 };
    (in_view * sign).into()
}

/// Colour as seen from the camera: max(0, SH(direction) + 1/2).
fn colour(view: &ViewTransform, sh_degree: u8, splat: &Splat) -> [f64; 3] {
    let to_splat = Vector3::from_fn(|i, _| f64::from(splat.mean[i]) - view.eye[i]);
    let direction = to_splat.try_normalize(0.0).unwrap_or_else(Vector3::zeros);
    let constant = splat.sh[0].map(|c| f64::from(c) * SH_C0 + 0.5);
    sh_colour(sh_degree, direction.into(), constant, |k| splat.sh[k + 1].map(f64::from))
        .map(|c| c.max(0.0))
}

impl ExactSplat {
    /// Projects a splat. Returns `None` if it is culled by the near or far plane, outside the domain of the projection,
    /// below the alpha cut everywhere, too small for the profile, or if its covariance is degenerate.
    pub fn project(view: &ViewTransform, sh_degree: u8, splat: &Splat) -> Option<Self> {
        Some(Self::project_shape(view, splat)?.coloured(view, sh_degree, splat))
    }

    /// Like [`Self::project`], but the colour is black.
    pub(super) fn project_shape(view: &ViewTransform, splat: &Splat) -> Option<Self> {
        if view.is_disc {
            return Self::project_disc(view, splat);
        }
        let p_view = to_view(view, splat.mean);
        let centre = plane_centre(view, p_view)?;
        let (px, [xx, xy, yy], before) = match view.points_px {
            Some(region) => moments_on_plane(view, region, p_view, splat)?,
            None => {
                let factor = covariance_factor(view, &centre.jacobian, splat);
                let mut rows = [factor.row(0).transpose(), factor.row(1).transpose()];
                rows[0] *= width_factor(view, splat.opacity.into(), rows[0].norm_squared());
                let products = [[0, 0], [0, 1], [1, 1]].map(|[a, b]| rows[a].dot(&rows[b]));
                // By Cauchy-Binet, the determinant is a sum of squares, which thin splats do not cancel.
                (centre.px, products, rows[0].cross(&rows[1]).norm_squared())
            }
        };
        let blur = view.low_pass_px2;
        let determinant = before + blur * (xx + yy) + blur * blur;
        let opacity = f64::from(splat.opacity)
            * match view.opacity_factor {
                OpacityFactor::None => 1.0,
                OpacityFactor::Determinants { floor } => (before / determinant).max(floor).sqrt(),
            };
        let shape = Self {
            depth: centre.depth,
            order: centre.order,
            mean_from_centre_px: px,
            covariance: [xx + blur, xy, yy + blur],
            determinant,
            disc: None,
            opacity,
            colour: [0.0; 3],
        };
        shape.is_drawable(view).then_some(shape)
    }

    fn project_disc(view: &ViewTransform, splat: &Splat) -> Option<Self> {
        let p_view = to_view(view, splat.mean);
        if !view.projection.is_pinhole() || view.culls(p_view[2]) {
            return None;
        }
        let (disc, centre) = ExactDisc::project(view, splat, p_view);
        let shape = Self {
            depth: p_view[2],
            order: view.order_of(p_view, p_view[2]),
            mean_from_centre_px: centre,
            covariance: [1.0, 0.0, 1.0],
            determinant: 1.0,
            disc: Some(disc),
            opacity: splat.opacity.into(),
            colour: [0.0; 3],
        };
        shape.is_drawable(view).then_some(shape)
    }

    /// Inverse of the covariance: xx, xy, yy, per square pixel.
    pub fn conic(&self) -> [f64; 3] {
        let [xx, xy, yy] = self.covariance.map(|c| c / self.determinant);
        [yy, -xy, xx]
    }

    /// Alpha, at most `cap`, and depth of the fragment at `d`, in pixels from the centre, given [`Self::conic`]; `None` below
    /// the alpha cut.
    pub fn fragment(&self, conic: [f64; 3], d: [f64; 2], cap: f64) -> Option<(f64, f64)> {
        match &self.disc {
            Some(disc) => disc.fragment(d, self.opacity, cap),
            None => Some((fragment_alpha(conic, d, self.opacity, cap)?, self.depth)),
        }
    }

    /// Whether the covariance is not degenerate, the centre is not below the alpha cut, and the footprint is large enough for
    /// the profile.
    pub(crate) fn is_drawable(&self, view: &ViewTransform) -> bool {
        let radius_squared = cut_radius_squared(self.opacity);
        // NaN and infinite opacities are invalid: an infinite one would cover all pixels.
        let is_valid = self.determinant > 0.0 && radius_squared.is_finite();
        is_valid && radius_squared >= 0.0 && !self.is_too_small(view)
    }

    fn is_too_small(&self, view: &ViewTransform) -> bool {
        let least = view.least_radius_px;
        let half = |[low, high]: [f64; 2]| (high - low) / 2.0;
        least > 0.0 && self.extents_px().iter().all(|ends| half(*ends).ceil() <= least)
    }

    /// Footprints of the splat in the picture, with their bounds: at most one, or two if the splat straddles the
    /// joined edges of a panorama. In a panorama less than four pixels wide, the low-pass filter alone makes splats
    /// wider than the circumference; then the first two footprints are returned.
    pub fn footprints(&self, view: &ViewTransform) -> impl Iterator<Item = (Self, PixelBounds)> {
        let turns: &[f64] = match view.period_px() {
            None => &[0.0],
            Some(_) => &[0.0, -1.0, 1.0],
        };
        let period = view.period_px().unwrap_or(0.0);
        let footprints = turns.iter().filter_map(move |turn| {
            let [x, y] = self.mean_from_centre_px;
            let turned = Self { mean_from_centre_px: [x + turn * period, y], ..*self };
            Some((turned, turned.bounds(view)?))
        });
        footprints.take(MAX_FOOTPRINTS)
    }

    pub(super) fn coloured(self, view: &ViewTransform, sh_degree: u8, splat: &Splat) -> Self {
        Self { colour: colour(view, sh_degree, splat), ..self }
    }

    /// Ends of the footprint's bounding box along x and y, in pixels from the centre.
    fn extents_px(&self) -> [[f64; 2]; 2] {
        let r2 = cut_radius_squared(self.opacity);
        match &self.disc {
            Some(disc) => disc.extents_px(r2),
            None => [self.covariance[0], self.covariance[2]].map(|variance| {
                let half = (r2 * variance).sqrt();
                [-half, half]
            }),
        }
    }

    /// Pixels of the picture whose centres lie in the bounding box; `None` if there are none.
    pub fn bounds(&self, view: &ViewTransform) -> Option<PixelBounds> {
        let half_size = view.half_size_px();
        let extents = self.extents_px();
        let size = [f64::from(view.width), f64::from(view.height)];
        let [x, y] = std::array::from_fn(|axis| {
            let mean = self.mean_from_centre_px[axis] + half_size[axis] - 0.5;
            let [low, high] = extents[axis];
            let first = (mean + low).ceil().max(0.0);
            let last = (mean + high).floor().min(size[axis] - 1.0);
            (first <= last).then_some((whole(first), whole(last)))
        });
        let ((x0, x1), (y0, y1)) = (x?, y?);
        Some(PixelBounds { x0, x1, y0, y1 })
    }

    /// Converts the splat to the form that renderers draw.
    pub fn to_projected(&self, index: u32) -> ProjectedSplat {
        let radius = cut_radius_squared(self.opacity).sqrt();
        let (mean, determinant) = (self.mean_from_centre_px, self.determinant);
        let projected = ProjectedSplat {
            log2_opacity: narrow(self.opacity.log2()),
            // Must be finite, since 0 times the colour is added to pixels of a block outside the footprint.
            colour: self.colour.map(|c| narrow(c).min(f32::MAX)),
            depth: narrow(self.depth),
            index,
            ..ProjectedSplat::of_ellipse(mean, self.covariance, determinant, radius)
        };
        self.disc.map_or(projected, |disc| disc.to_projected(projected))
    }
}
