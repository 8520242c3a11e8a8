//! Default view of a mesh: its front by the convention of the format, unless that view shows almost nothing of
//! the mesh, or the format has no such convention and the side of the mesh shows more.

use nalgebra::Vector3;

use super::mirror::{MIRRORED, mirrored_share};
use super::upright::hull_area;

/// Up and front directions of a mesh, as unit vectors at right angles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeshOrientation {
    /// Unit vector that points up.
    pub up: Vector3<f64>,
    /// Unit vector from the subject's centre towards its front.
    pub front: Vector3<f64>,
}

/// Components of the default direction: up, right and front. It is 17 degrees above and 25 degrees beside the front.
const ABOVE: f64 = 0.3;
const BESIDE: f64 = 0.4;
const BEFORE: f64 = 0.87;
/// Share of the largest drawn area below which a view is blank (assumed).
const BLANK: f64 = 0.05;
/// Share of the largest outline below which the front view is a sliver (assumed).
const SLIVER: f64 = 0.5;
/// Least ratio of side to front outline for a profile view of a symmetric mesh (assumed).
const PROFILE: f64 = 1.1;

impl MeshOrientation {
    /// Up is +y and the front is +z, as in glTF and in most OBJ and PLY files.
    pub fn y_up() -> Self {
        Self { up: Vector3::y(), front: Vector3::z() }
    }

    /// Up is +z and the front is -y, as in Blender, 3ds Max and most CAD programs.
    pub fn z_up() -> Self {
        Self { up: Vector3::z(), front: -Vector3::y() }
    }

    /// Default direction after `quarters` quarter turns to the right; raised to 45 degrees if `is_high`.
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

    /// Direction from the subject to a viewpoint in front of it, slightly above and to the right.
    pub fn towards_front(&self) -> Vector3<f64> {
        self.towards(0, false)
    }

    /// Direction from the subject to a viewpoint at its right side, slightly above.
    fn towards_profile(&self) -> Vector3<f64> {
        self.right() * BEFORE.hypot(BESIDE) + self.up * ABOVE
    }

    fn right(&self) -> Vector3<f64> {
        self.up.cross(&self.front)
    }

    /// Direction from the middle of a mesh to its default viewpoint: [`Self::towards_front`], unless the outline of the
    /// points is more than twice as large from another side or from higher up; then the direction with the largest outline.
    ///
    /// If the format does not state a front (`is_stated`), either end of an animal or a vehicle may be the front. A mesh
    /// that is symmetric and longer than wide is then shown in profile, which suits both cases.
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

    /// Returns `towards`, the direction to a viewpoint, unless almost nothing is drawn from there because surfaces turn
    /// their backs to it; then the one of twelve directions around the mesh, also from below, with the largest drawn area.
    /// `faces` are normals with the areas as lengths, and whether backs are drawn.
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

/// First of the `others` with the largest area, and that area; `first` and 0 if no area is above 0.
fn largest(
    first: Vector3<f64>,
    others: impl Iterator<Item = Vector3<f64>>,
    area: impl Fn(&Vector3<f64>) -> f64,
) -> (Vector3<f64>, f64) {
    let areas = others.map(|direction| (direction, area(&direction)));
    areas.fold((first, 0.0), |best, next| if next.1 > best.1 { next } else { best })
}

/// Area of the convex hull of points, seen from far away in the direction `towards`.
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
