//! Candidate cameras: around the main content of a scene, and inside the scene.

use nalgebra::{Unit, UnitQuaternion, Vector3};

use super::upright;
use quadrille_base::{Result, Task};
use quadrille_scene::Splats;
use quadrille_scene::cameras::{FramingTarget, weighted_quantiles, weighted_samples};

/// Number of eyes in a ring around the content, and of directions from an eye inside.
const AZIMUTHS: u32 = 8;
/// Elevations of the rings, in degrees above the target.
const ELEVATIONS: [f64; 3] = [6.0, 18.0, 32.0];
/// Distances of the rings, as factors on the distance that shows the whole content.
const DISTANCES: [f64; 3] = [0.6, 0.8, 1.0];
/// Quantiles of the content at which eyes inside stand, along the two level axes.
const LEVEL_SHARES: [f64; 5] = [0.06, 0.28, 0.5, 0.72, 0.94];
/// Quantiles of the content at which eyes inside stand, along up.
const HEIGHT_SHARES: [f64; 2] = [0.45, 0.7];
/// Pitch of cameras inside, in degrees: slightly down, towards the floor.
const PITCH_DEGREES: f64 = -6.0;

#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) eye: Vector3<f64>,
    pub(super) forward: Vector3<f64>,
    pub(super) group: usize,
    pub(super) is_inside: bool,
}

pub(super) struct Extent {
    pub(super) target: FramingTarget,
    /// Unit vector that points up; `level` has two horizontal unit vectors.
    pub(super) up: Vector3<f64>,
    level: [Vector3<f64>; 2],
    /// Coordinates of eyes inside along the two level directions and along up.
    positions: [Vec<f64>; 3],
}

impl Extent {
    /// Measures a scene with its main content. `up`, of any length, and `target` override the derived values.
    pub(super) fn of(
        splats: &Splats,
        mut content: FramingTarget,
        up: Option<Vector3<f64>>,
        default_up: Vector3<f64>,
        target: Option<Vector3<f64>>,
        task: &Task,
    ) -> Result<Self> {
        let up = up.and_then(|up| up.try_normalize(0.0));
        let up = up.map_or_else(|| upright::up(splats, default_up, task), Ok)?;
        let right = up.cross(&Vector3::ith(up.iamin(), 1.0)).normalize();
        let level = [right, right.cross(&up)];
        let samples = weighted_samples(splats);
        let along = |axis: Vector3<f64>, shares: &[f64]| {
            task.check()?;
            let values = samples.iter().map(|(p, w)| (p.dot(&axis), *w));
            Ok(weighted_quantiles(values, shares))
        };
        let positions = [
            along(level[0], &LEVEL_SHARES)?,
            along(level[1], &LEVEL_SHARES)?,
            along(up, &HEIGHT_SHARES)?,
        ];
        content.centre = target.unwrap_or(content.centre);
        Ok(Self { target: content, up, level, positions })
    }

    /// Cameras around the target and inside the scene; `distance` shows all content. All look at a fixed target.
    pub(super) fn candidates(&self, distance: f64, is_fixed: bool) -> Vec<Candidate> {
        let mut candidates = self.rings(distance);
        candidates.extend(self.inside(ELEVATIONS.len() * DISTANCES.len(), is_fixed));
        candidates
    }

    fn azimuth(&self, index: u32, offset: f64) -> Vector3<f64> {
        let angle = std::f64::consts::TAU * (f64::from(index) + offset) / f64::from(AZIMUTHS);
        self.level[0] * angle.cos() + self.level[1] * angle.sin()
    }

    fn rings(&self, distance: f64) -> Vec<Candidate> {
        let mut all = Vec::new();
        for (e, elevation) in ELEVATIONS.iter().enumerate() {
            let (sin, cos) = elevation.to_radians().sin_cos();
            for (d, factor) in DISTANCES.iter().enumerate() {
                for azimuth in 0..AZIMUTHS {
                    let away = self.azimuth(azimuth, 0.25) * cos + self.up * sin;
                    all.push(Candidate {
                        eye: self.target.centre + away * (distance * factor),
                        forward: -away,
                        group: e * DISTANCES.len() + d,
                        is_inside: false,
                    });
                }
            }
        }
        all
    }

    fn inside(&self, first_group: usize, is_fixed: bool) -> Vec<Candidate> {
        let mut all = Vec::new();
        let mut group = first_group;
        let (sin, cos) = PITCH_DEGREES.to_radians().sin_cos();
        let [right, front, height] = &self.positions;
        for h in height {
            for r in right {
                for f in front {
                    let eye = self.level[0] * *r + self.level[1] * *f + self.up * *h;
                    let to_target = (self.target.centre - eye).try_normalize(0.0);
                    let candidate = |forward| Candidate { eye, forward, group, is_inside: true };
                    if is_fixed {
                        all.extend(to_target.map(candidate));
                    } else {
                        let level = (0..AZIMUTHS).map(|a| self.azimuth(a, 0.0));
                        all.extend(level.map(|d| d * cos + self.up * sin).map(candidate));
                    }
                    group += 1;
                }
            }
        }
        all
    }

    /// Candidates beside `from`: moved by `step` along its axes, and turned by `degrees` unless the target is fixed.
    pub(super) fn beside(
        &self,
        from: &Candidate,
        step: f64,
        degrees: f64,
        is_fixed: bool,
    ) -> Vec<Candidate> {
        let right = from.forward.cross(&self.up).try_normalize(1e-9).unwrap_or(self.level[0]);
        let level = right.cross(&self.up);
        let mut all = Vec::new();
        for axis in [right, level, self.up] {
            for sign in [-1.0, 1.0] {
                let eye = from.eye + axis * (sign * step);
                let forward = if is_fixed {
                    (self.target.centre - eye).try_normalize(0.0)
                } else {
                    Some(from.forward)
                };
                all.extend(forward.map(|forward| Candidate { eye, forward, ..*from }));
            }
        }
        if !is_fixed {
            for axis in [self.up, right] {
                for sign in [-1.0, 1.0] {
                    let angle = (sign * degrees).to_radians();
                    let turn = UnitQuaternion::from_axis_angle(&Unit::new_normalize(axis), angle);
                    let forward = turn * from.forward;
                    // Only nearly level directions keep the horizon in the picture.
                    if forward.dot(&self.up).abs() < 0.7 {
                        all.push(Candidate { forward, ..*from });
                    }
                }
            }
        }
        all
    }
}
