//! Oriented bounding boxes of splats, which are drawn as two triangles.

use quadrille_base::math::whole;
use quadrille_base::raster::geometry::{GUARD_BAND, SUBPIXEL_BITS, Vertex};
use quadrille_render::preprocess::ProjectedSplat;

/// Relative error bound of u and v: half for rounding [`ProjectedSplat`]'s fields by `2^-24`, half for their computation.
const UV_ERROR: f64 = 1.0 / (1 << 23) as f64;
/// Error bound of the squared radius: logarithms of at most 8, rounded by up to `2^-22`, and as much for the computation.
const RADIUS_SQUARED_ERROR: f64 = 1.0 / (1 << 20) as f64;
const PER_PX: f64 = (1 << SUBPIXEL_BITS) as f64;
const HALF_STEP_PX: f64 = 0.5 / PER_PX;
/// Margin between pixel centres and the box's edges, despite rounding in f64: coordinates below 2^17 px have
/// errors of 2^-34 px. The fill rule might drop centres on the edges.
const SLACK_PX: f64 = 1.0 / (1 << 20) as f64;

const NOTHING: [Vertex; 4] = [Vertex { x: 0, y: 0 }; 4];

/// The smallest oriented box around a splat's footprint (where alpha reaches 1/255) in a picture of
/// `width` by `height` pixels, each at most 65,536: the triangles `[0, 1, 2]` and `[0, 2, 3]`.
///
/// Its sides lie along the principal axes of the footprint's ellipse, and each is moved outward by
///
/// - `(|cos| + |sin|) / 512` px of the axes' slope, the most that snapping to 1/256 px moves it inward: a corner moves
///   by 1/512 px in x and in y, and points of a side by less; 2^-20 px more keep centres off the sides;
/// - the largest shift by the rounding of the splat's fields to f32: for a splat at (x, y) pixels from the picture's
///   centre, about `(|x| + |y|) 2^-22` px, but more along the longer axis of a thin one, in proportion to the axes.
///
/// Sides that do not meet the circle around the picture are moved in to it, so that all corners stay far inside the guard
/// band. A splat that does not meet that circle, or is not finite, gets a box without area.
pub fn splat_box(splat: &ProjectedSplat, width: u32, height: u32) -> [Vertex; 4] {
    let half_size = [f64::from(width) / 2.0, f64::from(height) / 2.0];
    let axes = Axes::of(splat);
    let radius = radius_in_uv(splat, half_size);
    let reach = half_size[0].hypot(half_size[1]);
    let [cos, sin] = axes.direction;
    let margin = (cos.abs() + sin.abs()) * HALF_STEP_PX + SLACK_PX;
    // From the picture's centre, along each axis.
    let [across, along] = [0, 1].map(|i| {
        let (centre, half) = (axes.centre[i], radius * axes.px_per_uv[i]);
        [(centre - half).max(-reach), (centre + half).min(reach)]
    });
    let is_finite = radius.is_finite() && axes.centre.iter().all(|c| c.is_finite());
    if !is_finite || across[0] > across[1] || along[0] > along[1] {
        return NOTHING;
    }
    let [left, right] = [across[0] - margin, across[1] + margin];
    let [top, bottom] = [along[0] - margin, along[1] + margin];
    [(left, top), (right, top), (right, bottom), (left, bottom)].map(|(s, t)| Vertex {
        x: to_vertex(half_size[0] + s * cos - t * sin),
        y: to_vertex(half_size[1] + s * sin + t * cos),
    })
}

/// Standard deviations along the shorter and the longer axis of a splat on the picture plane, in pixels.
pub(crate) fn semi_axes_px(splat: &ProjectedSplat) -> [f64; 2] {
    // At one standard deviation, alpha is exp(-1/2) of the opacity: the squared radius in (u, v) is log2(e) /
    // 2.
    let uv_per_deviation = (std::f64::consts::LOG2_E / 2.0).sqrt();
    Axes::of(splat).px_per_uv.map(|px| px * uv_per_deviation)
}

fn to_vertex(px: f64) -> i32 {
    let band = f64::from(GUARD_BAND);
    whole((px * PER_PX).round().clamp(-band, band))
}

/// Radius in (u, v) outside which no pixel reaches the cut, also for the exact splat before the rounding of its fields; NaN
/// or negative if the footprint is empty. A point's distance is off by at most the errors of the terms of u and v.
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
    /// By the singular values of `L = [[u_per_x, -u_per_y], [0, v_per_y]]`, which takes pixels to
    /// (u, v), in a way that cancels nowhere, however thin the ellipse:
    ///
    /// - their sum and difference are `|(u_per_x +- v_per_y, u_per_y)|`, their product is `det L`;
    /// - the direction of the larger one, at half the angle of `(|column 0|^2 - |column 1|^2, 2 column 0 . column 1)`, is
    ///   the shorter axis;
    /// - its image under L gives the axes in (u, v), in which the centre lies at `-(u_at_centre, v_at_centre)`.
    ///
    /// Squares of squares of f32 numbers fit f64.
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
                // L keeps the turn from one axis to the next, its determinant being positive.
                -(u_axis * v - v_axis * u) * px_per_uv[1],
            ],
        }
    }
}

/// Direction at half the angle of (x, y); (1, 0) for circles, which have none.
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
