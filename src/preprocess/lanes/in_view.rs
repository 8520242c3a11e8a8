//! Sixteen centres in view space.

use fearless_simd::{f32x16, mask32x16, prelude::*};

use crate::math::lanes::F64Lanes;
use crate::preprocess::view_transform::ViewTransform;
use crate::scene::SplatBlock;

/// Position in view space (f64) and 1/z.
pub(super) struct InView<S: Simd> {
    pub(super) p: [F64Lanes<S>; 3],
    pub(super) inverse_z: F64Lanes<S>,
    pub(super) in_front: mask32x16<S>,
}

impl<S: Simd> InView<S> {
    #[inline(always)]
    pub(super) fn of(simd: S, view: &ViewTransform, block: &SplatBlock) -> Self {
        let mean = block
            .mean
            .map(|m| F64Lanes::widen(f32x16::simd_from(simd, m)));
        let p = std::array::from_fn(|r| {
            let row = view.rotation[r].map(|v| F64Lanes::splat(simd, v));
            let sum = mean[2].mul_add(row[2], F64Lanes::splat(simd, view.translation_in_view[r]));
            mean[0].mul_add(row[0], mean[1].mul_add(row[1], sum))
        });
        let above_near = p[2].minus(F64Lanes::splat(simd, view.near)).narrow();
        Self {
            p,
            inverse_z: p[2].recip(simd),
            in_front: above_near.simd_gt(f32x16::splat(simd, 0.0)),
        }
    }
}
