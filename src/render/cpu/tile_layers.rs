//! Layers of a tile: depth, normals, weights and identifiers, accumulated beside the colours while a tile is drawn.

use fearless_simd::{dispatch, f32x16, prelude::*, u32x16};

use super::LayerSettings;
use super::layer_sink::{BlendedLanes, LayerSink, TakenLight};
use super::layers::{LEAST_ALPHA, MEDIAN_TRANSMITTANCE, NO_ID, SplatGeometry};
use super::runs::BATCH;
use super::tile::{BLOCK_PX, PixelBlock, TILE_BLOCKS};
use crate::preprocess::ProjectedSplat;
use quadrille_base::image::Layer;
use quadrille_base::math::{SimdLevel, narrow};

/// Blocks of a tile, and the dummy block.
pub(super) const BLOCKS: usize = TILE_BLOCKS * TILE_BLOCKS + 1;

/// Bits for the quantities that a tile keeps; layers are computed from them and the transmittance.
pub(super) mod kept {
    use super::Layer;

    /// Sum of weight times depth.
    pub(in crate::cpu) const DEPTH: u8 = 1;
    /// Sum of weight times normal.
    pub(in crate::cpu) const NORMAL: u8 = 2;
    /// Sum of weight divided by depth.
    pub(super) const INVERSE: u8 = 4;
    /// Depth at which half of the light is left.
    pub(super) const MEDIAN: u8 = 8;
    /// Largest weight and its splat.
    pub(in crate::cpu) const ID: u8 = 16;
    pub(super) const COUNT: u8 = 32;
    /// Largest weights by rank, and their splats.
    pub(super) const TOP: u8 = 64;
    pub(in crate::cpu) const ALL: u8 = DEPTH | NORMAL | INVERSE | MEDIAN | ID | COUNT | TOP;

    pub(in crate::cpu) fn of(layer: Layer) -> u8 {
        match layer {
            Layer::Depth | Layer::DepthSum => DEPTH,
            Layer::DepthInverse => INVERSE,
            Layer::DepthMedian => MEDIAN,
            Layer::Alpha => 0,
            Layer::Normal => NORMAL,
            Layer::Id => ID,
            Layer::Count => COUNT,
            Layer::TopId(_) | Layer::TopWeight(_) => TOP,
        }
    }
}

/// One cache line per block: accumulators across two lines would double the cost of a store.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Aligned<T>(pub(super) [T; BLOCK_PX * BLOCK_PX]);

pub(super) type FloatLanes = Aligned<f32>;
type WholeLanes = Aligned<u32>;

/// Weights of one rank at each pixel, and their splats.
#[derive(Debug, Clone, Copy)]
struct RankLanes {
    weight: FloatLanes,
    id: WholeLanes,
}

/// Values that layers sum by weight and that projected splats do not hold.
#[derive(Debug, Clone, Copy, Default)]
struct SummedValues {
    inverse: f32,
    normal: [f32; 3],
}

pub(super) struct TileLayers<'a, const KEPT: u8> {
    layers: &'a [Layer],
    geometry: &'a [SplatGeometry],
    /// Whether depths are distances, which the geometry holds.
    is_distance: bool,
    values: [SummedValues; BATCH],
    // One array per quantity, so that the quantities in use lie close together.
    depth: [FloatLanes; BLOCKS],
    inverse: [FloatLanes; BLOCKS],
    normal: [[FloatLanes; BLOCKS]; 3],
    median: [FloatLanes; BLOCKS],
    largest: [RankLanes; BLOCKS],
    count: [FloatLanes; BLOCKS],
    /// Largest weights of each block, descending; one entry per rank.
    top: Vec<RankLanes>,
}

impl<'a, const KEPT: u8> TileLayers<'a, KEPT> {
    pub(super) fn new(settings: &'a LayerSettings, geometry: &'a [SplatGeometry]) -> Box<Self> {
        Box::new(Self {
            layers: &settings.layers,
            geometry,
            is_distance: settings.is_distance && !geometry.is_empty(),
            values: [SummedValues::default(); BATCH],
            depth: [FloatLanes::ZERO; BLOCKS],
            inverse: [FloatLanes::ZERO; BLOCKS],
            normal: [[FloatLanes::ZERO; BLOCKS]; 3],
            median: [FloatLanes::ZERO; BLOCKS],
            largest: [RankLanes::NONE; BLOCKS],
            count: [FloatLanes::ZERO; BLOCKS],
            top: vec![RankLanes::NONE; BLOCKS * settings.top_count()],
        })
    }

    pub(super) fn clear(&mut self) {
        if KEPT & kept::DEPTH != 0 {
            self.depth = [FloatLanes::ZERO; BLOCKS];
        }
        if KEPT & kept::INVERSE != 0 {
            self.inverse = [FloatLanes::ZERO; BLOCKS];
        }
        if KEPT & kept::NORMAL != 0 {
            self.normal = [[FloatLanes::ZERO; BLOCKS]; 3];
        }
        if KEPT & kept::MEDIAN != 0 {
            self.median = [FloatLanes::ZERO; BLOCKS];
        }
        if KEPT & kept::ID != 0 {
            self.largest = [RankLanes::NONE; BLOCKS];
        }
        if KEPT & kept::COUNT != 0 {
            self.count = [FloatLanes::ZERO; BLOCKS];
        }
        self.top.fill(RankLanes::NONE);
    }

    pub(super) fn store(
        &self,
        level: SimdLevel,
        colours: &[PixelBlock; BLOCKS],
        planes: &mut [Vec<&mut [u32]>],
    ) {
        dispatch!(level.frame_level(), simd => self.store_lanes(simd, colours, planes));
    }

    #[inline(always)]
    fn store_lanes<S: Simd>(
        &self,
        simd: S,
        colours: &[PixelBlock; BLOCKS],
        planes: &mut [Vec<&mut [u32]>],
    ) {
        let mut planes = planes.iter_mut();
        let mut values = [[0; BLOCK_PX * BLOCK_PX]; BLOCKS];
        for &layer in self.layers {
            for part in 0..layer.planes() {
                if let Some(rows) = planes.next() {
                    for (block, values) in values.iter_mut().enumerate() {
                        *values = self.block(simd, layer, part, block, &colours[block]);
                    }
                    store_rows(rows, &values);
                }
            }
        }
    }

    #[inline(always)]
    fn block<S: Simd>(
        &self,
        simd: S,
        layer: Layer,
        part: usize,
        block: usize,
        colours: &PixelBlock,
    ) -> [u32; BLOCK_PX * BLOCK_PX] {
        let ranks = self.top.len() / BLOCKS;
        match layer {
            Layer::Depth => {
                let alpha = alpha(simd, colours).max(f32x16::splat(simd, LEAST_ALPHA));
                bytemuck::cast((load(simd, &self.depth[block]) / alpha).to_array())
            }
            Layer::DepthSum => self.depth[block].bits(),
            Layer::DepthInverse => self.inverse[block].bits(),
            Layer::DepthMedian => self.median[block].bits(),
            Layer::Alpha => bytemuck::cast(alpha(simd, colours).to_array()),
            Layer::Normal => self.normal[part][block].bits(),
            Layer::Id => self.largest[block].id.0,
            Layer::Count => load(simd, &self.count[block]).to_int::<u32x16<S>>().to_array(),
            Layer::TopId(_) => self.top[block * ranks + part].id.0,
            Layer::TopWeight(_) => self.top[block * ranks + part].weight.bits(),
        }
    }
}

impl FloatLanes {
    pub(super) const ZERO: Self = Self([0.0; BLOCK_PX * BLOCK_PX]);

    fn bits(self) -> [u32; BLOCK_PX * BLOCK_PX] {
        bytemuck::cast(self.0)
    }
}

impl RankLanes {
    const NONE: Self = Self { weight: FloatLanes::ZERO, id: Aligned([NO_ID; BLOCK_PX * BLOCK_PX]) };
}

#[inline(always)]
pub(super) fn load<S: Simd>(simd: S, lanes: &FloatLanes) -> f32x16<S> {
    f32x16::load_array_ref(simd, &lanes.0)
}

#[inline(always)]
fn alpha<S: Simd>(simd: S, colours: &PixelBlock) -> f32x16<S> {
    f32x16::splat(simd, 1.0) - f32x16::load_array_ref(simd, &colours.transmittance).abs()
}

#[inline(always)]
pub(super) fn accumulate<S: Simd>(
    simd: S,
    weight: f32x16<S>,
    value: f32x16<S>,
    sum: &mut FloatLanes,
) {
    weight.mul_add(value, load(simd, sum)).store_array(&mut sum.0);
}

/// Keeps the larger of a weight and the rank's weight, with its splat, and returns the smaller. Ties keep the rank's splat.
#[inline(always)]
fn displace<S: Simd>(
    simd: S,
    weight: f32x16<S>,
    id: u32x16<S>,
    rank: &mut RankLanes,
) -> (f32x16<S>, u32x16<S>) {
    let (old_weight, old_id) = (load(simd, &rank.weight), u32x16::load_array_ref(simd, &rank.id.0));
    let is_larger = weight.simd_gt(old_weight);
    is_larger.select(weight, old_weight).store_array(&mut rank.weight.0);
    is_larger.select(id, old_id).store_array(&mut rank.id.0);
    (is_larger.select(old_weight, weight), is_larger.select(old_id, id))
}

#[inline(always)]
fn store_rows(rows: &mut [&mut [u32]], blocks: &[[u32; BLOCK_PX * BLOCK_PX]; BLOCKS]) {
    for (rows, blocks) in rows.chunks_mut(BLOCK_PX).zip(blocks.chunks_exact(TILE_BLOCKS)) {
        for (y, row) in rows.iter_mut().enumerate() {
            let (whole, rest) = row.as_chunks_mut::<BLOCK_PX>();
            let mut values = blocks.iter().map(|block| &block.as_chunks::<BLOCK_PX>().0[y]);
            for (out, values) in whole.iter_mut().zip(&mut values) {
                *out = *values;
            }
            if let Some(values) = values.next() {
                rest.copy_from_slice(&values[..rest.len()]);
            }
        }
    }
}

impl<const KEPT: u8> LayerSink for TileLayers<'_, KEPT> {
    #[inline(always)]
    fn load(&mut self, at: usize, slot: usize, splat: &mut ProjectedSplat) {
        if self.is_distance {
            splat.depth = self.geometry[slot].depth;
        }
        let values = &mut self.values[at];
        if KEPT & kept::INVERSE != 0 {
            // Must be finite, since it is multiplied by weights of 0.
            values.inverse = (1.0 / splat.depth).min(f32::MAX);
        }
        if KEPT & kept::NORMAL != 0 {
            // A loop that keeps more than the requested layers may have no geometry.
            values.normal = self.geometry.get(slot).copied().unwrap_or_default().normal;
        }
    }

    #[inline(always)]
    fn add<S: Simd>(
        &mut self,
        simd: S,
        at: usize,
        splat: &ProjectedSplat,
        block: usize,
        blended: &BlendedLanes<S>,
    ) {
        let (weight, values) = (blended.weight, self.values[at]);
        let lane = |v: f32| f32x16::splat(simd, v);
        // Distances are of centres.
        let met = blended.depth.filter(|_| !self.is_distance);
        let depth = met.unwrap_or(lane(splat.depth));
        if KEPT & kept::DEPTH != 0 {
            accumulate(simd, weight, depth, &mut self.depth[block]);
        }
        if KEPT & kept::INVERSE != 0 {
            let inverse = met.map(|depth| (lane(1.0) / depth).min(lane(f32::MAX)));
            let inverse = inverse.unwrap_or(lane(values.inverse));
            accumulate(simd, weight, inverse, &mut self.inverse[block]);
        }
        if KEPT & kept::NORMAL != 0 {
            accumulate(simd, weight, lane(values.normal[0]), &mut self.normal[0][block]);
            accumulate(simd, weight, lane(values.normal[1]), &mut self.normal[1][block]);
            accumulate(simd, weight, lane(values.normal[2]), &mut self.normal[2][block]);
        }
        if KEPT & kept::MEDIAN != 0 {
            let half = f32x16::splat(simd, narrow(MEDIAN_TRANSMITTANCE));
            let is_last = blended.before.simd_gt(half) & blended.over_cut & blended.open;
            let median = &mut self.median[block];
            is_last.select(depth, load(simd, median)).store_array(&mut median.0);
        }
        if KEPT & kept::ID != 0 {
            displace(simd, weight, u32x16::splat(simd, splat.index), &mut self.largest[block]);
        }
        if KEPT & kept::COUNT != 0 {
            let is_blended = blended.over_cut & blended.open;
            let one = is_blended.select(f32x16::splat(simd, 1.0), f32x16::splat(simd, 0.0));
            let count = &mut self.count[block];
            (load(simd, count) + one).store_array(&mut count.0);
        }
        if KEPT & kept::TOP != 0 {
            let ranks = self.top.len() / BLOCKS;
            let ranks = &mut self.top[block * ranks..][..ranks];
            let (mut weight, mut id) = (weight, u32x16::splat(simd, splat.index));
            for rank in ranks {
                (weight, id) = displace(simd, weight, id, rank);
            }
        }
    }

    // Normals, identifiers and counts are those of splats.
    fn add_surface(&mut self, block: usize, lane: usize, light: TakenLight) {
        self.depth[block].0[lane] += light.weight * light.depth;
        self.inverse[block].0[lane] += light.weight / light.depth;
        if light.before > narrow(MEDIAN_TRANSMITTANCE) {
            self.median[block].0[lane] = light.depth;
        }
    }
}
