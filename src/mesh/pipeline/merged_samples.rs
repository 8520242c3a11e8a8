//! Which samples a merged quad is made of: a merging unit says which fragment leads and what was
//! merged into what; the colour unit has to know whose samples to write.

use super::machine::{Fragment, MeshMachine, Part};
use super::slab::NONE;
use crate::mesh::merge::{DisjointSet, MergedQuad};
use crate::pipeline::packets::Quad;
use crate::raster::samples::SamplePattern;

/// A fragment, and its samples whose quad has not left the unit yet.
#[derive(Debug, Clone, Copy)]
struct Held {
    owner: u32,
    /// Where its quad is kept in the depth buffer.
    index: u32,
    coverage: u64,
    /// The fragment at the same position that came before.
    older: u32,
}

/// The samples of fragments that came to a merging unit since it was last empty.
#[derive(Debug, Default)]
pub(super) struct MergedSamples {
    /// The fragments, by their numbers in the stream.
    held: Vec<Held>,
    /// The latest fragment with samples left at each position.
    latest: Vec<u32>,
    draw: u32,
}

impl MergedSamples {
    /// Notes the fragment that goes to the unit next.
    #[inline]
    pub(super) fn expect(&mut self, fragment: &Fragment, index: u32, machine: &MeshMachine) {
        self.draw = fragment.draw;
        if self.latest.is_empty() {
            self.latest = vec![NONE; machine.depths.quads()];
        }
        let number = u32::try_from(self.held.len()).unwrap_or(NONE);
        let latest = &mut self.latest[index as usize];
        self.held.push(Held {
            owner: fragment.owner,
            index,
            coverage: fragment.quad.coverage,
            older: *latest,
        });
        if fragment.quad.coverage != 0 {
            *latest = number;
        }
    }

    /// The quad for the shader that a merged quad is, with the samples of all that is in it.
    pub(super) fn leave(
        &mut self,
        merged: &MergedQuad,
        fragments: &DisjointSet,
        machine: &mut MeshMachine,
    ) -> Quad {
        let pattern = machine.pattern();
        let index = self.held[merged.leader as usize].index;
        let mut first = NONE;
        let mut newer = NONE;
        let mut at = self.latest[index as usize];
        while at != NONE {
            let Held {
                owner,
                coverage,
                older,
                ..
            } = self.held[at as usize];
            let share = share(coverage, pattern, |cell| {
                fragments.find(at, cell) == merged.leader
            });
            if share != 0 {
                first = machine.parts.insert(Part {
                    owner,
                    coverage: share,
                    next: first,
                    index,
                    draw: self.draw,
                });
            }
            self.held[at as usize].coverage = coverage & !share;
            if coverage != share {
                newer = at;
            } else if newer == NONE {
                self.latest[index as usize] = older;
            } else {
                self.held[newer as usize].older = older;
            }
            at = older;
        }
        machine.quad_of(first, index, merged.coverage)
    }

    /// The unit is empty: numbers begin anew.
    pub(super) fn clear(&mut self) {
        self.held.clear();
    }
}

/// The samples in `coverage` of the shading pixels that `belongs` accepts.
#[inline]
fn share(coverage: u64, pattern: &SamplePattern, belongs: impl Fn(usize) -> bool) -> u64 {
    let count = pattern.count() as usize;
    (0..4).fold(0, |share, cell| {
        let samples = u64::from(pattern.cell(coverage, cell));
        if samples != 0 && belongs(cell) {
            share | samples << (cell * count)
        } else {
            share
        }
    })
}
