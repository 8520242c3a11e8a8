//! Textures as the shader reads them: mip chains, filtered bilinearly in two levels.

use rayon::prelude::*;

use super::srgb::decoding_table;
use crate::scene::mesh::{Material, Texture};

/// The largest value of a stored channel: 1.
const ONE: f32 = 65535.0;
/// Rows of a level that one task makes.
const ROWS_A_TASK: usize = 64;

/// What a texture's numbers mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Colour in sRGB: decoded, so that it is filtered in linear light.
    Colour,
    /// Numbers to be taken as they are: normals.
    Raw,
}

/// The mip chains of a scene's textures.
#[derive(Debug, Clone, Default)]
pub struct Textures {
    pyramids: Vec<Option<Pyramid>>,
}

impl Textures {
    /// Builds the chains. What a texture is used for follows from the materials; one that is used
    /// for both is taken as normals.
    #[must_use]
    pub fn new(textures: &[Texture], materials: &[Material]) -> Self {
        let role = |index: usize| {
            let is_normals = |m: &Material| m.normal_texture.is_some_and(|t| t as usize == index);
            if materials.iter().any(is_normals) {
                Role::Raw
            } else {
                Role::Colour
            }
        };
        let build = |(index, texture)| Pyramid::new(texture, role(index));
        Self {
            pyramids: textures.par_iter().enumerate().map(build).collect(),
        }
    }

    /// The chain of a texture by its index in the scene; `None` where there is none.
    #[must_use]
    #[inline]
    pub fn get(&self, index: u32) -> Option<&Pyramid> {
        self.pyramids.get(index as usize)?.as_ref()
    }
}

/// A texture and all its smaller levels, down to one texel.
#[derive(Debug, Clone)]
pub struct Pyramid {
    levels: Vec<Level>,
}

/// Channels are 16 bits: fine enough for dark colours in linear light, half of what f32 takes.
#[derive(Debug, Clone)]
struct Level {
    width: usize,
    height: usize,
    /// Width and height, to calculate with.
    size: [f32; 2],
    texels: Vec<[u16; 4]>,
}

impl Pyramid {
    /// Builds a chain; `None` when the texture has no texels, or not as many as it says.
    #[must_use]
    pub fn new(texture: &Texture, role: Role) -> Option<Self> {
        let (width, height) = (texture.width as usize, texture.height as usize);
        if width == 0 || height == 0 || width.checked_mul(height) != Some(texture.texels.len()) {
            return None;
        }
        let raw: [u16; 256] = {
            let mut values = (0..=u16::MAX).step_by(257);
            std::array::from_fn(|_| values.next().unwrap_or(u16::MAX))
        };
        let colour = match role {
            Role::Colour => decoding_table().map(to_stored),
            Role::Raw => raw,
        };
        let texels = texture.texels.par_iter().map(|&[r, g, b, a]| {
            let [r, g, b] = [r, g, b].map(|c| colour[usize::from(c)]);
            [r, g, b, raw[usize::from(a)]]
        });
        let mut levels = vec![Level::new(width, height, texels.collect())];
        while let Some(smaller) = levels.last().and_then(Level::smaller) {
            levels.push(smaller);
        }
        Some(Self { levels })
    }

    /// Levels, at least 1.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// The mip level, not clamped: log2 of the longer one of the texture coordinates' derivatives,
    /// in texels of level 0 (the isotropic rule of Direct3D and OpenGL).
    #[must_use]
    #[inline]
    pub fn level(&self, dx: [f32; 2], dy: [f32; 2]) -> f32 {
        let [w, h] = self.levels[0].size;
        let squared = |d: [f32; 2]| (d[0] * w).powi(2) + (d[1] * h).powi(2);
        0.5 * squared(dx).max(squared(dy)).log2()
    }

    /// The texture at `uv`, which wraps around, at a mip level, which is clamped: linear in all
    /// three; red, green, blue and alpha, 0 to 1.
    #[must_use]
    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 to the number of levels"
    )]
    pub fn sample(&self, uv: [f32; 2], level: f32) -> [f32; 4] {
        let last = self.levels.len() - 1;
        if level.is_nan() || level <= 0.0 || last == 0 {
            return self.levels[0].bilinear(uv);
        }
        if level >= last as f32 {
            return self.levels[last].bilinear(uv);
        }
        let fine = level as usize;
        let t = level - fine as f32;
        let (a, b) = (
            self.levels[fine].bilinear(uv),
            self.levels[fine + 1].bilinear(uv),
        );
        std::array::from_fn(|c| a[c] + t * (b[c] - a[c]))
    }
}

impl Level {
    fn new(width: usize, height: usize, texels: Vec<[u16; 4]>) -> Self {
        Self {
            width,
            height,
            size: [width as f32, height as f32],
            texels,
        }
    }

    /// The next level: half the size, rounded down; `None` of one texel.
    fn smaller(&self) -> Option<Self> {
        if self.width == 1 && self.height == 1 {
            return None;
        }
        let (columns, rows) = (shares(self.width), shares(self.height));
        let mut texels = vec![[0; 4]; columns.len() * rows.len()];
        let strips = texels.par_chunks_mut(ROWS_A_TASK * columns.len());
        strips.enumerate().for_each(|(strip, texels)| {
            let rows = &rows[strip * ROWS_A_TASK..];
            for (line, row) in texels.chunks_mut(columns.len()).zip(rows) {
                for (texel, column) in line.iter_mut().zip(&columns) {
                    *texel = self.average(column, row);
                }
            }
        });
        Some(Self::new(columns.len(), rows.len(), texels))
    }

    fn average(&self, column: &Share, row: &Share) -> [u16; 4] {
        let mut sum = [0.0; 4];
        for (y, weight_y) in row.parts() {
            for (x, weight_x) in column.parts() {
                let texel = self.texels[y * self.width + x];
                for (sum, c) in sum.iter_mut().zip(texel) {
                    *sum += weight_x * weight_y * f32::from(c);
                }
            }
        }
        sum.map(|c| to_stored(c / ONE))
    }

    #[inline]
    fn bilinear(&self, uv: [f32; 2]) -> [f32; 4] {
        let (x0, x1, fx) = taps(uv[0], self.width, self.size[0]);
        let (y0, y1, fy) = taps(uv[1], self.height, self.size[1]);
        let (top, bottom) = (y0 * self.width, y1 * self.width);
        let [a, b, c, d] =
            [top + x0, top + x1, bottom + x0, bottom + x1].map(|at| self.texels[at].map(f32::from));
        // The scale of the stored numbers goes into the weights.
        let (upper, lower) = ((1.0 - fy) / ONE, fy / ONE);
        let weights = [
            (1.0 - fx) * upper,
            fx * upper,
            (1.0 - fx) * lower,
            fx * lower,
        ];
        std::array::from_fn(|k| {
            (a[k] * weights[0] + b[k] * weights[1]) + (c[k] * weights[2] + d[k] * weights[3])
        })
    }
}

/// The texels of a row that one of the next level covers.
struct Share {
    first: usize,
    /// Of the first, the next and the one after; a weight of 0 may lie past the row.
    weights: [f32; 3],
}

impl Share {
    fn parts(&self) -> impl Iterator<Item = (usize, f32)> {
        let parts = (self.first..).zip(self.weights);
        parts.filter(|&(_, weight)| weight > 0.0)
    }
}

/// How a row of texels is shared out among half as many: by length, so that of an odd number each
/// of the next level covers a little more than two, three in part.
fn shares(size: usize) -> Vec<Share> {
    let half = size / 2;
    if half == 0 {
        let weights = [1.0, 0.0, 0.0];
        return vec![Share { first: 0, weights }];
    }
    let share = |k: usize| {
        let weights = if size.is_multiple_of(2) {
            [0.5, 0.5, 0.0]
        } else {
            [(half - k) as f32, half as f32, (k + 1) as f32].map(|w| w / size as f32)
        };
        Share {
            first: 2 * k,
            weights,
        }
    };
    (0..half).map(share).collect()
}

/// The texels to the left and right of `u`, and how far it is from the first to the second.
#[inline]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole part, then clamped to the row"
)]
fn taps(u: f32, texels: usize, size: f32) -> (usize, usize, f32) {
    // Towards zero, then down: faster than `floor` on processors without an instruction for it.
    let towards_zero = u as i32 as f32;
    let mut fraction = u - towards_zero;
    if fraction < 0.0 {
        fraction += 1.0;
    }
    // Beyond 2^31, or not a number: any place will do.
    if !(0.0..=1.0).contains(&fraction) {
        fraction = 0.0;
    }
    let at = fraction * size - 0.5;
    if at < 0.0 {
        return (texels - 1, 0, at + 1.0);
    }
    let left = (at as usize).min(texels - 1);
    let right = if left + 1 == texels { 0 } else { left + 1 };
    (left, right, at - left as f32)
}

/// A channel, 0 to 1, as it is stored.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts of f32 saturate"
)]
fn to_stored(value: f32) -> u16 {
    (value * ONE + 0.5) as u16
}

#[cfg(test)]
mod tests;
