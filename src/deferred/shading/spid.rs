//! Shading point identifiers (section 4.2, figure 4).
//!
//! An identifier names a point of a primitive's shading grid. Sorted identifiers are in submission order of primitives
//! and, within a primitive, along a space-filling curve in shading space; the points of a shading quad are adjacent.

use bytemuck::{Pod, Zeroable};
use quadrille_base::math::low;

/// Largest number of points along a side of a shading grid.
pub(crate) const MAX_GRID_SIDE: u32 = 1 << 16;

/// Identifier of a shading point. The derived order is the sort order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(C)]
pub struct Spid {
    /// Primitive id: position in submission order, from 1; 0 for the background.
    pub primitive: u32,
    /// Position in the primitive's shading grid, column and row interleaved, the column in the even
    /// bits. The lowest two bits are the point in the shading quad; the others identify the quad.
    pub morton: u32,
}

impl Spid {
    /// Identifier of samples that no primitive covers.
    pub const BACKGROUND: Self = Self { primitive: 0, morton: 0 };

    /// Creates the identifier of the point at a column and row of a primitive's shading grid.
    pub fn new(primitive: u32, point: [u16; 2]) -> Self {
        let [column, row] = point.map(spread);
        Self { primitive, morton: column | row << 1 }
    }

    /// Whether the sample is not covered by a primitive.
    #[inline]
    pub fn is_background(self) -> bool {
        self.primitive == 0
    }

    /// Column and row of the point in the shading grid.
    #[inline]
    pub fn point(self) -> [u16; 2] {
        [gather(self.morton), gather(self.morton >> 1)]
    }

    /// Shading quad of the point: primitive id, and Morton position of the quad in the grid.
    #[inline]
    pub fn quad(self) -> (u32, u32) {
        (self.primitive, self.morton >> 2)
    }

    /// Position of the point in its quad: 0 top left, 1 top right, 2 bottom left, 3 bottom right.
    #[inline]
    pub fn corner(self) -> u8 {
        low(self.morton & 3)
    }

    /// Sort key: primitive in the upper 32 bits, Morton position in the lower 32 bits.
    #[inline]
    pub fn key(self) -> u64 {
        u64::from(self.primitive) << 32 | u64::from(self.morton)
    }
}

/// Spreads the bits of a number to even positions.
#[inline]
fn spread(v: u16) -> u32 {
    let v = u32::from(v);
    let v = (v | v << 8) & 0x00ff_00ff;
    let v = (v | v << 4) & 0x0f0f_0f0f;
    let v = (v | v << 2) & 0x3333_3333;
    (v | v << 1) & 0x5555_5555
}

#[inline]
fn gather(v: u32) -> u16 {
    let v = v & 0x5555_5555;
    let v = (v | v >> 1) & 0x3333_3333;
    let v = (v | v >> 2) & 0x0f0f_0f0f;
    let v = (v | v >> 4) & 0x00ff_00ff;
    low(v | v >> 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_come_back_and_quads_are_blocks() {
        for point in [[0, 0], [1, 0], [2, 6], [4, 6], [0xffff, 0x8001]] {
            let spid = Spid::new(7, point);
            assert_eq!(spid.point(), point);
            let corner = Spid::new(7, point.map(|v| v & !1));
            assert_eq!(spid.quad(), corner.quad());
            assert_eq!(u16::from(spid.corner()), point[0] & 1 | (point[1] & 1) << 1);
        }
        // Figure 4: the bits of x and y alternate, x lowest.
        assert_eq!(Spid::new(1, [0b011, 0b101]).morton, 0b10_01_11);
        assert_ne!(Spid::new(1, [1, 1]).quad(), Spid::new(1, [2, 1]).quad());
    }

    #[test]
    fn order_is_that_of_the_key() {
        let mut spids = [(2, 0), (1, 0), (1, 2), (0, 0)].map(|(p, x)| Spid::new(p, [x, 0]));
        spids.sort_unstable();
        assert!(spids.windows(2).all(|pair| pair[0].key() < pair[1].key()));
        assert!(spids[0].is_background());
    }
}
