//! A splat on the picture plane.

use std::f32::consts::LN_2;

use bytemuck::{Pod, Zeroable};
use fearless_simd::{dispatch, prelude::*};

use quadrille_base::math::transpose::columns_of_4;
use quadrille_base::math::{SimdLevel, narrow, whole};
use quadrille_scene::BLOCK;

/// log2(1/255): the alpha cut as an exponent of two.
pub const LOG2_ALPHA_CUT: f32 = -7.994_353_5;

/// Maximum footprint radius in gsplat, in standard deviations. The alpha cut is nearer unless an opacity is above 1.
const MOST_RADIUS: f64 = 3.33;

/// A splat on the picture plane: one cache line with all data for drawing it.
///
/// Positions are in pixels from the centre (x right, y down), where f32 is most precise. The factored falloff
///
/// ```text
/// u = u_at_centre + u_per_x * x - u_per_y * y
/// v = v_at_centre + v_per_y * y
/// alpha = min(cap, 2^(log2_opacity - u^2 - v^2))
/// ```
///
/// equals `opacity * exp(-d^T Sigma'^-1 d / 2)`: (u, v) is the inverse covariance's Cholesky factor applied to d, times
/// sqrt(log2(e) / 2). The quadratic form would cancel catastrophically in f32 for long thin splats.
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
    /// Projected centre: x, y, in pixels from the picture's centre.
    pub mean_px: [f32; 2],
    /// Depth in view space for a pinhole camera, otherwise the distance from the camera.
    pub depth: f32,
    /// Index of the splat in the scene.
    pub index: u32,
}

/// Shapes of sixteen splats on the picture plane.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct SplatShapes {
    /// [`ProjectedSplat::radii`] of each splat.
    pub radii: [[u32; 2]; BLOCK],
    /// [`ProjectedSplat::conic`] of each splat.
    pub conics: [[f32; 3]; BLOCK],
}

impl ProjectedSplat {
    /// A splat with the footprint of an ellipse: its mean in pixels from the picture's centre, its covariance with the
    /// determinant, and the radius of the footprint in standard deviations. Opacity, colour, depth and index are 0.
    pub(super) fn of_ellipse(
        [mx, my]: [f64; 2],
        [xx, xy, yy]: [f64; 3],
        determinant: f64,
        radius: f64,
    ) -> Self {
        let k = (std::f64::consts::LOG2_E / 2.0).sqrt();
        let (p, q, slope) = (k * (yy / determinant).sqrt(), k / yy.sqrt(), xy / yy);
        // The rightmost point of the ellipse r^2 = d^T Sigma^-1 d lies r * xy / sqrt(xx) below the centre.
        let tip = radius * xy / xx.sqrt();
        Self {
            u_at_centre: narrow(p * (slope * my - mx)),
            v_at_centre: narrow(-q * my),
            u_per_x: narrow(p),
            u_per_y: narrow(p * slope),
            v_per_y: narrow(q),
            x_per_u: narrow(1.0 / p),
            leftmost_y: narrow(my - tip),
            rightmost_y: narrow(my + tip),
            mean_px: [narrow(mx), narrow(my)],
            ..Self::zeroed()
        }
    }

    /// Opacity, multiplied by the factor of the profile.
    pub fn opacity(&self) -> f32 {
        self.log2_opacity.exp2()
    }

    /// Inverse of the 2D covariance: xx, xy, yy, per square pixel.
    pub fn conic(&self) -> [f32; 3] {
        conic(self.u_per_x, self.u_per_y, self.v_per_y)
    }

    /// Half the width and height of gsplat's bounding box in whole pixels: the standard deviations times the radius at
    /// which alpha equals the cut (at most 3.33 standard deviations), rounded up.
    pub fn radii(&self) -> [u32; 2] {
        radii(self.u_per_x, self.u_per_y, self.v_per_y, self.radius_squared()).map(whole)
    }

    /// Computes [`Self::radii`] and [`Self::conic`] of sixteen splats, with the vectors of `level`.
    pub fn shapes(level: SimdLevel, splats: &[Self; BLOCK]) -> SplatShapes {
        let mut rows = [[0.0; 4]; BLOCK];
        for (row, splat) in rows.iter_mut().zip(splats) {
            *row = [splat.u_per_x, splat.u_per_y, splat.v_per_y, splat.log2_opacity];
        }
        let (mut exact, mut conics) = ([[0.0; BLOCK]; 2], [[0.0; BLOCK]; 3]);
        dispatch!(level.level(), simd => {
            let mut columns = [[0.0; BLOCK]; 4];
            for (column, lanes) in columns.iter_mut().zip(columns_of_4(simd, &rows)) {
                lanes.store_array(column);
            }
            let [per_x, per_y, v_per_y, log2_opacity] = &columns;
            for lane in 0..BLOCK {
                let conic = conic(per_x[lane], per_y[lane], v_per_y[lane]);
                let radius2 = log2_opacity[lane] - LOG2_ALPHA_CUT;
                let radii = radii(per_x[lane], per_y[lane], v_per_y[lane], radius2);
                for (values, entry) in conics.iter_mut().zip(conic) {
                    values[lane] = entry;
                }
                for (values, radius) in exact.iter_mut().zip(radii) {
                    values[lane] = radius;
                }
            }
        });
        let mut shapes = SplatShapes::zeroed();
        for lane in 0..BLOCK {
            shapes.radii[lane] = [whole(exact[0][lane]), whole(exact[1][lane])];
            shapes.conics[lane] = [conics[0][lane], conics[1][lane], conics[2][lane]];
        }
        shapes
    }

    /// Square of the radius in (u, v) at which alpha equals the cut.
    pub fn radius_squared(&self) -> f32 {
        self.log2_opacity - LOG2_ALPHA_CUT
    }
}

#[inline(always)]
fn conic(u_per_x: f32, u_per_y: f32, v_per_y: f32) -> [f32; 3] {
    // (u, v) are standard deviations times sqrt(log2(e) / 2).
    const SCALE: f32 = 2.0 * LN_2;
    let yy = u_per_y.mul_add(u_per_y, v_per_y * v_per_y);
    [u_per_x * u_per_x * SCALE, -u_per_x * u_per_y * SCALE, yy * SCALE]
}

#[inline(always)]
fn radii(u_per_x: f32, u_per_y: f32, v_per_y: f32, radius_squared: f32) -> [f64; 2] {
    let (per_x, per_y) = (f64::from(u_per_x), f64::from(v_per_y));
    let slope = f64::from(u_per_y) / per_x;
    // Variances in square pixels, times 2 ln 2.
    let yy = (per_y * per_y).recip();
    let xx = (per_x * per_x).recip() + slope * slope * yy;
    // The square of the radius in standard deviations, divided by 2 ln 2, so that the factors cancel in the products.
    let most = MOST_RADIUS * MOST_RADIUS / (2.0 * f64::from(LN_2));
    let radius2 = f64::from(radius_squared).clamp(0.0, most);
    [(xx * radius2).sqrt().ceil(), (yy * radius2).sqrt().ceil()]
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

#[cfg(test)]
#[path = "tests/projected.rs"]
mod tests;
