//! A surface pushed along its normals by a height map (the paper on quad-fragment merging has its
//! FROG "with high-frequency displacement", section 4).

use super::patches::{Geometry, Surface, SurfacePoint, cross, plus, unit};
use crate::error::{Error, Result};
use crate::mesh::files::Texture;

/// Half the way, in parameters, over which the slope of a displaced surface is taken. An
/// assumption: a few tenths of a texel on the meshes at hand, far above the rounding of `f32`.
const SLOPE_REACH: f32 = 1.0 / 256.0;

/// Which numbers of a texture are heights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeightChannel {
    /// Alpha.
    Alpha,
    /// Luminance of the stored red, green and blue by the weights of Rec. 709.
    Luminance,
}

/// Heights over texture coordinates; repeats beyond 0 to 1.
#[derive(Debug, Clone)]
pub struct HeightMap {
    width: i64,
    height: i64,
    heights: Vec<f32>,
}

impl HeightMap {
    /// The heights of a texture, 0 to 1.
    ///
    /// # Errors
    /// [`Error::Caller`] when the texture has not as many texels as its sides say, or none.
    pub fn new(texture: &Texture, channel: HeightChannel) -> Result<Self> {
        let count = u64::from(texture.width) * u64::from(texture.height);
        if count == 0 || count != texture.texels.len() as u64 {
            let found = format!("{} texels", texture.texels.len());
            let expected = format!("{count} texels, not 0");
            return Err(Error::caller("height map", expected, found));
        }
        let height = |texel: &[u8; 4]| {
            let [r, g, b, a] = texel.map(|x| f32::from(x) / 255.0);
            match channel {
                HeightChannel::Alpha => a,
                HeightChannel::Luminance => 0.2126 * r + 0.7152 * g + 0.0722 * b,
            }
        };
        Ok(Self {
            width: i64::from(texture.width),
            height: i64::from(texture.height),
            heights: texture.texels.iter().map(height).collect(),
        })
    }

    /// The height at texture coordinates, by the uniform cubic B-spline over the texels: smooth, as
    /// slopes are taken from it, and within the texels' range.
    #[must_use]
    pub fn at(&self, uv: [f32; 2]) -> f32 {
        let (x, wx) = taps(uv[0], self.width);
        let (y, wy) = taps(uv[1], self.height);
        let row = |y: usize| {
            let row = &self.heights[y * x.1..(y + 1) * x.1];
            (0..4).map(|i| row[x.0[i]] * wx[i]).sum::<f32>()
        };
        (0..4).map(|j| row(y.0[j]) * wy[j]).sum()
    }
}

/// The four texels around coordinate `t` of a side of `size` texels, that size, and their weights.
fn taps(t: f32, size: i64) -> (([usize; 4], usize), [f32; 4]) {
    let t = if t.is_finite() { t - t.floor() } else { 0.0 };
    let place = t * size as f32 - 0.5;
    let f = place - place.floor();
    #[allow(
        clippy::cast_possible_truncation,
        reason = "within the sides of a texture"
    )]
    let first = place.floor() as i64 - 1;
    let texels = [0, 1, 2, 3].map(|i| {
        let wrapped = (first + i).rem_euclid(size);
        usize::try_from(wrapped).unwrap_or(0)
    });
    let g = 1.0 - f;
    let weights = [
        g * g * g / 6.0,
        (4.0 - 6.0 * f * f + 3.0 * f * f * f) / 6.0,
        (4.0 - 6.0 * g * g + 3.0 * g * g * g) / 6.0,
        f * f * f / 6.0,
    ];
    ((texels, usize::try_from(size).unwrap_or(0)), weights)
}

/// A surface displaced along its normals by `scale * height + bias`.
#[derive(Debug)]
struct Displaced {
    base: Surface,
    heights: HeightMap,
    scale: f32,
    bias: f32,
}

impl Surface {
    /// The surface displaced by `scale * height + bias`, in world units, outwards where positive.
    ///
    /// # Errors
    /// [`Error::Caller`] when `scale` or `bias` is not finite.
    pub fn displaced(self, heights: HeightMap, scale: f32, bias: f32) -> Result<Self> {
        if !(scale.is_finite() && bias.is_finite()) {
            let found = format!("{scale} and {bias}");
            return Err(Error::caller(
                "displacement",
                "finite scale and bias",
                found,
            ));
        }
        let displaced = Displaced {
            base: self.clone(),
            heights,
            scale,
            bias,
        };
        Ok(self.with_geometry(displaced, 1))
    }
}

impl Displaced {
    fn moved(&self, from: SurfacePoint, uv: [f32; 2]) -> [f32; 3] {
        let by = self.scale * self.heights.at(uv) + self.bias;
        plus(from.position, from.normal, by)
    }
}

impl Geometry for Displaced {
    fn position(&self, patch: usize, u: f32, v: f32) -> [f32; 3] {
        self.moved(self.base.point(patch, u, v), self.uv(patch, u, v))
    }
    /// The normal is that of finite differences between displaced positions.
    fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint {
        let base = self.base.point(patch, u, v);
        let position = self.moved(base, self.uv(patch, u, v));
        let low = |t: f32| (t - SLOPE_REACH).max(0.0);
        let high = |t: f32| (t + SLOPE_REACH).min(1.0);
        let slope = |from: [f32; 2], to: [f32; 2]| {
            let [a, b] = [from, to].map(|[u, v]| self.position(patch, u, v));
            plus(b, a, -1.0)
        };
        let along_u = slope([low(u), v], [high(u), v]);
        let along_v = slope([u, low(v)], [u, high(v)]);
        let normal = match unit(cross(along_u, along_v)) {
            [0.0, 0.0, 0.0] => base.normal,
            normal => normal,
        };
        SurfacePoint { position, normal }
    }
    fn uv(&self, patch: usize, u: f32, v: f32) -> [f32; 2] {
        self.base.uv(patch, u, v)
    }
    fn patch_bounds(&self, patch: usize) -> [[f32; 3]; 2] {
        // Sides may be moved by another patch's heights, but by no more than any height.
        let most = self.bias.abs().max((self.scale + self.bias).abs());
        let [least, greatest] = self.base.patch_bounds(patch);
        [least.map(|x| x - most), greatest.map(|x| x + most)]
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::mesh::files::Material;

    /// A flat patch of side 3 at z = 0, facing up.
    fn flat() -> Surface {
        let points: Vec<[f32; 3]> = (0..16_u8)
            .map(|i| [f32::from(i % 4), f32::from(i / 4), 0.0])
            .collect();
        let patch = std::array::from_fn(|i| u32::try_from(i).unwrap());
        Surface::bezier(&points, &[patch], Material::default()).unwrap()
    }

    #[test]
    fn heights_move_points_and_tilt_normals() {
        // A slope along u of 1 in 8 texels, away from the seam.
        let texels = (0..64_u8).map(|i| [0, 0, 0, 32 * (i % 8)]).collect();
        let texture = Texture {
            width: 8,
            height: 8,
            texels,
        };
        let map = HeightMap::new(&texture, HeightChannel::Alpha).unwrap();
        let slope = 32.0 / 255.0 * 8.0;
        assert!((map.at([0.5, 0.3]) - slope * (0.5 - 0.5 / 8.0)).abs() < 1e-5);
        let surface = flat().displaced(map, 2.0, 1.0).unwrap();
        let point = surface.point(0, 0.5, 0.5);
        assert!((point.position[2] - (1.0 + 2.0 * slope * 0.4375)).abs() < 1e-4);
        let expected = unit([-2.0 * slope / 3.0, 0.0, 1.0]);
        let off = (0..3).map(|k| (point.normal[k] - expected[k]).abs());
        assert!(off.fold(0.0, f32::max) < 1e-3, "{:?}", point.normal);
    }

    #[test]
    fn wrong_textures_are_refused() {
        let texture = Texture {
            width: 2,
            height: 2,
            texels: vec![[0; 4]; 3],
        };
        assert!(HeightMap::new(&texture, HeightChannel::Luminance).is_err());
    }
}
