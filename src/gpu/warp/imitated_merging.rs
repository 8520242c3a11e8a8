//! Quad merging imitated in the fragment shader of a GPU without quad reordering (VR-Pipe, section VI-D).
//!
//! The quads of a warp are not ordered by position, so the shader shuffles the colours of neighbouring quads, blends the
//! second of a pair under the first, and discards the second. Pairs are merged until the share of removed quads is that of
//! simulated quad merging. Time and energy are those of merging in a shader; the picture is wrong where the quads of a pair
//! have different positions. A lane without a fragment has no output, so the colours shuffled to it are lost.

use quadrille_base::math::index;
use quadrille_base::raster::tiles::quad_index;
use quadrille_base::shading::under;
use quadrille_machine::{MapKind, Maps, ShadedWarp, fragments};

use crate::outcome_counts::QuadCounts;

/// Share of the quads above the alpha cut that merging removes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MergeShare {
    removed: u64,
    of: u64,
}

impl MergeShare {
    /// Share in a draw with these counts.
    pub(crate) fn of(quads: &QuadCounts) -> Self {
        Self { removed: quads.merged_pairs, of: quads.shaded - quads.pruned }
    }

    /// The share, 0 to 1.
    pub(crate) fn ratio(self) -> f64 {
        self.removed as f64 / self.of.max(1) as f64
    }
}

/// Merging of neighbouring quads of a warp in a given share.
#[derive(Debug, Clone)]
pub(super) struct ImitatedMerging {
    share: MergeShare,
    /// Quads to remove, in units of 1 / `share.of`.
    owed: u64,
}

impl ImitatedMerging {
    pub(super) fn new(share: MergeShare) -> Self {
        Self { share, owed: 0 }
    }

    /// Merges pairs of a warp's quads that are above the alpha cut. Returns the number of removed quads and fragments.
    pub(super) fn merge(&mut self, warp: &mut ShadedWarp, mut maps: Option<&mut Maps>) -> [u64; 2] {
        let (survivors, before) = (warp.quads.len(), warp.quads.fragments());
        self.owed += survivors as u64 * self.share.removed;
        let due = self.owed.checked_div(self.share.of).unwrap_or(0);
        let pairs = due.min(survivors as u64 / 2);
        if pairs == 0 {
            return [0; 2];
        }
        self.owed -= pairs * self.share.of;
        let mut removed = 0;
        let slots = warp.quads.slots();
        slots[survivors..].iter_mut().for_each(|slot| slot.mask = 0);
        for [first, second] in slots.as_chunks_mut().0.iter_mut().take(index(pairs)) {
            if let Some(maps) = &mut maps {
                maps.count(MapKind::Merged, quad_index(warp.tile, second.position), second.mask);
            }
            first.colour = under(&first.colour, &second.kept(first.mask).colour);
            removed += fragments(second.mask);
            second.mask = 0;
        }
        warp.quads.keep_surviving(before - removed);
        [pairs, removed]
    }
}
