//! Counts per pixel of what the pipeline did.

use crate::raster::tiles::TileLayout;

/// What a map shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapKind {
    /// Fragments shaded.
    Shaded,
    /// Fragments blended into the colour buffer.
    Blended,
    /// Fragments that were merged into another in the shader.
    Merged,
    /// Fragments blended after the pixel had reached the threshold.
    Late,
    /// Blends until the pixel reached the threshold; 0 where it did not.
    UntilTerminated,
}

impl MapKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [
        Self::Shaded,
        Self::Blended,
        Self::Merged,
        Self::Late,
        Self::UntilTerminated,
    ];
}

/// Counts of every kind of every pixel, quad by quad as
/// [`quad_index`](crate::raster::tiles::quad_index) counts them.
#[derive(Debug)]
pub struct Maps {
    counts: [Vec<[u32; 4]>; MapKind::ALL.len()],
}

impl Maps {
    /// Empty maps for `quads` quads.
    pub fn new(quads: usize) -> Self {
        Self {
            counts: MapKind::ALL.map(|_| vec![[0; 4]; quads]),
        }
    }

    /// Counts the pixels in `mask` of a quad.
    pub fn count(&mut self, kind: MapKind, quad: usize, mask: u8) {
        let counts = self.counts[kind as usize][quad].iter_mut();
        for (bit, count) in counts.enumerate() {
            *count += u32::from(mask >> bit & 1);
        }
    }

    /// Notes that the pixels in `mask` of a quad have reached the threshold by their last blend.
    pub fn terminated(&mut self, quad: usize, mask: u8) {
        let blended = self.counts[MapKind::Blended as usize][quad];
        let counts = self.counts[MapKind::UntilTerminated as usize][quad].iter_mut();
        for (bit, (until, blended)) in counts.zip(blended).enumerate() {
            if mask >> bit & 1 == 1 {
                *until = blended;
            }
        }
    }

    /// The map of a kind, row by row, for a picture of this layout.
    pub fn pixels(&self, kind: MapKind, layout: TileLayout) -> Vec<u32> {
        let counts = &self.counts[kind as usize];
        layout.rows(|quad, fragment| counts[quad][fragment])
    }
}
