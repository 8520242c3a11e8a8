//! Maps of a picture: counts of fragments per pixel.

use quadrille_base::raster::tiles::TileLayout;

/// Quantity shown by a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapKind {
    /// Fragments shaded.
    Shaded,
    /// Fragments blended into the colour buffer.
    Blended,
    /// Fragments removed by quad merging in the shader.
    Merged,
    /// Fragments blended after the pixel reached the termination threshold.
    Late,
    /// Number of blends until the pixel reached the termination threshold; 0 where it did not.
    UntilTerminated,
}

impl MapKind {
    /// All kinds, in the order in which [`Maps`] stores them.
    pub const ALL: [Self; 5] =
        [Self::Shaded, Self::Blended, Self::Merged, Self::Late, Self::UntilTerminated];
}

/// Counts of all kinds for all pixels, stored in the order of [`quad_index`](quadrille_base::raster::tiles::quad_index).
#[derive(Debug)]
pub struct Maps {
    counts: [Vec<[u32; 4]>; MapKind::ALL.len()],
}

impl Maps {
    /// Creates maps of zeros for `quads` quads.
    pub fn new(quads: usize) -> Self {
        Self { counts: MapKind::ALL.map(|_| vec![[0; 4]; quads]) }
    }

    /// Increments the counts of the pixels of `quad` in `mask`.
    pub fn count(&mut self, kind: MapKind, quad: usize, mask: u8) {
        for (bit, count) in self.counts[kind as usize][quad].iter_mut().enumerate() {
            *count += u32::from(mask >> bit & 1);
        }
    }

    /// Records that the pixels of `quad` in `mask` reached the termination threshold with their last blend.
    pub fn terminated(&mut self, quad: usize, mask: u8) {
        let blended = self.counts[MapKind::Blended as usize][quad];
        let counts = self.counts[MapKind::UntilTerminated as usize][quad].iter_mut();
        for (bit, (until, blended)) in counts.zip(blended).enumerate() {
            if mask >> bit & 1 == 1 {
                *until = blended;
            }
        }
    }

    /// Returns the counts of one kind for a picture of this layout, row by row.
    pub fn pixels(&self, kind: MapKind, layout: TileLayout) -> Vec<u32> {
        let counts = &self.counts[kind as usize];
        layout.rows(|quad, fragment| counts[quad][fragment])
    }
}
