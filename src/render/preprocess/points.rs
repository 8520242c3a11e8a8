//! Footprints from points of splats.

use nalgebra::{Matrix3, Quaternion, UnitQuaternion};

use super::view_transform::{POINTS_MARGIN, ViewTransform};
use quadrille_base::lens::{moments, sigma_points};
use quadrille_scene::Splat;

/// Sides of the region in which points are seen, in sides of the picture.
const WITH_MARGINS: f64 = 1.0 + 2.0 * POINTS_MARGIN;

/// Mean in pixels from the picture's centre, covariance, and its determinant, of a splat with this centre in view space; `None`
/// if no point lies in the `region` of columns and rows. Points behind the camera and outside the domain of the lens count at
/// the top left corner of the picture, as in gsplat.
pub(super) fn moments_on_plane(
    view: &ViewTransform,
    region: [[f64; 2]; 2],
    p_view: [f64; 3],
    splat: &Splat,
) -> Option<([f64; 2], [f64; 3], f64)> {
    let [w, i, j, k] = splat.rotation.map(f64::from);
    let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, i, j, k)).to_rotation_matrix();
    let turn = Matrix3::from_fn(|r, c| view.rotation[r][c]) * turn.matrix();
    let axes = [0, 1, 2].map(|c| (turn.column(c) * f64::from(splat.scale[c])).into());
    // The region is larger than the picture by a margin, which is the same share of both sides.
    let corner = region.map(|[low, high]| (low + high) / 2.0 - (high - low) / (2.0 * WITH_MARGINS));
    let size = region.map(|[low, high]| (high - low) / WITH_MARGINS);
    let is_axial = view.projection.has_axial_depth();
    let project = |point: [f64; 3]| {
        let is_behind = is_axial && view.divisor[0] != 0.0 && point[2] <= 0.0;
        let Some(on_plane) = view.projection.point(point).filter(|_| !is_behind) else {
            return (corner, false);
        };
        let px = [0, 1].map(|axis| {
            view.focal_px[axis] * on_plane.at[axis] + view.principal_from_centre_px[axis]
        });
        (px, px.iter().zip(region).all(|(px, [low, high])| (low..=high).contains(px)))
    };
    let mut is_seen = false;
    let images = sigma_points(p_view, axes).map(|point| {
        let (px, is_inside) = match &view.rolling_shutter {
            Some(shutter) => shutter.position(point, [corner, size], project),
            None => project(point),
        };
        is_seen |= is_inside;
        px
    });
    let (mean, [xx, xy, yy]) = moments(&images);
    is_seen.then_some((mean, [xx, xy, yy], xx * yy - xy * xy))
}
