//! Surfaces displaced along normals by a height map, like the FROG of the paper on quad-fragment merging (section 4).

use super::patches::{Geometry, Surface, SurfacePoint, add_scaled, cross, unit};
use crate::files::Texture;
use quadrille_base::choice;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::srgb::luminance;
use quadrille_base::math::whole;

/// Half the parameter distance of slopes by differences (assumed): tenths of a texel, far above the rounding of f32.
const SLOPE_REACH: f32 = 1.0 / 256.0;

/// Channel of a texture that contains heights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeightChannel {
    /// The alpha channel.
    Alpha,
    /// Luminance of the stored red, green and blue by the weights of Rec. 709.
    Luminance,
}

choice! {
    /// Interpolation between the texels of a height map. A displacement with detail finer than the triangles
    /// aliases, and folds within a grid.
    #[derive(Default)]
    pub enum HeightFilter {
        /// Uniform cubic B-spline: smooth, with continuous slopes
        #[default]
        Spline = "spline",
        /// Bilinear
        Linear = "linear",
        /// Nearest texel, without interpolation
        Nearest = "nearest",
    }
}

/// Heights as a function of texture coordinates, repeated outside 0 to 1.
#[derive(Debug, Clone)]
pub struct HeightMap {
    filter: HeightFilter,
    width: i64,
    height: i64,
    heights: Vec<f32>,
}

impl HeightMap {
    /// Creates a height map from a texture, with heights in 0 to 1.
    ///
    /// # Errors
    /// [`Error::Argument`] when the texture has no texels, or their number differs from width times height.
    pub fn new(texture: &Texture, channel: HeightChannel) -> Result<Self> {
        let count = u64::from(texture.width) * u64::from(texture.height);
        if count == 0 || count != texture.texels.len() as u64 {
            let found = format!("{} texels", texture.texels.len());
            return Err(Error::argument(
                "height map",
                format!("width times height texels ({count}), at least 1"),
                found,
            ));
        }
        let height = |texel: &[u8; 4]| {
            let [r, g, b, a] = texel.map(|x| f32::from(x) / 255.0);
            match channel {
                HeightChannel::Alpha => a,
                HeightChannel::Luminance => luminance([r, g, b]),
            }
        };
        Ok(Self {
            filter: HeightFilter::default(),
            width: i64::from(texture.width),
            height: i64::from(texture.height),
            heights: texture.texels.iter().map(height).collect(),
        })
    }

    /// Returns the same heights with another interpolation.
    #[must_use]
    pub fn filtered(self, filter: HeightFilter) -> Self {
        Self { filter, ..self }
    }

    /// Returns the height at texture coordinates, which is within the range of the texels.
    pub fn at(&self, uv: [f32; 2]) -> f32 {
        let (x, wx) = taps(uv[0], self.width, self.filter);
        let (y, wy) = taps(uv[1], self.height, self.filter);
        let row = |y: usize| {
            let row = &self.heights[y * x.1..(y + 1) * x.1];
            (0..4).map(|i| row[x.0[i]] * wx[i]).sum::<f32>()
        };
        (0..4).map(|j| row(y.0[j]) * wy[j]).sum()
    }
}

/// Indices of the four texels around coordinate `t` of a side of `size` texels, with that size; and their weights.
fn taps(t: f32, size: i64, filter: HeightFilter) -> (([usize; 4], usize), [f32; 4]) {
    let t = if t.is_finite() { t - t.floor() } else { 0.0 };
    let at = t * size as f32 - 0.5;
    let f = at - at.floor();
    let first = whole::<i64>(at.floor()) - 1;
    let texels = [0, 1, 2, 3].map(|i| usize::try_from((first + i).rem_euclid(size)).unwrap_or(0));
    let g = 1.0 - f;
    let weights = match filter {
        HeightFilter::Spline => [
            g * g * g / 6.0,
            (4.0 - 6.0 * f * f + 3.0 * f * f * f) / 6.0,
            (4.0 - 6.0 * g * g + 3.0 * g * g * g) / 6.0,
            f * f * f / 6.0,
        ],
        HeightFilter::Linear => [0.0, g, f, 0.0],
        HeightFilter::Nearest if f < 0.5 => [0.0, 1.0, 0.0, 0.0],
        HeightFilter::Nearest => [0.0, 0.0, 1.0, 0.0],
    };
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
    /// Displaces the surface by `scale * height + bias` in world units, outwards where positive.
    ///
    /// # Errors
    /// [`Error::Argument`] when `scale` or `bias` is not finite.
    pub fn displaced(self, heights: HeightMap, scale: f32, bias: f32) -> Result<Self> {
        if !(scale.is_finite() && bias.is_finite()) {
            let (expected, found) = ("finite scale and bias", format!("{scale} and {bias}"));
            return Err(Error::argument("displacement", expected, found));
        }
        let displaced = Displaced { base: self.clone(), heights, scale, bias };
        Ok(self.with_geometry(displaced, 1))
    }
}

impl Displaced {
    fn moved(&self, from: SurfacePoint, uv: [f32; 2]) -> [f32; 3] {
        add_scaled(from.position, from.normal, self.scale * self.heights.at(uv) + self.bias)
    }
}

impl Geometry for Displaced {
    fn position(&self, patch: usize, u: f32, v: f32) -> [f32; 3] {
        self.moved(self.base.point(patch, u, v), self.uv(patch, u, v))
    }
    /// The normal comes from finite differences of displaced positions.
    fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint {
        let base = self.base.point(patch, u, v);
        let position = self.moved(base, self.uv(patch, u, v));
        let low = |t: f32| (t - SLOPE_REACH).max(0.0);
        let high = |t: f32| (t + SLOPE_REACH).min(1.0);
        let slope = |from: [f32; 2], to: [f32; 2]| {
            let [a, b] = [from, to].map(|[u, v]| self.position(patch, u, v));
            add_scaled(b, a, -1.0)
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
        // A side may be displaced by the heights of its owner, but not beyond the greatest displacement.
        let most = self.bias.abs().max((self.scale + self.bias).abs());
        let [least, greatest] = self.base.patch_bounds(patch);
        [least.map(|x| x - most), greatest.map(|x| x + most)]
    }
}
