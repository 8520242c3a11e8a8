//! Owners of the samples of merged quads: a merging unit reports the leader of each merged fragment; a colour unit
//! needs the triangle of every sample.

use super::unit::{MergeStream, MergedQuad};
use quadrille_base::math::fit;
use quadrille_base::raster::sample_depth::NO_OWNER;

const NONE: u32 = u32::MAX;
/// Owner of the samples of blended fragments, which write no depth and are blended over the owner in the depth buffer.
pub const BLENDED: u32 = NO_OWNER - 1;

/// Owner (triangle number in the frame, or [`BLENDED`]) and mask of its samples.
pub type OwnedSamples = (u32, u64);

/// A fragment on its way to the shader.
#[derive(Debug, Clone, Copy)]
pub struct ShownFragment {
    /// Number of the fragment's triangle in the frame.
    pub owner: u32,
    /// Index of the quad in memory.
    pub index: u32,
    /// Mask of covered samples.
    pub coverage: u64,
    /// Mask of samples of a blended fragment that pass the depth test; 0 for opaque fragments.
    pub blended: u64,
}

impl ShownFragment {
    /// Splits the samples in the mask `share` by owner.
    #[inline]
    pub fn owned(&self, share: u64) -> impl Iterator<Item = OwnedSamples> + use<> {
        let parts = [(BLENDED, share & self.blended), (self.owner, share & !self.blended)];
        parts.into_iter().filter(|(_, samples)| *samples != 0)
    }
}

/// Fragment in the unit. `coverage` has the samples that have not left the unit yet.
#[derive(Debug, Clone, Copy)]
struct PendingFragment {
    fragment: ShownFragment,
    older: u32,
}

/// Samples of the fragments that entered since the merging unit was last empty.
#[derive(Debug, Default)]
pub struct MergedSamples {
    fragments: Vec<PendingFragment>,
    /// Latest fragment with samples left, by quad index in memory.
    latest: Vec<u32>,
}

impl MergedSamples {
    /// Adds the next fragment that enters the unit. `quads` is the number of quads in memory.
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

    /// Removes a merged quad; returns its index in memory and the samples of all its fragments by owner.
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
