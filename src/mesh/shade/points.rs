//! Four points of a surface, the common input of the shader's parts.

use super::derivatives::Stencil;
use super::lanes::{Lanes, Vectors};
use super::texture::MipChain;

/// Texture coordinates of four points in one set, and their slopes along x and y.
#[derive(Debug, Clone, Copy)]
pub(super) struct TexturePlaces {
    pub(super) uv: [Lanes; 2],
    pub(super) slopes: [[Lanes; 2]; 2],
}

impl TexturePlaces {
    #[inline]
    pub(super) fn of(uv: [Lanes; 2], stencil: &Stencil) -> Self {
        let [u, v] = uv.map(|values| stencil.apply(values));
        Self { uv, slopes: [0, 1].map(|d| [u[d], v[d]]) }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct SurfacePoints {
    /// Vectors from the points to the eye, in world units.
    pub(super) to_eye: Vectors,
    /// Normals of any length; zero if the mesh has none.
    pub(super) normal: Vectors,
    pub(super) places: TexturePlaces,
    /// Places in the second set, if a texture of the mesh has it.
    pub(super) second_places: Option<TexturePlaces>,
    pub(super) colour: Option<[Lanes; 4]>,
    pub(super) position_slopes: [Vectors; 2],
    pub(super) is_front: bool,
    pub(super) wanted: u8,
}

impl SurfacePoints {
    /// Places of the points in the set of coordinates that a texture has.
    #[inline]
    pub(super) fn places_in(&self, texture: &MipChain) -> &TexturePlaces {
        match &self.second_places {
            Some(second) if texture.has_second_uvs() => second,
            _ => &self.places,
        }
    }

    #[inline]
    pub(super) fn sample(&self, texture: &MipChain, scale: f32) -> [Lanes; 4] {
        let places = self.places_in(texture);
        let [dx, dy] = places.slopes.map(|slopes| slopes.map(|v| v.map(|v| v * scale)));
        let uv = places.uv.map(|v| v.map(|v| v * scale));
        let levels: Lanes =
            std::array::from_fn(|k| texture.level([dx[0][k], dx[1][k]], [dy[0][k], dy[1][k]]));
        let mut texels = [[0.0; 4]; 4];
        for k in (0..4).filter(|k| self.wanted >> k & 1 == 1) {
            let texel = texture.sample([uv[0][k], uv[1][k]], levels[k]);
            (0..4).for_each(|c| texels[c][k] = texel[c]);
        }
        texels
    }
}
