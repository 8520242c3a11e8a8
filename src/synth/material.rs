//! Materials of surfaces.

use nalgebra::Vector3;

/// The material of a surface at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Material {
    /// Share of light reflected, linear, 0 to 1 per channel.
    pub(crate) albedo: Vector3<f32>,
    /// Emitted light, linear.
    pub(crate) emission: Vector3<f32>,
    /// Strength of the sun's highlight, 0 to 1.
    pub(crate) gloss: f32,
    pub(crate) grain: Grain,
}

/// Shape and arrangement of the splats that represent a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grain {
    /// Flat disks along the surface, with buried ones and haze.
    Solid,
    /// A thin opaque layer: water, sky.
    Skin,
    /// Elongated leaves in all directions, in a layer some spacings thick.
    Foliage,
    /// Soft, round and faint.
    Cloud,
}

impl Material {
    pub(crate) fn dull(albedo: [f32; 3]) -> Self {
        Self {
            albedo: Vector3::from(albedo),
            emission: Vector3::zeros(),
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

    /// A material that reflects no light.
    pub(crate) fn glowing(emission: [f32; 3]) -> Self {
        Self {
            emission: Vector3::from(emission),
            ..Self::dull([0.0; 3])
        }
    }

    /// This material with its albedo scaled by `factor`.
    pub(crate) fn shaded(self, factor: f32) -> Self {
        Self {
            albedo: self.albedo * factor,
            ..self
        }
    }

    /// Interpolates between this material (0) and `other` (1); grain and gloss are those of the nearer
    /// one.
    pub(crate) fn mixed(self, other: Self, t: f32) -> Self {
        let nearer = if t > 0.5 { other } else { self };
        Self {
            albedo: self.albedo.lerp(&other.albedo, t),
            emission: self.emission.lerp(&other.emission, t),
            ..nearer
        }
    }
}
