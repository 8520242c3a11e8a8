//! Which fragments a merged quad is made of: a merging unit says which quad leads, and what was
//! merged into what; the colour unit has to know whose samples to write.

use super::machine::{MeshMachine, Part};
use super::slab::{NONE, Slab};
use crate::mesh::merge::{MergedQuad, Merges, QuadFragment};
use crate::pipeline::packets::Quad;
use crate::raster::samples::SamplePattern;

/// Samples of a fragment whose quad has not left the unit yet.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    number: u32,
    owner: u32,
    coverage: u64,
    /// The fragment at the same place that came before.
    older: u32,
}

/// The fragments that came to a merging unit since it was last empty.
#[derive(Debug)]
pub(super) struct Membership {
    /// What was merged into what.
    pub(super) merges: Merges,
    /// Where each fragment's quad is kept in the depth buffer, by its number in the stream.
    indices: Vec<u32>,
    waiting: Slab<Waiting>,
    /// The latest that waits at each place.
    latest: Vec<u32>,
    draw: u32,
}

impl Membership {
    /// Of no fragment.
    pub(super) fn new() -> Self {
        Self {
            merges: Merges::default(),
            indices: Vec::new(),
            waiting: Slab::default(),
            latest: Vec::new(),
            draw: 0,
        }
    }

    /// Notes a fragment that is about to come to the unit.
    #[inline]
    pub(super) fn expect(
        &mut self,
        (owner, draw): (u32, u32),
        fragment: &QuadFragment,
        machine: &MeshMachine,
    ) {
        self.draw = draw;
        let index = machine.depths.index(fragment.place);
        let number = u32::try_from(self.merges.len()).unwrap_or(NONE);
        self.indices.push(index);
        if fragment.coverage == 0 {
            return;
        }
        if self.latest.is_empty() {
            self.latest = vec![NONE; machine.depths.len()];
        }
        let latest = &mut self.latest[index as usize];
        *latest = self.waiting.insert(Waiting {
            number,
            owner,
            coverage: fragment.coverage,
            older: *latest,
        });
    }

    /// The quad for the shader that a merged quad is, with the samples of all that is in it.
    pub(super) fn leave(&mut self, merged: &MergedQuad, machine: &mut MeshMachine) -> Quad {
        let pattern = machine.pattern();
        let index = self.indices[merged.leader as usize];
        let mut first = NONE;
        let mut newer = NONE;
        let mut at = self.latest[index as usize];
        while at != NONE {
            let waiting = *self.waiting.get(at);
            let coverage = self.share(&waiting, merged.leader, pattern);
            if coverage != 0 {
                first = machine.parts.insert(Part {
                    owner: waiting.owner,
                    coverage,
                    next: first,
                    index,
                    draw: self.draw,
                });
            }
            let left = waiting.coverage & !coverage;
            if left != 0 {
                self.waiting.get_mut(at).coverage = left;
                newer = at;
            } else {
                self.waiting.remove(at);
                match newer {
                    NONE => self.latest[index as usize] = waiting.older,
                    newer => self.waiting.get_mut(newer).older = waiting.older,
                }
            }
            at = waiting.older;
        }
        machine.quad_of(first, index, merged.coverage)
    }

    /// The samples of a fragment that are shaded with `leader`.
    #[inline]
    fn share(&self, waiting: &Waiting, leader: u32, pattern: &SamplePattern) -> u64 {
        let count = pattern.count() as usize;
        (0..4).fold(0, |share, cell| {
            let samples = u64::from(pattern.cell(waiting.coverage, cell));
            if samples != 0 && self.merges.root(waiting.number, cell) == leader {
                share | samples << (cell * count)
            } else {
                share
            }
        })
    }

    /// The unit is empty: numbers begin anew.
    pub(super) fn clear(&mut self) {
        debug_assert_eq!(self.waiting.len(), 0, "fragments were lost");
        self.merges.clear();
        self.indices.clear();
    }
}
