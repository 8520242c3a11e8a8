//! Scenes far from the origin, whose detail single precision does not resolve.
//!
//! Coordinates of maps are millions of metres, where the step of f32 is half a metre. Files in double precision
//! keep such positions, so that splats are stored relative to a centre near them.

use quadrille_base::math::narrow;

/// Minimum steps of a floating-point type across the median splat for which its precision suffices. With fewer, rounded
/// positions change a picture visibly (assumed). Only files in double precision and warnings depend on it.
const LEAST_STEPS: f64 = 16.0;

pub(crate) const SAMPLES: usize = 4096;

/// Greatest unit to which a centre is rounded, in sizes of details: far fewer than the 2^24 steps of f32.
const DETAILS_PER_UNIT: f64 = 65_536.0;

/// Size of the details of a scene, and resolution of f32 at its centre.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Resolution {
    /// Medians of the positions, rounded to whole units or, for small details, to a power of two below.
    centre: [f64; 3],
    /// Spacing of floats at the largest coordinate of the centre, in world units.
    step: f64,
    /// Median of the splats' largest standard deviations, in world units.
    scale: f64,
}

/// Centre of a splat and its largest standard deviation, in world units.
pub(crate) type Placed = ([f64; 3], f64);

/// Spacing of f64 at the largest coordinate of a centre.
fn double_step(centre: [f64; 3]) -> f64 {
    let largest = centre.map(f64::abs).into_iter().fold(0.0, f64::max);
    largest.next_up() - largest
}

/// Whether f64 is too coarse for a splat at its centre.
fn is_rounded((centre, scale): Placed) -> bool {
    scale < LEAST_STEPS * double_step(centre)
}

impl Resolution {
    pub(crate) fn of(splats: impl Iterator<Item = Placed>) -> Option<Self> {
        let mut columns: [Vec<f64>; 4] = Default::default();
        for ([x, y, z], scale) in splats {
            let values = [x, y, z, scale];
            if values.iter().all(|value| value.is_finite()) {
                for (column, value) in columns.iter_mut().zip(values) {
                    column.push(value);
                }
            }
        }
        let middle = columns[0].len() / 2;
        if columns[0].is_empty() {
            return None;
        }
        let [x, y, z, scale] =
            columns.map(|mut column| *column.select_nth_unstable_by(middle, f64::total_cmp).1);
        let largest = [x, y, z].map(|v| narrow(v).abs()).into_iter().fold(0.0, f32::max);
        // In f32, the rest of a coordinate has a step of at most 2^-24 of the rounding unit.
        let unit = (scale * DETAILS_PER_UNIT).log2().ceil().exp2().clamp(f64::EPSILON, 1.0);
        Some(Self {
            centre: [x, y, z].map(|v| (v / unit).round() * unit),
            step: f64::from(largest.next_up()) - f64::from(largest),
            scale,
        })
    }

    fn is_coarse(&self) -> bool {
        self.scale < LEAST_STEPS * self.step
    }

    /// Reference point for double-precision positions: zero, unless f32 is too coarse for the scene.
    pub(crate) fn origin(&self) -> [f64; 3] {
        if self.is_coarse() { self.centre } else { [0.0; 3] }
    }

    /// Warning about `splats`, all of the scene, if even f64 is too coarse for most of them.
    pub(crate) fn double_warning(&self, splats: impl Iterator<Item = Placed>) -> Option<String> {
        let Self { centre, scale, .. } = *self;
        is_rounded((centre, scale)).then(|| {
            let (mut count, mut rounded) = (0_usize, 0_usize);
            splats.for_each(|splat| {
                count += 1;
                rounded += usize::from(is_rounded(splat));
            });
            let [x, y, z] = centre;
            format!(
                "positions around ({x:e}, {y:e}, {z:e}) in double precision are rounded to steps of {:.2e}, and half of the \
                 splats are smaller than {scale:.2e}: {rounded} of {count} splats are displaced visibly, and no later \
                 step brings them back",
                double_step(centre)
            )
        })
    }

    /// Warning about positions rounded to single precision that is too coarse for the scene.
    pub(crate) fn warning(&self) -> Option<String> {
        let Self { centre: [x, y, z], step, scale } = self;
        self.is_coarse().then(|| {
            format!(
                "positions around ({x}, {y}, {z}) in single precision are rounded to steps of {step:.2e}, and half of \
                 the splats are smaller than {scale:.2e}: keep such a scene in a PLY with x, y and z of type double, \
                 or move it to the origin before it is stored"
            )
        })
    }
}

#[cfg(test)]
#[path = "tests/units/origin.rs"]
mod tests;
