//! Bounding boxes of splats: oriented boxes, which are drawn as two triangles, and axis-aligned rectangles.

use quadrille_base::math::whole;
use quadrille_base::raster::geometry::{GUARD_BAND, SUBPIXEL_BITS, Vertex};
use quadrille_render::preprocess::ProjectedSplat;

/// Relative error bound of u and v: half for rounding [`ProjectedSplat`]'s fields by `2^-24`, half for their computation.
const UV_ERROR: f64 = 1.0 / (1 << 23) as f64;
/// Error bound of the squared radius: half for rounding logarithms of at most 8 by up to `2^-22`, half for the computation.
const RADIUS_SQUARED_ERROR: f64 = 1.0 / (1 << 20) as f64;
const PER_PX: f64 = (1 << SUBPIXEL_BITS) as f64;
const HALF_STEP_PX: f64 = 0.5 / PER_PX;
/// Margin between pixel centres and the box's edges, despite rounding in f64: coordinates below 2^17 px have
/// errors of 2^-34 px. The fill rule might drop centres on the edges.
const SLACK_PX: f64 = 1.0 / (1 << 20) as f64;

const NOTHING: [Vertex; 4] = [Vertex { x: 0, y: 0 }; 4];

/// Computes the smallest oriented box around a splat's footprint (where alpha reaches 1/255) in a picture of `width` by
/// `height` pixels, each at most 65,536. Its corners form the triangles `[0, 1, 2]` and `[0, 2, 3]`.
///
/// Its sides lie along the principal axes of the footprint's ellipse, and each is moved outward by
///
/// - `(|cos| + |sin|) / 512` px, the largest inward shift when corners snap to 1/256 px: a corner moves by 1/512 px in x
///   and in y, and points of a side by less; a further 2^-20 px keep pixel centres off the sides;
/// - the largest shift when the splat's fields are rounded to f32: for a splat at (x, y) pixels from the picture's
///   centre, about `(|x| + |y|) 2^-22` px, but more along the longer axis of a thin splat, in proportion to the axes.
///
/// Sides outside the circle around the picture are moved inward to it, so that all corners stay far inside the guard band.
/// A splat that does not meet that circle, or is not finite, gets a box without area.
pub fn splat_box(splat: &ProjectedSplat, width: u32, height: u32) -> [Vertex; 4] {
    let half_size = [f64::from(width) / 2.0, f64::from(height) / 2.0];
    let axes = Axes::of(splat);
    let radius = radius_in_uv(splat, half_size);
    let reach = half_size[0].hypot(half_size[1]);
    let [cos, sin] = axes.direction;
    let margin = (cos.abs() + sin.abs()) * HALF_STEP_PX + SLACK_PX;
    // Extent along each axis, from the picture's centre.
    let [across, along] = [0, 1].map(|i| extent(axes.centre[i], axes.px_per_uv[i], radius, reach));
    let (Some(across), Some(along)) = (across, along) else { return NOTHING };
    let [left, right] = [across[0] - margin, across[1] + margin];
    let [top, bottom] = [along[0] - margin, along[1] + margin];
    [(left, top), (right, top), (right, bottom), (left, bottom)].map(|(s, t)| Vertex {
        x: to_vertex(half_size[0] + s * cos - t * sin),
        y: to_vertex(half_size[1] + s * sin + t * cos),
    })
}

/// Computes the smallest axis-aligned rectangle around a splat's footprint, as least and greatest corner. Its sides have
/// the margins of [`splat_box`] and are moved inward in the same way.
pub fn splat_rectangle(splat: &ProjectedSplat, width: u32, height: u32) -> [Vertex; 2] {
    let half_size = [f64::from(width) / 2.0, f64::from(height) / 2.0];
    let axes = Axes::of(splat);
    let radius = radius_in_uv(splat, half_size);
    let reach = half_size[0].hypot(half_size[1]);
    let [cos, sin] = axes.direction;
    let [[s, t], [shorter, longer]] = [axes.centre, axes.px_per_uv];
    let margin = HALF_STEP_PX + SLACK_PX;
    // An ellipse extends along x by the root of the squared projections of its semi-axes onto x.
    let x = extent(s * cos - t * sin, (shorter * cos).hypot(longer * sin), radius, reach);
    let y = extent(s * sin + t * cos, (shorter * sin).hypot(longer * cos), radius, reach);
    let (Some(x), Some(y)) = (x, y) else { return [NOTHING[0]; 2] };
    [(x[0] - margin, y[0] - margin), (x[1] + margin, y[1] + margin)]
        .map(|(x, y)| Vertex { x: to_vertex(half_size[0] + x), y: to_vertex(half_size[1] + y) })
}

/// Range of a footprint along an axis through the picture's centre, limited to `reach` on both sides. `None` if it is empty
/// or not finite.
fn extent(centre: f64, px_per_uv: f64, radius: f64, reach: f64) -> Option<[f64; 2]> {
    let half = radius * px_per_uv;
    let range = [(centre - half).max(-reach), (centre + half).min(reach)];
    (radius.is_finite() && centre.is_finite() && range[0] <= range[1]).then_some(range)
}

/// Standard deviations along the shorter and the longer axis of a splat on the picture plane, in pixels.
pub(crate) fn semi_axes_px(splat: &ProjectedSplat) -> [f64; 2] {
    // At one standard deviation, alpha is exp(-1/2) of the opacity, so the squared radius in (u, v) is log2(e) / 2.
    let uv_per_deviation = (std::f64::consts::LOG2_E / 2.0).sqrt();
    Axes::of(splat).px_per_uv.map(|px| px * uv_per_deviation)
}

fn to_vertex(px: f64) -> i32 {
    let band = f64::from(GUARD_BAND);
    whole((px * PER_PX).round().clamp(-band, band))
}

/// Radius in (u, v) outside which no pixel reaches the cut, also for the exact splat before the rounding of its fields; NaN
/// or negative if the footprint is empty. Rounding moves a point by at most the sum of the errors of u and v.
fn radius_in_uv(splat: &ProjectedSplat, half_size: [f64; 2]) -> f64 {
    let size = |v: f32| f64::from(v.abs());
    let u = size(splat.u_at_centre)
        + size(splat.u_per_x) * half_size[0]
        + size(splat.u_per_y) * half_size[1];
    let v = size(splat.v_at_centre) + size(splat.v_per_y) * half_size[1];
    let radius_squared = f64::from(splat.radius_squared()) + RADIUS_SQUARED_ERROR;
    radius_squared.sqrt() + UV_ERROR * (u + v)
}

/// Principal axes of a footprint, shorter first.
#[derive(Debug, Clone, Copy)]
struct Axes {
    /// Direction of the shorter axis, (cos, sin); the longer axis is (-sin, cos).
    direction: [f64; 2],
    /// Pixels per unit of radius in (u, v) along each axis.
    px_per_uv: [f64; 2],
    /// Centre along each axis, from the picture's centre, in pixels.
    centre: [f64; 2],
}

impl Axes {
    /// Computes the axes from the singular values of `L = [[u_per_x, -u_per_y], [0, v_per_y]]`, the map from pixels to
    /// (u, v). No difference cancels, however thin the ellipse:
    ///
    /// - the sum and difference of the values are `|(u_per_x +- v_per_y, u_per_y)|`, their product is `det L`;
    /// - the shorter axis has the direction of the larger value, at half the angle of
    ///   `(|column 0|^2 - |column 1|^2, 2 column 0 . column 1)`;
    /// - the image of that axis under L gives the axes in (u, v), where the centre lies at `-(u_at_centre, v_at_centre)`.
    ///
    /// Fourth powers of f32 numbers fit f64.
    fn of(splat: &ProjectedSplat) -> Self {
        let (a, b, q) =
            (f64::from(splat.u_per_x), f64::from(splat.u_per_y), f64::from(splat.v_per_y));
        let length = |x: f64, y: f64| (x * x + y * y).sqrt();
        let larger = 0.5 * (length(a + q, b) + length(a - q, b));
        let px_per_uv = [1.0 / larger, larger / (a * q)];
        let direction = half_angle(a * a - b * b - q * q, -2.0 * a * b);
        let [cos, sin] = direction;
        let image = [a * cos - b * sin, q * sin];
        let scale = 1.0 / length(image[0], image[1]);
        let [u_axis, v_axis] = image.map(|x| x * scale);
        let (u, v) = (f64::from(splat.u_at_centre), f64::from(splat.v_at_centre));
        Self {
            direction,
            px_per_uv,
            centre: [
                -(u_axis * u + v_axis * v) * px_per_uv[0],
                // L has a positive determinant, so it keeps the orientation of the axes.
                -(u_axis * v - v_axis * u) * px_per_uv[1],
            ],
        }
    }
}

/// Unit vector at half the angle of (x, y); (1, 0) for (0, 0), the case of circles.
fn half_angle(x: f64, y: f64) -> [f64; 2] {
    let length = (x * x + y * y).sqrt();
    if length == 0.0 {
        return [1.0, 0.0];
    }
    // The longer component is computed first, since its sum does not cancel; the shorter one follows from it.
    let long = (0.5 + 0.5 * x.abs() / length).sqrt();
    let short = 0.5 * y / (length * long);
    if x >= 0.0 { [long, short] } else { [short.abs(), long.copysign(y)] }
}
