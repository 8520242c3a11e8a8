//! Order of samples in the buffers of pipelines.

/// Dimensions of a buffer of samples in the order of [`VisibleSamples`](crate::samples::VisibleSamples).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SampleOrder {
    /// Width and height of the picture in pixels.
    pub size: [u32; 2],
    /// Samples per pixel, 1 to 16.
    pub samples: u32,
}

impl SampleOrder {
    /// Numbers of columns and rows of blocks of 2x2 pixels.
    pub(crate) fn blocks(&self) -> [u32; 2] {
        self.size.map(|px| px.div_ceil(2))
    }

    /// Number of samples of all blocks, including samples of border blocks outside the picture.
    pub(crate) fn count(&self) -> usize {
        let [columns, rows] = self.blocks().map(|n| n as usize);
        columns * rows * 4 * self.samples as usize
    }

    /// Number of pixels of the picture.
    pub(crate) fn pixels(&self) -> usize {
        self.size[0] as usize * self.size[1] as usize
    }

    /// Index of the first sample of the block at a column and row of blocks.
    #[inline]
    pub(crate) fn first(&self, block: [u16; 2]) -> usize {
        let [column, row] = block.map(usize::from);
        (row * self.blocks()[0] as usize + column) * 4 * self.samples as usize
    }

    /// Index, row by row, of the pixel to which a bit of a block's coverage mask belongs.
    #[inline]
    pub(crate) fn pixel(&self, block: [u16; 2], bit: u32) -> usize {
        let corner = bit / self.samples;
        let [x, y] =
            [0, 1].map(|axis| 2 * usize::from(block[axis]) + (corner >> axis & 1) as usize);
        y * self.size[0] as usize + x
    }
}

/// Calls `with` for each bit of a mask, lowest first.
#[inline]
pub(crate) fn each_bit(mask: u64, mut with: impl FnMut(u32)) {
    let mut left = mask;
    while left != 0 {
        with(left.trailing_zeros());
        left &= left - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_lie_block_by_block() {
        let order = SampleOrder { size: [5, 3], samples: 4 };
        assert_eq!((order.blocks(), order.count(), order.pixels()), ([3, 2], 96, 15));
        assert_eq!(order.first([1, 1]), 64);
        let pixels = [0, 3, 4, 8, 15].map(|bit| order.pixel([1, 0], bit));
        assert_eq!(pixels, [2, 2, 3, 7, 8]);
    }
}
