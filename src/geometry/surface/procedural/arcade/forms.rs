//! Shapes of the scene ARCADE, each a map from the unit square.

use crate::surface::patches::{cross, unit};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Form {
    Flat {
        corner: [f32; 3],
        sides: [[f32; 3]; 2],
    },
    /// Half of a cylinder above its axis, seen from inside: a vault, or the underside of an arch.
    Barrel {
        /// Direction of the axis: 0 for x, 1 for y.
        axis: usize,
        start: [f32; 3],
        length: f32,
        radius: f32,
    },
    /// Wall across x with an arch cut out of its lower side.
    Spandrel {
        centre: [f32; 3],
        radius: f32,
        top: f32,
        /// 1 for a wall facing +x, -1 for -x.
        facing: f32,
    },
    Turned {
        foot: [f32; 3],
        height: f32,
        profile: Profile,
    },
    /// One of the six equal faces of a ball.
    BallFace {
        centre: [f32; 3],
        radius: f32,
        /// Axes of u and v; the third points outwards.
        axes: [[f32; 3]; 2],
    },
}

/// Radius over height, 0 to 1: `at_foot + slope * t + bulge * sin(pi t) + flare * t^2`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Profile {
    pub(super) at_foot: f32,
    pub(super) slope: f32,
    pub(super) bulge: f32,
    pub(super) flare: f32,
}

impl Profile {
    fn radius(&self, t: f32) -> f32 {
        let bulge = self.bulge * (std::f32::consts::PI * t).sin();
        self.at_foot + self.slope * t + bulge + self.flare * t * t
    }

    fn derivative(&self, t: f32) -> f32 {
        let pi = std::f32::consts::PI;
        self.slope + self.bulge * pi * (pi * t).cos() + 2.0 * self.flare * t
    }

    fn greatest(&self) -> f32 {
        let [slope, bulge, flare] = [self.slope, self.bulge, self.flare].map(|x| x.max(0.0));
        self.at_foot + slope + bulge + flare
    }
}

impl Form {
    pub(super) fn point(&self, s: f32, t: f32) -> ([f32; 3], [f32; 3]) {
        let pi = std::f32::consts::PI;
        match *self {
            Self::Flat { corner, sides } => {
                let [a, b] = sides;
                (std::array::from_fn(|k| corner[k] + s * a[k] + t * b[k]), unit(cross(a, b)))
            }
            Self::Barrel { axis, start, length, radius } => {
                // The order of the parameters makes the inside the front.
                let (along, around) = if axis == 1 { (s, t) } else { (t, s) };
                let (sin, cos) = (pi * around).sin_cos();
                let mut position = start;
                position[axis] += along * length;
                position[1 - axis] -= radius * cos;
                position[2] += radius * sin;
                let mut normal = [0.0, 0.0, -sin];
                normal[1 - axis] = cos;
                (position, normal)
            }
            Self::Spandrel { centre, radius, top, facing } => {
                let (sin, cos) = (pi * s).sin_cos();
                let arch = centre[2] + radius * sin;
                let y = centre[1] - facing * radius * cos;
                ([centre[0], y, arch + t * (top - arch)], [facing, 0.0, 0.0])
            }
            Self::Turned { foot, height, profile } => {
                let (sin, cos) = (2.0 * pi * s).sin_cos();
                let r = profile.radius(t);
                let position = [foot[0] + r * cos, foot[1] + r * sin, foot[2] + height * t];
                (position, unit([cos, sin, -profile.derivative(t) / height]))
            }
            Self::BallFace { centre, radius, axes } => {
                // Tangents of equal angles give more uniform patches than equal steps on a cube.
                let [x, y] = [s, t].map(|p| ((p - 0.5) * pi / 2.0).tan());
                let out = cross(axes[0], axes[1]);
                let away = std::array::from_fn(|k| out[k] + x * axes[0][k] + y * axes[1][k]);
                let normal = unit(away);
                (std::array::from_fn(|k| centre[k] + radius * normal[k]), normal)
            }
        }
    }

    /// Approximate lengths along both parameters in world units, for texture coordinates.
    pub(super) fn lengths(&self) -> [f32; 2] {
        let pi = std::f32::consts::PI;
        match *self {
            Self::Flat { sides, .. } => {
                sides.map(|side| side.map(|x| x * x).iter().sum::<f32>().sqrt())
            }
            Self::Barrel { axis, length, radius, .. } => match axis {
                1 => [length, pi * radius],
                _ => [pi * radius, length],
            },
            Self::Spandrel { centre, radius, top, .. } => [2.0 * radius, top - centre[2]],
            Self::Turned { height, profile, .. } => [2.0 * pi * profile.at_foot, height],
            Self::BallFace { radius, .. } => [pi / 2.0 * radius; 2],
        }
    }

    /// Distance by which the surface may leave the box around 5 x 5 points of a patch that turns by at most 90 degrees.
    pub(super) fn bulge(&self) -> f32 {
        // The rise of a quarter of a circle above four chords is 0.5 % of the radius.
        match *self {
            Self::Flat { .. } => 0.0,
            Self::Barrel { radius, .. }
            | Self::Spandrel { radius, .. }
            | Self::BallFace { radius, .. } => 0.02 * radius,
            Self::Turned { profile, .. } => 0.05 * profile.greatest(),
        }
    }

    /// True if the left and the right side coincide.
    pub(super) fn is_closed(&self) -> bool {
        matches!(self, Self::Turned { .. })
    }
}
