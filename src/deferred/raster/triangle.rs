//! Triangle set-up: corners that move linearly in homogeneous picture coordinates, culling, and boxes of pixels.

use crate::camera::lens::LensShear;
use crate::camera::shutter::CentredPoint;
use quadrille_base::math::{narrow, whole};

/// Margin around the exact box, against rounding errors.
const BOX_MARGIN_PX: f64 = 1.0 / 64.0;

/// A triangle while the shutter is open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MovingTriangle {
    /// Corners when the shutter opens: column and row from the picture's centre in pixels times `Z`, and `Z`.
    pub start: [[f32; 3]; 3],
    /// Changes of the corners until the shutter closes, in the same coordinates.
    pub change: [[f32; 3]; 3],
    /// Bounds of the covered pixels: first column and row, and one past the last column and row.
    pub area: [u16; 4],
    /// Primitive id: position in submission order, from 1.
    pub primitive: u32,
    /// Sides that are drawn and may be visible.
    pub faces: FaceSet,
}

/// Set of sides of a triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaceSet {
    /// Whether the front is in the set.
    pub front: bool,
    /// Whether the back is in the set.
    pub back: bool,
}

impl FaceSet {
    /// Set of both sides.
    pub(crate) const BOTH: Self = Self { front: true, back: true };

    /// Whether no side is in the set.
    pub fn is_empty(self) -> bool {
        !(self.front || self.back)
    }
}

/// Reason why a triangle is culled before the raster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CullReason {
    /// The triangle is never in the picture and beyond the near plane.
    Frustum,
    /// No side that is drawn is ever visible, or the triangle never has an area.
    Facing,
    /// A coordinate is beyond the range of f32.
    NotFinite,
}

/// Camera parameters for triangle set-up.
#[derive(Debug, Clone, Copy)]
pub struct SetUpView {
    /// Shear of the lens.
    pub shear: LensShear,
    /// Width and height of the picture in pixels.
    pub size: [u32; 2],
    /// Distance of the near plane in world units.
    pub near: f64,
}

impl MovingTriangle {
    /// Sets up a triangle from its corners when the shutter opens and when it closes.
    ///
    /// # Errors
    /// The reason why the triangle is culled.
    pub fn set_up(
        corners: [[CentredPoint; 2]; 3],
        view: &SetUpView,
        primitive: u32,
        draws_backs: bool,
    ) -> Result<Self, CullReason> {
        let mut triangle = Self::unculled(corners, primitive);
        let finite = |points: &[[f32; 3]; 3]| points.iter().flatten().all(|v| v.is_finite());
        if !(finite(&triangle.start) && finite(&triangle.change) && finite(&triangle.end())) {
            return Err(CullReason::NotFinite);
        }
        triangle.area = triangle.pixels(view).ok_or(CullReason::Frustum)?;
        let shown = triangle.sides(&view.shear);
        triangle.faces = FaceSet { front: shown.front, back: shown.back && draws_backs };
        if triangle.faces.is_empty() {
            return Err(CullReason::Facing);
        }
        Ok(triangle)
    }

    /// Creates a triangle without culling and with an empty box.
    pub fn unculled(corners: [[CentredPoint; 2]; 3], primitive: u32) -> Self {
        Self {
            start: corners.map(|[start, _]| start.map(narrow)),
            change: corners.map(|[start, end]| [0, 1, 2].map(|k| narrow(end[k] - start[k]))),
            area: [0; 4],
            primitive,
            faces: FaceSet::BOTH,
        }
    }

    /// Corners when the shutter closes, in the coordinates of `start`.
    #[inline]
    pub fn end(&self) -> [[f32; 3]; 3] {
        self.at(1.0)
    }

    /// Corners at a time from 0 to 1, in the coordinates of `start`.
    #[inline]
    pub fn at(&self, time: f32) -> [[f32; 3]; 3] {
        [0, 1, 2].map(|i| [0, 1, 2].map(|k| self.start[i][k] + time * self.change[i][k]))
    }

    /// Whether any corner moves.
    pub fn moves(&self) -> bool {
        self.change.iter().flatten().any(|v| *v != 0.0)
    }

    fn pixels(&self, view: &SetUpView) -> Option<[u16; 4]> {
        let points = [self.start, self.end()];
        let points = points.iter().flatten().map(|p| p.map(f64::from));
        if points.clone().all(|[.., z]| z < view.near * (1.0 - 1e-5)) {
            return None;
        }
        let size = view.size.map(f64::from);
        let mut least = [0.0, 0.0];
        let mut greatest = size;
        if points.clone().all(|[.., z]| z > view.near) {
            least = [f64::INFINITY; 2];
            greatest = [f64::NEG_INFINITY; 2];
            for p in points {
                let shear = view.shear.at(p[2]);
                for axis in 0..2 {
                    let [position, blur] = [p[axis] / p[2], shear[axis].abs() / p[2]];
                    least[axis] = f64::min(least[axis], position - blur);
                    greatest[axis] = f64::max(greatest[axis], position + blur);
                }
            }
            for axis in 0..2 {
                let margin = BOX_MARGIN_PX + 1e-6 * least[axis].abs().max(greatest[axis].abs());
                least[axis] += size[axis] / 2.0 - margin;
                greatest[axis] += size[axis] / 2.0 + margin;
            }
        }
        let from = [0, 1].map(|k| whole(least[k].floor().clamp(0.0, size[k])));
        let to = [0, 1].map(|k| whole((greatest[k].floor() + 1.0).clamp(0.0, size[k])));
        let [x0, y0, x1, y1] = [from[0], from[1], to[0], to[1]];
        (x0 < x1 && y0 < y1).then_some([x0, y0, x1, y1])
    }

    /// Sides that may be visible at any time through any point of the lens. The orientation is the sign of the corners'
    /// determinant, which is cubic in time and affine in lens coordinates, and bounded by its Bernstein coefficients.
    fn sides(&self, shear: &LensShear) -> FaceSet {
        let ends = [self.start, self.end()].map(|points| points.map(|p| p.map(f64::from)));
        let corners_of_lens: &[[f64; 2]] = if shear.is_pinhole() {
            &[[0.0, 0.0]]
        } else {
            &[[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]]
        };
        let moves = self.moves();
        let mut shown = FaceSet { front: false, back: false };
        for [u, v] in corners_of_lens {
            // The part of the shear that is proportional to Z does not affect the determinant.
            let [across, down] = [u * f64::from(shear.b[0]), v * f64::from(shear.b[1])];
            let determinant = |which: [usize; 3]| {
                let p = [0, 1, 2].map(|i| {
                    let [x, y, z] = ends[which[i]][i];
                    [x + across, y + down, z]
                });
                determinant(p)
            };
            let mut coefficients = [determinant([0, 0, 0]), 0.0, 0.0, 0.0];
            if moves {
                let three = |a, b, c| (determinant(a) + determinant(b) + determinant(c)) / 3.0;
                coefficients[1] = three([1, 0, 0], [0, 1, 0], [0, 0, 1]);
                coefficients[2] = three([0, 1, 1], [1, 0, 1], [1, 1, 0]);
                coefficients[3] = determinant([1, 1, 1]);
            }
            shown.front |= coefficients.iter().any(|c| *c < 0.0);
            shown.back |= coefficients.iter().any(|c| *c > 0.0);
        }
        shown
    }
}

fn determinant([a, b, c]: [[f64; 3]; 3]) -> f64 {
    a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEW: SetUpView =
        SetUpView { shear: LensShear { a: [0.0; 2], b: [0.0; 2] }, size: [64, 32], near: 0.1 };

    fn triangle(px: [[f64; 2]; 3], by: [f64; 2]) -> [[CentredPoint; 2]; 3] {
        px.map(|[x, y]| [[x, y, 1.0], [x + by[0], y + by[1], 1.0]])
    }

    const FRONT: [[f64; 2]; 3] = [[0.0, 0.0], [0.0, 4.0], [4.0, 0.0]];

    #[test]
    fn boxes_hold_both_ends_and_the_blur() {
        let set_up = |by, view| MovingTriangle::set_up(triangle(FRONT, by), &view, 1, false);
        assert_eq!(set_up([0.0; 2], VIEW).unwrap().area, [31, 15, 37, 21]);
        assert_eq!(set_up([-8.0, 0.5], VIEW).unwrap().area, [23, 15, 37, 21]);
        let blurred = SetUpView { shear: LensShear { a: [0.0; 2], b: [3.0, 2.0] }, ..VIEW };
        assert_eq!(set_up([0.0; 2], blurred).unwrap().area, [28, 13, 40, 23]);
        assert_eq!(set_up([400.0, 0.0], VIEW).unwrap().area, [31, 15, 64, 21]);
        let away = triangle(FRONT.map(|[x, y]| [x + 90.0, y]), [0.0; 2]);
        assert_eq!(MovingTriangle::set_up(away, &VIEW, 1, false), Err(CullReason::Frustum));
    }

    #[test]
    fn corners_behind_the_eye_give_the_whole_picture() {
        let mut corners = triangle(FRONT, [0.0; 2]);
        corners[1][1][2] = -1.0;
        let found = MovingTriangle::set_up(corners, &VIEW, 1, true).unwrap();
        assert_eq!(found.area, [0, 0, 64, 32]);
        let behind = corners.map(|ends| ends.map(|[x, y, _]| [x, y, -2.0]));
        assert_eq!(MovingTriangle::set_up(behind, &VIEW, 1, true), Err(CullReason::Frustum));
        corners[0][0][0] = f64::NAN;
        assert_eq!(MovingTriangle::set_up(corners, &VIEW, 1, true), Err(CullReason::NotFinite));
        corners[0][0][0] = 1e300;
        assert_eq!(MovingTriangle::set_up(corners, &VIEW, 1, true), Err(CullReason::NotFinite));
    }

    #[test]
    fn sides_that_never_show_are_culled() {
        let [a, b, c] = FRONT;
        let still = |px, backs| MovingTriangle::set_up(triangle(px, [1.0, 0.0]), &VIEW, 1, backs);
        assert!(still([a, b, c], false).unwrap().faces.front);
        assert_eq!(still([a, c, b], false), Err(CullReason::Facing));
        let back = still([a, c, b], true).unwrap().faces;
        assert!(back.back && !back.front);
        assert_eq!(still([a, b, b], true), Err(CullReason::Facing), "no area");
        // The orientation changes when a corner crosses the opposite edge.
        let turning =
            [[[0.0, 0.0, 1.0]; 2], [[0.0, 4.0, 1.0]; 2], [[4.0, 0.0, 1.0], [-4.0, 0.0, 1.0]]];
        let faces = MovingTriangle::set_up(turning, &VIEW, 1, true).unwrap().faces;
        assert_eq!(faces, FaceSet::BOTH);
        assert!(!MovingTriangle::set_up(turning, &VIEW, 1, false).unwrap().faces.back);
    }
}
