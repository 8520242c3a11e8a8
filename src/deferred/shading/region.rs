//! Region of the picture that the shading grid of a triangle covers.

use super::grid_view::{GridView, SUBPIXELS};
use quadrille_geometry::camera::HomogeneousPoint;
use quadrille_mesh::clip::clip;

/// Smallest height of a region in pixels: in lower regions, rounding moves shading points off the triangle.
const LEAST_HEIGHT_PX: f64 = 1.0 / 1024.0;
/// Largest side in pixels of a region that is not clipped.
const MOST_PX: f64 = 65_536.0;

/// Bounding rectangle of a triangle on the picture at one instant, along two perpendicular directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Region {
    /// Column and row in pixels from the picture's centre times `Z`, and `Z`.
    pub(super) corners: [[f32; 3]; 3],
    /// Distance of the near plane if a part of the triangle is nearer; otherwise 0.
    pub(super) near: f32,
    /// Smallest coordinates along the two directions, in pixels from the picture's centre.
    pub(super) least: [f64; 2],
    pub(super) greatest: [f64; 2],
    /// Whether the rectangle covers only the part beyond the near plane and around the picture.
    is_clipped: bool,
}

impl Region {
    /// Region at the first instant at which the triangle is entirely beyond the near plane and not seen edge on, or else at
    /// the first instant at which a part of it is; `None` if there is no such instant. Regions too large for a grid and
    /// regions of parts are clipped around the picture. `basis` holds the unit directions.
    pub(super) fn first(
        mut instants: impl Iterator<Item = [[f32; 3]; 3]> + Clone,
        view: &GridView,
        basis: [[f64; 2]; 2],
    ) -> Option<Self> {
        let mut again = instants.clone();
        let clipped = |corners| Self::clipped(corners, view, basis);
        match instants.find_map(|corners| Self::whole(corners, view, basis)) {
            Some(whole) if whole.is_large() => clipped(whole.corners).or(Some(whole)),
            None => again.find_map(clipped),
            whole => whole,
        }
    }

    fn whole(corners: [[f32; 3]; 3], view: &GridView, basis: [[f64; 2]; 2]) -> Option<Self> {
        if corners.iter().any(|p| p[2] < view.near) {
            return None;
        }
        Self::around(corners, 0.0, &places(corners), basis)
    }

    fn clipped(corners: [[f32; 3]; 3], view: &GridView, basis: [[f64; 2]; 2]) -> Option<Self> {
        let near = if corners.iter().any(|p| p[2] < view.near) { view.near } else { 0.0 };
        let region = Self::around(corners, near, &clipped_polygon(corners, view), basis)?;
        Some(Self { is_clipped: true, ..region })
    }

    /// Bounding rectangle of a polygon; `None` if it is too thin.
    fn around(
        corners: [[f32; 3]; 3],
        near: f32,
        polygon: &[[f64; 2]],
        basis: [[f64; 2]; 2],
    ) -> Option<Self> {
        if height_px(polygon) < LEAST_HEIGHT_PX {
            return None;
        }
        let subpixels = f64::from(SUBPIXELS);
        let (mut least, mut greatest) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for place in polygon {
            let [x, y] = place.map(|v| (v * subpixels).round() / subpixels);
            for (k, [a, b]) in basis.into_iter().enumerate() {
                let along = a * x + b * y;
                least[k] = least[k].min(along);
                greatest[k] = greatest[k].max(along);
            }
        }
        Some(Self { corners, near, least, greatest, is_clipped: false })
    }

    pub(super) fn polygon(&self, view: &GridView) -> Vec<[f64; 2]> {
        if self.is_clipped {
            clipped_polygon(self.corners, view)
        } else {
            places(self.corners).to_vec()
        }
    }

    /// Bounding rectangle of a part of the triangle along other directions; `None` if it is too thin.
    pub(super) fn within(&self, part: &[[f64; 2]], basis: [[f64; 2]; 2]) -> Option<Self> {
        Self::around(self.corners, self.near, part, basis)
    }

    pub(super) fn size(&self) -> [f64; 2] {
        [0, 1].map(|k| self.greatest[k] - self.least[k])
    }

    fn is_large(&self) -> bool {
        self.size().iter().any(|side| *side > MOST_PX)
    }
}

fn places(corners: [[f32; 3]; 3]) -> [[f64; 2]; 3] {
    corners.map(|[x, y, z]| [x, y].map(|v| f64::from(v) / f64::from(z)))
}

fn clipped_polygon(corners: [[f32; 3]; 3], view: &GridView) -> Vec<[f64; 2]> {
    let points = corners.map(|p| {
        let [xz, yz, z] = p.map(f64::from);
        HomogeneousPoint { xz, yz, z }
    });
    clip(points, view.near.into(), view.reach_px).iter().map(|p| [p.xz / p.z, p.yz / p.z]).collect()
}

/// Height of a triangle with the area and the longest side of the polygon; 0 for an empty polygon.
fn height_px(polygon: &[[f64; 2]]) -> f64 {
    let mut twice_area = 0.0;
    let mut longest = 0.0_f64;
    for (k, to) in polygon.iter().enumerate() {
        let from = &polygon[(k + polygon.len() - 1) % polygon.len()];
        longest = longest.max((to[0] - from[0]).hypot(to[1] - from[1]));
        if k >= 2 {
            let [a, b, c] = [&polygon[0], from, to];
            twice_area += (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        }
    }
    if longest > 0.0 { twice_area.abs() / longest } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::lens::LensShear;
    use crate::shading::grid_view::GridRule;

    const VIEW: GridView = GridView {
        rule: GridRule::Pixel,
        shear: LensShear { a: [0.0; 2], b: [0.0; 2] },
        near: 0.5,
        centre: [32.0, 16.0],
        reach_px: 96.0,
    };
    const AXES: [[f64; 2]; 2] = [[1.0, 0.0], [0.0, 1.0]];
    const DIAGONALS: [[f64; 2]; 2] = [[0.6, 0.8], [-0.8, 0.6]];

    fn region(instants: &[[[f32; 3]; 3]], basis: [[f64; 2]; 2]) -> Option<Region> {
        Region::first(instants.iter().copied(), &VIEW, basis)
    }

    const FRONT: [[f32; 3]; 3] = [[-20.0, 8.0, 2.0], [40.0, 40.0, 4.0], [0.0, -6.0, 3.0]];
    const FLOOR: [[f32; 3]; 3] = [[-500.0, 10.0, -20.0], [500.0, 10.0, -20.0], [0.0, 10.0, 10.0]];

    #[test]
    fn regions_are_bounding_rectangles_in_two_directions() {
        let found = region(&[FRONT], AXES).unwrap();
        assert_eq!((found.corners, found.near), (FRONT, 0.0));
        assert_eq!([found.least, found.greatest], [[-10.0, -2.0], [10.0, 10.0]]);
        // The positions (-10, 4), (10, 10) and (0, -2).
        let turned = region(&[FRONT], DIAGONALS).unwrap();
        let expected = [[-2.8, -2.0], [14.0, 10.4]];
        for (found, expected) in [turned.least, turned.greatest].iter().zip(expected) {
            assert!((0..2).all(|k| (found[k] - expected[k]).abs() < 1e-9), "{turned:?}");
        }
    }

    #[test]
    fn the_first_instant_in_front_counts_then_the_first_in_part() {
        let edge_on = [[0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [4.0, 4.0, 2.0]];
        let behind = FRONT.map(|[x, y, z]| [x, y, -z]);
        assert_eq!(region(&[FLOOR, FRONT], AXES).unwrap().corners, FRONT);
        assert_eq!(region(&[edge_on, FLOOR], AXES).unwrap().corners, FLOOR);
        assert_eq!(region(&[edge_on, behind], AXES), None);
    }

    #[test]
    fn a_part_reaches_from_the_horizon_to_the_clip_below_the_picture() {
        let found = region(&[FLOOR], AXES).unwrap();
        assert_eq!((found.corners, found.near), (FLOOR, 0.5));
        // The farthest corner appears at row 1, and the near plane at row 20.
        assert_eq!([found.least[1], found.greatest[1]], [1.0, 20.0]);
        // There, the floor is wider than the clipping distance.
        assert_eq!([found.least[0], found.greatest[0]], [-96.0, 96.0]);
    }

    #[test]
    fn large_triangles_are_clipped_around_the_picture() {
        let large = [[-1e6, -10.0, 1.0], [1e6, -10.0, 1.0], [0.0, 1e5, 1.0]];
        let found = region(&[large], AXES).unwrap();
        assert_eq!(found.near, 0.0);
        assert_eq!([found.least, found.greatest], [[-96.0, -10.0], [96.0; 2]]);
        // A triangle outside the clipping distance is not clipped.
        let beside = large.map(|[x, y, z]| [x, y + 200.0, z]);
        assert_eq!(region(&[beside], AXES).unwrap().size(), [2e6, 100_010.0]);
    }
}
