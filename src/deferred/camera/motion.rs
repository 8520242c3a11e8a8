//! Rigid motion of the camera and of draws while the shutter is open, from time 0 to 1.

use std::ops::Range;

use nalgebra::{Matrix3, Rotation3, Unit, Vector3};

use quadrille_base::error::{Error, Result};
use quadrille_scene::Camera;

/// Rotation about a fixed axis at a constant rate, plus a displacement at a constant velocity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RigidMotion {
    /// Displacement from time 0 to 1, in world units.
    pub displacement: Vector3<f64>,
    /// Axis of the rotation times its angle from time 0 to 1, in radians.
    pub rotation: Vector3<f64>,
    /// Point on the axis of the rotation.
    pub centre: Vector3<f64>,
}

impl RigidMotion {
    /// Motion of a still draw.
    pub const NONE: Self = Self {
        displacement: Vector3::new(0.0, 0.0, 0.0),
        rotation: Vector3::new(0.0, 0.0, 0.0),
        centre: Vector3::new(0.0, 0.0, 0.0),
    };

    /// Whether displacement and rotation are exactly zero.
    pub fn is_none(&self) -> bool {
        self.displacement == Vector3::zeros() && self.rotation == Vector3::zeros()
    }

    /// Placement at a time from 0 to 1.
    pub fn until(&self, time: f64) -> Placement {
        Placement {
            rotation: turned(self.rotation, time),
            centre: self.centre,
            displacement: self.displacement * time,
        }
    }
}

/// Position and orientation of a draw at one time, relative to time 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    rotation: Matrix3<f64>,
    centre: Vector3<f64>,
    displacement: Vector3<f64>,
}

impl Placement {
    /// Moves a point of the draw from its position at time 0.
    #[inline]
    pub fn point(&self, p: Vector3<f64>) -> Vector3<f64> {
        self.rotation * (p - self.centre) + self.centre + self.displacement
    }

    /// Rotates a direction, which the displacement does not affect.
    #[inline]
    pub fn direction(&self, d: Vector3<f64>) -> Vector3<f64> {
        self.rotation * d
    }
}

/// Matrix of a rotation vector times `share`; exactly the identity for no rotation.
fn turned(rotation: Vector3<f64>, share: f64) -> Matrix3<f64> {
    let angle = rotation.norm() * share;
    match Unit::try_new(rotation, 0.0) {
        Some(axis) if angle != 0.0 => *Rotation3::from_axis_angle(&axis, angle).matrix(),
        _ => Matrix3::identity(),
    }
}

/// Motion of the camera from time 0 to 1, at a constant rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CameraMotion {
    /// Displacement from time 0 to 1 in the world, in world units.
    pub displacement: Vector3<f64>,
    /// Rotation of the world in view space (x right, y down, z forward) from time 0 to 1: axis times angle in radians.
    /// The camera itself turns the opposite way.
    pub rotation: Vector3<f64>,
}

impl CameraMotion {
    /// Motion of a still camera.
    pub const NONE: Self =
        Self { displacement: Vector3::new(0.0, 0.0, 0.0), rotation: Vector3::new(0.0, 0.0, 0.0) };

    /// Motion over the fraction `shutter` of the way between two cameras; the focal length remains as in `from`.
    pub fn towards(from: &Camera, to: &Camera, shutter: f64) -> Self {
        let relative = to.view_from_world * from.view_from_world.transpose();
        let relative = Rotation3::from_matrix(&relative);
        Self {
            displacement: (eye(to) - eye(from)) * shutter,
            rotation: relative.scaled_axis() * shutter,
        }
    }

    /// Creates a motion from a displacement along the camera's own axes (right, down, forward), in world units, and a turn
    /// of the camera in degrees: to the right, up, and clockwise about the view axis.
    pub fn in_view(from: &Camera, displacement: [f64; 3], turn_degrees: [f64; 3]) -> Self {
        let [yaw, pitch, roll] = turn_degrees.map(f64::to_radians);
        // The world rotates opposite to the camera; y points down.
        let turn = Rotation3::from_axis_angle(&Vector3::z_axis(), -roll)
            * Rotation3::from_axis_angle(&Vector3::x_axis(), -pitch)
            * Rotation3::from_axis_angle(&Vector3::y_axis(), -yaw);
        Self {
            displacement: from.view_from_world.transpose() * Vector3::from(displacement),
            rotation: turn.scaled_axis(),
        }
    }

    /// Superposes two motions: displacements and rotation vectors add.
    pub fn and(&self, other: &Self) -> Self {
        Self {
            displacement: self.displacement + other.displacement,
            rotation: self.rotation + other.rotation,
        }
    }

    /// Returns `camera` at a time from 0 to 1.
    pub fn camera_at(&self, camera: &Camera, time: f64) -> Camera {
        if time == 0.0 || *self == Self::NONE {
            return camera.clone();
        }
        let view_from_world = turned(self.rotation, time) * camera.view_from_world;
        let eye = eye(camera) + self.displacement * time;
        Camera { view_from_world, translation_in_view: -(view_from_world * eye), ..camera.clone() }
    }
}

fn eye(camera: &Camera) -> Vector3<f64> {
    -(camera.view_from_world.transpose() * camera.translation_in_view)
}

/// Motion of the camera and of all draws in a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct SceneMotion {
    /// Motion of the camera; [`CameraMotion::NONE`] for a still camera.
    pub camera: CameraMotion,
    /// Motion of ranges of draws. The first range that contains a draw applies; other draws are still.
    pub draws: Vec<(Range<u32>, RigidMotion)>,
}

impl SceneMotion {
    /// Still camera, still draws.
    pub const NONE: Self = Self { camera: CameraMotion::NONE, draws: Vec::new() };

    /// Motion of a draw, by its index.
    pub fn of(&self, draw: u32) -> RigidMotion {
        let found = self.draws.iter().find(|(range, _)| range.contains(&draw));
        found.map_or(RigidMotion::NONE, |(_, motion)| *motion)
    }

    /// Checks that all numbers are finite.
    pub fn validate(&self) -> Result<()> {
        let camera = [self.camera.displacement, self.camera.rotation];
        let draws = self.draws.iter().flat_map(|(_, m)| [m.displacement, m.rotation, m.centre]);
        let named = camera.into_iter().map(|v| ("motion of the camera", v));
        for (what, v) in named.chain(draws.map(|v| ("motion of draws", v))) {
            if !v.iter().all(|c| c.is_finite()) {
                return Err(Error::argument(what, "finite numbers", format!("{v:?}")));
            }
        }
        Ok(())
    }

    /// Largest rotation angle in radians. Vertices move along chords, a poor approximation of arcs from a quarter turn on.
    pub fn largest_turn(&self) -> f64 {
        let draws = self.draws.iter().map(|(_, m)| m.rotation.norm());
        draws.fold(self.camera.rotation.norm(), f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadrille_scene::Intrinsics;

    fn camera(turn: f64, eye: Vector3<f64>) -> Camera {
        let rotation = *Rotation3::from_axis_angle(&Vector3::y_axis(), turn).matrix();
        let lens = Intrinsics::from_vertical_fov(64, 36, 1.0);
        Camera::new("test", lens, rotation, -(rotation * eye)).unwrap()
    }

    #[test]
    fn the_whole_way_ends_at_the_next_camera() {
        let from = camera(0.2, Vector3::new(1.0, 2.0, 3.0));
        let to = camera(-0.5, Vector3::new(-1.0, 2.5, 0.0));
        let motion = CameraMotion::towards(&from, &to, 1.0);
        let end = motion.camera_at(&from, 1.0);
        assert!((end.view_from_world - to.view_from_world).amax() < 1e-12);
        assert!((end.translation_in_view - to.translation_in_view).amax() < 1e-12);
        assert_eq!(motion.camera_at(&from, 0.0), from);
        let half = CameraMotion::towards(&from, &to, 0.5).camera_at(&from, 1.0);
        let middle = motion.camera_at(&from, 0.5);
        assert!((half.view_from_world - middle.view_from_world).amax() < 1e-12);
    }

    #[test]
    fn a_camera_that_turns_right_sees_the_world_move_left() {
        let from = camera(0.0, Vector3::zeros());
        let end = CameraMotion::in_view(&from, [0.0; 3], [10.0, 0.0, 0.0]).camera_at(&from, 1.0);
        let ahead = end.view_from_world * Vector3::new(0.0, 0.0, 1.0);
        assert!(ahead.x < -0.1 && ahead.z > 0.9, "{ahead:?}");
        let end = CameraMotion::in_view(&from, [0.0; 3], [0.0, 10.0, 0.0]).camera_at(&from, 1.0);
        let ahead = end.view_from_world * Vector3::new(0.0, 0.0, 1.0);
        assert!(ahead.y > 0.1, "up is -y: the world moves down: {ahead:?}");
    }

    #[test]
    fn draws_move_by_their_first_range() {
        let spin = RigidMotion {
            displacement: Vector3::new(0.0, 0.0, 2.0),
            rotation: Vector3::new(0.0, 0.0, std::f64::consts::FRAC_PI_2),
            centre: Vector3::new(1.0, 0.0, 0.0),
        };
        let motion = SceneMotion {
            camera: CameraMotion::NONE,
            draws: vec![(3..5, spin), (4..9, RigidMotion::NONE)],
        };
        assert!(motion.of(2).is_none() && motion.of(6).is_none());
        let p = motion.of(4).until(1.0).point(Vector3::new(2.0, 0.0, 0.0));
        assert!((p - Vector3::new(1.0, 1.0, 2.0)).amax() < 1e-12, "{p:?}");
        let still = RigidMotion::NONE.until(0.7).point(Vector3::new(0.1, 0.2, 0.3));
        assert_eq!(still, Vector3::new(0.1, 0.2, 0.3));
        assert!((motion.largest_turn() - std::f64::consts::FRAC_PI_2).abs() < 1e-12);
        let wild = RigidMotion { displacement: Vector3::new(f64::NAN, 0.0, 0.0), ..spin };
        let wild = SceneMotion { camera: CameraMotion::NONE, draws: vec![(0..1, wild)] };
        assert!(wild.validate().is_err());
    }
}
