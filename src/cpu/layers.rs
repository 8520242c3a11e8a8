//! Layers of a tile: what is accumulated beside the colours while a tile is drawn.

use fearless_simd::{f32x16, mask32x16, prelude::*, u32x16};
use rayon::prelude::*;

use super::LayerSettings;
use super::items::BATCH;
use super::tile::{BLOCK_PX, PixelBlock, PixelLanes, TILE_BLOCKS, TILE_PX};
use crate::image::{Layer, LayerPicture};
use crate::math::narrow;
use crate::preprocess::exact::{distance, facing_normal};
use crate::preprocess::{Projected, ProjectedSplat, ViewTransform};
use crate::scene::Splats;

/// Blocks of a tile, and the one of closed pixels.
const BLOCKS: usize = TILE_BLOCKS * TILE_BLOCKS + 1;
/// Smallest alpha that the mean depth is divided by.
pub(super) const LEAST_ALPHA: f32 = 1e-10;
/// Transmittance in front of the fragment that gives the median depth.
pub(super) const MEDIAN_TRANSMITTANCE: f64 = 0.5;
/// Identifier of a pixel without fragments.
pub(super) const NO_ID: u32 = u32::MAX;

/// Quantities that are summed by weight: depth, its inverse, and the normal's coordinates.
const DEPTH: usize = 0;
const INVERSE: usize = 1;
const NORMAL: usize = 2;
const SUMS: usize = 5;

/// Depth and normal of a splat in view, where the projected splat does not hold them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct SplatGeometry {
    depth: f32,
    normal: [f32; 3],
}

/// Computes the geometry of all splats in view, by slot; nothing if the projected splats suffice.
pub(super) fn geometry(
    splats: &Splats,
    view: &ViewTransform,
    projected: &Projected,
    settings: &LayerSettings,
) -> Vec<SplatGeometry> {
    if !settings.needs_geometry() {
        return Vec::new();
    }
    let of_splat = |projected: &ProjectedSplat| {
        let splat = splats.geometry(projected.index as usize);
        let depth = if settings.is_distance {
            narrow(distance(view, splat.mean))
        } else {
            projected.depth
        };
        SplatGeometry {
            depth,
            normal: facing_normal(view, &splat).map(narrow),
        }
    };
    let mut geometry = vec![SplatGeometry::default(); projected.slots().len()];
    geometry
        .par_chunks_mut(Projected::CHUNK)
        .zip(projected.slots().par_chunks(Projected::CHUNK))
        .enumerate()
        .for_each(|(chunk, (geometry, slots))| {
            if chunk < projected.chunks() {
                let len = projected.chunk(chunk).keys.len();
                for (geometry, splat) in geometry.iter_mut().zip(&slots[..len]) {
                    *geometry = of_splat(splat);
                }
            }
        });
    geometry
}

/// Accumulates layers beside the colours. The implementation for `()` does nothing.
pub(super) trait LayerSink {
    /// Takes splat `at` of a batch, which is at `slot`.
    fn load(&mut self, at: usize, slot: usize, splat: &ProjectedSplat);

    /// Adds the fragments of splat `at` of the batch in a block.
    fn add<S: Simd>(&mut self, simd: S, at: usize, block: usize, blended: &BlendedLanes<S>);
}

/// Fragments that were offered to a block.
#[derive(Clone, Copy)]
pub(super) struct BlendedLanes<S: Simd> {
    /// Pixels above the alpha cut.
    pub(super) over_cut: mask32x16<S>,
    /// Pixels that refused the fragment.
    pub(super) refused: mask32x16<S>,
    /// Transmittance in front of the fragment; negative where the pixel was closed.
    pub(super) before: f32x16<S>,
    /// Transmittance times alpha; 0 where nothing was blended.
    pub(super) weight: f32x16<S>,
}

impl LayerSink for () {
    #[inline(always)]
    fn load(&mut self, _: usize, _: usize, _: &ProjectedSplat) {}

    #[inline(always)]
    fn add<S: Simd>(&mut self, _: S, _: usize, _: usize, _: &BlendedLanes<S>) {}
}

/// Layers of a tile.
pub(super) struct TileLayers<'a> {
    layers: &'a [Layer],
    geometry: &'a [SplatGeometry],
    /// Which of `sums` are needed.
    summed: [bool; SUMS],
    has_median: bool,
    has_id: bool,
    has_count: bool,
    /// What is summed, for each splat of the batch.
    values: [[f32; SUMS]; BATCH],
    indices: [u32; BATCH],
    arrays: Box<TileArrays>,
}

/// Accumulators by block, one array per quantity, so that those in use lie close together.
struct TileArrays {
    sums: [[PixelLanes; BLOCKS]; SUMS],
    median: [PixelLanes; BLOCKS],
    largest_weight: [PixelLanes; BLOCKS],
    count: [PixelLanes; BLOCKS],
    id: [[u32; BLOCK_PX * BLOCK_PX]; BLOCKS],
}

impl<'a> TileLayers<'a> {
    pub(super) fn new(settings: &'a LayerSettings, geometry: &'a [SplatGeometry]) -> Self {
        let has = |layer| settings.layers.contains(&layer);
        let normal = has(Layer::Normal);
        Self {
            layers: &settings.layers,
            geometry,
            summed: [
                has(Layer::Depth) || has(Layer::DepthSum),
                has(Layer::DepthInverse),
                normal,
                normal,
                normal,
            ],
            has_median: has(Layer::DepthMedian),
            has_id: has(Layer::Id),
            has_count: has(Layer::Count),
            values: [[0.0; SUMS]; BATCH],
            indices: [0; BATCH],
            arrays: Box::new(TileArrays::EMPTY),
        }
    }

    /// Makes the accumulators those of a tile without fragments.
    pub(super) fn clear(&mut self) {
        for (sum, is_summed) in self.arrays.sums.iter_mut().zip(self.summed) {
            if is_summed {
                *sum = [[0.0; 16]; BLOCKS];
            }
        }
        if self.has_median {
            self.arrays.median = [[0.0; 16]; BLOCKS];
        }
        if self.has_id {
            self.arrays.largest_weight = [[0.0; 16]; BLOCKS];
            self.arrays.id = [[NO_ID; 16]; BLOCKS];
        }
        if self.has_count {
            self.arrays.count = [[0.0; 16]; BLOCKS];
        }
    }

    /// Writes the planes of all layers: `planes` holds the rows of the tile in each of them.
    pub(super) fn store(&self, colours: &[PixelBlock; BLOCKS], planes: &mut [Vec<&mut [u32]>]) {
        let mut planes = planes.iter_mut();
        for &layer in self.layers {
            for part in 0..layer.planes() {
                if let Some(rows) = planes.next() {
                    store_rows(rows, |block| {
                        self.block(layer, part, block, &colours[block])
                    });
                }
            }
        }
    }

    /// The bits of a block's values in a plane.
    fn block(&self, layer: Layer, part: usize, block: usize, colours: &PixelBlock) -> [u32; 16] {
        let arrays = &self.arrays;
        let bits = |lanes: PixelLanes| lanes.map(f32::to_bits);
        let alpha = || colours.transmittance.map(|t| 1.0 - t.abs());
        match layer {
            Layer::Depth => {
                let (sum, alpha) = (&arrays.sums[DEPTH][block], alpha());
                std::array::from_fn(|i| (sum[i] / alpha[i].max(LEAST_ALPHA)).to_bits())
            }
            Layer::DepthSum => bits(arrays.sums[DEPTH][block]),
            Layer::DepthInverse => bits(arrays.sums[INVERSE][block]),
            Layer::DepthMedian => bits(arrays.median[block]),
            Layer::Alpha => bits(alpha()),
            Layer::Normal => bits(arrays.sums[NORMAL + part][block]),
            Layer::Id => arrays.id[block],
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a whole number up to 2^24"
            )]
            Layer::Count => arrays.count[block].map(|count| count as u32),
        }
    }
}

impl TileArrays {
    const EMPTY: Self = Self {
        sums: [[[0.0; 16]; BLOCKS]; SUMS],
        median: [[0.0; 16]; BLOCKS],
        largest_weight: [[0.0; 16]; BLOCKS],
        count: [[0.0; 16]; BLOCKS],
        id: [[NO_ID; 16]; BLOCKS],
    };
}

/// Copies the values of a tile's blocks to its rows, which end at the picture's edge.
fn store_rows(rows: &mut [&mut [u32]], block: impl Fn(usize) -> [u32; 16]) {
    for (band, rows) in rows.chunks_mut(BLOCK_PX).enumerate() {
        for column in 0..TILE_BLOCKS {
            let first = column * BLOCK_PX;
            if first >= rows[0].len() {
                break;
            }
            let values = block(band * TILE_BLOCKS + column);
            for (row, values) in rows.iter_mut().zip(values.chunks(BLOCK_PX)) {
                let len = BLOCK_PX.min(row.len() - first);
                row[first..first + len].copy_from_slice(&values[..len]);
            }
        }
    }
}

impl LayerSink for TileLayers<'_> {
    #[inline(always)]
    fn load(&mut self, at: usize, slot: usize, splat: &ProjectedSplat) {
        let geometry = self.geometry.get(slot).copied();
        let geometry = geometry.unwrap_or(SplatGeometry {
            depth: splat.depth,
            normal: [0.0; 3],
        });
        let [x, y, z] = geometry.normal;
        self.values[at] = [geometry.depth, 1.0 / geometry.depth, x, y, z];
        self.indices[at] = splat.index;
    }

    #[inline(always)]
    fn add<S: Simd>(&mut self, simd: S, at: usize, block: usize, blended: &BlendedLanes<S>) {
        let lane = |v: f32| f32x16::splat(simd, v);
        let load = |v: &PixelLanes| f32x16::load_array_ref(simd, v);
        let (values, arrays) = (&self.values[at], &mut *self.arrays);
        for ((sum, is_summed), value) in arrays.sums.iter_mut().zip(self.summed).zip(values) {
            if is_summed {
                let sum = &mut sum[block];
                blended
                    .weight
                    .mul_add(lane(*value), load(sum))
                    .store_array(sum);
            }
        }
        if self.has_median {
            let in_front = blended.before.simd_gt(lane(narrow(MEDIAN_TRANSMITTANCE)));
            let is_last = in_front & blended.over_cut & !blended.refused;
            let median = &mut arrays.median[block];
            is_last
                .select(lane(values[DEPTH]), load(median))
                .store_array(median);
        }
        if self.has_id {
            let largest = &mut arrays.largest_weight[block];
            let is_larger = blended.weight.simd_gt(load(largest));
            is_larger
                .select(blended.weight, load(largest))
                .store_array(largest);
            let id = &mut arrays.id[block];
            let old = u32x16::load_array_ref(simd, id);
            is_larger
                .select(u32x16::splat(simd, self.indices[at]), old)
                .store_array(id);
        }
        if self.has_count {
            let is_blended = blended.over_cut & !blended.refused;
            let count = &mut arrays.count[block];
            let one = is_blended.select(lane(1.0), lane(0.0));
            (load(count) + one).store_array(count);
        }
    }
}

/// Memory of the planes of all layers, as bits.
pub(super) struct Planes {
    size: [u32; 2],
    pictures: Vec<(Layer, Vec<u32>)>,
}

impl Planes {
    pub(super) fn new(size: [u32; 2], layers: &[Layer]) -> Self {
        let pixels = size[0] as usize * size[1] as usize;
        let pictures = layers.iter();
        let pictures = pictures.map(|layer| (*layer, vec![0; pixels * layer.planes()]));
        Self {
            size,
            pictures: pictures.collect(),
        }
    }

    /// The planes of all layers, in order.
    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut [u32]> {
        let pixels = self.size[0] as usize * self.size[1] as usize;
        let pictures = self.pictures.iter_mut();
        pictures.flat_map(move |(_, bits)| bits.chunks_exact_mut(pixels.max(1)))
    }

    pub(super) fn into_pictures(self) -> Vec<LayerPicture> {
        let size = self.size;
        let pictures = self.pictures.into_iter();
        pictures
            .map(|(layer, bits)| LayerPicture::from_bits(layer, size, bits))
            .collect()
    }
}

const _: () = assert!(TILE_PX == TILE_BLOCKS * BLOCK_PX);
