//! What surfaces are made of.

use nalgebra::Vector3;

/// What a surface is like at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Material {
    /// Share of light sent back, linear, 0 to 1 a channel.
    pub(crate) albedo: Vector3<f32>,
    /// Light of its own, linear.
    pub(crate) emission: Vector3<f32>,
    /// Strength of the sun's highlight, 0 to 1.
    pub(crate) gloss: f32,
    /// How its splats are shaped.
    pub(crate) grain: Grain,
}

/// How splats stand for a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grain {
    /// Flat disks along the surface, with buried ones and haze.
    Solid,
    /// A thin opaque skin without depth: water, sky.
    Skin,
    /// Elongated leaves in all directions, in a layer some spacings thick.
    Foliage,
    /// Soft, round and faint.
    Cloud,
}

impl Material {
    /// A dull solid of an albedo.
    pub(crate) fn dull(albedo: [f32; 3]) -> Self {
        Self {
            albedo: Vector3::from(albedo),
            emission: Vector3::zeros(),
            gloss: 0.0,
            grain: Grain::Solid,
        }
    }

    /// This material with another grain.
    pub(crate) fn with_grain(self, grain: Grain) -> Self {
        Self { grain, ..self }
    }

    /// This material with another strength of its highlight.
    pub(crate) fn with_gloss(self, gloss: f32) -> Self {
        Self { gloss, ..self }
    }

    /// Something that only glows.
    pub(crate) fn glowing(emission: [f32; 3]) -> Self {
        Self {
            emission: Vector3::from(emission),
            ..Self::dull([0.0; 3])
        }
    }

    /// This material, its albedo scaled by a factor.
    pub(crate) fn shaded(self, factor: f32) -> Self {
        Self {
            albedo: self.albedo * factor,
            ..self
        }
    }

    /// Between this (0) and `other` (1); the other's grain and gloss beyond one half.
    pub(crate) fn mixed(self, other: Self, t: f32) -> Self {
        let nearer = if t > 0.5 { other } else { self };
        Self {
            albedo: self.albedo.lerp(&other.albedo, t),
            emission: self.emission.lerp(&other.emission, t),
            ..nearer
        }
    }
}
