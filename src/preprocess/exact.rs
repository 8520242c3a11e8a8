//! The definition of projection: one splat at a time, in f64, step by step as in the reference frame.

use nalgebra::{Matrix2x3, Matrix3, Quaternion, UnitQuaternion, Vector3};

use super::projected::{PixelBounds, ProjectedSplat};
use super::view_transform::{ViewTransform, cut_radius_squared};
use crate::math::{SH_C0, narrow, sh_colour};
use crate::scene::Splat;
use crate::shading::OpacityFactor;

/// A splat on the picture plane, in f64.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExactSplat {
    /// Depth in view space.
    pub depth: f64,
    /// Centre in pixels from the picture's centre.
    pub mean_from_centre_px: [f64; 2],
    /// 2D covariance with the low-pass filter: xx, xy, yy, square pixels.
    pub covariance: [f64; 3],
    /// Its determinant, > 0.
    pub determinant: f64,
    /// Opacity, with the profile's factor.
    pub opacity: f64,
    /// Linear colour, not clamped above; >= 0.
    pub colour: [f64; 3],
}

/// A point in view space.
fn to_view(view: &ViewTransform, mean: [f32; 3]) -> [f64; 3] {
    let p = mean.map(f64::from);
    std::array::from_fn(|r| {
        let row = view.rotation[r];
        row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + view.translation_in_view[r]
    })
}

/// The 2x3 factor `J W R S` of the covariance on the picture plane before the low-pass filter, which
/// is `J W R S S^T R^T W^T J^T`.
fn covariance_factor(view: &ViewTransform, p_view: [f64; 3], splat: &Splat) -> Matrix2x3<f64> {
    let [x, y, z] = p_view;
    let slope = |v: f64, [low, high]: [f64; 2]| (v / z).clamp(low, high);
    let [tx, ty] = [
        slope(x, view.slope_limits[0]),
        slope(y, view.slope_limits[1]),
    ];
    let [fx, fy] = view.focal_px;
    let jacobian = Matrix2x3::new(fx / z, 0.0, -fx * tx / z, 0.0, fy / z, -fy * ty / z);
    let view_from_world = Matrix3::from_fn(|r, c| view.rotation[r][c]);
    let [w, i, j, k] = splat.rotation.map(f64::from);
    let world_from_splat =
        UnitQuaternion::from_quaternion(Quaternion::new(w, i, j, k)).to_rotation_matrix();
    let scale = Matrix3::from_diagonal(&Vector3::from(splat.scale.map(f64::from)));
    jacobian * view_from_world * world_from_splat.matrix() * scale
}

/// Distance of a point of the world from the camera.
pub(crate) fn distance(view: &ViewTransform, mean: [f32; 3]) -> f64 {
    Vector3::from(to_view(view, mean)).norm()
}

/// Shortest axis of a splat in view space, turned towards the camera; of equal axes, the first.
pub(crate) fn facing_normal(view: &ViewTransform, splat: &Splat) -> [f64; 3] {
    let scale = splat.scale;
    let shortest = (1..3).fold(0, |best, i| if scale[i] < scale[best] { i } else { best });
    let [w, i, j, k] = splat.rotation.map(f64::from);
    let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, i, j, k));
    let in_world = turn * Vector3::ith(shortest, 1.0);
    let in_view = Matrix3::from_fn(|r, c| view.rotation[r][c]) * in_world;
    let to_splat = Vector3::from(to_view(view, splat.mean));
    let sign = if in_view.dot(&to_splat) > 0.0 {
        -1.0
    } else {
        1.0
    };
    (in_view * sign).into()
}

/// Colour seen from the camera: max(0, SH(direction) + 1/2).
fn colour(view: &ViewTransform, sh_degree: u8, splat: &Splat) -> [f64; 3] {
    let to_splat = Vector3::from_fn(|i, _| f64::from(splat.mean[i]) - view.eye[i]);
    let direction = to_splat.try_normalize(0.0).unwrap_or_else(Vector3::zeros);
    let constant = splat.sh[0].map(|c| f64::from(c) * SH_C0 + 0.5);
    sh_colour(sh_degree, direction.into(), constant, |k| {
        splat.sh[k + 1].map(f64::from)
    })
    .map(|c| c.max(0.0))
}

impl ExactSplat {
    /// Projects a splat. Returns `None` when it is at or in front of the near plane, below the alpha
    /// cut everywhere, or when its covariance is degenerate.
    pub fn project(view: &ViewTransform, sh_degree: u8, splat: &Splat) -> Option<Self> {
        let p_view = to_view(view, splat.mean);
        let [x, y, z] = p_view;
        if z <= view.near {
            return None;
        }
        let factor = covariance_factor(view, p_view, splat);
        let rows = [factor.row(0).transpose(), factor.row(1).transpose()];
        let (xx, xy, yy) = (
            rows[0].norm_squared(),
            rows[0].dot(&rows[1]),
            rows[1].norm_squared(),
        );
        // The determinant by Cauchy-Binet is a sum of squares: thin splats do not cancel it.
        let before = rows[0].cross(&rows[1]).norm_squared();
        let blur = view.low_pass_px2;
        let determinant = before + blur * (xx + yy) + blur * blur;
        if determinant.is_nan() || determinant <= 0.0 {
            return None;
        }
        let opacity = f64::from(splat.opacity)
            * match view.opacity_factor {
                OpacityFactor::None => 1.0,
                OpacityFactor::Determinants { floor } => (before / determinant).max(floor).sqrt(),
            };
        // NaN and infinite opacities are invalid: an infinite one would cover all pixels.
        let radius_squared = cut_radius_squared(opacity);
        if !radius_squared.is_finite() || radius_squared < 0.0 {
            return None;
        }
        Some(Self {
            depth: z,
            mean_from_centre_px: [
                view.focal_px[0] * x / z + view.principal_from_centre_px[0],
                view.focal_px[1] * y / z + view.principal_from_centre_px[1],
            ],
            covariance: [xx + blur, xy, yy + blur],
            determinant,
            opacity,
            colour: colour(view, sh_degree, splat),
        })
    }

    /// Half of width and height of the footprint's bounding box, in pixels.
    pub fn half_extents_px(&self) -> [f64; 2] {
        let r2 = cut_radius_squared(self.opacity);
        [
            (r2 * self.covariance[0]).sqrt(),
            (r2 * self.covariance[2]).sqrt(),
        ]
    }

    /// The pixels whose centres lie in the bounding box; `None` when there are none in the picture.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the picture, whose sides fit u16"
    )]
    pub fn bounds(&self, view: &ViewTransform) -> Option<PixelBounds> {
        let half_size = view.half_size_px();
        let half_extent = self.half_extents_px();
        let size = [f64::from(view.width), f64::from(view.height)];
        let [x, y] = std::array::from_fn(|axis| {
            let mean = self.mean_from_centre_px[axis] + half_size[axis] - 0.5;
            let first = (mean - half_extent[axis]).ceil().max(0.0);
            let last = (mean + half_extent[axis]).floor().min(size[axis] - 1.0);
            (first <= last).then_some((first as u16, last as u16))
        });
        let ((x0, x1), (y0, y1)) = (x?, y?);
        Some(PixelBounds { x0, x1, y0, y1 })
    }

    /// Converts the splat to the form that renderers draw.
    pub fn to_projected(&self, index: u32) -> ProjectedSplat {
        let [xx, xy, yy] = self.covariance;
        let k = (std::f64::consts::LOG2_E / 2.0).sqrt();
        let (p, q, slope) = (k * (yy / self.determinant).sqrt(), k / yy.sqrt(), xy / yy);
        let [mx, my] = self.mean_from_centre_px;
        // The rightmost point of the ellipse r^2 = d^T Sigma^-1 d lies r * xy / sqrt(xx) below the
        // centre.
        let tip = cut_radius_squared(self.opacity).sqrt() * xy / xx.sqrt();
        ProjectedSplat {
            u_at_centre: narrow(p * (slope * my - mx)),
            v_at_centre: narrow(-q * my),
            u_per_x: narrow(p),
            u_per_y: narrow(p * slope),
            v_per_y: narrow(q),
            log2_opacity: narrow(self.opacity.log2()),
            // Finite, since 0 times the colour is added to pixels of a block outside the footprint.
            colour: self.colour.map(|c| narrow(c).min(f32::MAX)),
            x_per_u: narrow(1.0 / p),
            leftmost_y: narrow(my - tip),
            rightmost_y: narrow(my + tip),
            mean_px: [narrow(mx), narrow(my)],
            depth: narrow(self.depth),
            index,
        }
    }
}
