//! Early depth test of samples, and the depths of a quad.
//!
//! Depth is the near plane's distance divided by the surface's: 1 at the near plane, 0 at infinity. It is linear along a
//! plane on the screen, and finest where f32 is. Samples start at 0; greater (nearer) depths replace them.

use fearless_simd::{Simd, dispatch, f32x16, mask32x16, prelude::*, u32x16};

use crate::math::{SimdLevel, narrow};
use crate::raster::samples::{MAX_SAMPLES, SamplePattern};

/// Depth of a triangle's plane as a function of the position on the picture.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DepthPlane {
    /// A corner of the triangle, in 1/256 px.
    pub origin: [i32; 2],
    /// Depth at the origin.
    pub depth: f32,
    /// Change of depth per 1/256 px to the right and down.
    pub slope: [f32; 2],
}

/// A quad of one triangle for the depth test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DepthFragment {
    /// The first shading pixel's corner, in 1/256 px.
    pub corner: [i32; 2],
    /// Mask of the covered samples, shading pixel by shading pixel.
    pub coverage: u64,
    /// Depth of the triangle.
    pub plane: DepthPlane,
    /// Id stored with the samples that pass.
    pub owner: u32,
}

/// Depth and visible fragment of every sample of a quad.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuadDepths {
    /// Depths, shading pixel by shading pixel; entries past the pattern's count are unused.
    pub depths: [[f32; MAX_SAMPLES]; 4],
    /// Id of the visible fragment of each sample.
    pub owners: [[u32; MAX_SAMPLES]; 4],
}

/// Owner of a sample without a fragment.
pub const NO_OWNER: u32 = u32::MAX;

impl Default for QuadDepths {
    fn default() -> Self {
        Self { depths: [[0.0; MAX_SAMPLES]; 4], owners: [[NO_OWNER; MAX_SAMPLES]; 4] }
    }
}

impl DepthPlane {
    /// The plane's depth at the corner of a shading pixel, in 1/256 px.
    #[inline(always)]
    fn at_corner(&self, x: i32, y: i32) -> f32 {
        let along =
            |axis: usize, v: i32| f64::from(self.slope[axis]) * f64::from(v - self.origin[axis]);
        narrow(f64::from(self.depth) + along(0, x) + along(1, y))
    }

    /// The depth at a sample: the depth at the shading pixel's corner plus the change on the way to the sample.
    pub fn at_sample(&self, corner: [i32; 2], offset: [i32; 2]) -> f32 {
        let [x, y] = offset.map(|v| v as f32);
        self.at_corner(corner[0], corner[1]) + (self.slope[0] * x + self.slope[1] * y)
    }
}

impl QuadDepths {
    /// Tests the samples of a fragment, one shading pixel at a time; returns the samples that pass, which it then owns.
    #[inline]
    pub fn test(
        &mut self,
        level: SimdLevel,
        pattern: &SamplePattern,
        fragment: &DepthFragment,
    ) -> u64 {
        dispatch!(level.level(), simd => self.test_lanes(simd, pattern, fragment))
    }

    /// As [`Self::test`], in code that is dispatched to a SIMD level already.
    #[inline(always)]
    pub fn test_lanes<S: Simd>(
        &mut self,
        simd: S,
        pattern: &SamplePattern,
        fragment: &DepthFragment,
    ) -> u64 {
        let [xs, ys] = pattern.lanes_f32();
        let lanes = |v: &[f32; MAX_SAMPLES]| f32x16::from_slice(simd, v);
        let plane = &fragment.plane;
        let way = lanes(xs) * plane.slope[0] + lanes(ys) * plane.slope[1];
        let side = pattern.side_units();
        let mut passed = 0;
        for (pixel, [right, down]) in
            [[0, 0], [side, 0], [0, side], [side, side]].into_iter().enumerate()
        {
            let samples = pattern.pixel(fragment.coverage, pixel);
            if samples == 0 {
                continue;
            }
            let [x, y] = fragment.corner;
            let depth = way + plane.at_corner(x + right, y + down);
            let stored = lanes(&self.depths[pixel]);
            let covered = mask32x16::from_bitmask(simd, u64::from(samples));
            let wins = depth.simd_gt(stored) & covered;
            let bits = wins.to_bitmask();
            if bits == 0 {
                continue;
            }
            wins.select(depth, stored).store_slice(&mut self.depths[pixel]);
            let owners = u32x16::from_slice(simd, &self.owners[pixel]);
            wins.select(u32x16::splat(simd, fragment.owner), owners)
                .store_slice(&mut self.owners[pixel]);
            passed |= bits << (pixel * pattern.count() as usize);
        }
        passed
    }

    /// Farthest depth of all samples, the least one.
    pub fn farthest(&self, pattern: &SamplePattern) -> f32 {
        let count = pattern.count() as usize;
        self.depths.iter().flat_map(|pixel| &pixel[..count]).copied().fold(f32::INFINITY, f32::min)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    impl QuadDepths {
        /// Definition of the test: returns the samples that pass, which the fragment then owns.
        fn test_slowly(&mut self, pattern: &SamplePattern, fragment: &DepthFragment) -> u64 {
            let mut passed = 0;
            for (pixel, c) in (0..4).zip([[0, 0], [1, 0], [0, 1], [1, 1]]) {
                let at = [0, 1].map(|axis| fragment.corner[axis] + c[axis] * pattern.side_units());
                let samples = pattern.pixel(fragment.coverage, pixel);
                for (k, &offset) in pattern.offsets().iter().enumerate() {
                    let depth = fragment.plane.at_sample(at, offset);
                    let stored = &mut self.depths[pixel][k];
                    if samples >> k & 1 == 1 && depth > *stored {
                        *stored = depth;
                        self.owners[pixel][k] = fragment.owner;
                        passed |= 1 << (pixel * pattern.count() as usize + k);
                    }
                }
            }
            passed
        }
    }

    fn plane() -> impl Strategy<Value = DepthPlane> {
        let origin = [0..2000, 0..2000];
        let slope = [-1e-4_f32..1e-4, -1e-4_f32..1e-4];
        (origin, 0.0_f32..1.0, slope).prop_map(|(origin, depth, slope)| DepthPlane {
            origin,
            depth,
            slope,
        })
    }

    proptest! {
        #[test]
        fn lanes_do_what_the_definition_does(
            planes in prop::collection::vec((plane(), any::<u64>()), 1..12),
            place in [0..8, 0..8],
        ) {
            let standard = [1, 2, 4, 8, 16].map(SamplePattern::standard);
            for pattern in standard.into_iter().chain([SamplePattern::coarse(4)]) {
                let pattern = pattern.unwrap();
                let corner = place.map(|v| v * 2 * pattern.side_units());
                for level in SimdLevel::all() {
                    let (mut fast, mut slow) = (QuadDepths::default(), QuadDepths::default());
                    for ((plane, coverage), owner) in planes.iter().zip(0..) {
                        let coverage = coverage & pattern.full_quad();
                        let fragment = DepthFragment { corner, coverage, plane: *plane, owner };
                        let one = fast.test(level, &pattern, &fragment);
                        prop_assert_eq!(one, slow.test_slowly(&pattern, &fragment));
                        prop_assert!(one & !coverage == 0);
                    }
                    prop_assert_eq!(&fast, &slow);
                }
            }
        }
    }

    #[test]
    fn an_equal_depth_does_not_pass() {
        let pattern = SamplePattern::standard(4).unwrap();
        let mut quad = QuadDepths::default();
        let mut test = |coverage, depth, owner| {
            let plane = DepthPlane { origin: [0, 0], depth, slope: [0.0; 2] };
            let fragment = DepthFragment { corner: [0, 0], coverage, plane, owner };
            quad.test(SimdLevel::best(), &pattern, &fragment)
        };
        assert_eq!(test(0x00ff, 0.5, 7), 0x00ff);
        assert_eq!(test(0xffff, 0.5, 8), 0xff00);
        assert_eq!(test(0x0001, 0.75, 9), 0x0001);
        assert_eq!(quad.farthest(&pattern), 0.5);
        assert_eq!(quad.owners[0][..4], [9, 7, 7, 7]);
    }
}
