//! The default view of a mesh: from its front by the convention of its format, unless that view shows
//! next to nothing of it, or its format has no such convention and its side shows more.

use nalgebra::Vector3;

use super::mirror::{MIRRORED, mirrored_share};
use super::upright::hull_area;

/// Up and front of a mesh, as unit vectors at right angles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeshOrientation {
    /// Unit vector that points up.
    pub up: Vector3<f64>,
    /// Unit vector from the subject's centre towards its front.
    pub front: Vector3<f64>,
}

/// Up and right parts of the default view's direction, for 0.87 of front: 17 degrees above, 25 beside, three sides.
const ABOVE: f64 = 0.3;
const BESIDE: f64 = 0.4;
const BEFORE: f64 = 0.87;
/// A view is blank below this share of the largest drawn area: an assumption.
const BLANK: f64 = 0.05;
/// The front view is a sliver below this share of the largest outline: an assumption.
const SLIVER: f64 = 0.5;
/// Least ratio of side to front outline for a profile view of a mesh with a left and a right: an assumption.
const PROFILE: f64 = 1.1;

impl MeshOrientation {
    /// Up is +y and the front is +z: so glTF says, and most OBJ and PLY files follow it.
    pub fn y_up() -> Self {
        Self { up: Vector3::y(), front: Vector3::z() }
    }

    /// Up is +z and the front is -y, as in Blender, 3ds Max and most CAD programs.
    pub fn z_up() -> Self {
        Self { up: Vector3::z(), front: -Vector3::y() }
    }

    /// Direction after quarter turns to the right, as high as the default or at 45 degrees.
    fn towards(&self, quarters: usize, is_high: bool) -> Vector3<f64> {
        let right = self.up.cross(&self.front);
        let [front, right] = match quarters % 4 {
            0 => [self.front, right],
            1 => [right, -self.front],
            2 => [-self.front, -right],
            _ => [-right, self.front],
        };
        let level = front * BEFORE + right * BESIDE;
        let height = if is_high { level.norm() } else { ABOVE };
        level + self.up * height
    }

    /// The direction to a viewpoint before the front, slightly above and to the right of it.
    pub fn towards_front(&self) -> Vector3<f64> {
        self.towards(0, false)
    }

    /// Direction from beside the mesh, slightly above, equally far from front and back.
    fn towards_profile(&self) -> Vector3<f64> {
        self.right() * BEFORE.hypot(BESIDE) + self.up * ABOVE
    }

    fn right(&self) -> Vector3<f64> {
        self.up.cross(&self.front)
    }

    /// The direction from the middle of a mesh to its default viewpoint: to the front and slightly above
    /// and to the right of it, unless the outline of the points there is less than half as large as from
    /// another side or from higher up; then the direction with the largest outline.
    ///
    /// A format that does not state a front (`is_stated`) leaves open which end of an animal or a vehicle is its front. If
    /// its left mirrors its right and it is longer than wide, it is shown in profile, which is right for both.
    pub fn towards_viewer(&self, points: &[[f32; 3]], is_stated: bool) -> Vector3<f64> {
        let front = self.towards_front();
        let others = (0..4).flat_map(|k| [false, true].map(|is_high| self.towards(k, is_high)));
        let largest = largest(front, others, |d| outline(points, d, &self.up));
        if outline(points, &front, &self.up) < SLIVER * largest.1 {
            largest.0
        } else if !is_stated
            && self.is_long(points)
            && mirrored_share(points, self.right()) >= MIRRORED
        {
            self.towards_profile()
        } else {
            front
        }
    }

    /// The direction `towards` a viewpoint, unless next to nothing is drawn from there because surfaces turn their backs
    /// to it; then the direction with the largest drawn area of twelve around the mesh, also from below. `faces` holds
    /// normals whose lengths are areas, and whether the backs are drawn.
    pub fn towards_fronts(
        &self,
        towards: Vector3<f64>,
        faces: &[(Vector3<f64>, bool)],
    ) -> Vector3<f64> {
        let drawn = |direction: &Vector3<f64>| {
            let areas = faces.iter().map(|(normal, has_back)| {
                let area = normal.dot(direction);
                if *has_back { area.abs() } else { area.max(0.0) }
            });
            areas.sum::<f64>() / direction.norm()
        };
        let others = (0..4).flat_map(|k| {
            let [low, high] = [false, true].map(|is_high| self.towards(k, is_high));
            [low, high, high - self.up * (2.0 * self.up.dot(&high))]
        });
        let most = largest(towards, others, drawn);
        if drawn(&towards) < BLANK * most.1 { most.0 } else { towards }
    }

    fn is_long(&self, points: &[[f32; 3]]) -> bool {
        let [side, front] = [self.right(), self.front].map(|d| outline(points, &d, &self.up));
        side > PROFILE * front
    }
}

/// First direction with the largest area, and the area; `first` with 0 if there is none.
fn largest(
    first: Vector3<f64>,
    others: impl Iterator<Item = Vector3<f64>>,
    area: impl Fn(&Vector3<f64>) -> f64,
) -> (Vector3<f64>, f64) {
    let areas = others.map(|direction| (direction, area(&direction)));
    areas.fold((first, 0.0), |best, next| if next.1 > best.1 { next } else { best })
}

/// Area of the convex hull of points, seen from far away.
fn outline(points: &[[f32; 3]], towards: &Vector3<f64>, up: &Vector3<f64>) -> f64 {
    let right = up.cross(towards).normalize();
    let above = towards.cross(&right).normalize();
    let seen = points.iter().map(|p| {
        let p = Vector3::from(p.map(f64::from));
        [p.dot(&right), p.dot(&above)]
    });
    hull_area(seen.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_surface_is_shown_from_its_front() {
        let orientation = MeshOrientation::y_up();
        let front = orientation.towards_front();
        let seen = |normal: [f64; 3], has_back| {
            orientation.towards_fronts(front, &[(Vector3::from(normal), has_back)])
        };
        assert_eq!(seen([0.0, 0.0, 1.0], false), front);
        assert!(seen([0.0, 0.0, -1.0], false).z < 0.0);
        assert_eq!(seen([0.0, 0.0, -1.0], true), front);
        assert!(seen([0.0, -1.0, 0.0], false).y < 0.0);
        assert_eq!(orientation.towards_fronts(front, &[]), front);
    }
}
