//! Functional model of a block of the raster kernel: its pixels, and the work of each warp in each round.
//!
//! A block draws a screen tile, a thread per pixel; a warp is 16x2 pixels. A round is 256 entries of the
//! tile's list, which the threads fetch together. A warp visits entries while at least one of its lanes is live:
//! inside the picture, and not stopped. The block ends when no lane of it is live.
//!
//! Alphas are equal to those of [`FragmentShader::fragment`], with the same rule near the cut: lanes apply the same
//! operations in the same order. If that rule asks the reference renderer, so does the stop rule near its threshold.

use fearless_simd::{dispatch, f32x16, mask32x16, prelude::*};

use crate::warp::fragment::FragmentShader;
use quadrille_base::math::unfused::exp2_lanes;
use quadrille_base::math::{SimdLevel, narrow};
use quadrille_base::raster::tiles::TILE_PX;
use quadrille_base::shading::StopRule;
use quadrille_machine::statistics;
use quadrille_render::preprocess::{LOG2_ALPHA_CUT, ProjectedSplat};

/// Threads of a block, and entries of a round.
pub(crate) const BLOCK_THREADS: usize = 256;
/// Warps of a block.
pub(crate) const BLOCK_WARPS: usize = 8;
const WARP_ROWS: usize = 2;
const ROW: usize = TILE_PX as usize;
const _: () = assert!(BLOCK_WARPS * WARP_ROWS * ROW == BLOCK_THREADS && ROW == 16);

/// Lower bound of the transmittance. It avoids denormals without a stop rule, and an f32 picture does not show it.
const LEAST_TRANSMITTANCE: f32 = 1e-30;

/// Relative distance from the stop threshold within which lanes are decided exactly. At an alpha of 0.99, an error of 2e-6
/// in alpha is an error of 2e-4 in transmittance.
const STOP_BAND: f32 = 1.0 / 4096.0;

/// Work of a warp in a round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WarpWork {
    /// Number of entries that the warp visits.
    pub entries: u16,
    /// Number of visited entries with a live fragment above the alpha cut.
    pub over_cut: u16,
    /// Number of entries of `over_cut` that at least one lane blends.
    pub blending: u16,
    /// Number of entries of `blending` that no warp of lower number blends.
    pub first: u16,
}

/// Work of a block in a round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RoundWork {
    /// Work of each warp of the block.
    pub warps: [WarpWork; BLOCK_WARPS],
    /// Mask of the entries that at least one lane of the block blends.
    pub blended: [u64; BLOCK_THREADS / 64],
}

statistics! {
    /// Lane counts over all entries that warps visit.
    #[derive(Copy, serde::Serialize, serde::Deserialize)]
    pub struct LaneTotals {
        /// Lanes whose pixels still accept fragments.
        pub live: u64,
        /// Live lanes whose fragment is above the alpha cut.
        pub over_cut: u64,
        /// Lanes that blend.
        pub blended: u64,
    }
}

/// Pixels of a block, and its work by round.
#[derive(Debug, Clone)]
pub struct BlockOutcome {
    /// Work of each round that the block begins.
    pub rounds: Vec<RoundWork>,
    /// Lane counts over all entries that the warps visit.
    pub lanes: LaneTotals,
    /// Number of entries visited until the last pixel of each quarter of the tile (8x8 pixels, row by row) stops.
    pub(crate) subtile_ends: [u32; 4],
    /// Premultiplied colour and alpha of the tile's pixels, row by row; zeros outside the picture.
    pub pixels: Box<[[f32; 4]; BLOCK_THREADS]>,
}

/// Inputs that all blocks of a picture share.
#[derive(Clone, Copy)]
pub struct BlockDraw<'a> {
    /// Fragment shader of the draw.
    pub shader: FragmentShader<'a>,
    /// Splats in drawing order.
    pub splats: &'a [ProjectedSplat],
    /// Width and height of the picture in pixels.
    pub size: [u32; 2],
    /// Rule that stops the blending of a pixel.
    pub stop: StopRule,
}

#[derive(Clone, Copy)]
struct WarpPlace {
    number: usize,
    origin: [u32; 2],
    inside: [u64; WARP_ROWS],
}

impl BlockDraw<'_> {
    /// Draws the tile whose first pixel is `origin` from its list: indices of splats in drawing order.
    ///
    /// # Panics
    /// Panics if the list names a splat that the draw does not have.
    pub fn run(&self, origin: [u32; 2], list: &[u32], level: SimdLevel) -> BlockOutcome {
        dispatch!(level.level(), simd => self.run_lanes(simd, origin, list))
    }

    #[inline(always)]
    fn run_lanes<S: Simd>(&self, simd: S, origin: [u32; 2], list: &[u32]) -> BlockOutcome {
        let mut block = BlockOutcome {
            rounds: vec![RoundWork::default(); list.len().div_ceil(BLOCK_THREADS)],
            lanes: LaneTotals::default(),
            subtile_ends: [0; 4],
            pixels: Box::new([[0.0; 4]; BLOCK_THREADS]),
        };
        let columns = self.size[0].saturating_sub(origin[0]).min(TILE_PX);
        let inside = u64::from(u16::MAX) >> (TILE_PX - columns);
        for (number, y) in (origin[1]..).step_by(WARP_ROWS).take(BLOCK_WARPS).enumerate() {
            let rows = [y, y + 1].map(|y| if y < self.size[1] { inside } else { 0 });
            let place = WarpPlace { number, origin: [origin[0], y], inside: rows };
            self.run_warp(simd, place, list, &mut block);
        }
        // Before each round, the block votes whether a lane is live.
        let is_begun = |round: &RoundWork| round.warps.iter().any(|warp| warp.entries > 0);
        block.rounds.truncate(block.rounds.iter().take_while(|round| is_begun(round)).count());
        block
    }

    #[inline(always)]
    fn run_warp<S: Simd>(&self, simd: S, place: WarpPlace, list: &[u32], block: &mut BlockOutcome) {
        let mut pixels = WarpPixels::new(simd, self, place);
        let mut visited: u32 = 0;
        // Number of entries visited while the left and the right half of the warp are live.
        let mut ends = [0; 2];
        for (entries, round) in list.chunks(BLOCK_THREADS).zip(&mut block.rounds) {
            if !pixels.is_live() {
                break;
            }
            let mut work = WarpWork::default();
            for (entry, &splat) in entries.iter().enumerate() {
                if !pixels.is_live() {
                    break;
                }
                let splat = &self.splats[splat as usize];
                let halves = pixels.live_halves();
                let seen = &list[..visited as usize];
                let (over_cut, blended) = pixels.visit(simd, self, splat, seen, &mut block.lanes);
                work.entries += 1;
                visited += 1;
                if pixels.live_halves() != halves {
                    close(&mut ends, halves, visited);
                }
                work.over_cut += u16::from(over_cut);
                work.blending += u16::from(blended);
                let (word, bit) = (&mut round.blended[entry / 64], 1 << (entry % 64));
                work.first += u16::from(blended && *word & bit == 0);
                *word |= if blended { bit } else { 0 };
            }
            round.warps[place.number] = work;
        }
        close(&mut ends, pixels.live_halves(), visited);
        let above = place.number / (BLOCK_WARPS / 2) * 2;
        for (subtile, end) in block.subtile_ends[above..].iter_mut().zip(ends) {
            *subtile = end.max(*subtile);
        }
        let first = place.number * WARP_ROWS * ROW;
        pixels.store(&mut block.pixels[first..first + WARP_ROWS * ROW]);
    }
}

impl BlockDraw<'_> {
    /// Decides the lanes `near` the stop threshold one by one, as the reference renderer does. `reached` is the result for
    /// all other lanes, and for all lanes if the shader does not ask the reference renderer.
    #[cold]
    #[inline(never)]
    fn decide_stop(
        &self,
        splat: &ProjectedSplat,
        seen: &[u32],
        origin: [u32; 2],
        [mut reached, near]: [u64; 2],
    ) -> u64 {
        let Some(reference) = self.shader.near_cut() else { return reached };
        let splats = seen.iter().map(|number| &self.splats[*number as usize]).chain([splat]);
        for lane in (0..TILE_PX).filter(|lane| near >> lane & 1 == 1) {
            let alphas = splats
                .clone()
                .filter_map(|splat| reference.alpha(splat, origin[0] + lane, origin[1]));
            let left = alphas.fold(1.0, |left, alpha| left * (1.0 - alpha));
            let bit = 1 << lane;
            reached = if self.stop.is_reached(left) { reached | bit } else { reached & !bit };
        }
        reached
    }
}

#[derive(Clone, Copy)]
struct RowFragments<S: Simd> {
    over: u64,
    alpha: f32x16<S>,
}

struct WarpPixels<S: Simd> {
    origin: [u32; 2],
    inside: [u64; WARP_ROWS],
    live: [u64; WARP_ROWS],
    /// X of the columns, from the picture's centre in pixels.
    x: f32x16<S>,
    y: [f32; WARP_ROWS],
    transmittance: [f32x16<S>; WARP_ROWS],
    colour: [[f32x16<S>; 3]; WARP_ROWS],
}

impl<S: Simd> WarpPixels<S> {
    #[inline(always)]
    fn new(simd: S, draw: &BlockDraw<'_>, place: WarpPlace) -> Self {
        let lane = |v: f32| f32x16::splat(simd, v);
        let [x, y] = draw.shader.position(place.origin[0], place.origin[1]);
        Self {
            origin: place.origin,
            inside: place.inside,
            live: place.inside,
            // Exact in f32: multiples of 1/2, far below 2^23.
            x: lane(x) + f32x16::from_fn(simd, |i| i as f32),
            y: [y, y + 1.0],
            transmittance: [lane(1.0); WARP_ROWS],
            colour: [[lane(0.0); 3]; WARP_ROWS],
        }
    }

    #[inline(always)]
    fn is_live(&self) -> bool {
        self.live[0] | self.live[1] != 0
    }

    #[inline(always)]
    fn live_halves(&self) -> [bool; 2] {
        let live = self.live[0] | self.live[1];
        [live & 0xff != 0, live >> (ROW / 2) != 0]
    }

    /// Processes an entry after the entries `seen`. Returns whether a live lane has a fragment above the cut, and whether a
    /// lane blends.
    #[inline(always)]
    fn visit(
        &mut self,
        simd: S,
        draw: &BlockDraw<'_>,
        splat: &ProjectedSplat,
        seen: &[u32],
        lanes: &mut LaneTotals,
    ) -> (bool, bool) {
        let (mut any_over, mut any_blended) = (0, 0);
        for row in 0..WARP_ROWS {
            let live = self.live[row];
            lanes.live += u64::from(live.count_ones());
            if live == 0 {
                continue;
            }
            let mut fragments = self.shade_row(simd, draw, splat, row);
            fragments.over &= live;
            let over = fragments.over;
            if over == 0 {
                continue;
            }
            let blended = self.blend_row(simd, draw, row, splat, seen, fragments);
            lanes.over_cut += u64::from(over.count_ones());
            lanes.blended += u64::from(blended.count_ones());
            any_over |= over;
            any_blended |= blended;
        }
        (any_over != 0, any_blended != 0)
    }

    #[inline(always)]
    fn shade_row(
        &self,
        simd: S,
        draw: &BlockDraw<'_>,
        splat: &ProjectedSplat,
        row: usize,
    ) -> RowFragments<S> {
        let lane = |v: f32| f32x16::splat(simd, v);
        let (y, band) = (self.y[row], draw.shader.band());
        let v = splat.v_at_centre + splat.v_per_y * y;
        let v_squared = v * v;
        // This bound is safe: subtracting the square of u makes no exponent larger, rounding included.
        if splat.log2_opacity - v_squared < LOG2_ALPHA_CUT - band {
            return RowFragments { over: 0, alpha: lane(0.0) };
        }
        let u = lane(splat.u_at_centre - splat.u_per_y * y) + lane(splat.u_per_x) * self.x;
        let exponent = (lane(splat.log2_opacity) - u * u) - lane(v_squared);
        let mut over = exponent.simd_ge(lane(LOG2_ALPHA_CUT)).to_bitmask();
        let from_cut = (exponent - lane(LOG2_ALPHA_CUT)).abs();
        let near = from_cut.simd_lt(lane(band)).to_bitmask() & self.live[row];
        if over == 0 && near == 0 {
            return RowFragments { over: 0, alpha: lane(0.0) };
        }
        let mut alpha = exp2_lanes(simd, exponent).min(lane(draw.shader.alpha_cap()));
        if near != 0 {
            let mut alphas = [0.0; ROW];
            alpha.store_slice(&mut alphas);
            let origin = [self.origin[0], self.origin[1] + u32::from(row == 1)];
            over = decide(draw, splat, origin, [over, near], &mut alphas);
            alpha = f32x16::from_slice(simd, &alphas);
        }
        RowFragments { over, alpha }
    }

    /// Blends fragments of a splat into a row or stops their lanes; returns the lanes that blend. `seen` precedes the
    /// splat.
    #[inline(always)]
    fn blend_row(
        &mut self,
        simd: S,
        draw: &BlockDraw<'_>,
        row: usize,
        splat: &ProjectedSplat,
        seen: &[u32],
        RowFragments { over, alpha }: RowFragments<S>,
    ) -> u64 {
        let lane = |v: f32| f32x16::splat(simd, v);
        let before = self.transmittance[row];
        let left = before * (lane(1.0) - alpha);
        // Lanes whose transmittance after the fragment makes the rule stop.
        let mut reached = match draw.stop {
            StopRule::Never => 0,
            StopRule::Before(threshold) => left.simd_lt(lane(narrow(threshold))).to_bitmask(),
            StopRule::BeforeOrAt(threshold) => left.simd_le(lane(narrow(threshold))).to_bitmask(),
            StopRule::After(opacity) => left.simd_le(lane(narrow(1.0 - opacity))).to_bitmask(),
        };
        if let Some(threshold) = draw.stop.threshold() {
            let threshold = narrow(threshold);
            let distance = (left - lane(threshold)).abs();
            let near = distance.simd_lt(lane(threshold * STOP_BAND)).to_bitmask() & over;
            if near != 0 {
                let origin = [self.origin[0], self.origin[1] + u32::from(row == 1)];
                reached = draw.decide_stop(splat, seen, origin, [reached, near]);
            }
        }
        let refused = match draw.stop {
            StopRule::Never | StopRule::After(_) => 0,
            StopRule::Before(_) | StopRule::BeforeOrAt(_) => reached,
        };
        let blended = over & !refused;
        self.live[row] &= !(over & reached);
        let mask = mask32x16::from_bitmask(simd, blended);
        let weight = mask.select(before, lane(0.0));
        for (sum, colour) in self.colour[row].iter_mut().zip(splat.colour) {
            *sum += weight * (alpha * lane(colour));
        }
        self.transmittance[row] = mask.select(left.max(lane(LEAST_TRANSMITTANCE)), before);
        blended
    }

    #[inline(always)]
    fn store(&self, pixels: &mut [[f32; 4]]) {
        for (row, pixels) in pixels.chunks_exact_mut(ROW).enumerate() {
            let [r, g, b] = self.colour[row].map(|channel| channel.to_array());
            let transmittance = self.transmittance[row].to_array();
            for (i, pixel) in pixels.iter_mut().enumerate() {
                if self.inside[row] >> i & 1 == 1 {
                    *pixel = [r[i], g[i], b[i], 1.0 - transmittance[i]];
                }
            }
        }
    }
}

/// Sets the ends of the halves that are live to `visited`, the number of entries so far.
fn close(ends: &mut [u32; 2], halves: [bool; 2], visited: u32) {
    for (end, live) in ends.iter_mut().zip(halves) {
        if live {
            *end = visited;
        }
    }
}

/// Decides the lanes `near` the alpha cut one by one; `over` is the result for all other lanes.
#[cold]
#[inline(never)]
fn decide(
    draw: &BlockDraw<'_>,
    splat: &ProjectedSplat,
    origin: [u32; 2],
    [over, near]: [u64; 2],
    alphas: &mut [f32; ROW],
) -> u64 {
    let mut over = over & !near;
    for (alpha, lane) in alphas.iter_mut().zip(0..) {
        if near >> lane & 1 == 1
            && let Some(decided) = draw.shader.fragment(splat, origin[0] + lane, origin[1])
        {
            *alpha = decided;
            over |= 1 << lane;
        }
    }
    over
}
