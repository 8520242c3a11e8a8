//! Baked light: a sun with shadows, and a sky with ambient occlusion.

use std::sync::Arc;

use nalgebra::Vector3;

use super::chance::step;
use super::material::Material;

/// Number of steps and first step length of the march over the ground towards the sun. Each step is
/// longer by [`MARCH_GROWTH`], so the march ends about nine units away.
const MARCH_STEPS: u32 = 14;
const MARCH_START: f32 = 0.07;
const MARCH_GROWTH: f32 = 1.33;
/// Share of the sunlight below which the march ends: darker is not visible.
const DARK: f32 = 0.004;
/// Height above a surface at which the march starts, so that rough ground does not shade itself in
/// spots.
const SHADOW_LIFT: f32 = 0.04;
/// Exponent from linear light to display values.
const DISPLAY_GAMMA: f32 = 1.0 / 2.2;

/// Height of the ground at x, z, for shadows.
pub(crate) type Ground = Arc<dyn Fn(f32, f32) -> f32 + Send + Sync>;

/// An ellipsoid that blocks light.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Occluder {
    pub(crate) centre: Vector3<f32>,
    pub(crate) radii: Vector3<f32>,
    /// Points nearer than this many radii belong to the occluder and are shaded by their normals alone.
    pub(crate) own: f32,
    /// Share of the light that its centre blocks, 0 to 1.
    pub(crate) strength: f32,
}

impl Occluder {
    /// A round body, whose own points are within 1.1 radii.
    pub(crate) fn round(centre: Vector3<f32>, radii: Vector3<f32>, strength: f32) -> Self {
        Self {
            centre,
            radii,
            own: 1.1,
            strength,
        }
    }
}

/// The light of a scene. Colours are linear.
pub(crate) struct Light {
    /// Unit direction to the sun.
    pub(crate) to_sun: Vector3<f32>,
    pub(crate) sun: Vector3<f32>,
    /// Light from above, from the horizon and from below.
    pub(crate) sky: [Vector3<f32>; 3],
    pub(crate) exposure: f32,
    pub(crate) occluders: Vec<Occluder>,
    pub(crate) ground: Option<Ground>,
}

impl Light {
    /// Share of the sunlight that reaches `p`, 0 to 1.
    pub(crate) fn sun_share(&self, p: Vector3<f32>) -> f32 {
        let mut share = 1.0;
        for o in &self.occluders {
            let from = (p - o.centre).component_div(&o.radii);
            let along = self.to_sun.component_div(&o.radii);
            let t = -from.dot(&along) / along.norm_squared();
            if t <= 0.0 || from.norm() < o.own {
                continue;
            }
            let nearest = (from + along * t).norm();
            share *= 1.0 - o.strength * step(1.15, 0.6, nearest);
        }
        let Some(ground) = &self.ground else {
            return share;
        };
        let mut t = MARCH_START;
        for _ in 0..MARCH_STEPS {
            let q = p + self.to_sun * t;
            let above = q.y - ground(q.x, q.z);
            share *= step(-0.12, 0.02, above / t.max(0.3));
            t *= MARCH_GROWTH;
            if share < DARK {
                break;
            }
        }
        share
    }

    /// Share of the sky's light that reaches `p` on a surface of unit normal `n`, 0 to 1.
    pub(crate) fn sky_share(&self, p: Vector3<f32>, n: Vector3<f32>) -> f32 {
        let mut share = 1.0;
        for o in &self.occluders {
            let to = o.centre - p;
            let distance = to.norm().max(1e-3);
            let radius = o.radii.mean();
            let seen = (radius / distance).min(1.0);
            if seen < 0.15 {
                continue;
            }
            // The share of the hemisphere that a ball above the horizon covers.
            let facing = (n.dot(&to) / distance + 0.3).max(0.0) / 1.3;
            share *= 1.0 - 0.75 * o.strength * facing * seen * seen;
        }
        share
    }

    /// The display colour of `material` at `p` with unit normal `n`, and the share of the sunlight
    /// there. `wrap` softens the shade of materials that let light through, such as leaves.
    pub(crate) fn shade(
        &self,
        p: Vector3<f32>,
        n: Vector3<f32>,
        material: &Material,
        wrap: f32,
    ) -> (Vector3<f32>, f32) {
        if material.albedo == Vector3::zeros() {
            return (self.developed(material.emission), 0.0);
        }
        let sun_share = self.sun_share(p + n * SHADOW_LIFT);
        let sky_share = self.sky_share(p, n);
        let facing = ((n.dot(&self.to_sun) + wrap) / (1.0 + wrap)).max(0.0);
        let [above, horizon, below] = self.sky;
        let level = horizon * (1.0 - n.y.abs());
        let sky = above * n.y.max(0.0) + level + below * (-n.y).max(0.0);
        let light = self.sun * (facing * sun_share) + sky * sky_share;
        let sent = material.albedo.component_mul(&light) + material.emission;
        (self.developed(sent), sun_share * facing)
    }

    /// Linear light as a display value, 0 to 1: a film-like shoulder, then gamma.
    pub(crate) fn developed(&self, linear: Vector3<f32>) -> Vector3<f32> {
        linear.map(|v| (1.0 - (-self.exposure * v.max(0.0)).exp()).powf(DISPLAY_GAMMA))
    }
}
