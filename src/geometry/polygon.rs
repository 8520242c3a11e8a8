//! Triangulation of the faces of a mesh.

use earcut::Earcut;
use nalgebra::Vector3;

use super::files::{Corner, Mesh};

/// Corners above which concave faces are not cut along their outline (assumed). Bounds the time of a hostile file,
/// since the search for cuts is quadratic in the worst case.
pub(crate) const MAX_CONCAVE_CORNERS: usize = 4096;

#[derive(Default)]
pub(super) struct PolygonCutter {
    earcut: Earcut<f64>,
    outline: Vec<[f64; 2]>,
    cuts: Vec<u32>,
}

impl PolygonCutter {
    /// Visits the triangles of a face, as indices of its corners.
    ///
    /// A convex face becomes a fan around its first corner, as in GPU drivers and most tools. A concave face is cut along
    /// its outline, projected along its mean normal, so that the area of a flat face does not depend on its first corner.
    /// Faces without area and concave faces of more than [`MAX_CONCAVE_CORNERS`] corners become fans too.
    pub(super) fn triangles(
        &mut self,
        mesh: &Mesh,
        corners: &[Corner],
        mut visit: impl FnMut([usize; 3]),
    ) {
        let count = corners.len();
        if count > 3 && count <= MAX_CONCAVE_CORNERS && self.project(mesh, corners) {
            self.earcut.earcut(self.outline.iter().copied(), &[], &mut self.cuts);
            if self.cuts.len() == 3 * (count - 2) {
                for cut in self.cuts.chunks_exact(3) {
                    visit([cut[0], cut[1], cut[2]].map(|k| k as usize));
                }
                return;
            }
        }
        (2..count).for_each(|k| visit([0, k - 1, k]));
    }

    /// Projects a face along the axis nearest to its mean normal, counter-clockwise. Returns true for a concave outline.
    fn project(&mut self, mesh: &Mesh, corners: &[Corner]) -> bool {
        let at = |k: usize| {
            let position = mesh.positions[corners[k % corners.len()].position as usize];
            Vector3::from(position.map(f64::from))
        };
        let origin = at(0);
        let spokes = (1..corners.len()).map(|k| (at(k) - origin, at(k + 1) - origin));
        let normal: Vector3<f64> = spokes.map(|(a, b)| a.cross(&b)).sum();
        let axis = normal.iamax();
        let [mut across, mut up] = [(axis + 1) % 3, (axis + 2) % 3];
        if normal[axis] < 0.0 {
            std::mem::swap(&mut across, &mut up);
        }
        self.outline.clear();
        self.outline.extend((0..corners.len()).map(|k| at(k) - origin).map(|p| [p[across], p[up]]));
        is_concave(&self.outline)
    }
}

fn is_concave(outline: &[[f64; 2]]) -> bool {
    let count = outline.len();
    (0..count).any(|k| {
        let [a, b, c] = [k, k + 1, k + 2].map(|k| outline[k % count]);
        (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]) < 0.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::NONE;

    /// Twice the area of each triangle of a polygon in the plane z = 0, whose outline starts at corner `first`.
    fn areas(outline: &[[f32; 2]], first: usize) -> Vec<f64> {
        let mesh = Mesh {
            positions: outline.iter().map(|&[x, y]| [x, y, 0.0]).collect(),
            ..Mesh::default()
        };
        let corner = |k: usize| Corner {
            position: u32::try_from((first + k) % outline.len()).unwrap(),
            uv: NONE,
            normal: NONE,
            colour: NONE,
        };
        let corners: Vec<_> = (0..outline.len()).map(corner).collect();
        let mut found = Vec::new();
        PolygonCutter::default().triangles(&mesh, &corners, |triangle| {
            let [a, b, c] = triangle.map(|k| {
                let [x, y] = outline[corners[k].position as usize].map(f64::from);
                Vector3::new(x, y, 0.0)
            });
            found.push((b - a).cross(&(c - a)).z);
        });
        found
    }

    #[test]
    fn a_concave_face_covers_its_area_once_from_any_corner() {
        // An arrowhead of area 4, and the letter L of area 3.
        let arrow = [[0.0, 0.0], [4.0, 0.0], [2.0, 1.0], [2.0, 3.0]];
        let l = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]];
        for (outline, area) in [(&arrow[..], 4.0), (&l[..], 3.0)] {
            for first in 0..outline.len() {
                let found = areas(outline, first);
                assert_eq!(found.len(), outline.len() - 2);
                assert!(found.iter().all(|&a| a >= 0.0), "{first}: {found:?}");
                assert!((found.iter().sum::<f64>() - 2.0 * area).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn a_convex_face_is_a_fan() {
        assert_eq!(areas(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], 0), [1.0, 1.0]);
        // A corner on an edge is not concave.
        let flat = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 2.0]];
        assert_eq!(areas(&flat, 0), [0.0, 4.0]);
    }

    #[test]
    fn faces_without_area_and_crossed_ones_keep_their_number_of_triangles() {
        let line = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]];
        let crossed = [[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]];
        let [line, crossed] = [line, crossed].map(|outline| areas(&outline, 0));
        assert_eq!((line.len(), crossed.len()), (2, 2));
    }
}
