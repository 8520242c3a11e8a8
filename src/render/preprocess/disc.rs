//! Discs on the picture plane (2D Gaussian splatting): where the ray of a pixel meets a disc, and the falloff there.
//!
//! Huang et al., 2D Gaussian Splatting for Geometrically Accurate Radiance Fields, SIGGRAPH 2024, sections 4.1 and 4.2, with
//! the centre of the low-pass filter as in the published rasterizer and in gsplat 1.5.

use bytemuck::{Pod, Zeroable};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};

use super::projected::{LOG2_ALPHA_CUT, ProjectedSplat};
use super::view_transform::ViewTransform;
use quadrille_base::math::narrow;
use quadrille_base::shading::falloff_at;
use quadrille_scene::Splat;

/// Exponent of the low-pass filter per squared distance from its centre, in square pixels: a standard deviation of sqrt(1/2)
/// pixels.
const LOW_PASS_PER_PX2: f64 = 1.0;

/// Root of [`LOW_PASS_PER_PX2`] times log2(e): (u, v) of [`ProjectedDisc`] per pixel.
const LOW_PASS_PER_PX: f32 = 1.201_122_4;
/// Variance in square pixels that is added to the outline of a disc, which is a line if it is seen from the side.
const LEAST_OUTLINE_PX2: f64 = 1e-4;

/// A disc as the rays of a picture meet it, in f64.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExactDisc {
    /// Rows x, y and w of the homography from the disc, (u, v, 1) in standard deviations, to the picture: x / w and y / w in
    /// pixels from the splat's centre on the picture plane, w the depth.
    rows: [[f64; 3]; 3],
}

impl ExactDisc {
    /// Projects the disc of `splat`, whose centre is `p_view` in view space. Also returns its centre on the picture plane, in
    /// pixels from the picture's centre: the middle of the box around one standard deviation.
    pub(super) fn project(
        view: &ViewTransform,
        splat: &Splat,
        p_view: [f64; 3],
    ) -> (Self, [f64; 2]) {
        let [w, i, j, k] = splat.rotation.map(f64::from);
        let turn = UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(w, i, j, k));
        let view_from_world = Matrix3::from_fn(|r, c| view.rotation[r][c]);
        let axis = |axis: usize| {
            view_from_world * (turn * Vector3::ith(axis, f64::from(splat.scale[axis])))
        };
        let columns = [axis(0), axis(1), Vector3::from(p_view)];
        let depth = columns.map(|column| column.z);
        let across = |side: usize| {
            let (focal, principal) = (view.focal_px[side], view.principal_from_centre_px[side]);
            columns.map(|column| focal * column[side] + principal * column.z)
        };
        let absolute = [across(0), across(1)];
        let mut centre = absolute.map(|row| row[2] / depth[2]);
        let divisor = squares(depth, depth, 1.0);
        // The disc is cut by the plane of the camera otherwise, and has no box.
        if divisor < 0.0 {
            centre = absolute.map(|row| squares(row, depth, 1.0) / divisor);
        }
        let from_centre =
            |side: usize| [0, 1, 2].map(|c| absolute[side][c] - centre[side] * depth[c]);
        (Self { rows: [from_centre(0), from_centre(1), depth] }, centre)
    }

    /// Alpha and depth of a fragment at `d`, in pixels from the disc's centre on the picture plane; `None` below the alpha
    /// cut and behind the camera. The nearer of two rules counts: the falloff at the disc, and a low-pass filter on the
    /// picture plane at the depth of the centre.
    pub(super) fn fragment(&self, d: [f64; 2], opacity: f64, cap: f64) -> Option<(f64, f64)> {
        let [x, y, w] = self.rows.map(Vector3::from);
        let met = (w * d[0] - x).cross(&(w * d[1] - y));
        let low_pass = LOW_PASS_PER_PX2 * (d[0] * d[0] + d[1] * d[1]);
        let [u, v] = [met.x / met.z, met.y / met.z];
        let on_disc = (u * u + v * v) / 2.0;
        // A ray in the plane of the disc has no intersection, and the comparison is false.
        let (exponent, depth) =
            if on_disc <= low_pass { (on_disc, u * w.x + v * w.y + w.z) } else { (low_pass, w.z) };
        let alpha = falloff_at(-exponent, opacity, cap)?;
        (depth > 0.0).then_some((alpha, depth))
    }

    /// Least and greatest distance of the footprint from the centre, per axis, in pixels, at the squared radius `radius2` of
    /// the alpha cut in standard deviations; infinite if the plane of the camera cuts the disc.
    pub(super) fn extents_px(&self, radius2: f64) -> [[f64; 2]; 2] {
        let [x, y, w] = self.rows;
        let divisor = squares(w, w, radius2);
        let filtered = (radius2 / (2.0 * LOW_PASS_PER_PX2)).sqrt();
        [x, y].map(|row| {
            if divisor >= 0.0 {
                return [f64::NEG_INFINITY, f64::INFINITY];
            }
            let centre = squares(row, w, radius2) / divisor;
            let half = (centre * centre - squares(row, row, radius2) / divisor).max(0.0).sqrt();
            [(centre - half).min(-filtered), (centre + half).max(filtered)]
        })
    }

    /// Converts the disc to the form that the renderer draws, with the fields of `splat` that discs share.
    pub(super) fn to_projected(self, splat: ProjectedSplat) -> ProjectedSplat {
        let per_unit = (std::f64::consts::LOG2_E / 2.0).sqrt().recip();
        let [x, y, w] = self.rows.map(|row| [row[0] * per_unit, row[1] * per_unit, row[2]]);
        let disc = ProjectedDisc {
            x: x.map(narrow),
            y_by_axis: [narrow(y[0]), narrow(y[1])],
            log2_opacity: splat.log2_opacity,
            colour: splat.colour,
            y_at_centre: narrow(y[2]),
            w_by_axis: [narrow(w[0]), narrow(w[1])],
            mean_px: splat.mean_px,
            depth: splat.depth,
            index: splat.index,
        };
        bytemuck::cast(disc)
    }
}

/// Sum of the products of two rows with the signs of a conic, whose radius in the disc has the square `radius2`.
fn squares(a: [f64; 3], b: [f64; 3], radius2: f64) -> f64 {
    radius2 * (a[0] * b[0] + a[1] * b[1]) - a[2] * b[2]
}

/// A disc on the picture plane, in the memory of a [`ProjectedSplat`], whose opacity, colour, centre, depth and index lie at
/// the same places.
///
/// Coordinates (u, v) on the disc are standard deviations times sqrt(log2(e) / 2), so that alpha is
/// `min(cap, 2^(log2_opacity - u^2 - v^2))`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
pub(crate) struct ProjectedDisc {
    /// Row x of the homography; see [`ExactDisc`].
    pub(crate) x: [f32; 3],
    /// Row y without its last entry.
    pub(crate) y_by_axis: [f32; 2],
    pub(crate) log2_opacity: f32,
    pub(crate) colour: [f32; 3],
    /// Last entry of row y.
    pub(crate) y_at_centre: f32,
    /// Row w without its last entry, which is the depth.
    pub(crate) w_by_axis: [f32; 2],
    pub(crate) mean_px: [f32; 2],
    pub(crate) depth: f32,
    index: u32,
}

impl ProjectedDisc {
    /// Radius of the low-pass filter at the alpha cut, in pixels.
    pub(crate) fn filter_radius_px(&self) -> f32 {
        self.radius_squared().max(0.0).sqrt() / LOW_PASS_PER_PX
    }

    /// Square of the radius in (u, v) at which alpha equals the cut.
    fn radius_squared(&self) -> f32 {
        self.log2_opacity - LOG2_ALPHA_CUT
    }

    /// Outline of the disc at the alpha cut on the picture plane, an ellipse, as a splat with the footprint of the ellipse.
    /// Its opacity is infinite if the plane of the camera cuts the disc, whose outline is no ellipse.
    pub(crate) fn outline(&self) -> ProjectedSplat {
        let row = |[u, v]: [f32; 2], one: f32| [u, v, one].map(f64::from);
        let x = row([self.x[0], self.x[1]], self.x[2]);
        let y = row(self.y_by_axis, self.y_at_centre);
        let w = row(self.w_by_axis, self.depth);
        let radius2 = f64::from(self.radius_squared()).max(f64::from(f32::MIN_POSITIVE));
        let divisor = squares(w, w, radius2);
        if divisor >= 0.0 {
            return ProjectedSplat { log2_opacity: f32::INFINITY, ..ProjectedSplat::zeroed() };
        }
        // The dual conic of the outline, whose centre is its pole.
        let dual = |a, b| squares(a, b, radius2) / divisor;
        let centre = [dual(x, w), dual(y, w)];
        // (u, v) are standard deviations times a factor, whose square is this.
        let per_deviation2 = std::f64::consts::LOG2_E / 2.0;
        let deviations2 = radius2 / per_deviation2;
        let variance = |a: usize, b: usize, ab: f64| (centre[a] * centre[b] - ab) / deviations2;
        // The least variance keeps lines from having no inverse.
        let least = LEAST_OUTLINE_PX2 / deviations2;
        let xx = variance(0, 0, dual(x, x)).max(0.0) + least;
        let yy = variance(1, 1, dual(y, y)).max(0.0) + least;
        let most = ((xx - least) * (yy - least)).sqrt();
        let xy = variance(0, 1, dual(x, y)).clamp(-most, most);
        let mean = [0, 1].map(|axis| f64::from(self.mean_px[axis]) + centre[axis]);
        let (determinant, radius) = (xx * yy - xy * xy, deviations2.sqrt());
        ProjectedSplat {
            log2_opacity: self.log2_opacity,
            ..ProjectedSplat::of_ellipse(mean, [xx, xy, yy], determinant, radius)
        }
    }
}
