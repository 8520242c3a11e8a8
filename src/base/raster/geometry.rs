//! Vertices, rectangles of pixels, and the shapes of primitives on the screen.

/// Fraction bits of vertex coordinates: 1/256 px, as in D3D11 (section 3.4.1).
pub const SUBPIXEL_BITS: u32 = 8;
/// Largest |x| and |y| of a vertex, in 1/256 px: edge functions then fit `i64`.
pub const GUARD_BAND: i32 = 1 << 29;
/// A vertex on the picture, in 1/256 px from the top left corner: x to the right, y down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Vertex {
    /// Horizontal coordinate, |x| <= [`GUARD_BAND`].
    pub x: i32,
    /// Vertical coordinate, |y| <= [`GUARD_BAND`].
    pub y: i32,
}

impl Vertex {
    pub(super) fn is_in_guard_band(self) -> bool {
        self.x.unsigned_abs().max(self.y.unsigned_abs()) <= GUARD_BAND.unsigned_abs()
    }
}

/// A half-open rectangle of pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PixelRect {
    /// First column.
    pub x0: i32,
    /// First row.
    pub y0: i32,
    /// Column after the last.
    pub x1: i32,
    /// Row after the last.
    pub y1: i32,
}

impl PixelRect {
    /// Intersection of two rectangles; empty if they are disjoint.
    #[inline]
    pub fn intersect(self, other: Self) -> Self {
        Self {
            x0: self.x0.max(other.x0),
            y0: self.y0.max(other.y0),
            x1: self.x1.min(other.x1),
            y1: self.y1.min(other.y1),
        }
    }

    /// The smallest rectangle that contains both.
    #[inline]
    pub fn around(self, other: Self) -> Self {
        Self {
            x0: self.x0.min(other.x0),
            y0: self.y0.min(other.y0),
            x1: self.x1.max(other.x1),
            y1: self.y1.max(other.y1),
        }
    }

    /// Whether the rectangle contains no pixel.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.x0 >= self.x1 || self.y0 >= self.y1
    }

    /// Whether the rectangle contains pixel (x, y).
    #[inline]
    pub fn contains(self, x: i32, y: i32) -> bool {
        (self.x0..self.x1).contains(&x) && (self.y0..self.y1).contains(&y)
    }
}

/// The shape of a primitive on the screen.
#[derive(Debug, Clone, Copy)]
pub enum PrimitiveShape {
    /// Three corners, either winding.
    Triangle([Vertex; 3]),
    /// An axis-aligned rectangle: least and greatest corner. One primitive, as in a fill-rectangle draw.
    Rectangle([Vertex; 2]),
}
