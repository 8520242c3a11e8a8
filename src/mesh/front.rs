//! The default view of a mesh: from its front by the convention of its format, unless that view shows
//! next to nothing of it.

use nalgebra::Vector3;

use super::upright::hull_area;

/// Up and front of a mesh, as unit vectors at right angles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Orientation {
    pub(crate) up: Vector3<f64>,
    pub(crate) front: Vector3<f64>,
}

/// Parts of up and of right in the direction to the default viewpoint, for one part of 0.87 of front: 17
/// degrees above the front and 25 beside it, so that three sides are seen.
const ABOVE: f64 = 0.3;
const BESIDE: f64 = 0.4;
const BEFORE: f64 = 0.87;
/// Share of the largest outline below which the view from the front counts as a sliver: an assumption.
const SLIVER: f64 = 0.5;

impl Orientation {
    /// Up is +y and the front is +z: so glTF says, and most OBJ and PLY files follow it.
    pub(crate) fn y_up() -> Self {
        Self {
            up: Vector3::y(),
            front: Vector3::z(),
        }
    }

    /// Up is +z and the front is -y, as in Blender, 3ds Max and most CAD programs.
    pub(crate) fn z_up() -> Self {
        Self {
            up: Vector3::z(),
            front: -Vector3::y(),
        }
    }

    /// The direction to a viewpoint after quarter turns to the right around the mesh, as high above it
    /// as the default, or 45 degrees.
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
    pub(crate) fn towards_front(&self) -> Vector3<f64> {
        self.towards(0, false)
    }

    /// The direction from the middle of a mesh to its default viewpoint: to the front and slightly above
    /// and to the right of it, unless the outline of the points there is less than half as large as from
    /// another side or from higher up; then the direction with the largest outline.
    pub(crate) fn towards_viewer(&self, points: &[[f32; 3]]) -> Vector3<f64> {
        let front = self.towards_front();
        let others = (0..4).flat_map(|k| [false, true].map(|is_high| self.towards(k, is_high)));
        let areas = others.map(|direction| (direction, outline(points, &direction, &self.up)));
        // Of equal outlines the first one is taken.
        let largest = areas.fold(
            (front, 0.0),
            |best, next| if next.1 > best.1 { next } else { best },
        );
        let is_sliver = outline(points, &front, &self.up) < SLIVER * largest.1;
        if is_sliver { largest.0 } else { front }
    }
}

/// Area of the convex hull of points seen from far away in a direction.
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

    fn cuboid([x, y, z]: [f32; 3]) -> Vec<[f32; 3]> {
        let corner = |k: u8| {
            let end = |axis: u8, length| if k >> axis & 1 == 1 { length } else { 0.0 };
            [end(0, x), end(1, y), end(2, z)]
        };
        (0..8).map(corner).collect()
    }

    #[test]
    fn the_front_is_seen_unless_it_is_a_sliver() {
        let conventional = Vector3::new(0.4, 0.3, 0.87);
        for size in [[1.0, 1.0, 1.0], [2.0, 1.0, 0.1], [0.5, 3.0, 0.5], [0.0; 3]] {
            let towards = Orientation::y_up().towards_viewer(&cuboid(size));
            assert!(
                (towards - conventional).amax() < 1e-12,
                "{size:?}: {towards:?}"
            );
        }
        let towards = Orientation::z_up().towards_viewer(&cuboid([1.0; 3]));
        assert!((towards - Vector3::new(0.4, -0.87, 0.3)).amax() < 1e-12);
        // A floor, which a view from higher up shows better.
        let towards = Orientation::y_up().towards_viewer(&cuboid([10.0, 0.0, 2.0]));
        assert!(
            (towards.y - towards.xz().norm()).abs() < 1e-12,
            "{towards:?}"
        );
        // A wall seen edge on.
        let towards = Orientation::y_up().towards_viewer(&cuboid([0.0, 2.0, 9.0]));
        assert!(towards.x.abs() > towards.z.abs(), "{towards:?}");
    }
}
