//! The samples of merged quads: a merging unit tells which fragment leads and which were merged into
//! it; the colour unit has to know the triangle of every sample.

use super::draw_state::{Fragment, MeshDrawState};
use quadrille_base::math::fit;
use quadrille_machine::Quad;
use quadrille_mesh::merge::{MergeStream, MergedQuad};

/// No fragment.
const NONE: u32 = u32::MAX;

/// A fragment in the unit.
#[derive(Debug, Clone, Copy)]
struct PendingFragment {
    owner: u32,
    /// Index of its quad in memory.
    index: u32,
    /// Samples whose quad has not left the unit yet.
    coverage: u64,
    /// The fragment at the same position before it.
    older: u32,
}

/// The samples of the fragments since the merging unit was last empty.
#[derive(Debug, Default)]
pub(super) struct MergedSamples {
    /// The fragments, by their numbers in the stream.
    fragments: Vec<PendingFragment>,
    /// The latest fragment with samples left at each position.
    latest: Vec<u32>,
    draw: u32,
}

impl MergedSamples {
    /// Adds the fragment that goes to the unit next.
    #[inline]
    pub(super) fn push(&mut self, fragment: &Fragment, index: u32, quads: usize) {
        self.draw = fragment.draw;
        if self.latest.is_empty() {
            self.latest = vec![NONE; quads];
        }
        let latest = &mut self.latest[index as usize];
        let older = *latest;
        if fragment.quad.coverage != 0 {
            *latest = fit::<u32>(self.fragments.len());
        }
        self.fragments.push(PendingFragment {
            owner: fragment.owner,
            index,
            coverage: fragment.quad.coverage,
            older,
        });
    }

    /// Turns a merged quad into a quad for the shader, with the samples of all its fragments.
    pub(super) fn leave(
        &mut self,
        merged: &MergedQuad,
        stream: &MergeStream,
        state: &mut MeshDrawState,
    ) -> Quad {
        let index = self.fragments[merged.leader as usize].index;
        let mut parts = Vec::new();
        let mut newer = NONE;
        let mut at = self.latest[index as usize];
        while at != NONE {
            let fragment = &mut self.fragments[at as usize];
            let share = fragment.coverage & stream.merged_into(at, merged.leader);
            fragment.coverage &= !share;
            let (is_empty, older) = (fragment.coverage == 0, fragment.older);
            if share != 0 {
                parts.push((fragment.owner, share));
            }
            if !is_empty {
                newer = at;
            } else if newer == NONE {
                self.latest[index as usize] = older;
            } else {
                self.fragments[newer as usize].older = older;
            }
            at = older;
        }
        state.shader_quad(index, self.draw, parts)
    }

    /// Removes all fragments, once the unit is empty.
    pub(super) fn clear(&mut self) {
        self.fragments.clear();
    }
}
