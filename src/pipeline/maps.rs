//! Counts a pixel: what the pipeline did where.

use crate::raster::tiles::{TileLayout, quad_index};

/// Counters of every pixel, quad by quad as [`quad_index`] counts them.
#[derive(Debug)]
pub struct Maps {
    shaded: Vec<[u32; 4]>,
    blended: Vec<[u32; 4]>,
    merged: Vec<[u32; 4]>,
    late: Vec<[u32; 4]>,
    /// Fragments blended when the pixel reached the threshold.
    until_terminated: Vec<[u32; 4]>,
}

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

fn add(counts: &mut [u32; 4], mask: u8) {
    for (bit, count) in counts.iter_mut().enumerate() {
        *count += u32::from(mask >> bit & 1);
    }
}

impl Maps {
    /// Empty maps for `quads` quads.
    #[must_use]
    pub fn new(quads: usize) -> Self {
        let empty = || vec![[0; 4]; quads];
        Self {
            shaded: empty(),
            blended: empty(),
            merged: empty(),
            late: empty(),
            until_terminated: empty(),
        }
    }

    pub(crate) fn shaded(&mut self, quad: usize, mask: u8) {
        add(&mut self.shaded[quad], mask);
    }

    pub(crate) fn merged(&mut self, tile: u32, position: u8, mask: u8) {
        add(&mut self.merged[quad_index(tile, position)], mask);
    }

    pub(crate) fn late(&mut self, quad: usize, mask: u8) {
        add(&mut self.late[quad], mask);
    }

    pub(crate) fn blended(&mut self, quad: usize, mask: u8, reached: u8) {
        add(&mut self.blended[quad], mask);
        let counts = self.until_terminated[quad].iter_mut();
        for (bit, (until, &blended)) in counts.zip(&self.blended[quad]).enumerate() {
            if reached >> bit & 1 == 1 {
                *until = blended;
            }
        }
    }

    /// A map, row by row, as pixels are laid out.
    #[must_use]
    pub fn pixels(&self, kind: MapKind, layout: TileLayout) -> Vec<u32> {
        let counts = match kind {
            MapKind::Shaded => &self.shaded,
            MapKind::Blended => &self.blended,
            MapKind::Merged => &self.merged,
            MapKind::Late => &self.late,
            MapKind::UntilTerminated => &self.until_terminated,
        };
        layout.rows(|quad, fragment| counts[quad][fragment])
    }
}
