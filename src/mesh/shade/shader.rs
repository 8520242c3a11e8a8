//! The pixel shader: colours four points of a surface at once, from textures, normal map and lights.

use super::lanes::{Lanes, NO_LENGTH, Vectors, cross, dot, log2, normalized};
use super::light::{IncomingLight, Lighting, Lights};
use super::microfacet::Microfacet;
use super::points::SurfacePoints;
use super::texture::{MipChain, TextureRole, Textures};
use quadrille_base::math::narrow;
use quadrille_base::math::unfused::exp2;
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::files::{Material, Microfacets, PunctualLight, Texture};

/// Side of the checker texture in texels; a check is half as wide.
const CHECKER_TEXELS: u32 = 128;
/// 8-bit sRGB shades of the checks (assumed), different enough to make a wrong mip level visible.
const CHECKER_SHADES: [u8; 2] = [250, 90];

/// Colour of materials without a base texture.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Albedo {
    /// The material's base colour alone.
    #[default]
    Plain,
    /// The base colour times a checker in texture space, mip-mapped like any texture.
    Checker {
        /// Checks per unit of u and v.
        scale: f32,
    },
}

/// Albedo, lighting and exposure of the shader.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ShadeSettings {
    /// Colour of materials without a base texture.
    pub albedo: Albedo,
    /// Light of scenes that define no lights.
    pub lighting: Lighting,
    /// Binary logarithm of a factor on all colours.
    pub exposure_stops: f32,
}

impl ShadeSettings {
    /// Settings with a checker of `scale` checks per unit of u and v, or without a checker.
    pub fn with_checker(scale: Option<f32>) -> Self {
        let checker = scale.map(|scale| Albedo::Checker { scale });
        Self { albedo: checker.unwrap_or(Albedo::Plain), ..Self::default() }
    }
}

/// Shader of a scene in one view. Colours are linear, at least 0 and unbounded above, as in floating-point targets.
#[derive(Debug)]
pub struct Shader<'a> {
    materials: &'a [Material],
    textures: &'a Textures,
    lights: Lights,
    exposure: f32,
    eye: [f64; 3],
    eye_in_world: [f64; 3],
    fallback: Material,
    checker: Option<(MipChain, f32)>,
}

impl<'a> Shader<'a> {
    /// Creates the shader for a view, lit by `settings.lighting`.
    pub fn new(
        materials: &'a [Material],
        textures: &'a Textures,
        view: &MeshCamera,
        settings: ShadeSettings,
    ) -> Self {
        let checker = match settings.albedo {
            Albedo::Plain => None,
            // A tile of the texture is two checks wide.
            Albedo::Checker { scale } => checker().map(|texture| (texture, 0.5 * scale)),
        };
        Self {
            materials,
            textures,
            lights: Lights::new(settings.lighting, view),
            exposure: settings.exposure_stops.exp2(),
            eye: view.eye(),
            eye_in_world: view.eye_in_world(),
            fallback: Material::default(),
            checker,
        }
    }

    /// Replaces the default light by `lights`, in world space. An empty list leaves only emission and unlit materials.
    #[must_use]
    pub fn lit_by(mut self, lights: &[PunctualLight]) -> Self {
        self.lights = Lights::punctual(lights, self.eye_in_world);
        self
    }

    #[inline]
    pub(super) fn material(&self, index: u32) -> &Material {
        self.materials.get(index as usize).unwrap_or(&self.fallback)
    }

    #[inline]
    pub(super) fn eye_from(&self, point: [f32; 3]) -> [f32; 3] {
        std::array::from_fn(|k| narrow(self.eye[k] - f64::from(point[k])))
    }
}

fn checker() -> Option<MipChain> {
    let side = CHECKER_TEXELS;
    let texel = |k: u32| {
        let is_odd = |texel: u32| texel >= side / 2;
        let shade = CHECKER_SHADES[usize::from(is_odd(k % side) != is_odd(k / side))];
        [shade, shade, shade, u8::MAX]
    };
    let texture = Texture {
        width: side,
        height: side,
        texels: (0..side * side).map(texel).collect(),
        ..Texture::default()
    };
    MipChain::new(&texture, TextureRole::Colour)
}

/// Strength of highlights relative to their light: an assumption.
const HIGHLIGHT: f32 = 0.35;
/// Value of 0 in a normal map, as flat maps store it.
const NORMAL_ZERO: f32 = 128.0;

impl Shader<'_> {
    /// Linear colours, at least 0, and opacities. NaN becomes black; points that are not wanted are undefined.
    #[inline]
    pub(super) fn light(&self, material: &Material, points: &SurfacePoints) -> [[f32; 4]; 4] {
        let [r, g, b, opacity] = self.albedo(material, points);
        let albedo = [r, g, b];
        let reflected = if material.is_unlit {
            albedo
        } else {
            let normal = self.normal(material, points);
            match &material.microfacets {
                None => self.matt(material, points, &normal, &albedo),
                Some(facets) => self.microfacets(material, facets, points, &normal, &albedo),
            }
        };
        let emission = self.emission(material, points);
        let [r, g, b] = [0, 1, 2].map(|c| -> Lanes {
            std::array::from_fn(|k| {
                let colour = (reflected[c][k] + emission[c][k]) * self.exposure;
                if colour > 0.0 { colour } else { 0.0 }
            })
        });
        std::array::from_fn(|k| [r[k], g[k], b[k], opacity[k]])
    }

    /// Matt surface with a highlight (Lambert and Blinn-Phong).
    #[inline]
    fn matt(
        &self,
        material: &Material,
        points: &SurfacePoints,
        normal: &Vectors,
        albedo: &Vectors,
    ) -> Vectors {
        let mut light = self.ambient(material, points, normal);
        let mut shine = [[0.0; 4]; 3];
        for incoming in self.lights.incoming(points) {
            let facing = dot(normal, &incoming.towards).map(|v| if v > 0.0 { v } else { 0.0 });
            for (light, colour) in light.iter_mut().zip(&incoming.colour) {
                (0..4).for_each(|k| light[k] += facing[k] * colour[k]);
            }
            if incoming.has_highlight && material.shininess > 0.0 {
                let share = highlight(material.shininess, points, normal, &incoming, &facing);
                for (shine, colour) in shine.iter_mut().zip(&incoming.colour) {
                    (0..4).for_each(|k| shine[k] += share[k] * colour[k]);
                }
            }
        }
        [0, 1, 2].map(|c| std::array::from_fn(|k| albedo[c][k] * light[c][k] + shine[c][k]))
    }

    fn microfacets(
        &self,
        material: &Material,
        facets: &Microfacets,
        points: &SurfacePoints,
        normal: &Vectors,
        albedo: &Vectors,
    ) -> Vectors {
        let sample = |texture: Option<u32>| {
            let texture = texture.and_then(|t| self.textures.get(t));
            texture.map_or([[1.0; 4]; 4], |texture| points.sample(texture, 1.0))
        };
        let surface = match *facets {
            Microfacets::Metallic { metalness, roughness, texture } => {
                let [_, rough, metallic, _] = sample(texture);
                let metalness = metallic.map(|v| v * metalness);
                Microfacet::metallic(albedo, &metalness, rough.map(|v| v * roughness))
            }
            Microfacets::Specular { colour, glossiness, texture } => {
                let texels = sample(texture);
                let specular = [0, 1, 2].map(|c| texels[c].map(|v| v * colour[c]));
                Microfacet::specular(albedo, specular, texels[3].map(|v| 1.0 - v * glossiness))
            }
        };
        let view = normalized(&points.to_eye);
        let along = dot(normal, &view);
        let mirror =
            [0, 1, 2].map(|c| std::array::from_fn(|k| 2.0 * along[k] * normal[c][k] - view[c][k]));
        let mirrored = self.lights.reflected(&mirror, &surface.alpha);
        let occlusion = self.occlusion(material, points);
        let mut sum = surface.ambient(normal, &view, &self.lights.ambient(normal), &mirrored);
        for sum in &mut sum {
            (0..4).for_each(|k| sum[k] *= occlusion[k]);
        }
        for incoming in self.lights.incoming(points) {
            let reflected = surface.reflected(normal, &view, &incoming.towards);
            for c in 0..3 {
                (0..4).for_each(|k| sum[c][k] += reflected[c][k] * incoming.colour[c][k]);
            }
        }
        sum
    }

    /// Ambient irradiance over pi, reduced by occlusion.
    #[inline]
    fn ambient(&self, material: &Material, points: &SurfacePoints, normal: &Vectors) -> Vectors {
        let ambient = self.lights.ambient(normal);
        if material.occlusion_texture.is_none() {
            return ambient;
        }
        let share = self.occlusion(material, points);
        ambient.map(|light| std::array::from_fn(|k| light[k] * share[k]))
    }

    #[inline]
    fn occlusion(&self, material: &Material, points: &SurfacePoints) -> Lanes {
        match material.occlusion_texture.and_then(|t| self.textures.get(t)) {
            None => [1.0; 4],
            Some(texture) => {
                let strength = material.occlusion_strength;
                points.sample(texture, 1.0)[0].map(|v| 1.0 + strength * (v - 1.0))
            }
        }
    }

    #[inline]
    fn emission(&self, material: &Material, points: &SurfacePoints) -> Vectors {
        let factor = material.emission;
        if factor == [0.0; 3] {
            return [[0.0; 4]; 3];
        }
        let texture = material.emission_texture;
        match texture.and_then(|t| self.textures.get(t)) {
            None => factor.map(|v| [v; 4]),
            Some(texture) => {
                let texels = points.sample(texture, 1.0);
                [0, 1, 2].map(|c| texels[c].map(|v| v * factor[c]))
            }
        }
    }

    #[inline]
    fn albedo(&self, material: &Material, points: &SurfacePoints) -> [Lanes; 4] {
        let [r, g, b] = material.base_colour;
        let base = [r, g, b, material.opacity.unwrap_or(1.0)];
        let own = material.base_texture.and_then(|t| self.textures.get(t));
        let own = own.map(|texture| (texture, 1.0));
        let checker = self.checker.as_ref();
        let mut albedo = match own.or(checker.map(|(texture, scale)| (texture, *scale))) {
            None => base.map(|v| [v; 4]),
            Some((texture, scale)) => {
                let mut texels = points.sample(texture, scale);
                if material.opacity.is_none() {
                    texels[3] = [1.0; 4];
                }
                [0, 1, 2, 3].map(|c| texels[c].map(|v| v * base[c]))
            }
        };
        if let Some(mut colour) = points.colour {
            if material.opacity.is_none() {
                colour[3] = [1.0; 4];
            }
            for (albedo, colour) in albedo.iter_mut().zip(colour) {
                (0..4).for_each(|k| albedo[k] *= colour[k]);
            }
        }
        albedo
    }

    #[inline]
    fn normal(&self, material: &Material, points: &SurfacePoints) -> Vectors {
        let [dx, dy] = &points.position_slopes;
        // With x to the right and y down, the cross product points away from the viewer on both sides.
        let away = cross(dx, dy);
        let outward = if points.is_front { -1.0 } else { 1.0 };
        let length = dot(&points.normal, &points.normal);
        let normal = [0, 1, 2].map(|c| {
            let given = points.normal[c];
            std::array::from_fn(|k| {
                let is_given = length[k] > NO_LENGTH;
                if is_given { given[k] } else { outward * away[c][k] }
            })
        });
        let mut normal = normalized(&normal);
        if !points.is_front {
            normal = normal.map(|v| v.map(|v| -v));
        }
        match material.normal_texture.and_then(|t| self.textures.get(t)) {
            None => normal,
            Some(map) => {
                let slopes = map.slopes(&points.places_in(map).slopes);
                let texels = points.sample(map, 1.0);
                let frame = (&points.position_slopes, &slopes);
                perturbed(&normal, &away, frame, &texels, material.normal_scale)
            }
        }
    }
}

/// Strength of the highlight of a light (Blinn-Phong); `facing` is the cosine of its angle of incidence, or 0.
#[inline]
fn highlight(
    shininess: f32,
    points: &SurfacePoints,
    normal: &Vectors,
    incoming: &IncomingLight,
    facing: &Lanes,
) -> Lanes {
    let view = normalized(&points.to_eye);
    let towards = &incoming.towards;
    let half = [0, 1, 2].map(|c| std::array::from_fn(|k| view[c][k] + towards[c][k]));
    let along = dot(normal, &normalized(&half));
    std::array::from_fn(|k| {
        let along = if along[k] > 0.0 { along[k] } else { 0.0 };
        let shine = HIGHLIGHT * exp2(shininess * log2(along));
        if facing[k] > 0.0 { shine } else { 0.0 }
    })
}

#[inline]
fn perturbed(
    normal: &Vectors,
    away: &Vectors,
    (positions, uvs): (&[Vectors; 2], &[[Lanes; 2]; 2]),
    texels: &[Lanes; 4],
    scale: f32,
) -> Vectors {
    let mut mapped =
        [0, 1, 2].map(|c| texels[c].map(|c| (c * 255.0 - NORMAL_ZERO) / (255.0 - NORMAL_ZERO)));
    for mapped in &mut mapped[..2] {
        *mapped = mapped.map(|v| v * scale);
    }
    // The cotangent frame, up to a factor: the directions in which u and v rise fastest on the surface
    // (Schueler, "Normal Mapping Without Precomputed Tangents", ShaderX5).
    let ([dx, dy], [du, dv]) = (positions, uvs);
    let (across_x, across_y) = (cross(dy, normal), cross(normal, dx));
    let sign = dot(away, normal).map(|v| if v < 0.0 { -1.0 } else { 1.0 });
    let rise = |t: usize| -> Vectors {
        [0, 1, 2].map(|c| {
            std::array::from_fn(|k| {
                sign[k] * (du[t][k] * across_x[c][k] + dv[t][k] * across_y[c][k])
            })
        })
    };
    let (tangent, bitangent) = (rise(0), rise(1));
    let (t, b) = (dot(&tangent, &tangent), dot(&bitangent, &bitangent));
    let scale: Lanes = std::array::from_fn(|k| {
        let longest = if t[k] > b[k] { t[k] } else { b[k] };
        if longest > NO_LENGTH { 1.0 / longest.sqrt() } else { 0.0 }
    });
    let turned = [0, 1, 2].map(|c| {
        std::array::from_fn(|k| {
            // v increases downwards in the texture, while y of the map points up.
            let (x, y) = (mapped[0][k] * scale[k], -mapped[1][k] * scale[k]);
            // Without a frame the normal is unchanged.
            let z = if scale[k] > 0.0 { mapped[2][k] } else { 1.0 };
            x * tangent[c][k] + y * bitangent[c][k] + z * normal[c][k]
        })
    });
    normalized(&turned)
}

#[cfg(test)]
mod tests {
    use nalgebra::{Matrix3, Vector3};

    use super::super::points::TexturePlaces;
    use super::*;
    use quadrille_scene::{Camera, Intrinsics};

    #[test]
    fn tilted_normal_map_turns_the_normal_along_the_texture() {
        let lens = Intrinsics::from_vertical_fov(640, 360, 1.0);
        let camera = Camera::new("test", lens, Matrix3::identity(), Vector3::zeros());
        let camera = MeshCamera::new(camera.unwrap(), 0.125);
        let material = Material { normal_texture: Some(0), ..Material::default() };
        let places = |slopes| TexturePlaces { uv: [[0.25; 4]; 2], slopes };
        let point = SurfacePoints {
            to_eye: [[0.0; 4], [0.0; 4], [-1.0; 4]],
            normal: [[0.0; 4], [0.0; 4], [-1.0; 4]],
            places: places([[[0.1; 4], [0.0; 4]], [[0.0; 4], [0.1; 4]]]),
            second_places: None,
            colour: None,
            position_slopes: [[[2.0; 4], [0.0; 4], [0.0; 4]], [[0.0; 4], [2.0; 4], [0.0; 4]]],
            is_front: true,
            wanted: 0b1000,
        };
        let turned = |texel: [u8; 3], point: &SurfacePoints| {
            let [r, g, b] = texel;
            let texture =
                Texture { width: 1, height: 1, texels: vec![[r, g, b, 255]], ..Texture::default() };
            let materials = [material.clone()];
            let textures = Textures::new(&[texture], &materials);
            let shader = Shader::new(&materials, &textures, &camera, ShadeSettings::default());
            shader.normal(&material, point).map(|c| c[3])
        };
        let mirrored = SurfacePoints {
            places: places([[[-0.1; 4], [0.0; 4]], [[0.0; 4], [0.1; 4]]]),
            ..point
        };
        let without_uv = SurfacePoints { places: places([[[0.0; 4]; 2]; 2]), ..point };
        let (right, up) = ([255, 128, 128], [128, 255, 128]);
        // u to the right, v down: x of the map is right, y up.
        for (texel, point, normal) in [
            (right, point, [1.0, 0.0, 0.0]),
            (up, point, [0.0, -1.0, 0.0]),
            (right, mirrored, [-1.0, 0.0, 0.0]),
            (right, without_uv, [0.0, 0.0, -1.0]),
        ] {
            let off = Vector3::from(turned(texel, &point)) - Vector3::from(normal);
            assert!(off.amax() < 1e-5, "{normal:?}");
        }
    }
}
