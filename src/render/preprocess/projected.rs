//! A splat on the picture plane.

use bytemuck::{Pod, Zeroable};

/// log2(1/255): the alpha cut as an exponent of two.
pub const LOG2_ALPHA_CUT: f32 = -7.994_353_5;

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
