//! The pixel shader of the mesh path: interpolation, textures, derivatives, light.
//!
//! Everything that a wrong choice of shading inputs can spoil is there to be seen: mip levels from
//! the derivatives of texture coordinates, normal maps in a frame made of derivatives, attributes
//! extrapolated beyond a triangle's edge.

mod derivatives;
pub mod interpolate;
mod lanes;
mod light;
pub mod quad;
mod srgb;
pub mod texture;
pub mod vertex;

#[cfg(test)]
mod testing;

pub use srgb::{decode_srgb, encode_srgb};

use crate::mesh::files::{Material, Texture};
use crate::mesh::view::View;
use light::Lights;
use texture::{Pyramid, Role, Textures};

/// Side of the built-in checker texture, in texels; a check is half of it.
const CHECKER_TEXELS: u32 = 128;
/// The two shades of the built-in checker, in sRGB of 255: assumptions, light and dark enough that
/// a wrong mip level is seen.
const CHECKER_SHADES: [u8; 2] = [250, 90];

/// Colour of what has no texture.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Albedo {
    /// The material's base colour alone.
    #[default]
    Plain,
    /// The base colour times a checker in texture space, with mip levels as any texture.
    Checker {
        /// Checks a unit of u and v.
        scale: f32,
    },
}

/// What the shader is told beside the scene.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ShadeSettings {
    /// Colour of materials without a base texture.
    pub albedo: Albedo,
}

/// Shades points of a scene as seen in one view. Colours are in linear light, 0 to 1: what a render
/// target in an sRGB format holds for a sample before it is resolved and then encoded.
#[derive(Debug)]
pub struct Shader<'a> {
    materials: &'a [Material],
    textures: &'a Textures,
    lights: Lights,
    eye: [f64; 3],
    /// Stands for materials that the scene lacks.
    fallback: Material,
    checker: Option<(Pyramid, f32)>,
}

impl<'a> Shader<'a> {
    /// A shader for a view of a scene.
    #[must_use]
    pub fn new(
        materials: &'a [Material],
        textures: &'a Textures,
        view: &View,
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
            lights: Lights::new(&view.camera.view_from_world),
            eye: view.eye(),
            fallback: Material::default(),
            checker,
        }
    }

    #[inline]
    fn material(&self, index: u32) -> &Material {
        self.materials.get(index as usize).unwrap_or(&self.fallback)
    }

    /// Where the eye is, seen from a point of the world.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "rounding")]
    fn eye_from(&self, point: [f32; 3]) -> [f32; 3] {
        std::array::from_fn(|k| (self.eye[k] - f64::from(point[k])) as f32)
    }
}

/// The built-in checker: 2x2 checks.
fn checker() -> Option<Pyramid> {
    let side = CHECKER_TEXELS;
    let texel = |k: u32| {
        let is_odd = |place: u32| place >= side / 2;
        let shade = CHECKER_SHADES[usize::from(is_odd(k % side) != is_odd(k / side))];
        [shade, shade, shade, u8::MAX]
    };
    let texture = Texture {
        width: side,
        height: side,
        texels: (0..side * side).map(texel).collect(),
    };
    Pyramid::new(&texture, Role::Colour)
}
