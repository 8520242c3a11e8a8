//! A splat on the picture plane.

use std::f32::consts::LN_2;

use bytemuck::{Pod, Zeroable};

use quadrille_base::math::{SimdLevel, whole};
use quadrille_scene::BLOCK;

/// log2(1/255): the alpha cut as an exponent of two.
pub const LOG2_ALPHA_CUT: f32 = -7.994_353_5;

/// Radius of a footprint in standard deviations beyond which gsplat draws nothing. The alpha cut is nearer unless an
/// opacity is above 1.
const MOST_RADIUS: f64 = 3.33;

/// A splat on the picture plane: one cache line with all that is needed to draw it.
///
/// Positions are in pixels from the picture's centre (x right, y down), where f32 is most precise. The
/// falloff is in the factored form
///
/// ```text
/// u = u_at_centre + u_per_x * x - u_per_y * y
/// v = v_at_centre + v_per_y * y
/// alpha = min(cap, 2^(log2_opacity - u^2 - v^2))
/// ```
///
/// which equals `opacity * exp(-d^T Sigma'^-1 d / 2)`: (u, v) is the Cholesky factor of the inverse
/// covariance applied to d, times sqrt(log2(e) / 2). The quadratic form itself would suffer
/// catastrophic cancellation in f32 for long thin splats.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct ProjectedSplat {
    /// u at the picture's centre.
    pub u_at_centre: f32,
    /// v at the picture's centre.
    pub v_at_centre: f32,
    /// Increase of u per pixel in x, > 0.
    pub u_per_x: f32,
    /// Decrease of u per pixel in y.
    pub u_per_y: f32,
    /// Increase of v per pixel in y, > 0.
    pub v_per_y: f32,
    /// log2 of the opacity: from [`LOG2_ALPHA_CUT`] to 0, up to rounding.
    pub log2_opacity: f32,
    /// Linear red, green, blue, >= 0.
    pub colour: [f32; 3],
    /// 1 / `u_per_x`.
    pub x_per_u: f32,
    /// y of the leftmost point of the footprint's ellipse.
    pub leftmost_y: f32,
    /// y of the rightmost point of the footprint's ellipse.
    pub rightmost_y: f32,
    /// The projected centre: x, y, in pixels from the picture's centre.
    pub mean_px: [f32; 2],
    /// Depth in view space.
    pub depth: f32,
    /// Index of the splat in the scene.
    pub index: u32,
}

impl ProjectedSplat {
    /// Opacity, with the factor of the profile.
    pub fn opacity(&self) -> f32 {
        self.log2_opacity.exp2()
    }

    /// Inverse of the 2D covariance: xx, xy, yy, per square pixel.
    pub fn conic(&self) -> [f32; 3] {
        let [xx, xy, yy] = [
            self.u_per_x * self.u_per_x,
            -self.u_per_x * self.u_per_y,
            self.u_per_y
                .mul_add(self.u_per_y, self.v_per_y * self.v_per_y),
        ];
        // (u, v) are standard deviations times sqrt(log2(e) / 2).
        [xx, xy, yy].map(|entry| entry * (2.0 * LN_2))
    }

    /// Half of width and height of the box that gsplat sorts the splat by, in whole pixels: the standard deviations
    /// times the radius at which alpha equals the cut, which is at most 3.33 standard deviations, rounded up.
    pub fn radii(&self) -> [u32; 2] {
        self.exact_radii().map(whole)
    }

    /// [`Self::radii`] of up to sixteen splats, in the vectors of `level`.
    pub fn radii_of(level: SimdLevel, splats: &[Self]) -> [[u32; 2]; BLOCK] {
        let mut exact = [[0.0; 2]; BLOCK];
        level.run(|| {
            for (exact, splat) in exact.iter_mut().zip(splats) {
                *exact = splat.exact_radii();
            }
        });
        exact.map(|radii| radii.map(whole))
    }

    #[inline(always)]
    fn exact_radii(&self) -> [f64; 2] {
        let (per_x, per_y) = (f64::from(self.u_per_x), f64::from(self.v_per_y));
        let slope = f64::from(self.u_per_y) / per_x;
        // Variances in units of 2 ln 2 square pixels.
        let yy = (per_y * per_y).recip();
        let xx = (per_x * per_x).recip() + slope * slope * yy;
        // The radius in standard deviations is that in (u, v) times sqrt(2 ln 2), and deviations are those in units of
        // the falloff over it.
        let most = MOST_RADIUS * MOST_RADIUS / (2.0 * f64::from(LN_2));
        let radius2 = f64::from(self.radius_squared()).clamp(0.0, most);
        [(xx * radius2).sqrt().ceil(), (yy * radius2).sqrt().ceil()]
    }

    /// Square of the radius in (u, v) at which alpha equals the cut.
    pub fn radius_squared(&self) -> f32 {
        self.log2_opacity - LOG2_ALPHA_CUT
    }
}

/// The pixels of a footprint's bounding box, inside the picture; first and last are inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PixelBounds {
    /// First column.
    pub x0: u16,
    /// Last column.
    pub x1: u16,
    /// First row.
    pub y0: u16,
    /// Last row.
    pub y1: u16,
}
