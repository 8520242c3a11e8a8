//! Second phase of the gradients of saved pictures: from the picture plane to the caller's arrays.

use bytemuck::Zeroable;
use fearless_simd::{dispatch, f32x16, mask32x16, prelude::*};
use rayon::prelude::*;

use super::gradient_rows::GradientRows;
use super::gradients::CameraGradients;
use super::outlier::outlier_gradients;
use super::scene::{ScalarShapes, ScalarValues};
use crate::cpu::channels::{ChannelSettings, ChannelValues, check_length};
use crate::cpu::{RasterSums, SavedPicture};
use crate::preprocess::{
    CHUNK, PlaneLanes, ShScratch, SplatRows, SplatSource, ViewTransform, WorldLanes, chain,
    colour_chain,
};
use quadrille_base::math::lanes::F64Lanes;
use quadrille_base::math::transpose::transpose;
use quadrille_base::math::{narrow, prefetch_range};
use quadrille_base::{Error, Result, Task};
use quadrille_scene::bytes::ReadAhead;
use quadrille_scene::{BLOCK, Lanes, SplatBlock, rest_coefficients};

/// Numbers of the coefficients of degree 4, in whole blocks.
const MOST_NUMBERS: usize = (3 * (rest_coefficients(4) + 1)).next_multiple_of(BLOCK);

impl SavedPicture {
    /// Second phase: adds the derivatives of a loss by the splats in world space to `gradients`, given those in the picture
    /// plane, which the caller may have changed; returns those by the camera. `splats` and `channels` are those of the picture.
    ///
    /// # Errors
    /// [`Error::Argument`] if the length of an array is wrong; [`Error::Cancelled`].
    pub fn project_gradients(
        &self,
        splats: &SplatRows<'_>,
        channels: &ChannelSettings<'_>,
        sums: &RasterSums,
        gradients: &mut GradientRows<'_>,
        task: &Task,
    ) -> Result<CameraGradients> {
        channels.check_inputs(splats.len())?;
        gradients.check(splats, channels)?;
        let drawn = sums.indices.len();
        let ascending = sums.indices.is_sorted_by(|a, b| a < b);
        let beyond = sums.indices.last().is_some_and(|last| *last as usize >= splats.len());
        let is_other = !ascending || beyond;
        Error::refuse_if(is_other, "sums", "drawn splats of the scene", "others")?;
        check_length("means2d", drawn, sums.means2d.len())?;
        check_length("channels", drawn * channels.channels(), sums.channels.len())?;
        let view = self.view();
        let of_rows = channels.value_channels();
        let parts = gradients.chunks(splats.stored(), of_rows, splats.len());
        let parts = parts.into_par_iter().enumerate().with_max_len(1);
        let poses: Vec<Pose> = parts
            .map(|(chunk, mut gradients)| {
                if gradients.clears {
                    gradients.clear();
                }
                let first = chunk * CHUNK;
                let start = sums.indices.partition_point(|i| (*i as usize) < first);
                let part = Chunk { view, splats, channels, sums, first, start };
                if task.is_cancelled() {
                    return Ok(Pose::default());
                }
                dispatch!(self.level().level(), simd => part.add(simd, gradients))
            })
            .collect::<Result<_>>()?;
        task.check()?;
        let mut sum = Pose::default();
        poses.iter().for_each(|pose| sum.add(pose));
        Ok(sum.finish(view))
    }
}

/// Sums of derivatives by the pose of the camera.
#[derive(Debug, Clone, Copy, Default)]
struct Pose {
    rotation: [[f64; 3]; 3],
    translation: [f64; 3],
    /// By the centres through their directions from the camera.
    direction: [f64; 3],
}

impl Pose {
    fn add(&mut self, other: &Self) {
        let sums = self.rotation.as_flattened_mut().iter_mut();
        let sums = sums.chain(&mut self.translation).chain(&mut self.direction);
        let parts = other.rotation.as_flattened().iter();
        for (sum, part) in sums.zip(parts.chain(&other.translation).chain(&other.direction)) {
            *sum += part;
        }
    }

    fn finish(self, view: &ViewTransform) -> CameraGradients {
        let mut view_from_world = [[0.0; 4]; 4];
        for (r, row) in view_from_world[..3].iter_mut().enumerate() {
            // The camera's centre is minus the transposed rotation times the translation.
            let turned = |c: usize| view.translation_in_view[r] * self.direction[c];
            let [x, y, z] = [0, 1, 2].map(|c| self.rotation[r][c] + turned(c));
            let moved = (0..3).map(|c| view.rotation[r][c] * self.direction[c]).sum::<f64>();
            *row = [x, y, z, self.translation[r] + moved];
        }
        CameraGradients { view_from_world }
    }
}

/// Splats of one unit of parallel work.
struct Chunk<'a> {
    view: &'a ViewTransform,
    splats: &'a SplatRows<'a>,
    channels: &'a ChannelSettings<'a>,
    sums: &'a RasterSums,
    /// Index of the first splat.
    first: usize,
    /// Number of its first drawn splat.
    start: usize,
}

/// Derivatives of sixteen splats in the picture plane.
#[derive(Zeroable, Clone, Copy)]
struct Gathered {
    /// By x, y, the logarithm of the opacity, moments uu, uv, vv, the depth, red, green and blue.
    lanes: [Lanes; 10],
    /// Number of the drawn splat of each lane.
    numbers: [usize; BLOCK],
    /// Mask of lanes with a derivative other than 0.
    some: u64,
}

/// Sums of f64 lanes.
type PoseLanes<S> = [F64Lanes<S>; 15];

impl Chunk<'_> {
    /// Gathers the drawn splats of a block; `number` is that of its first drawn splat, and then of the next block's.
    fn gather(&self, first: usize, number: &mut usize) -> Gathered {
        let mut gathered = Gathered::zeroed();
        let sums = self.sums;
        let (count, values) = (self.channels.channels(), self.channels.value_channels());
        let is_coloured = matches!(self.channels.values, ChannelValues::Colours);
        while let Some(splat) = sums.indices.get(*number).filter(|i| (**i as usize) < first + BLOCK)
        {
            let lane = *splat as usize - first;
            let ([x, y], [log, uu, uv, vv]) = (sums.means2d[*number], sums.shapes[*number]);
            let by_channels = &sums.channels[*number * count..][..count];
            let depth = by_channels.get(values).copied().unwrap_or(0.0);
            let some = |by: &f32| *by != 0.0;
            if [x, y, log, uu, uv, vv].iter().any(some) || by_channels.iter().any(some) {
                let [red, green, blue] = match by_channels {
                    [red, green, blue, ..] if is_coloured => [*red, *green, *blue],
                    _ => [0.0; 3],
                };
                let all = [x, y, log, uu, uv, vv, depth, red, green, blue];
                for (lanes, value) in gathered.lanes.iter_mut().zip(all) {
                    lanes[lane] = value;
                }
                gathered.numbers[lane] = *number;
                gathered.some |= 1 << lane;
            }
            *number += 1;
        }
        gathered
    }

    #[inline(always)]
    fn add<S: Simd>(&self, simd: S, mut gradients: GradientRows<'_>) -> Result<Pose> {
        let mut block = SplatBlock::zeroed();
        let mut scratch = ShScratch::zeroed();
        let mut ahead = ReadAhead::default();
        let mut by_coefficients = [[0.0; BLOCK]; MOST_NUMBERS];
        let mut pose: PoseLanes<S> = [F64Lanes::splat(simd, 0.0); 15];
        let mut outliers = Pose::default();
        let mut number = self.start;
        let end = self.splats.len().min(self.first + CHUNK);
        let stored = self.splats.stored();
        for first in (self.first..end).step_by(BLOCK) {
            let gathered = self.gather(first, &mut number);
            if gathered.some == 0 {
                continue;
            }
            self.prefetch_sh(number, gradients.sh);
            let at = first / BLOCK;
            let block = self.splats.block(simd, at, &mut block, &mut ahead);
            let lanes = |i: usize| f32x16::load_array_ref(simd, &gathered.lanes[i]);
            let plane = PlaneLanes {
                mean2d: [lanes(0), lanes(1)],
                log_opacity: lanes(2),
                moments: [lanes(3), lanes(4), lanes(5)],
                depth: lanes(6),
            };
            let mut world = chain(simd, self.view, block, &plane);
            if !self.view.projection.is_planar() {
                // The lanes differentiate projections onto a plane alone.
                world.inexact = !0;
            }
            let accurate = gathered.some & !world.inexact;
            let mask = mask32x16::from_bitmask(simd, accurate);
            let zero = f32x16::splat(simd, 0.0);
            let mut direction = [zero; 3];
            if stored > 0 {
                self.splats.prefetch_coefficients_after(at);
                let sh =
                    self.splats.coefficients(simd, at, gathered.some, &mut scratch, &mut ahead);
                direction = colour_chain(
                    simd,
                    self.view,
                    self.splats.sh_degree(),
                    block,
                    &sh,
                    [lanes(7), lanes(8), lanes(9)],
                    &mut by_coefficients,
                );
                for (mean, by) in world.mean.iter_mut().zip(&mut direction) {
                    *by = mask.select(*by, zero);
                    *mean += *by;
                }
            }
            add_pose(simd, &mut pose, mask, block, &world, direction);
            self.store(simd, &world, first, accurate, &gathered, &mut gradients);
            if !gradients.sh.is_empty() && stored > 0 {
                self.store_sh(simd, &by_coefficients, first, accurate, gradients.sh);
            }
            let mut left = gathered.some & world.inexact;
            while left != 0 {
                let lane = left.trailing_zeros() as usize;
                left &= left - 1;
                let row = first + lane - self.first;
                self.add_outlier(row, gathered.numbers[lane], &mut gradients, &mut outliers)?;
            }
        }
        let mut sum = outliers;
        let total = |lanes: F64Lanes<S>| -> f64 {
            lanes.0.to_array().iter().chain(&lanes.1.to_array()).sum()
        };
        let [rotation @ .., t0, t1, t2, d0, d1, d2] = pose.map(total);
        sum.add(&Pose {
            rotation: std::array::from_fn(|r| std::array::from_fn(|c| rotation[3 * r + c])),
            translation: [t0, t1, t2],
            direction: [d0, d1, d2],
        });
        Ok(sum)
    }

    /// Fetches the caller's sums for the coefficients of the next drawn splats.
    #[inline(always)]
    fn prefetch_sh(&self, number: usize, sh: &[[f32; 3]]) {
        let next = self.sums.indices.get(number..).unwrap_or_default();
        let (sh, width) = (sh.as_flattened(), 3 * self.splats.stored());
        for &splat in next.iter().take(BLOCK) {
            prefetch_range(
                sh,
                (splat as usize).wrapping_sub(self.first).wrapping_mul(width),
                width,
            );
        }
    }

    /// Adds the derivatives of the lanes in `mask` to the caller's arrays.
    #[inline(always)]
    fn store<S: Simd>(
        &self,
        simd: S,
        world: &WorldLanes<S>,
        first: usize,
        mut mask: u64,
        gathered: &Gathered,
        gradients: &mut GradientRows<'_>,
    ) {
        let mean = arrays(&world.mean);
        let scale = arrays(&world.scale);
        let mut rotation = world.rotation;
        if !gradients.rotations.is_empty() {
            // The lanes are derivatives by unit quaternions.
            let inverse = f32x16::load_array(simd, self.splats.inverse_lengths(first / BLOCK));
            for lanes in &mut rotation {
                *lanes *= inverse;
            }
        }
        let rotation = arrays(&rotation);
        let covariance = arrays(&world.covariance);
        let opacity = world.opacity.to_array();
        let (count, values) = (self.channels.channels(), self.channels.value_channels());
        while mask != 0 {
            let lane = mask.trailing_zeros() as usize % BLOCK;
            mask &= mask - 1;
            let row = first + lane - self.first;
            add_lane(gradients.means, row, &mean, lane);
            add_lane(gradients.scales, row, &scale, lane);
            add_lane(gradients.covariances, row, &covariance, lane);
            add_lane(gradients.rotations, row, &rotation, lane);
            if let Some(sum) = gradients.opacities.get_mut(row) {
                *sum += opacity[lane];
            }
            if !gradients.values.is_empty() {
                let by = &self.sums.channels[gathered.numbers[lane] * count..][..values];
                for (sum, by) in gradients.values[row * values..].iter_mut().zip(by) {
                    *sum += by;
                }
            }
        }
    }

    /// Adds the derivatives by the coefficients of the lanes in `mask`.
    #[inline(always)]
    fn store_sh<S: Simd>(
        &self,
        simd: S,
        by_coefficients: &[Lanes; MOST_NUMBERS],
        first: usize,
        mask: u64,
        sh: &mut [[f32; 3]],
    ) {
        let numbers = 3 * (rest_coefficients(self.splats.sh_degree()) + 1);
        let rows = sh.as_flattened_mut();
        let width = 3 * self.splats.stored();
        for (part, start) in
            by_coefficients.as_chunks::<BLOCK>().0.iter().zip((0..numbers).step_by(BLOCK))
        {
            let mut columns = [f32x16::splat(simd, 0.0); BLOCK];
            for (column, lanes) in columns.iter_mut().zip(part) {
                *column = f32x16::load_array_ref(simd, lanes);
            }
            let columns = transpose(simd, columns);
            let mut left = mask;
            while left != 0 {
                let lane = left.trailing_zeros() as usize % BLOCK;
                left &= left - 1;
                let row = &mut rows[(first + lane - self.first) * width + start..];
                let by = columns[lane];
                if numbers - start >= BLOCK {
                    let row = &mut row[..BLOCK];
                    (f32x16::from_slice(simd, row) + by).store_slice(row);
                } else {
                    for (sum, by) in row[..numbers - start].iter_mut().zip(by.to_array()) {
                        *sum += by;
                    }
                }
            }
        }
    }

    /// Adds the derivatives of drawn splat `number` by the definition.
    #[cold]
    fn add_outlier(
        &self,
        row: usize,
        number: usize,
        to: &mut GradientRows<'_>,
        pose: &mut Pose,
    ) -> Result<()> {
        let of = |is_by_covariance: bool| {
            let (splats, sums) = (self.splats, self.sums);
            outlier_gradients(self.view, splats, self.channels, sums, number, is_by_covariance)
        };
        let (gradients, by_pose) = of(false)?;
        add_row(to.means, row, &gradients.means);
        if let ScalarShapes::Axes { scales, rotations } = &gradients.shapes {
            add_row(to.scales, row, scales);
            add_row(to.rotations, row, rotations);
        }
        if !to.covariances.is_empty()
            && let ScalarShapes::Covariances(covariances) = &of(true)?.0.shapes
        {
            add_row(to.covariances, row, covariances);
        }
        if let (Some(sum), [by]) = (to.opacities.get_mut(row), &gradients.opacities[..]) {
            *sum += narrow(*by);
        }
        match &gradients.values {
            ScalarValues::Colours { sh, stored, .. } if !to.sh.is_empty() => {
                for (at, by) in sh.iter().enumerate() {
                    add_row(to.sh, row * stored + at, &[*by]);
                }
            }
            ScalarValues::Rows { values, channels } if !to.values.is_empty() => {
                for (sum, by) in to.values[row * channels..].iter_mut().zip(values) {
                    *sum += narrow(*by);
                }
            }
            _ => {}
        }
        for r in 0..3 {
            for c in 0..3 {
                pose.rotation[r][c] += by_pose.rotation[(r, c)];
            }
            pose.translation[r] += by_pose.translation[r];
        }
        Ok(())
    }
}

/// Adds the only row of `by` to a row of the caller's array, if it is there.
fn add_row<const N: usize>(rows: &mut [[f32; N]], row: usize, by: &[[f64; N]]) {
    if let (Some(sums), [by]) = (rows.get_mut(row), by) {
        for (sum, by) in sums.iter_mut().zip(by) {
            *sum += narrow(*by);
        }
    }
}

#[inline(always)]
fn arrays<S: Simd, const N: usize>(vectors: &[f32x16<S>; N]) -> [Lanes; N] {
    let mut arrays = [[0.0; BLOCK]; N];
    // A map of the array would be called, not inlined.
    for (array, vector) in arrays.iter_mut().zip(vectors) {
        vector.store_array(array);
    }
    arrays
}

/// Adds one lane to a row of the caller's array, if it is there.
#[inline(always)]
fn add_lane<const N: usize>(rows: &mut [[f32; N]], row: usize, lanes: &[Lanes; N], lane: usize) {
    if let Some(sums) = rows.get_mut(row) {
        for (sum, lanes) in sums.iter_mut().zip(lanes) {
            *sum += lanes[lane];
        }
    }
}

#[inline(always)]
fn add_pose<S: Simd>(
    simd: S,
    sums: &mut PoseLanes<S>,
    mask: mask32x16<S>,
    block: &SplatBlock,
    world: &WorldLanes<S>,
    direction: [f32x16<S>; 3],
) {
    let zero = f32x16::splat(simd, 0.0);
    let add = |sum: &mut F64Lanes<S>, part: F64Lanes<S>| {
        *sum = F64Lanes(sum.0 + part.0, sum.1 + part.1);
    };
    for r in 0..3 {
        let in_view = F64Lanes::widen(mask.select(world.in_view[r], zero));
        for c in 0..3 {
            let mean = mask.select(f32x16::simd_from(simd, block.mean[c]), zero);
            let plain = F64Lanes::widen(mask.select(world.view_rotation[r][c], zero));
            add(&mut sums[3 * r + c], F64Lanes::widen(mean).mul_add(in_view, plain));
        }
        add(&mut sums[9 + r], in_view);
        add(&mut sums[12 + r], F64Lanes::widen(direction[r]));
    }
}
