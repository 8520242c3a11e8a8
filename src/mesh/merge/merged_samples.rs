//! The samples of merged quads: a merging unit tells which fragment leads and which were merged into
//! it; a colour unit has to know the triangle of every sample.

use super::unit::{MergeStream, MergedQuad};
use quadrille_base::math::fit;
use quadrille_base::raster::sample_depth::NO_OWNER;

const NONE: u32 = u32::MAX;
/// Owner of samples of blended fragments: they wrote nothing, and show over whatever the depth buffer holds.
pub const BLENDED: u32 = NO_OWNER - 1;

/// Samples by their owner, the number of a triangle in the frame or [`BLENDED`].
pub type OwnedSamples = (u32, u64);

/// A fragment on its way to the shader.
#[derive(Debug, Clone, Copy)]
pub struct ShownFragment {
    /// Number of the triangle in the frame.
    pub owner: u32,
    /// Index of the quad in memory.
    pub index: u32,
    /// Samples covered.
    pub coverage: u64,
    /// Samples that pass the depth test, of a blended fragment; none of others.
    pub blended: u64,
}

impl ShownFragment {
    /// The samples of `share` by their owner.
    #[inline]
    pub fn owned(&self, share: u64) -> impl Iterator<Item = OwnedSamples> + use<> {
        let parts = [(BLENDED, share & self.blended), (self.owner, share & !self.blended)];
        parts.into_iter().filter(|(_, samples)| *samples != 0)
    }
}

/// Fragment in the unit; its coverage is of samples whose quad has not left the unit.
#[derive(Debug, Clone, Copy)]
struct PendingFragment {
    fragment: ShownFragment,
    older: u32,
}

/// The samples of the fragments since the merging unit was last empty.
#[derive(Debug, Default)]
pub struct MergedSamples {
    fragments: Vec<PendingFragment>,
    /// Latest fragment with samples left at each position.
    latest: Vec<u32>,
}

impl MergedSamples {
    /// Adds the fragment that goes to the unit next. `quads` is the number of quads in memory.
    #[inline]
    pub fn push(&mut self, fragment: ShownFragment, quads: usize) {
        if self.latest.is_empty() {
            self.latest = vec![NONE; quads];
        }
        let latest = &mut self.latest[fragment.index as usize];
        let older = *latest;
        if fragment.coverage != 0 {
            *latest = fit::<u32>(self.fragments.len());
        }
        self.fragments.push(PendingFragment { fragment, older });
    }

    /// Removes the samples of a merged quad; returns its index in memory and the samples of all its fragments.
    pub fn leave(&mut self, merged: &MergedQuad, stream: &MergeStream) -> (u32, Vec<OwnedSamples>) {
        let index = self.fragments[merged.leader as usize].fragment.index;
        let mut parts = Vec::new();
        let mut newer = NONE;
        let mut at = self.latest[index as usize];
        while at != NONE {
            let PendingFragment { fragment, older } = &mut self.fragments[at as usize];
            let share = fragment.coverage & stream.merged_into(at, merged.leader);
            fragment.coverage &= !share;
            parts.extend(fragment.owned(share));
            let (is_empty, older) = (fragment.coverage == 0, *older);
            if !is_empty {
                newer = at;
            } else if newer == NONE {
                self.latest[index as usize] = older;
            } else {
                self.fragments[newer as usize].older = older;
            }
            at = older;
        }
        (index, parts)
    }

    /// Removes all fragments, once the unit is empty.
    pub fn clear(&mut self) {
        self.fragments.clear();
    }
}
