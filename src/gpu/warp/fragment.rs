//! The fragment shader: falloff, alpha cut and colour of a warp's fragments.
//!
//! [`FragmentShader::fragment`] is the scalar definition. [`FragmentShader::shade`] shades a warp in lanes and gives the
//! same bits on every SIMD level, since no step fuses a multiply-add.
//!
//! Alpha is f32, as in a shader core, but rounding does not decide which fragments survive: [`NearCut`] decides fragments
//! too near the cut for f32, so that fragment counts match the reference renderer.

use fearless_simd::{dispatch, f32x4, f32x16, mask32x16, prelude::*};

use super::exact_alpha::{NearCut, NearCutRule};
use quadrille_base::math::unfused::exp2_lanes;
use quadrille_base::math::{SimdLevel, fit, narrow};
use quadrille_base::raster::tiles::{TILE_PX, TILE_QUADS};
use quadrille_base::shading::{cap_rounded_down, falloff_alpha, falloff_exponent};
use quadrille_machine::{ColourQuad, Quad, QuadMasks, WARP_QUADS};
use quadrille_render::preprocess::{LOG2_ALPHA_CUT, ProjectedSplat};

/// Quads per vector of 16 lanes.
const GROUP: usize = 4;
const GROUPS: usize = WARP_QUADS / GROUP;
const LANES: usize = WARP_QUADS * 4;

/// Half width of the re-evaluated band around the cut's exponent, as a share of width plus height in pixels (plus
/// [`LEAST_REACH`]): 4.5e-7 was enough for 6 million fragments near the cut, in pictures 64 to 8000 pixels wide.
const BAND: f32 = 1.0 / 524_288.0;
/// Error bound of an exponent near the cut, as a share of its [`reach`]. It was at most 1.4e-6 on the same fragments.
const DOUBT: f32 = 1.0 / 262_144.0;
/// Part of the reach that covers rounding errors of the exponent, the opacity and the constants.
const LEAST_REACH: f32 = 16.0;

/// Tile-relative x of the pixels of a quad, by column. Adding the tile's origin is exact and faster than conversions.
const COLUMNS: [[f32; 4]; TILE_QUADS as usize] = {
    let mut columns = [[0.0, 1.0, 0.0, 1.0]; TILE_QUADS as usize];
    let mut i = 1;
    while i < columns.len() {
        let x = columns[i - 1][0] + 2.0;
        columns[i] = [x, x + 1.0, x, x + 1.0];
        i += 1;
    }
    columns
};
/// Tile-relative y of the pixels of a quad, by row. Longer than a tile, so that any position has a row.
const ROWS: [[f32; 4]; 256 / TILE_QUADS as usize] = {
    let mut rows = [[0.0, 0.0, 1.0, 1.0]; 256 / TILE_QUADS as usize];
    let mut i = 1;
    while i < rows.len() {
        let y = rows[i - 1][0] + 2.0;
        rows[i] = [y, y, y + 1.0, y + 1.0];
        i += 1;
    }
    rows
};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ShadedCounts {
    pub(crate) survivors: u32,
    pub(crate) covered: u32,
    pub(crate) survived: u32,
    pub(crate) masks: QuadMasks,
    /// Fragments decided by [`NearCut`].
    pub(crate) decided: u32,
}

/// Fragment shader of a draw: computes the colours of fragments and drops those below the alpha cut.
#[derive(Clone, Copy)]
pub struct FragmentShader<'a> {
    splats: &'a [ProjectedSplat],
    half_size: [f32; 2],
    alpha_cap: f32,
    level: SimdLevel,
    near_cut: Option<&'a dyn NearCut>,
    /// Half width of the band around the alpha cut within which exact arithmetic decides.
    band: f32,
}

impl<'a> FragmentShader<'a> {
    /// Removes the source of exact alphas unless `rule` asks for it.
    pub(crate) fn with_near_cut(self, rule: NearCutRule) -> Self {
        Self { near_cut: self.near_cut.filter(|_| rule == NearCutRule::Exact), ..self }
    }

    /// Creates the shader of `splats`, indexed by [`Quad::primitive`], for a picture of `size_px` (width, height; below
    /// 2^16). Alphas are capped at `alpha_cap`. Without `near_cut`, f32 decides fragments near the cut.
    pub fn new(
        splats: &'a [ProjectedSplat],
        size_px: [u32; 2],
        alpha_cap: f64,
        level: SimdLevel,
        near_cut: Option<&'a dyn NearCut>,
    ) -> Self {
        let [width, height] = size_px.map(|side| side as f32);
        Self {
            splats,
            half_size: [width / 2.0, height / 2.0],
            alpha_cap: cap_rounded_down(alpha_cap),
            level,
            near_cut,
            band: BAND * (width + height + LEAST_REACH),
        }
    }

    /// SIMD level of the host, which does not affect results.
    pub fn level(&self) -> SimdLevel {
        self.level
    }

    pub(crate) fn near_cut(&self) -> Option<&'a dyn NearCut> {
        self.near_cut
    }

    pub(crate) fn alpha_cap(&self) -> f32 {
        self.alpha_cap
    }

    /// Half width of the band of exponents around the alpha cut in which [`FragmentShader::fragment`] re-evaluates alpha.
    pub(crate) fn band(&self) -> f32 {
        self.band
    }

    /// Alpha of `splat` at pixel (`x`, `y`), `None` below the cut: the scalar definition of [`FragmentShader::shade`].
    pub fn fragment(&self, splat: &ProjectedSplat, x: u32, y: u32) -> Option<f32> {
        let exponent = exponent(splat, self.position(x, y));
        let alpha = falloff_alpha(exponent, self.alpha_cap);
        if (exponent - LOG2_ALPHA_CUT).abs() < self.band {
            return self.decide(splat, [x, y], exponent, alpha);
        }
        (exponent >= LOG2_ALPHA_CUT).then_some(alpha)
    }

    /// Shades up to [`WARP_QUADS`] quads of the screen tile (`tile_x`, `tile_y`) into the same elements of `out`. Other
    /// elements become empty, and further quads are ignored. Returns the number of fragments that [`NearCut`] decided.
    ///
    /// # Panics
    /// Panics if a quad refers to a splat that the shader does not have.
    #[inline]
    pub fn shade(
        &self,
        tile_x: u32,
        tile_y: u32,
        quads: &[Quad],
        out: &mut [ColourQuad; WARP_QUADS],
    ) -> u64 {
        u64::from(self.shade_into::<false>([tile_x, tile_y], quads, out).decided)
    }

    /// Like [`Self::shade`]. If `PACKED`, the surviving quads come first in `out`, and other elements are undefined.
    #[inline]
    pub(crate) fn shade_into<const PACKED: bool>(
        &self,
        [tile_x, tile_y]: [u32; 2],
        quads: &[Quad],
        out: &mut [ColourQuad; WARP_QUADS],
    ) -> ShadedCounts {
        let Some(&first) = quads.first() else {
            *out = Default::default();
            return ShadedCounts::default();
        };
        let mut padded;
        let warp = match quads.first_chunk() {
            Some(full) => full,
            None => {
                // A partial warp is padded with quads without coverage.
                padded = [Quad { mask: 0, ..first }; WARP_QUADS];
                for (place, quad) in padded.iter_mut().zip(quads) {
                    *place = *quad;
                }
                &padded
            }
        };
        let origin = [tile_x * TILE_PX, tile_y * TILE_PX];
        dispatch!(self.level.level(), simd => self.shade_warp::<_, PACKED>(simd, origin, warp, out))
    }

    /// Pixel centre relative to the picture's centre.
    #[inline(always)]
    pub(crate) fn position(&self, x: u32, y: u32) -> [f32; 2] {
        // Exact in f32: multiples of 1/2, far below 2^23.
        [(x as f32 + 0.5) - self.half_size[0], (y as f32 + 0.5) - self.half_size[1]]
    }

    #[inline(always)]
    fn shade_warp<S: Simd, const PACKED: bool>(
        &self,
        simd: S,
        origin: [u32; 2],
        quads: &[Quad; WARP_QUADS],
        out: &mut [ColourQuad; WARP_QUADS],
    ) -> ShadedCounts {
        let lane = |v: f32| f32x16::splat(simd, v);
        let first_px = self.position(origin[0], origin[1]);
        // Each step runs over the whole warp, since the steps of a single vector depend on each other.
        let mut exponents = [lane(0.0); GROUPS];
        for (exponents, quads) in exponents.iter_mut().zip(quads.chunks_exact(GROUP)) {
            let [a, b, c, d] = [&quads[0], &quads[1], &quads[2], &quads[3]];
            // Quads of a warp may belong to different splats, so parameters are broadcast per quad.
            let low = self.exponent_lanes(simd, first_px, a);
            let low = low.combine(self.exponent_lanes(simd, first_px, b));
            let high = self.exponent_lanes(simd, first_px, c);
            *exponents = low.combine(high.combine(self.exponent_lanes(simd, first_px, d)));
        }
        let (mut alpha, mut survive, mut near, mut covered) = (exponents, 0, 0, 0);
        for i in 0..GROUPS {
            alpha[i] = exp2_lanes(simd, exponents[i]).min(lane(self.alpha_cap));
            let from_cut = exponents[i] - lane(LOG2_ALPHA_CUT);
            survive |= exponents[i].simd_ge(lane(LOG2_ALPHA_CUT)).to_bitmask() << (16 * i);
            near |= from_cut.abs().simd_lt(lane(self.band)).to_bitmask() << (16 * i);
        }
        for (i, quad) in quads.iter().enumerate() {
            // A bit per fragment of the warp: all counts below are population counts of this word.
            covered |= u64::from(quad.mask & 15) << (4 * i);
        }
        survive &= covered;
        near &= covered;
        let mut counts = ShadedCounts::default();
        // Most warps have no fragment near the cut and stay in vectors, so the slow path is not inlined.
        if near != 0 {
            let mut numbers = [[0.0; LANES]; 2];
            for i in 0..GROUPS {
                exponents[i].store_slice(&mut numbers[0][16 * i..16 * (i + 1)]);
                alpha[i].store_slice(&mut numbers[1][16 * i..16 * (i + 1)]);
            }
            let [exponents, alphas] = &mut numbers;
            // The slow path decides these lanes anew.
            survive &= !near;
            let survivors;
            (survivors, counts.decided) = self.decide_all(origin, quads, exponents, near, alphas);
            survive |= survivors;
            for i in 0..GROUPS {
                alpha[i] = f32x16::from_slice(simd, &alphas[16 * i..16 * (i + 1)]);
            }
        }
        // Counting from the masks of a whole warp, and writing survivors packed at once, is part of a change that saved 80
        // instructions per quad on truck (AVX2).
        counts.covered = covered.count_ones();
        counts.survived = survive.count_ones();
        counts.masks = QuadMasks(fit(survive));
        for (i, alpha) in alpha.iter().enumerate() {
            let survive = survive >> (16 * i) & 0xffff;
            let survivors = mask32x16::from_bitmask(simd, survive);
            let (low, high) = survivors.select(*alpha, lane(0.0)).split();
            let ((a, b), (c, d)) = (low.split(), high.split());
            for (k, alpha) in [a, b, c, d].into_iter().enumerate() {
                let quad = &quads[GROUP * i + k];
                let colour = &self.splats[quad.primitive as usize].colour;
                let mask = survive >> (4 * k) & 15;
                // Written behind the survivors so far; the next quad overwrites one that does not survive.
                let place = if PACKED {
                    // The remainder never changes the index; it removes the bounds check.
                    counts.survivors as usize % WARP_QUADS
                } else {
                    GROUP * i + k
                };
                counts.survivors += u32::from(mask != 0);
                let out = &mut out[place];
                out.position = quad.position;
                write_quad(simd, alpha, colour, mask, out);
            }
        }
        counts
    }

    /// [`exponent`] of a quad in the same order of operations. `first_px` is the position of its tile's first pixel.
    #[inline(always)]
    fn exponent_lanes<S: Simd>(&self, simd: S, first_px: [f32; 2], quad: &Quad) -> f32x4<S> {
        let lane = |v: f32| f32x4::splat(simd, v);
        let splat = &self.splats[quad.primitive as usize];
        let (column, row) = (
            usize::from(quad.position) % COLUMNS.len(),
            usize::from(quad.position) / COLUMNS.len(),
        );
        let x = lane(first_px[0]) + f32x4::simd_from(simd, COLUMNS[column]);
        let y = lane(first_px[1]) + f32x4::simd_from(simd, ROWS[row]);
        let u = (lane(splat.u_at_centre) - lane(splat.u_per_y) * y) + lane(splat.u_per_x) * x;
        let v = lane(splat.v_at_centre) + lane(splat.v_per_y) * y;
        (lane(splat.log2_opacity) - u * u) - v * v
    }

    /// Decides the lanes of `near` one by one. Returns the surviving lanes and the number decided by [`NearCut`]. Survivors
    /// that f32 puts below the cut get their exact alpha.
    #[cold]
    #[inline(never)]
    fn decide_all(
        &self,
        origin: [u32; 2],
        quads: &[Quad; WARP_QUADS],
        exponents: &[f32; LANES],
        near: u64,
        alphas: &mut [f32; LANES],
    ) -> (u64, u32) {
        let (mut survive, mut asked, mut left) = (0, 0, near);
        while left != 0 {
            let lane = left.trailing_zeros();
            left &= left - 1;
            let quad = quads[lane as usize / 4];
            let splat = &self.splats[quad.primitive as usize];
            let [x, y] = pixel(origin, quad.position);
            let pixel = [x + lane % 2, y + lane / 2 % 2];
            let alpha = &mut alphas[lane as usize];
            let exponent = exponents[lane as usize];
            asked += u32::from(self.judge(splat, pixel, exponent).is_some());
            if let Some(decided) = self.decide(splat, pixel, exponent, *alpha) {
                *alpha = decided;
                survive |= 1 << lane;
            }
        }
        (survive, asked)
    }

    fn judge(
        &self,
        splat: &ProjectedSplat,
        [x, y]: [u32; 2],
        exponent: f32,
    ) -> Option<&'a dyn NearCut> {
        let doubt = DOUBT * (reach(splat, self.position(x, y)) + LEAST_REACH);
        self.near_cut.filter(|_| (exponent - LOG2_ALPHA_CUT).abs() < doubt)
    }

    fn decide(
        &self,
        splat: &ProjectedSplat,
        [x, y]: [u32; 2],
        exponent: f32,
        alpha: f32,
    ) -> Option<f32> {
        let above = exponent >= LOG2_ALPHA_CUT;
        match self.judge(splat, [x, y], exponent) {
            Some(near_cut) => {
                near_cut.alpha(splat, x, y).map(|exact| if above { alpha } else { narrow(exact) })
            }
            None => above.then_some(alpha),
        }
    }
}

#[inline(always)]
fn pixel(origin: [u32; 2], position: u8) -> [u32; 2] {
    let position = u32::from(position);
    [origin[0] + position % TILE_QUADS * 2, origin[1] + position / TILE_QUADS * 2]
}

/// log2 of uncapped alpha at (x, y) from the picture's centre.
#[inline(always)]
fn exponent(splat: &ProjectedSplat, [x, y]: [f32; 2]) -> f32 {
    let u = (splat.u_at_centre - splat.u_per_y * y) + splat.u_per_x * x;
    let v = splat.v_at_centre + splat.v_per_y * y;
    falloff_exponent(u, v, splat.log2_opacity)
}

#[inline(always)]
fn write_quad<S: Simd>(
    simd: S,
    alpha: f32x4<S>,
    colour: &[f32; 3],
    mask: u64,
    out: &mut ColourQuad,
) {
    for (channel, c) in out.colour.iter_mut().zip(colour) {
        (alpha * f32x4::splat(simd, *c)).store_array(channel);
    }
    alpha.store_array(&mut out.colour[3]);
    #[allow(clippy::cast_possible_truncation, reason = "four bits")]
    let mask = mask as u8;
    out.mask = mask;
}

/// Sum of the magnitudes of the terms of u and v, to which rounding errors are proportional.
#[inline(always)]
fn reach(splat: &ProjectedSplat, [x, y]: [f32; 2]) -> f32 {
    let (x, y) = (x.abs() + splat.mean_px[0].abs(), y.abs() + splat.mean_px[1].abs());
    splat.u_per_x.abs() * x + (splat.u_per_y.abs() + splat.v_per_y.abs()) * y
}
