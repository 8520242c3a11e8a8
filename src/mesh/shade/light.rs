//! Colour of a point of a surface: textures, normal map, lights.

use nalgebra::{Matrix3, Vector3};

use super::Shader;
use super::texture::Pyramid;
use crate::scene::mesh::Material;

/// Lights hang on the camera, so that every view of every scene is lit: direction towards the light
/// in view space (x right, y down, z forward) and its colour, linear; a white surface that faces a
/// light reflects just that. Assumptions all: a key light from the upper left, a fill light from
/// the right, and one from behind above that draws outlines.
const LIGHTS: [([f64; 3], [f32; 3]); 3] = [
    ([-0.45, -0.65, -0.6], [0.80, 0.77, 0.72]),
    ([0.85, -0.1, -0.5], [0.16, 0.19, 0.24]),
    ([0.2, -0.7, 0.7], [0.18, 0.18, 0.20]),
];
/// Light from everywhere: an assumption.
const AMBIENT: [f32; 3] = [0.06, 0.065, 0.075];
/// Share of the key light that a highlight reflects: an assumption.
const HIGHLIGHT: f32 = 0.35;
/// Stored value of a normal map that stands for 0, of 255: what flat maps hold.
const NORMAL_ZERO: f32 = 128.0;
/// Square of a length that counts as none.
const NO_LENGTH: f32 = 1e-30;

/// Lights in world space.
#[derive(Debug, Clone)]
pub(super) struct Lights {
    towards: [[f32; 3]; 3],
}

impl Lights {
    #[allow(clippy::cast_possible_truncation, reason = "rounding")]
    pub(super) fn new(view_from_world: &Matrix3<f64>) -> Self {
        let towards = LIGHTS.map(|(direction, _)| {
            let world = view_from_world.transpose() * Vector3::from(direction).normalize();
            [world.x, world.y, world.z].map(|v| v as f32)
        });
        Self { towards }
    }
}

/// A point of a surface.
#[derive(Debug, Clone, Copy)]
pub(super) struct SurfacePoint {
    /// From the point to the eye, in world units.
    pub(super) to_eye: [f32; 3],
    /// Of any length; zero for none.
    pub(super) normal: [f32; 3],
    pub(super) uv: [f32; 2],
    /// Changes of the position along the screen's x and y.
    pub(super) position_slopes: [[f32; 3]; 2],
    /// Changes of the texture coordinates along the screen's x and y.
    pub(super) uv_slopes: [[f32; 2]; 2],
    pub(super) is_front: bool,
}

impl Shader<'_> {
    /// Linear light, 0 to 1; black where it is not a number.
    #[inline]
    pub(super) fn light(&self, material: &Material, point: &SurfacePoint) -> [f32; 3] {
        let albedo = self.albedo(material, point);
        let normal = self.normal(material, point);
        let view = normalized(point.to_eye);
        let mut light = AMBIENT;
        let facing = self.lights.towards.map(|l| dot(normal, l).max(0.0));
        for (facing, (_, colour)) in facing.iter().zip(LIGHTS) {
            light = [0, 1, 2].map(|c| light[c] + facing * colour[c]);
        }
        let mut shine = 0.0;
        if material.shininess > 0.0 && facing[0] > 0.0 {
            let half = normalized(add(self.lights.towards[0], view));
            let power = dot(normal, half).max(0.0).log2() * material.shininess;
            shine = HIGHLIGHT * crate::math::unfused::exp2(power);
        }
        [0, 1, 2].map(|c| {
            let colour = albedo[c] * light[c] + shine * LIGHTS[0].1[c];
            if colour > 0.0 { colour.min(1.0) } else { 0.0 }
        })
    }

    #[inline]
    fn albedo(&self, material: &Material, point: &SurfacePoint) -> [f32; 3] {
        let base = material.base_colour;
        let texel = |texture: &Pyramid, scale: f32| {
            let [dx, dy] = point.uv_slopes.map(|d| d.map(|v| v * scale));
            let uv = point.uv.map(|v| v * scale);
            let [r, g, b, _] = texture.sample(uv, texture.level(dx, dy));
            [base[0] * r, base[1] * g, base[2] * b]
        };
        if let Some(texture) = material.base_texture.and_then(|t| self.textures.get(t)) {
            return texel(texture, 1.0);
        }
        match &self.checker {
            Some((texture, scale)) => texel(texture, *scale),
            None => base,
        }
    }

    /// The normal that is lit, of length 1.
    #[inline]
    fn normal(&self, material: &Material, point: &SurfacePoint) -> [f32; 3] {
        let [dx, dy] = point.position_slopes;
        // x right, y down: their product points away from the viewer, whichever side is seen.
        let away = cross(dx, dy);
        let mut normal = point.normal;
        if dot(normal, normal) <= NO_LENGTH {
            normal = if point.is_front {
                away.map(|v| -v)
            } else {
                away
            };
        }
        normal = normalized(normal);
        if material.two_sided && !point.is_front {
            normal = normal.map(|v| -v);
        }
        let map = material.normal_texture.and_then(|t| self.textures.get(t));
        let Some(map) = map else { return normal };
        let [du, dv] = point.uv_slopes;
        let texel = map.sample(point.uv, map.level(du, dv));
        let mapped = [texel[0], texel[1], texel[2]]
            .map(|c| (c * 255.0 - NORMAL_ZERO) / (255.0 - NORMAL_ZERO));
        // Where u and v rise fastest on the surface: the frame of cotangents, up to a factor
        // (Schueler, "Normal Mapping Without Precomputed Tangents", ShaderX5).
        let sign = if dot(away, normal) < 0.0 { -1.0 } else { 1.0 };
        let (across_x, across_y) = (cross(dy, normal), cross(normal, dx));
        let rise = |k: usize| {
            let (x, y) = (sign * du[k], sign * dv[k]);
            std::array::from_fn(|c| x * across_x[c] + y * across_y[c])
        };
        let (tangent, bitangent): ([f32; 3], [f32; 3]) = (rise(0), rise(1));
        let longest = dot(tangent, tangent).max(dot(bitangent, bitangent));
        if longest.is_nan() || longest <= NO_LENGTH {
            return normal;
        }
        let scale = 1.0 / longest.sqrt();
        // v points down the texture, the map's y up.
        let (x, y, z) = (mapped[0] * scale, -mapped[1] * scale, mapped[2]);
        normalized([0, 1, 2].map(|c| x * tangent[c] + y * bitangent[c] + z * normal[c]))
    }
}

#[inline]
fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline]
fn add(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline]
fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// The vector at length 1; zero if it has no length.
#[inline]
fn normalized(v: [f32; 3]) -> [f32; 3] {
    let squared = dot(v, v);
    let scale = if squared > NO_LENGTH {
        1.0 / squared.sqrt()
    } else {
        0.0
    };
    v.map(|c| c * scale)
}

#[cfg(test)]
mod tests;
