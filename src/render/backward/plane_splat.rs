//! Projection of a splat to the picture plane, and its derivatives.

use nalgebra::{
    Matrix2, Matrix2x3, Matrix3, Quaternion, RowVector3, UnitQuaternion, Vector2, Vector3, Vector4,
};

use quadrille_base::lens::PlanePoint;
use quadrille_base::math::sh_basis;
use quadrille_base::shading::OpacityFactor;

use super::colour::unbounded_colour;
use super::gradients::{Gradients, PlaneGradient};
use super::scene::{ScalarScene, ScalarShapes, ScalarValues};
use crate::preprocess::ViewTransform;
use crate::preprocess::exact::ExactSplat;

/// Decisions of the projection that derivatives treat as constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Limits {
    /// Limits in place of the slopes, x and y over the divisor of the projection.
    pub(super) slopes: [Option<f64>; 2],
    /// Whether the ratio of the opacity factor is its floor.
    pub(super) is_floored: bool,
    /// Channels of the colour that are 0 instead of negative.
    pub(super) is_black: [bool; 3],
}

/// Derivatives of a loss by the pose of the camera.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PoseGradient {
    pub(super) rotation: Matrix3<f64>,
    pub(super) translation: Vector3<f64>,
}

/// Shape of a splat in world space.
#[derive(Debug, Clone, Copy)]
enum WorldShape {
    Axes { rotation: Matrix3<f64>, scale: Vector3<f64>, length: f64, unit: Vector4<f64> },
    Covariance(Matrix3<f64>),
}

/// Colour of a splat in the direction from the camera.
#[derive(Debug, Clone, Copy)]
struct SeenColour {
    direction: Vector3<f64>,
    distance: f64,
    /// Derivatives of red, green and blue by the direction.
    by_direction: [Vector3<f64>; 3],
}

/// A splat on the picture plane, and the quantities that its derivatives need.
#[derive(Debug, Clone)]
pub(super) struct PlaneSplat {
    pub(super) index: usize,
    pub(super) limits: Limits,
    /// Centre in pixels from the picture's upper left corner.
    pub(super) mean_px: [f64; 2],
    /// Inverse of the 2D covariance: xx, xy, yy.
    pub(super) conic: [f64; 3],
    /// Opacity, multiplied by the profile's factor.
    pub(super) opacity: f64,
    /// Values of the channels, including depth.
    pub(super) channels: Vec<f64>,
    p_view: Vector3<f64>,
    /// Distance along the axis or, for some fisheyes, from the camera, as it is culled and drawn as a channel.
    depth: f64,
    /// Whether the projection has a point for the centre.
    is_in_domain: bool,
    /// Divisor of x and y in the projection.
    divisor: f64,
    slopes: [f64; 2],
    /// Derivatives of the pixel position by the position in view space.
    jacobian: Matrix2x3<f64>,
    /// Jacobian times the rotation from world to view space.
    plane_from_world: Matrix2x3<f64>,
    shape: WorldShape,
    /// 2D covariance before the low-pass filter: xx, xy, yy.
    unfiltered: [f64; 3],
    /// Determinants of the 2D covariance before and after the low-pass filter.
    determinants: [f64; 2],
    opacity_factor: f64,
    colour: Option<SeenColour>,
}

fn rotation_of(view: &ViewTransform) -> Matrix3<f64> {
    Matrix3::from_fn(|r, c| view.rotation[r][c])
}

impl WorldShape {
    fn new(shapes: &ScalarShapes, index: usize) -> Self {
        match shapes {
            ScalarShapes::Axes { scales, rotations } => {
                let [w, x, y, z] = rotations[index];
                let length = Vector4::new(w, x, y, z).norm();
                let unit = Vector4::new(w, x, y, z) / length;
                let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
                let rotation = turn.to_rotation_matrix().into_inner();
                Self::Axes { rotation, scale: Vector3::from(scales[index]), length, unit }
            }
            ScalarShapes::Covariances(covariances) => {
                let [xx, xy, xz, yy, yz, zz] = covariances[index];
                Self::Covariance(Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz))
            }
        }
    }

    /// 2D covariance (xx, xy, yy) and its determinant.
    fn projected(&self, plane_from_world: &Matrix2x3<f64>) -> ([f64; 3], f64) {
        match self {
            Self::Axes { rotation, scale, .. } => {
                let factor = plane_from_world * rotation * Matrix3::from_diagonal(scale);
                let (a, b) = (factor.row(0), factor.row(1));
                // By Cauchy-Binet, the determinant is a sum of squares, which thin splats do not cancel.
                let determinant = a.cross(&b).norm_squared();
                ([a.norm_squared(), a.dot(&b), b.norm_squared()], determinant)
            }
            Self::Covariance(covariance) => {
                let plane = plane_from_world * covariance * plane_from_world.transpose();
                let entries = [plane[(0, 0)], plane[(0, 1)], plane[(1, 1)]];
                (entries, (entries[0] * entries[2] - entries[1] * entries[1]).max(0.0))
            }
        }
    }
}

impl PlaneSplat {
    /// Projects splat `index` of `scene`, whether it is culled or not, with `fixed` decisions or its own.
    pub(super) fn project(
        scene: &ScalarScene,
        view: &ViewTransform,
        index: usize,
        fixed: Option<&Limits>,
    ) -> Self {
        let mean = Vector3::from(scene.means[index]);
        let p_view = rotation_of(view) * mean + Vector3::from(view.translation_in_view);
        let ([x, y, z], [fx, fy]) = (<[f64; 3]>::from(p_view), view.focal_px);
        let [per_z, constant] = view.divisor;
        let divisor = per_z * z + constant;
        let limit = |slope: f64, [low, high]: [f64; 2]| match slope {
            _ if slope < low => Some(low),
            _ if slope > high => Some(high),
            _ => None,
        };
        let own = [x, y].map(|side| side / divisor);
        let limits = fixed.map_or_else(
            || [0, 1].map(|axis| limit(own[axis], view.slope_limits[axis])),
            |fixed| fixed.slopes,
        );
        let slopes = [0, 1].map(|axis| limits[axis].unwrap_or(own[axis]));
        let [scale_x, scale_y] = [fx, fy].map(|focal| focal / divisor);
        let shear = [scale_x * slopes[0], scale_y * slopes[1]].map(|shear| -per_z * shear);
        let mut jacobian = Matrix2x3::new(scale_x, 0.0, shear[0], 0.0, scale_y, shear[1]);
        let (mut at, mut depth, mut is_in_domain) = (own, z, true);
        if !view.projection.is_planar() {
            let point = view.projection.point(p_view.into());
            is_in_domain = point.is_some();
            let point = point.unwrap_or(PlanePoint { at: [0.0; 2], gradient: [[0.0; 3]; 2] });
            jacobian = Matrix2x3::from_fn(|r, c| view.focal_px[r] * point.gradient[r][c]);
            (at, depth) = (point.at, if view.is_axial { z } else { p_view.norm() });
        }
        let plane_from_world = jacobian * rotation_of(view);
        let shape = WorldShape::new(&scene.shapes, index);
        let (unfiltered, before) = shape.projected(&plane_from_world);
        let (blur, [xx, xy, yy]) = (view.low_pass_px2, unfiltered);
        let determinant = before + blur * (xx + yy) + blur * blur;
        let (opacity_factor, is_floored) = match view.opacity_factor {
            OpacityFactor::None => (1.0, false),
            OpacityFactor::Determinants { floor } => {
                let ratio = before / determinant;
                let is_floored = fixed.map_or(ratio <= floor, |fixed| fixed.is_floored);
                (if is_floored { floor } else { ratio }.sqrt(), is_floored)
            }
        };
        let half_size = view.half_size_px();
        let mean_px = [0, 1].map(|axis| {
            let principal = view.principal_from_centre_px[axis] + half_size[axis];
            view.focal_px[axis] * at[axis] + principal
        });
        let mut splat = Self {
            index,
            limits: Limits { slopes: limits, is_floored, is_black: [false; 3] },
            mean_px,
            conic: [yy + blur, -xy, xx + blur].map(|entry| entry / determinant),
            opacity: scene.opacities[index] * opacity_factor,
            channels: scene.row(index).unwrap_or_default().to_vec(),
            p_view,
            depth,
            is_in_domain,
            divisor,
            slopes,
            jacobian,
            plane_from_world,
            shape,
            unfiltered,
            determinants: [before, determinant],
            opacity_factor,
            colour: None,
        };
        splat.add_colour(scene, view, fixed);
        splat.channels.extend(scene.depth.map(|_| depth));
        splat
    }

    fn add_colour(&mut self, scene: &ScalarScene, view: &ViewTransform, fixed: Option<&Limits>) {
        let Some((sh_degree, sh)) = scene.coefficients(self.index) else { return };
        let to_splat = Vector3::from(scene.means[self.index]) - Vector3::from(view.eye);
        let direction = to_splat.try_normalize(0.0).unwrap_or_else(Vector3::zeros);
        let (colour, by_direction) = unbounded_colour(sh_degree, direction, sh);
        let is_black = fixed.map_or(colour.map(|c| c < 0.0), |fixed| fixed.is_black);
        let seen = is_black.iter().zip(colour).map(|(black, c)| if *black { 0.0 } else { c });
        self.channels.extend(seen);
        self.limits.is_black = is_black;
        self.colour = Some(SeenColour { direction, distance: to_splat.norm(), by_direction });
    }

    pub(super) fn depth(&self) -> f64 {
        self.depth
    }

    pub(super) fn order(&self, view: &ViewTransform) -> f64 {
        view.order_of(self.p_view.into(), self.depth())
    }

    /// The splat in the form of the projection's definition, without its colour.
    pub(super) fn exact(&self, view: &ViewTransform) -> ExactSplat {
        let (half_size, [xx, xy, yy]) = (view.half_size_px(), self.unfiltered);
        ExactSplat {
            depth: self.depth(),
            order: self.order(view),
            mean_from_centre_px: [0, 1].map(|axis| self.mean_px[axis] - half_size[axis]),
            covariance: [xx + view.low_pass_px2, xy, yy + view.low_pass_px2],
            determinant: self.determinants[1],
            disc: None,
            opacity: self.opacity,
            colour: [0.0; 3],
        }
    }

    /// Increases of the whitened offsets (u, v) per pixel, as in [`ProjectedSplat`](crate::preprocess::ProjectedSplat).
    pub(super) fn whitening(&self, view: &ViewTransform) -> [f64; 3] {
        const SCALE: f64 = 2.0 * std::f64::consts::LN_2;
        let [xx, xy, _] = self.conic.map(|entry| entry / SCALE);
        // The entry yy of the covariance gives the increase of v without a difference.
        let covariance_yy = self.unfiltered[2] + view.low_pass_px2;
        let v_per_y = (SCALE * covariance_yy).sqrt().recip();
        [xx.sqrt(), -xy / xx.sqrt(), v_per_y]
    }

    /// Whether the splat is in view and not culled.
    pub(super) fn is_drawn(&self, view: &ViewTransform) -> bool {
        let exact = self.exact(view);
        self.is_in_domain
            && !view.culls(self.depth())
            && exact.is_drawable(view)
            && exact.bounds(view).is_some()
    }

    /// Offset of the centre of `pixel` from the splat's centre, in pixels.
    pub(super) fn offset(&self, pixel: [usize; 2]) -> [f64; 2] {
        [0, 1].map(|axis| pixel[axis] as f64 + 0.5 - self.mean_px[axis])
    }

    /// Adds the derivatives of a loss by the splat in world space and by the pose, given those by the splat in the picture
    /// plane and by its `channels`.
    pub(super) fn add_gradients(
        &self,
        scene: &ScalarScene,
        view: &ViewTransform,
        plane: &PlaneGradient,
        channels: &[f64],
        gradients: &mut Gradients,
        pose: &mut PoseGradient,
    ) {
        let rotation = rotation_of(view);
        let by_plane_from_world = self.add_shape_gradients(scene, view, plane, gradients);
        pose.rotation += self.jacobian.transpose() * by_plane_from_world;
        let by_jacobian = by_plane_from_world * rotation.transpose();
        let by = [0, 1].map(|r| [0, 1, 2].map(|c| view.focal_px[r] * by_jacobian[(r, c)]));
        let mut by_view = match view.projection.by_gradient(self.p_view.into(), by) {
            Some(by_view) => {
                Vector3::from(by_view) + self.jacobian.transpose() * Vector2::from(plane.mean2d)
            }
            None => self.by_plane(view, &by_jacobian, plane.mean2d),
        };
        if let (Some(_), Some(by_depth)) = (scene.depth, channels.last()) {
            let along = if view.projection.is_planar() || view.is_axial {
                Vector3::z()
            } else {
                self.p_view / self.depth
            };
            by_view += along * *by_depth;
        }
        let mean = Vector3::from(scene.means[self.index]);
        pose.rotation += by_view * mean.transpose();
        pose.translation += by_view;
        let by_mean = rotation.transpose() * by_view
            + self.add_value_gradients(scene, view, channels, gradients, pose);
        add(&mut gradients.means[self.index], by_mean.as_slice());
    }

    /// Adds the derivatives by the shape and the opacity; returns those by [`Self::plane_from_world`].
    fn add_shape_gradients(
        &self,
        scene: &ScalarScene,
        view: &ViewTransform,
        plane: &PlaneGradient,
        gradients: &mut Gradients,
    ) -> Matrix2x3<f64> {
        gradients.opacities[self.index] += plane.opacity * self.opacity_factor;
        let [xx, xy, yy] = self.conic;
        let conic = Matrix2::new(xx, xy, xy, yy);
        let [by_xx, by_xy, by_yy] = plane.conic;
        let by_conic = Matrix2::new(by_xx, by_xy / 2.0, by_xy / 2.0, by_yy);
        let mut by_covariance = -(conic * by_conic * conic);
        let ([before, after], blur) = (self.determinants, view.low_pass_px2);
        let by_ratio = match view.opacity_factor {
            OpacityFactor::Determinants { .. } if !self.limits.is_floored => {
                plane.opacity * scene.opacities[self.index] / (2.0 * self.opacity_factor)
            }
            _ => 0.0,
        };
        // ratio = before / (before + blur * trace + blur^2)
        let by_before = by_ratio * (after - before) / (after * after);
        let by_trace = -by_ratio * before * blur / (after * after);
        by_covariance += Matrix2::from_diagonal_element(by_trace);
        let base = &self.plane_from_world;
        match (&self.shape, &mut gradients.shapes) {
            (
                WorldShape::Axes { rotation, scale, length, unit },
                ScalarShapes::Axes { scales, rotations },
            ) => {
                let axes = rotation * Matrix3::from_diagonal(scale);
                let factor = base * axes;
                let (a, b) = (factor.row(0), factor.row(1));
                let normal = a.cross(&b);
                let by_rows: [RowVector3<f64>; 2] = [b.cross(&normal), normal.cross(&a)];
                let by_factor =
                    2.0 * by_covariance * factor + 2.0 * by_before * Matrix2x3::from_rows(&by_rows);
                let by_axes = base.transpose() * by_factor;
                let by_scale = Vector3::from_fn(|j, _| rotation.column(j).dot(&by_axes.column(j)));
                let by_unit = by_quaternion(unit, &(by_axes * Matrix3::from_diagonal(scale)));
                let by_turn = (by_unit - unit * unit.dot(&by_unit)) / *length;
                add(&mut scales[self.index], by_scale.as_slice());
                add(&mut rotations[self.index], by_turn.as_slice());
                by_factor * axes.transpose()
            }
            (WorldShape::Covariance(covariance), ScalarShapes::Covariances(sums)) => {
                let [xx, xy, yy] = self.unfiltered;
                by_covariance += by_before * Matrix2::new(yy, -xy, -xy, xx);
                let g = base.transpose() * by_covariance * base;
                let two = |r, c| g[(r, c)] + g[(c, r)];
                let entries = [g[(0, 0)], two(0, 1), two(0, 2), g[(1, 1)], two(1, 2), g[(2, 2)]];
                add(&mut sums[self.index], &entries);
                2.0 * by_covariance * base * covariance
            }
            _ => Matrix2x3::zeros(),
        }
    }

    /// Derivatives by the position in view space of a projection onto a plane, given those by the Jacobian and the centre.
    fn by_plane(
        &self,
        view: &ViewTransform,
        by: &Matrix2x3<f64>,
        by_mean: [f64; 2],
    ) -> Vector3<f64> {
        let (divisor, per_z) = (self.divisor, view.divisor[0]);
        let mut by_view = Vector3::zeros();
        for axis in 0..2 {
            let (focal, slope) = (view.focal_px[axis], self.slopes[axis]);
            let [by_scale, by_shear] = [by[(axis, axis)], per_z * by[(axis, 2)]];
            by_view.z += per_z * focal * (slope * by_shear - by_scale) / (divisor * divisor);
            if self.limits.slopes[axis].is_none() {
                let by_slope = -focal / divisor * by_shear;
                by_view[axis] += by_slope / divisor;
                by_view.z -= per_z * by_slope * slope / divisor;
            }
            let scaled = focal / divisor * by_mean[axis];
            by_view[axis] += scaled;
            by_view.z -= per_z * self.p_view[axis] / divisor * scaled;
        }
        by_view
    }

    /// Adds the derivatives by the values of the splat, and by the pose through the direction; returns those by the centre.
    fn add_value_gradients(
        &self,
        scene: &ScalarScene,
        view: &ViewTransform,
        channels: &[f64],
        gradients: &mut Gradients,
        pose: &mut PoseGradient,
    ) -> Vector3<f64> {
        match (&mut gradients.values, &self.colour, scene.coefficients(self.index)) {
            (ScalarValues::Rows { values, channels: count }, ..) => {
                add(&mut values[self.index * *count..][..*count], channels);
                Vector3::zeros()
            }
            (ScalarValues::Colours { stored, sh, .. }, Some(seen), Some((degree, used))) => {
                let is_black = self.limits.is_black;
                let by_colour =
                    Vector3::from_fn(|c, _| if is_black[c] { 0.0 } else { channels[c] });
                let basis: [f64; 25] = sh_basis(degree, seen.direction.into());
                let rows = &mut sh[self.index * *stored..][..used.len()];
                for (row, basis) in rows.iter_mut().zip(basis) {
                    add(row, (by_colour * basis).as_slice());
                }
                if seen.distance <= 0.0 {
                    return Vector3::zeros();
                }
                let by_direction: Vector3<f64> =
                    seen.by_direction.iter().zip(&by_colour).map(|(by, g)| by * *g).sum();
                let along = seen.direction * seen.direction.dot(&by_direction);
                let by_mean = (by_direction - along) / seen.distance;
                // eye = -rotation^T translation
                pose.rotation += Vector3::from(view.translation_in_view) * by_mean.transpose();
                pose.translation += rotation_of(view) * by_mean;
                by_mean
            }
            _ => Vector3::zeros(),
        }
    }

    /// Derivative of a loss by alpha's exponent `-d^T conic d / 2`, given by `by_exponent`, by the centre.
    pub(super) fn by_centre(&self, offset: [f64; 2], by_exponent: f64) -> [f64; 2] {
        let [xx, xy, yy] = self.conic;
        let by = Matrix2::new(xx, xy, xy, yy) * Vector2::from(offset) * by_exponent;
        by.into()
    }
}

/// Derivatives by a unit quaternion w, x, y, z, given those by the entries of its rotation matrix.
fn by_quaternion(unit: &Vector4<f64>, by: &Matrix3<f64>) -> Vector4<f64> {
    let [w, x, y, z] = [unit[0], unit[1], unit[2], unit[3]];
    let sum = |r: usize, c: usize| by[(r, c)] + by[(c, r)];
    let turn = |r: usize, c: usize| by[(r, c)] - by[(c, r)];
    let [xx, yy, zz] = [by[(0, 0)], by[(1, 1)], by[(2, 2)]];
    2.0 * Vector4::new(
        x * turn(2, 1) + y * turn(0, 2) + z * turn(1, 0),
        w * turn(2, 1) + y * sum(0, 1) + z * sum(0, 2) - 2.0 * x * (yy + zz),
        w * turn(0, 2) + x * sum(0, 1) + z * sum(1, 2) - 2.0 * y * (xx + zz),
        w * turn(1, 0) + x * sum(0, 2) + y * sum(1, 2) - 2.0 * z * (xx + yy),
    )
}

fn add(sums: &mut [f64], values: &[f64]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += value;
    }
}
