//! Blending of a tile with surfaces: the colours of its splats, by the share of the light that surfaces let through.

use fearless_simd::{f32x16, prelude::*};

use super::layer_sink::{BlendedLanes, LayerSink, TakenLight};
use super::runs::BATCH;
use super::surfaces::{SurfaceStep, TileSteps};
use super::tile::{BLOCK_PX, PixelLanes, SINK, TILE_BLOCKS, Tile};
use crate::preprocess::ProjectedSplat;

/// Pixels of a block that contains surfaces.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct SurfaceBlock {
    /// Depth of the next step of each pixel.
    next: PixelLanes,
    /// Share of the light that the steps so far let through.
    left: PixelLanes,
    /// Transmittance of the splats so far.
    transmittance: PixelLanes,
    colour: [PixelLanes; 3],
    /// Number of steps so far.
    steps: [u32; BLOCK_PX * BLOCK_PX],
    /// Depth behind which no pixel has light left.
    end: f32,
}

/// Replaces the colours of a tile by its splats and surfaces. Layers take the fragments as the surfaces dim them.
pub(super) struct TileSurfaces<'a, L> {
    steps: &'a TileSteps,
    layers: &'a mut L,
    /// Depths of a batch, which layers may replace.
    depths: [f32; BATCH],
    blocks: [SurfaceBlock; SINK + 1],
    fragments_blended: u64,
}

impl<'a, L: LayerSink> TileSurfaces<'a, L> {
    pub(super) fn new(steps: &'a TileSteps, layers: &'a mut L) -> Self {
        let empty = SurfaceBlock {
            next: [f32::INFINITY; 16],
            left: [1.0; 16],
            transmittance: [1.0; 16],
            colour: [[0.0; 16]; 3],
            steps: [0; 16],
            end: f32::INFINITY,
        };
        let mut blocks = [empty; SINK + 1];
        for (index, block) in blocks[..SINK].iter_mut().enumerate() {
            let mut end = 0.0;
            for lane in 0..16 {
                let steps = steps.pixel(place(index, lane));
                block.next[lane] = next_depth(steps);
                let last = steps.last().filter(|step| step.left == 0.0);
                end = last.map_or(f32::INFINITY, |step| step.depth).max(end);
            }
            block.end = end;
        }
        Self { steps, layers, depths: [0.0; BATCH], blocks, fragments_blended: 0 }
    }

    /// Takes the steps of a block's pixels in front of `depth`.
    fn pass(&mut self, index: usize, depth: f32) {
        let block = &mut self.blocks[index];
        for lane in 0..16 {
            if block.next[lane] >= depth {
                continue;
            }
            let mut steps = &self.steps.pixel(place(index, lane))[block.steps[lane] as usize..];
            while let Some((step, rest)) = steps.split_first()
                && step.depth < depth
            {
                let (left, transmittance) = (block.left[lane], block.transmittance[lane]);
                for (sum, colour) in block.colour.iter_mut().zip(step.colour) {
                    sum[lane] = transmittance.mul_add(colour, sum[lane]);
                }
                let weight = transmittance * (left - step.left);
                let light = TakenLight { depth: step.depth, weight, before: transmittance * left };
                self.layers.add_surface(index, lane, light);
                block.left[lane] = step.left;
                block.steps[lane] += 1;
                steps = rest;
            }
            block.next[lane] = next_depth(steps);
        }
    }
}

/// Column and row of a pixel in its tile.
fn place(block: usize, lane: usize) -> [usize; 2] {
    let [column, row] = [block % TILE_BLOCKS, block / TILE_BLOCKS];
    [column * BLOCK_PX + lane % BLOCK_PX, row * BLOCK_PX + lane / BLOCK_PX]
}

fn next_depth(steps: &[SurfaceStep]) -> f32 {
    steps.first().map_or(f32::INFINITY, |step| step.depth)
}

impl<L: LayerSink> LayerSink for TileSurfaces<'_, L> {
    #[inline(always)]
    fn load(&mut self, at: usize, slot: usize, splat: &mut ProjectedSplat) {
        self.depths[at] = splat.depth;
        self.layers.load(at, slot, splat);
    }

    #[inline(always)]
    fn add<S: Simd>(
        &mut self,
        simd: S,
        at: usize,
        splat: &ProjectedSplat,
        index: usize,
        blended: &BlendedLanes<S>,
    ) {
        let lanes = |lanes: &PixelLanes| f32x16::load_array_ref(simd, lanes);
        let depth = self.depths[at];
        let is_behind = lanes(&self.blocks[index].next).simd_lt(f32x16::splat(simd, depth));
        if is_behind.to_bitmask() != 0 {
            self.pass(index, depth);
        }
        let block = &mut self.blocks[index];
        let left = lanes(&block.left);
        let seen = BlendedLanes {
            open: blended.open & left.simd_gt(f32x16::splat(simd, 0.0)),
            before: blended.before * left,
            weight: blended.weight * left,
            ..*blended
        };
        for (sum, colour) in block.colour.iter_mut().zip(splat.colour) {
            seen.weight.mul_add(f32x16::splat(simd, colour), lanes(sum)).store_array(sum);
        }
        blended.after.store_array(&mut block.transmittance);
        let taken = (seen.over_cut & seen.open).to_bitmask();
        self.fragments_blended += u64::from(taken.count_ones());
        self.layers.add(simd, at, splat, index, &seen);
    }

    fn hidden(&self, depth: impl Fn() -> f32) -> u64 {
        let depth = depth();
        let blocks = self.blocks[..SINK].iter().enumerate();
        blocks.fold(0, |hidden, (index, block)| hidden | u64::from(block.end < depth) << index)
    }

    fn finish(&mut self, tile: &mut Tile) {
        for (index, of_tile) in tile.blocks[..SINK].iter_mut().enumerate() {
            self.pass(index, f32::INFINITY);
            let block = &self.blocks[index];
            of_tile.colour = block.colour;
            of_tile.transmittance =
                std::array::from_fn(|lane| block.transmittance[lane] * block.left[lane]);
        }
        tile.fragments_blended = self.fragments_blended;
    }
}
