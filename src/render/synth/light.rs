//! Materials, and baked light: a sun with shadows, and a sky with ambient occlusion.

use std::sync::Arc;

use super::random::{Vec3, step};

/// Number of points on the march towards the sun, distance of the first, and growth; the last is 2.9 units away.
const MARCH_STEPS: u32 = 14;
const MARCH_START: f32 = 0.07;
const MARCH_GROWTH: f32 = 1.33;
/// Share of sunlight below which the march stops; darker shadows look the same.
const DARK: f32 = 0.004;
/// Height above a surface at which the march starts, so that rough ground does not shadow itself in spots.
const SHADOW_LIFT: f32 = 0.04;
/// Exponent from linear light to display values.
const DISPLAY_GAMMA: f32 = 1.0 / 2.2;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Material {
    /// Linear reflectance, 0 to 1 per channel.
    pub(crate) albedo: Vec3,
    pub(crate) emission: Vec3,
    /// Strength of the sun's highlight, 0 to 1.
    pub(crate) gloss: f32,
    pub(crate) grain: Grain,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grain {
    /// Flat disks along the surface, with buried splats and haze.
    Solid,
    /// Thin opaque layer: water, sky.
    Skin,
    /// Elongated leaves in all directions, in a layer some spacings thick.
    Foliage,
    /// Soft, round, faint splats.
    Cloud,
}

impl Material {
    pub(crate) fn dull(albedo: [f32; 3]) -> Self {
        Self {
            albedo: Vec3::from(albedo),
            emission: Vec3::zeros(),
            gloss: 0.0,
            grain: Grain::Solid,
        }
    }

    pub(crate) fn with_grain(self, grain: Grain) -> Self {
        Self { grain, ..self }
    }

    pub(crate) fn with_gloss(self, gloss: f32) -> Self {
        Self { gloss, ..self }
    }

    pub(crate) fn glowing(emission: [f32; 3]) -> Self {
        Self { emission: Vec3::from(emission), ..Self::dull([0.0; 3]) }
    }

    pub(crate) fn shaded(self, factor: f32) -> Self {
        Self { albedo: self.albedo * factor, ..self }
    }

    /// Interpolates from this material (0) to `other` (1). Grain and gloss come from the nearer one.
    pub(crate) fn mixed(self, other: Self, t: f32) -> Self {
        let nearer = if t > 0.5 { other } else { self };
        Self {
            albedo: self.albedo.lerp(&other.albedo, t),
            emission: self.emission.lerp(&other.emission, t),
            ..nearer
        }
    }
}

pub(crate) type Ground = Arc<dyn Fn(f32, f32) -> f32 + Send + Sync>;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Occluder {
    pub(crate) centre: Vec3,
    pub(crate) radii: Vec3,
    /// Points within this number of radii belong to the occluder, which casts no sun shadow on them.
    pub(crate) own: f32,
    /// Share of light blocked at the centre, 0 to 1.
    pub(crate) strength: f32,
}

impl Occluder {
    pub(crate) fn round(centre: Vec3, radii: Vec3, strength: f32) -> Self {
        Self { centre, radii, own: 1.1, strength }
    }
}

/// Light sources of a scene in linear light, and the surfaces that cast shadows.
pub(crate) struct Light {
    pub(crate) to_sun: Vec3,
    pub(crate) sun: Vec3,
    pub(crate) sky: [Vec3; 3],
    pub(crate) exposure: f32,
    pub(crate) occluders: Vec<Occluder>,
    pub(crate) ground: Option<Ground>,
}

impl Light {
    /// Share of sunlight that reaches `p`, 0 to 1.
    fn sun_share(&self, p: Vec3) -> f32 {
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
        let Some(ground) = &self.ground else { return share };
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

    /// Share of skylight that reaches `p` with unit normal `n`, 0 to 1.
    fn sky_share(&self, p: Vec3, n: Vec3) -> f32 {
        let mut share = 1.0;
        for o in &self.occluders {
            let to = o.centre - p;
            let distance = to.norm().max(1e-3);
            let seen = (o.radii.mean() / distance).min(1.0);
            if seen < 0.15 {
                continue;
            }
            // Share of the hemisphere covered by a ball above the horizon.
            let facing = (n.dot(&to) / distance + 0.3).max(0.0) / 1.3;
            share *= 1.0 - 0.75 * o.strength * facing * seen * seen;
        }
        share
    }

    /// Display colour of `material` at `p` with unit normal `n`, and share of sunlight; `wrap` softens translucent shading.
    pub(crate) fn shade(&self, p: Vec3, n: Vec3, material: &Material, wrap: f32) -> (Vec3, f32) {
        if material.albedo == Vec3::zeros() {
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

    /// Converts linear light to display values, 0 to 1: film-like shoulder, then gamma.
    fn developed(&self, linear: Vec3) -> Vec3 {
        linear.map(|v| (1.0 - (-self.exposure * v.max(0.0)).exp()).powf(DISPLAY_GAMMA))
    }
}
