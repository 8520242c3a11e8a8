//! Four points of a surface, the common input of the shader's parts.

use super::lanes::{Lanes, Vectors};
use super::texture::MipChain;

#[derive(Debug, Clone, Copy)]
pub(super) struct SurfacePoints {
    /// Vectors from the points to the eye, in world units.
    pub(super) to_eye: Vectors,
    /// Normals of any length; zero if the mesh has none.
    pub(super) normal: Vectors,
    pub(super) uv: [Lanes; 2],
    pub(super) colour: Option<[Lanes; 4]>,
    pub(super) position_slopes: [Vectors; 2],
    pub(super) uv_slopes: [[Lanes; 2]; 2],
    pub(super) is_front: bool,
    pub(super) wanted: u8,
}

impl SurfacePoints {
    #[inline]
    pub(super) fn sample(&self, texture: &MipChain, scale: f32) -> [Lanes; 4] {
        let [dx, dy] = self.uv_slopes.map(|slopes| slopes.map(|v| v.map(|v| v * scale)));
        let uv = self.uv.map(|v| v.map(|v| v * scale));
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
