//! Projects all blocks of splats in parallel, chunk by chunk; visible splats are packed in each chunk.

use bytemuck::Zeroable;
use fearless_simd::{dispatch, mask32x16, prelude::*};
use rayon::prelude::*;

use super::exact::{ExactSplat, MAX_FOOTPRINTS};
use super::lanes::{self, ProjectedLanes};
use super::projected::{PixelBounds, ProjectedSplat};
use super::source::{ShScratch, SplatSource};
use super::view_transform::ViewTransform;
use quadrille_base::math::buffer::{Buffer, Line, StreamedLines, stream_lines};
use quadrille_base::math::transpose::transpose;
use quadrille_base::math::{SimdLevel, fit, low, narrow};
use quadrille_base::shading::Profile;
use quadrille_base::task::Task;
use quadrille_scene::bytes::ReadAhead;
use quadrille_scene::{BLOCK, Camera, MAX_SPLATS, Projection, Splat, SplatBlock};

/// Unit of parallel work: 4096 splats.
pub(super) const CHUNK_BLOCKS: usize = 256;
const BLOCKS_AHEAD: usize = 2;
/// Splats per chunk. A chunk has as many slots, or twice as many in panoramas.
pub(crate) const CHUNK: usize = CHUNK_BLOCKS * BLOCK;
// Slot numbers have 32 bits.
const _: () = assert!(MAX_SPLATS + CHUNK <= u32::MAX as usize);

/// Projected splats of a frame, packed at the start of each chunk's slots in scene order. The arrays are reused.
#[derive(Debug, Default)]
pub(crate) struct Projected {
    splats: Buffer<ProjectedSplat>,
    bounds: Buffer<PixelBounds>,
    keys: Buffer<u32>,
    /// Number of visible footprints per chunk.
    filled: Vec<usize>,
    slots: usize,
    /// Whether a splat may have several consecutive footprints.
    may_repeat: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ProjectedChunk<'a> {
    pub(crate) first_slot: u32,
    pub(crate) keys: &'a [u32],
    pub(crate) bounds: &'a [PixelBounds],
}

impl Projected {
    /// Projects every splat on rayon's pool, in lanes of `level` or else by the definition. Cancelled chunks are empty.
    pub(crate) fn run<T: SplatSource + ?Sized>(
        &mut self,
        splats: &T,
        camera: &Camera,
        profile: &Profile,
        level: Option<SimdLevel>,
        task: &Task,
    ) {
        self.run_view(splats, &ViewTransform::new(splats, camera, profile), level, task);
    }

    pub(crate) fn run_view<T: SplatSource + ?Sized>(
        &mut self,
        splats: &T,
        view: &ViewTransform,
        level: Option<SimdLevel>,
        task: &Task,
    ) {
        quadrille_base::span!("preprocess");
        let chunks = splats.len().div_ceil(CHUNK);
        // Slots of 2^31 splats would take 300 GB. Larger scenes get no slots for second footprints, which are
        // then left out if the chunk is full.
        let has_room = chunks * CHUNK * MAX_FOOTPRINTS <= u32::MAX as usize;
        self.may_repeat = view.projection == Projection::Equirectangular;
        self.slots = match view.projection {
            Projection::Equirectangular if has_room => CHUNK * MAX_FOOTPRINTS,
            _ => CHUNK,
        };
        self.splats.reserve_zeroed(chunks * self.slots);
        self.bounds.reserve_zeroed(chunks * self.slots);
        self.keys.reserve_zeroed(chunks * self.slots);
        (self.splats)
            .par_chunks_mut(self.slots)
            .zip(self.bounds.par_chunks_mut(self.slots))
            .zip(self.keys.par_chunks_mut(self.slots))
            .take(chunks)
            .enumerate()
            .map(|(chunk, ((slots, bounds), keys))| {
                if task.is_cancelled() {
                    return 0;
                }
                // Stores bypass the caches, which splats of a large frame would leave before drawing; small frames are no
                // slower.
                stream_lines(bytemuck::cast_slice_mut(slots), |splats_out| {
                    let mut output = ChunkOutput { splats: splats_out, bounds, keys, len: 0 };
                    match level.filter(|_| view.has_lanes()) {
                        Some(level) => {
                            dispatch!(T::lanes(level), simd => project_chunk(simd, splats, view, chunk, &mut output))
                        }
                        // Discs, points, lenses with distortion, fisheyes and panoramas are projected by the definition.
                        None => {
                            let level = level.unwrap_or_default();
                            dispatch!(T::lanes(level), simd => project_exactly(simd, splats, view, chunk, &mut output))
                        }
                    }
                })
            })
            .collect_into_vec(&mut self.filled);
    }

    /// Divides packed splats in scene order into chunks, which are full except for the last one.
    pub(super) fn of_packed(
        splats: Vec<ProjectedSplat>,
        bounds: Vec<PixelBounds>,
        keys: Vec<u32>,
    ) -> Self {
        let len = keys.len();
        let chunks = (0..len).step_by(CHUNK);
        Self {
            splats: splats.into(),
            bounds: bounds.into(),
            keys: keys.into(),
            filled: chunks.map(|first| CHUNK.min(len - first)).collect(),
            slots: CHUNK,
            may_repeat: false,
        }
    }

    pub(crate) fn recolour(&mut self, colour: impl Fn(&ProjectedSplat) -> [f32; 3] + Sync) {
        self.splats.par_chunks_mut(self.slots).zip(&self.filled).for_each(|(splats, &len)| {
            for splat in &mut splats[..len] {
                splat.colour = colour(splat);
            }
        });
    }

    /// Removes the visible splats whose indices `keep` rejects; returns their number.
    pub(crate) fn retain(&mut self, keep: impl Fn(u32) -> bool + Sync) -> u64 {
        let slots = (self.splats)
            .par_chunks_mut(self.slots)
            .zip(self.bounds.par_chunks_mut(self.slots))
            .zip(self.keys.par_chunks_mut(self.slots))
            .zip(&mut self.filled);
        let removed = slots.map(|(((splats, bounds), keys), filled)| {
            let (mut kept, mut removed) = (0, 0);
            let mut last = None;
            for slot in 0..*filled {
                let index = splats[slot].index;
                if keep(index) {
                    splats[kept] = splats[slot];
                    bounds[kept] = bounds[slot];
                    keys[kept] = keys[slot];
                    kept += 1;
                } else if last.replace(index) != Some(index) {
                    removed += 1;
                }
            }
            *filled = kept;
            removed
        });
        removed.sum()
    }

    pub(crate) fn splats_in_view(&self) -> usize {
        if !self.may_repeat {
            return self.len();
        }
        let chunks = self.splats.chunks(self.slots.max(1)).zip(&self.filled);
        let splats =
            chunks.map(|(splats, &len)| splats[..len].chunk_by(|a, b| a.index == b.index).count());
        splats.sum()
    }

    pub(crate) fn len(&self) -> usize {
        self.filled.iter().sum()
    }

    /// Splats by slot; slots after a chunk's last visible splat are undefined.
    pub(crate) fn slots(&self) -> &[ProjectedSplat] {
        &self.splats
    }

    pub(crate) fn bounds(&self) -> &[PixelBounds] {
        &self.bounds
    }

    pub(crate) fn chunk_slots(&self) -> usize {
        self.slots
    }

    pub(crate) fn chunks(&self) -> usize {
        self.filled.len()
    }

    pub(crate) fn chunk(&self, chunk: usize) -> ProjectedChunk<'_> {
        let (start, len) = (chunk * self.slots, self.filled[chunk]);
        ProjectedChunk {
            first_slot: index_u32(start),
            keys: &self.keys[start..][..len],
            bounds: &self.bounds[start..][..len],
        }
    }

    /// Bytes of the arrays that this frame's visible splats use. On huge pages, the unused slots between are resident too.
    pub(crate) fn used_bytes(&self) -> usize {
        self.len() * (size_of::<ProjectedSplat>() + size_of::<PixelBounds>() + size_of::<u32>())
    }
}

struct ChunkOutput<'a, 'b> {
    splats: &'a mut StreamedLines<'b>,
    bounds: &'a mut [PixelBounds],
    keys: &'a mut [u32],
    len: usize,
}

#[inline(always)]
fn project_chunk<S: Simd, T: SplatSource + ?Sized>(
    simd: S,
    splats: &T,
    view: &ViewTransform,
    chunk: usize,
    output: &mut ChunkOutput<'_, '_>,
) -> usize {
    let first = chunk * CHUNK_BLOCKS;
    let blocks = splats.len().div_ceil(BLOCK);
    let mut geometry = SplatBlock::zeroed();
    let mut coefficients = ShScratch::zeroed();
    let mut ahead = ReadAhead::default();
    for b in first..blocks.min(first + CHUNK_BLOCKS) {
        if !splats.may_be_seen(b) {
            continue;
        }
        let index = index_u32(b * BLOCK);
        // Prefetching two blocks ahead takes 0.98 of the time without it; three to six blocks ahead gain
        // nothing more (benches/NOTES.md).
        splats.prefetch(b + BLOCKS_AHEAD);
        let block = splats.block(simd, b, &mut geometry, &mut ahead);
        let lanes = lanes::project(simd, view, splats.sh_degree(), block, index, |visible| {
            splats.coefficients(simd, b, visible, &mut coefficients, &mut ahead)
        });
        match lanes {
            None => {}
            Some(lanes) => {
                // Visible splats come in runs, so the next blocks' coefficients are probably needed.
                splats.prefetch_coefficients_after(b);
                if lanes.fallback == 0 {
                    output.push_visible(simd, &lanes);
                } else {
                    push_with_fallback(simd, splats, view, &lanes, output);
                }
            }
        }
    }
    output.len
}

/// Projects a chunk by the definition. Sources that decode their splats decode each block once.
#[inline(always)]
fn project_exactly<S: Simd, T: SplatSource + ?Sized>(
    simd: S,
    splats: &T,
    view: &ViewTransform,
    chunk: usize,
    output: &mut ChunkOutput<'_, '_>,
) -> usize {
    let first = chunk * CHUNK_BLOCKS;
    let blocks = splats.len().div_ceil(BLOCK);
    let mut geometry = SplatBlock::zeroed();
    let mut coefficients = ShScratch::zeroed();
    let mut ahead = ReadAhead::default();
    for b in first..blocks.min(first + CHUNK_BLOCKS) {
        let block = splats.block(simd, b, &mut geometry, &mut ahead);
        let mut shapes = [None; BLOCK];
        let mut visible = 0;
        for (lane, shape) in shapes.iter_mut().enumerate().take(splats.len() - b * BLOCK) {
            let splat = Splat::load(block, &[], lane);
            let exact = ExactSplat::project_shape(view, &splat);
            *shape = exact.filter(|shape| shape.footprints(view).next().is_some());
            visible |= u64::from(shape.is_some()) << lane;
        }
        if visible == 0 {
            continue;
        }
        let sh = splats.coefficients(simd, b, visible, &mut coefficients, &mut ahead);
        for (lane, shape) in shapes.iter().enumerate() {
            let Some(shape) = shape.filter(|_| sh.invalid >> lane & 1 == 0) else { continue };
            let mut splat = Splat::load(block, sh.rest, lane);
            splat.sh[0] = sh.constant.map(|lanes| lanes[lane]);
            let shape = shape.coloured(view, splats.sh_degree(), &splat);
            for (footprint, bounds) in shape.footprints(view) {
                if output.len < output.splats.len() {
                    let splat = footprint.to_projected(index_u32(b * BLOCK + lane));
                    output.push(splat, narrow(footprint.order), bounds);
                }
            }
        }
    }
    output.len
}

#[inline(always)]
fn index_u32(index: usize) -> u32 {
    fit(index)
}

impl ChunkOutput<'_, '_> {
    #[inline(always)]
    fn push_visible<S: Simd>(&mut self, simd: S, lanes: &ProjectedLanes<S>) {
        let mask = mask32x16::from_bitmask(simd, lanes.visible);
        // Always stores sixteen lanes; the next call overwrites the surplus. A block adds at most 16 splats, so
        // there is always room.
        lanes.depth_key.compress(mask).store_slice(&mut self.keys[self.len..self.len + BLOCK]);
        let (columns, rows) = (lanes.columns.compress(mask), lanes.rows.compress(mask));
        let bounds = &mut self.bounds[self.len..self.len + BLOCK];
        let words: &mut [u32] = bytemuck::cast_slice_mut(bounds);
        columns.zip_low(rows).store_slice(&mut words[..BLOCK]);
        columns.zip_high(rows).store_slice(&mut words[BLOCK..]);
        // A splat is stored as one cache line: the raster reads all sixteen fields of scattered splats.
        let records = transpose(simd, lanes.fields);
        let mut left = lanes.visible;
        while left != 0 {
            let record = records[left.trailing_zeros() as usize].to_array();
            // A store past the caches reduces the stage to 0.91 of its time on a scene with spherical harmonics,
            // since an ordinary store reads the line first.
            self.splats.store(self.len, Line(record));
            self.len += 1;
            left &= left - 1;
        }
    }

    fn push(&mut self, splat: ProjectedSplat, order: f32, bounds: PixelBounds) {
        self.splats.store(self.len, bytemuck::cast(splat));
        self.bounds[self.len] = bounds;
        self.keys[self.len] = order.to_bits();
        self.len += 1;
    }
}

/// Appends the visible lanes of a block, some on the exact path; one by one, since such blocks are rare.
#[inline(never)]
fn push_with_fallback<S: Simd, T: SplatSource + ?Sized>(
    _: S,
    splats: &T,
    view: &ViewTransform,
    lanes: &ProjectedLanes<S>,
    output: &mut ChunkOutput<'_, '_>,
) {
    let fields = lanes.fields.map(|f| f.to_array());
    let [columns, rows, keys] =
        [lanes.columns, lanes.rows, lanes.depth_key].map(|lanes| lanes.to_array());
    for lane in 0..BLOCK {
        if lanes.visible >> lane & 1 == 1 {
            let record: ProjectedSplat = bytemuck::cast(fields.map(|f| f[lane]));
            output.push(
                record,
                f32::from_bits(keys[lane]),
                unpack_bounds(columns[lane], rows[lane]),
            );
        } else if lanes.fallback >> lane & 1 == 1 {
            let index = fields[15][lane].to_bits();
            let exact =
                ExactSplat::project(view, splats.sh_degree(), &splats.splat(index as usize));
            if let Some((exact, bounds)) = exact.and_then(|e| Some((e, e.bounds(view)?))) {
                output.push(exact.to_projected(index), narrow(exact.order), bounds);
            }
        }
    }
}

#[inline(always)]
fn unpack_bounds(columns: u32, rows: u32) -> PixelBounds {
    PixelBounds { x0: low(columns), x1: low(columns >> 16), y0: low(rows), y1: low(rows >> 16) }
}
