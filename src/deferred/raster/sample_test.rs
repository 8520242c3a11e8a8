//! Definition of a hit: whether a triangle covers a sample, and at which point.
//!
//! All arithmetic is in f32, in the order written here and without fused operations, so that [`lanes`](super::lanes) gives
//! the same bits. At the sample's time and lens position, the corners are moved so that the sample is the origin of the
//! picture. The cross product of two corners is then the edge function between them. It is zero if the edge runs through
//! the sample, and it changes its sign exactly if the edge is reversed. Two triangles that share an edge therefore never
//! both cover a sample near it, and never both miss it.

use super::triangle::MovingTriangle;
use crate::camera::lens::LensShear;

/// Position of a sample in five dimensions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Column and row in pixels from the picture's centre.
    pub xy: [f32; 2],
    /// Position on the unit disc of the lens.
    pub uv: [f32; 2],
    /// Time, from 0 to 1.
    pub t: f32,
}

/// Point of a triangle at a sample that the triangle covers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TriangleHit {
    /// Weights of the corners, up to a common factor, which may be negative.
    pub weights: [f32; 3],
    /// Distance of the near plane divided by the distance of the point; greater is nearer.
    pub depth: f32,
    /// Whether the front is visible at the sample.
    pub is_front: bool,
}

/// Tests a sample. Points nearer than the near plane, at distance `near`, are not hits.
pub fn sample_test(
    triangle: &MovingTriangle,
    shear: &LensShear,
    near: f32,
    sample: &Sample,
) -> Option<TriangleHit> {
    // X + u (a Z + b) - x Z = (X + u b) + (u a - x) Z, and likewise for Y and v.
    let along = [0, 1].map(|k| sample.uv[k] * shear.a[k] - sample.xy[k]);
    let aside = [0, 1].map(|k| sample.uv[k] * shear.b[k]);
    let corner = |i: usize| {
        let [p, d] = [triangle.start[i], triangle.change[i]];
        let at = |k: usize| p[k] + sample.t * d[k];
        let z = at(2);
        let [x, y] = [0, 1].map(|k| (at(k) + aside[k]) + along[k] * z);
        [x, y, z]
    };
    let p = [corner(0), corner(1), corner(2)];
    let edge = |[j, k]: [usize; 2]| p[j][0] * p[k][1] - p[k][0] * p[j][1];
    let weights = [edge([1, 2]), edge([2, 0]), edge([0, 1])];
    let sides =
        [side(weights[0], p[1], p[2]), side(weights[1], p[2], p[0]), side(weights[2], p[0], p[1])];
    let is_front = match sides {
        [-1, -1, -1] => true,
        [1, 1, 1] => false,
        _ => return None,
    };
    let drawn = if is_front { triangle.faces.front } else { triangle.faces.back };
    let sum = (weights[0] + weights[1]) + weights[2];
    let distance = (weights[0] * p[0][2] + weights[1] * p[1][2]) + weights[2] * p[2][2];
    let depth = near * sum / distance;
    // NaN gives false.
    let is_hit = drawn && depth > 0.0 && depth <= 1.0;
    is_hit.then_some(TriangleHit { weights, depth, is_front })
}

/// Sign of an edge at the sample; 0 for NaN and for an edge without a direction. On the edge, it is the sign
/// just right of the sample or, for a level edge, just below it: the top-left rule.
pub(super) fn side(weight: f32, j: [f32; 3], k: [f32; 3]) -> i8 {
    let sign = |v: f32| i8::from(v > 0.0) - i8::from(v < 0.0);
    if weight != 0.0 {
        return sign(weight);
    }
    let right = k[2] * j[1] - j[2] * k[1];
    if right != 0.0 {
        return sign(right);
    }
    sign(j[2] * k[0] - k[2] * j[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARP: LensShear = LensShear { a: [0.0; 2], b: [0.0; 2] };

    fn still(px: [[f64; 2]; 3]) -> MovingTriangle {
        MovingTriangle::unculled(px.map(|[x, y]| [[2.0 * x, 2.0 * y, 2.0]; 2]), 1)
    }

    fn at(x: f32, y: f32) -> Sample {
        Sample { xy: [x, y], uv: [0.0; 2], t: 0.0 }
    }

    #[test]
    fn samples_on_the_diagonal_of_a_square_belong_to_one_triangle() {
        let (a, b, c, d) = ([0.0, 0.0], [0.0, 4.0], [4.0, 4.0], [4.0, 0.0]);
        let halves = [still([a, b, c]), still([a, c, d])];
        for y in 0_u8..=8 {
            for x in 0_u8..=8 {
                let [x, y] = [x, y].map(|v| f32::from(v) / 2.0);
                let hits = halves.iter().map(|t| sample_test(t, &SHARP, 0.5, &at(x, y)));
                let hits: Vec<_> = hits.flatten().collect();
                // Left and top border belong to the square, right and bottom border do not.
                let inside = x < 4.0 && y < 4.0;
                assert_eq!(hits.len(), usize::from(inside), "{x} {y}");
                assert!(hits.iter().all(|h| h.is_front && h.depth == 0.25));
            }
        }
    }

    #[test]
    fn moved_and_blurred_triangles_are_hit_where_they_are() {
        let mut moving = still([[0.0, 0.0], [0.0, 4.0], [4.0, 0.0]]);
        moving.change = [[20.0, 0.0, 0.0]; 3];
        let sample = |x, t| Sample { t, ..at(x, 1.0) };
        let hit = |x, t| sample_test(&moving, &SHARP, 0.5, &sample(x, t)).is_some();
        assert!(hit(1.0, 0.0) && hit(6.0, 0.5) && hit(11.0, 1.0));
        assert!(!hit(1.0, 0.5) && !hit(6.0, 0.0));
        let shear = LensShear { a: [0.0; 2], b: [16.0, 0.0] };
        let through = |u| Sample { uv: [u, 0.0], ..at(9.0, 1.0) };
        let blurred = still([[0.0, 0.0], [0.0, 4.0], [4.0, 0.0]]);
        assert!(sample_test(&blurred, &shear, 0.5, &through(1.0)).is_some());
        assert!(sample_test(&blurred, &shear, 0.5, &through(0.0)).is_none());
    }

    #[test]
    fn points_before_the_near_plane_and_behind_the_eye_are_no_hits() {
        let triangle = still([[0.0, 0.0], [0.0, 4.0], [4.0, 0.0]]);
        assert!(sample_test(&triangle, &SHARP, 2.0, &at(1.0, 1.0)).is_some());
        assert!(sample_test(&triangle, &SHARP, 2.1, &at(1.0, 1.0)).is_none());
        let mut behind = triangle;
        behind.start = behind.start.map(|p| p.map(|v| -v));
        assert!(sample_test(&behind, &SHARP, 0.5, &at(1.0, 1.0)).is_none());
        let mut wild = triangle;
        wild.start[1][0] = f32::NAN;
        assert!(sample_test(&wild, &SHARP, 0.5, &at(1.0, 1.0)).is_none());
        let flat = still([[0.0, 0.0], [2.0, 2.0], [4.0, 4.0]]);
        assert!(sample_test(&flat, &SHARP, 0.5, &at(1.0, 1.0)).is_none());
    }

    #[test]
    fn weights_are_barycentric() {
        let triangle = still([[0.0, 0.0], [0.0, 4.0], [4.0, 0.0]]);
        let hit = sample_test(&triangle, &SHARP, 0.5, &at(1.0, 2.0)).unwrap();
        let sum: f32 = hit.weights.iter().sum();
        assert_eq!(hit.weights.map(|w| w / sum), [0.25, 0.5, 0.25]);
        let mut turned = triangle;
        turned.start.swap(1, 2);
        let back = sample_test(&turned, &SHARP, 0.5, &at(1.0, 2.0)).unwrap();
        assert!(!back.is_front && hit.is_front);
    }
}
