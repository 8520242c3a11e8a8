//! Mip-mapped textures with trilinear filtering.

use rayon::prelude::*;

use super::lanes::{Lanes, log2};
use quadrille_base::image::srgb::srgb_decoding_table;
use quadrille_base::math::whole;
use quadrille_geometry::files::{
    Material, Microfacets, Sampler, Texture, TextureFilter, UvMap, Wrap,
};

const ONE: f32 = 65535.0;
const ROWS_PER_TASK: usize = 64;

/// Encoding of a texture's channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextureRole {
    /// Colour in sRGB, decoded before filtering in linear light.
    Colour,
    /// Linear data: normals, occlusion, roughness and metalness.
    Raw,
}

/// The mip chains of a scene's textures.
#[derive(Debug, Clone, Default)]
pub struct Textures {
    chains: Vec<Option<MipChain>>,
}

impl Textures {
    /// Builds the mip chains. Textures used as normals, occlusion or microfacet data are linear, all others sRGB.
    pub fn new(textures: &[Texture], materials: &[Material]) -> Self {
        let role = |index: usize| {
            let is_raw = |m: &Material| {
                let facets = m.microfacets.and_then(Microfacets::data_texture);
                let raw = [m.normal_texture, m.occlusion_texture, facets];
                raw.into_iter().flatten().any(|t| t as usize == index)
            };
            if materials.iter().any(is_raw) { TextureRole::Raw } else { TextureRole::Colour }
        };
        let build = |(index, texture)| MipChain::new(texture, role(index));
        Self { chains: textures.par_iter().enumerate().map(build).collect() }
    }

    /// Mip chain of the texture with this index in the scene; `None` if it is missing or malformed.
    #[inline]
    pub fn get(&self, index: u32) -> Option<&MipChain> {
        self.chains.get(index as usize)?.as_ref()
    }
}

/// A texture and its smaller mip levels, down to one texel.
#[derive(Debug, Clone)]
pub struct MipChain {
    levels: Vec<MipLevel>,
    sampler: Sampler,
    /// Map of texture coordinates, unless they are the coordinates of the mesh.
    uv_map: Option<UvMap>,
    has_second_uvs: bool,
    /// Whether there is no map, and the sampler is the default, which repeats with trilinear filtering.
    is_plain: bool,
}

/// Texels with 16 bits per channel: enough for dark colours in linear light, at half the size of f32.
#[derive(Debug, Clone)]
struct MipLevel {
    sides: [u32; 2],
    texels: Vec<[u16; 4]>,
}

impl MipChain {
    /// Builds the chain; `None` if the texture has no texels or their number does not match its size.
    pub fn new(texture: &Texture, role: TextureRole) -> Option<Self> {
        let (width, height) = (texture.width as usize, texture.height as usize);
        if width == 0 || height == 0 || width.checked_mul(height) != Some(texture.texels.len()) {
            return None;
        }
        let raw: [u16; 256] = {
            let mut values = (0..=u16::MAX).step_by(257);
            std::array::from_fn(|_| values.next().unwrap_or(u16::MAX))
        };
        let colour = match role {
            TextureRole::Colour => srgb_decoding_table().map(to_stored),
            TextureRole::Raw => raw,
        };
        let texels = texture.texels.par_iter().map(|&[r, g, b, a]| {
            let [r, g, b] = [r, g, b].map(|c| colour[usize::from(c)]);
            [r, g, b, raw[usize::from(a)]]
        });
        let mut levels =
            vec![MipLevel { sides: [texture.width, texture.height], texels: texels.collect() }];
        while let Some(smaller) = levels.last().and_then(MipLevel::smaller) {
            levels.push(smaller);
        }
        Some(Self {
            levels,
            sampler: texture.sampler,
            uv_map: Some(texture.uv_map).filter(|map| *map != UvMap::IDENTITY),
            has_second_uvs: texture.has_second_uvs,
            is_plain: texture.sampler == Sampler::default() && texture.uv_map == UvMap::IDENTITY,
        })
    }

    /// Number of levels, at least 1.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// True if the texture has the coordinates of the mesh's second set.
    #[inline]
    pub(super) fn has_second_uvs(&self) -> bool {
        self.has_second_uvs
    }

    /// Slopes of the texture coordinates of a mesh along x and y, as slopes of the coordinates of this texture.
    #[inline]
    pub(super) fn slopes(&self, slopes: &[[Lanes; 2]; 2]) -> [[Lanes; 2]; 2] {
        let mut mapped = *slopes;
        if let Some(map) = self.uv_map {
            for [u, v] in &mut mapped {
                u.iter_mut().zip(v).for_each(|(u, v)| [*u, *v] = map.difference([*u, *v]));
            }
        }
        mapped
    }

    fn difference(&self, uv: [f32; 2]) -> [f32; 2] {
        self.uv_map.map_or(uv, |map| map.difference(uv))
    }

    /// Mip level, not clamped: log2 of the longer of the two derivatives of the texture
    /// coordinates, in texels of level 0 (the isotropic rule of Direct3D and OpenGL).
    #[inline]
    pub fn level(&self, dx: [f32; 2], dy: [f32; 2]) -> f32 {
        let [w, h] = self.levels[0].sides.map(|side| side as f32);
        let squared = |d: [f32; 2]| (d[0] * w).powi(2) + (d[1] * h).powi(2);
        let (x, y) = (squared(self.difference(dx)), squared(self.difference(dy)));
        0.5 * log2(if x > y { x } else { y })
    }

    /// Samples the texture with its sampler's filters and wrapping, by default trilinear and repeating. The level
    /// is clamped. Returns red, green, blue and alpha, 0 to 1.
    #[inline]
    pub fn sample(&self, uv: [f32; 2], level: f32) -> [f32; 4] {
        if !self.is_plain {
            return self.sample_as_said(uv, level);
        }
        let last = self.levels.len() - 1;
        if level.is_nan() || level <= 0.0 || last == 0 {
            return self.levels[0].bilinear(uv);
        }
        if level >= last as f32 {
            return self.levels[last].bilinear(uv);
        }
        let fine = whole::<usize>(level);
        let t = level - fine as f32;
        let (a, b) = (self.levels[fine].bilinear(uv), self.levels[fine + 1].bilinear(uv));
        std::array::from_fn(|c| a[c] + t * (b[c] - a[c]))
    }

    fn sample_as_said(&self, uv: [f32; 2], level: f32) -> [f32; 4] {
        let wrap = self.sampler.wrap;
        let uv = self.uv_map.map_or(uv, |map| map.point(uv));
        if level.is_nan() || level <= 0.0 {
            return self.levels[0].filtered(uv, wrap, self.sampler.magnify);
        }
        let last = self.levels.len() - 1;
        let level = level.min(last as f32);
        let at = |level: usize| self.levels[level].filtered(uv, wrap, self.sampler.minify);
        match self.sampler.levels {
            None => at(0),
            Some(TextureFilter::Nearest) => at(whole(level + 0.5)),
            Some(TextureFilter::Linear) => {
                let fine = whole::<usize>(level).min(last.saturating_sub(1));
                let (a, b) = (at(fine), at((fine + 1).min(last)));
                let t = level - fine as f32;
                std::array::from_fn(|c| a[c] + t * (b[c] - a[c]))
            }
        }
    }
}

impl MipLevel {
    fn filtered(&self, uv: [f32; 2], wrap: [Wrap; 2], filter: TextureFilter) -> [f32; 4] {
        let [columns, rows] = [0, 1].map(|axis| {
            let texels = self.sides[axis];
            taps_as_said(wrapped(uv[axis], wrap[axis]) * texels as f32, texels, wrap[axis], filter)
        });
        let mut sum = [0.0; 4];
        for (y, weight_y) in rows {
            for (x, weight_x) in columns {
                let texel = self.texels[y as usize * self.sides[0] as usize + x as usize];
                add(&mut sum, scaled(texel, weight_x * weight_y * (1.0 / ONE)));
            }
        }
        sum
    }

    /// Next level, of half the size, rounded down; `None` if this level is a single texel.
    fn smaller(&self) -> Option<Self> {
        if self.sides == [1; 2] {
            return None;
        }
        let [columns, rows] = self.sides.map(|side| shares(side as usize));
        let mut texels = vec![[0; 4]; columns.len() * rows.len()];
        let strips = texels.par_chunks_mut(ROWS_PER_TASK * columns.len());
        strips.enumerate().for_each(|(strip, texels)| {
            let rows = &rows[strip * ROWS_PER_TASK..];
            for (line, row) in texels.chunks_mut(columns.len()).zip(rows) {
                for (texel, column) in line.iter_mut().zip(&columns) {
                    *texel = self.average(column, row);
                }
            }
        });
        Some(Self { sides: self.sides.map(|side| (side / 2).max(1)), texels })
    }

    fn average(&self, column: &TexelShare, row: &TexelShare) -> [u16; 4] {
        let mut sum = [0.0; 4];
        for (y, weight_y) in row.parts() {
            for (x, weight_x) in column.parts() {
                for (sum, c) in sum.iter_mut().zip(self.texels[y * self.sides[0] as usize + x]) {
                    *sum += weight_x * weight_y * f32::from(c);
                }
            }
        }
        sum.map(|c| to_stored(c / ONE))
    }

    #[inline]
    fn bilinear(&self, uv: [f32; 2]) -> [f32; 4] {
        let (x0, x1, fx) = taps(uv[0], self.sides[0]);
        let (y0, y1, fy) = taps(uv[1], self.sides[1]);
        let row = |y: u32| y as usize * self.sides[0] as usize;
        let (top, bottom) = (row(y0), row(y1));
        let (x0, x1) = (x0 as usize, x1 as usize);
        // The weights include the factor from stored 16-bit values to 0..=1.
        let (upper, lower) = ((1.0 - fy) * (1.0 / ONE), fy * (1.0 / ONE));
        // The sum is formed texel by texel: the compiler vectorizes the four channels of a texel.
        let mut sum = scaled(self.texels[top + x0], (1.0 - fx) * upper);
        add(&mut sum, scaled(self.texels[top + x1], fx * upper));
        add(&mut sum, scaled(self.texels[bottom + x0], (1.0 - fx) * lower));
        add(&mut sum, scaled(self.texels[bottom + x1], fx * lower));
        sum
    }
}

#[inline(always)]
fn scaled([r, g, b, a]: [u16; 4], weight: f32) -> [f32; 4] {
    [f32::from(r) * weight, f32::from(g) * weight, f32::from(b) * weight, f32::from(a) * weight]
}

#[inline(always)]
fn add(sum: &mut [f32; 4], part: [f32; 4]) {
    for (sum, part) in sum.iter_mut().zip(part) {
        *sum += part;
    }
}

struct TexelShare {
    first: usize,
    /// Weights of the first texel and the next two; a texel of weight 0 may lie beyond the row.
    weights: [f32; 3],
}

impl TexelShare {
    fn parts(&self) -> impl Iterator<Item = (usize, f32)> {
        (self.first..).zip(self.weights).filter(|&(_, weight)| weight > 0.0)
    }
}

/// Weights for halving a row of texels, by overlap. If the size is odd, each texel of the next level overlaps three.
fn shares(size: usize) -> Vec<TexelShare> {
    let half = size / 2;
    if half == 0 {
        return vec![TexelShare { first: 0, weights: [1.0, 0.0, 0.0] }];
    }
    let share = |k: usize| {
        let weights = if size.is_multiple_of(2) {
            [0.5, 0.5, 0.0]
        } else {
            [(half - k) as f32, half as f32, (k + 1) as f32].map(|w| w / size as f32)
        };
        TexelShare { first: 2 * k, weights }
    };
    (0..half).map(share).collect()
}

/// Texels to the left and right of `u`, and its fraction between them. Arbitrary texels beyond 2^22 and for NaN.
#[inline(always)]
fn taps(u: f32, texels: u32) -> (u32, u32, f32) {
    /// 1.5 * 2^23: adding it rounds a number to an integer in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let size = texels as f32;
    // Position relative to the centre of the first texel, less than half a row to either side.
    let at = (u - ((u + ROUND) - ROUND)) * size - 0.5;
    let shifted = (at - 0.5) + ROUND;
    let whole = shifted.to_bits().wrapping_sub(ROUND.to_bits());
    // Negative numbers count from the end; numbers out of range are clamped to the end.
    let left = whole.wrapping_add(if whole >> 31 == 1 { texels } else { 0 }).min(texels - 1);
    let right = if left + 1 == texels { 0 } else { left + 1 };
    let part = at - (shifted - ROUND);
    // Negative and NaN fractions become 0.
    let part = if part > 0.0 { part } else { 0.0 };
    (left, right, if part < 1.0 { part } else { 1.0 })
}

/// Texture coordinate wrapped to 0 to 1; 0 if it is not finite.
fn wrapped(u: f32, wrap: Wrap) -> f32 {
    let inside = match wrap {
        Wrap::Repeat => u - u.floor(),
        Wrap::Clamp => u.clamp(0.0, 1.0),
        Wrap::Mirror => {
            let twice = u - 2.0 * (u * 0.5).floor();
            twice.min(2.0 - twice)
        }
    };
    if inside.is_finite() { inside } else { 0.0 }
}

/// Two texels along an axis and their weights, for a position in texels inside the texture.
fn taps_as_said(at: f32, texels: u32, wrap: Wrap, filter: TextureFilter) -> [(u32, f32); 2] {
    let last = texels - 1;
    if filter == TextureFilter::Nearest {
        let nearest = whole::<u32>(at).min(last);
        return [(nearest, 1.0), (nearest, 0.0)];
    }
    let from_centre = at - 0.5;
    let below = from_centre.floor();
    let part = from_centre - below;
    // Beyond an edge, a mirrored texture repeats the edge texel, like a clamped one.
    let (before, after) = match wrap {
        Wrap::Repeat => (last, 0),
        Wrap::Clamp | Wrap::Mirror => (0, last),
    };
    let left = if below < 0.0 { before } else { whole::<u32>(below).min(last) };
    let next = below + 1.0;
    let right = if next > last as f32 { after } else { whole(next) };
    [(left, 1.0 - part), (right, part)]
}

fn to_stored(value: f32) -> u16 {
    whole(value * ONE + 0.5)
}
