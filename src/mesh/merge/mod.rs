//! What merging units take and give: quad fragments, and which of them are shaded together.

mod associative;
pub mod pmu;
pub mod qfm;
#[cfg(test)]
mod test_fragments;

use crate::raster::samples::SamplePattern;

/// A quad fragment of one triangle, after the early depth test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuadFragment {
    /// Column and row of the quad on the screen, in quads.
    pub place: [u16; 2],
    /// Samples covered, cell by cell (see [`SamplePattern::full_quad`]); none for a quad that the
    /// triangle only touches.
    pub coverage: u64,
    /// Cells whose centre the triangle covers: bit `c` for cell `c`.
    pub centres: u8,
    /// Whether the triangle faces the viewer.
    pub is_front: bool,
    /// The triangle in its grid.
    pub triangle: u16,
    /// Names of the triangle's vertices: [`GridVertex::id`](super::grid::GridVertex::id).
    pub ids: [u32; 3],
}

impl QuadFragment {
    /// How well the triangle covers a cell: 0 its centre, else 1 + the rank of its covered sample
    /// nearest to the centre; `None` if it covers neither.
    #[must_use]
    #[inline]
    pub fn distance(&self, cell: usize, pattern: &SamplePattern) -> Option<u8> {
        if self.centres >> cell & 1 == 1 {
            return Some(0);
        }
        let samples = pattern.cell(self.coverage, cell);
        pattern.nearest_to_centre(samples).map(|(_, rank)| 1 + rank)
    }
}

/// A quad on its way to the shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergedQuad {
    /// The fragment, by its number in the stream, that stands for all that were merged.
    pub leader: u32,
    /// Samples covered by all of it.
    pub coverage: u64,
    /// For each cell: the fragment, by its number in the stream, whose triangle gives the shading
    /// inputs.
    pub inputs: [u32; 4],
}

/// Which fragments were merged into which.
///
/// Fragments are numbered from 0 in the order in which they come. For each and each cell there is
/// the fragment that it was merged into, itself if none.
#[derive(Debug, Clone, Default)]
pub struct Merges {
    into: Vec<[u32; 4]>,
}

impl Merges {
    /// Notes a fragment that stands for itself; returns its number.
    pub fn push(&mut self) -> u32 {
        let number = u32::try_from(self.into.len()).unwrap_or(u32::MAX);
        self.into.push([number; 4]);
        number
    }

    /// Cell `cell` of fragment `from` is shaded with that of `to` from now on.
    pub fn merge_cell(&mut self, from: u32, to: u32, cell: usize) {
        self.into[from as usize][cell] = to;
    }

    /// All of fragment `from` is shaded with `to` from now on.
    pub fn merge(&mut self, from: u32, to: u32) {
        self.into[from as usize] = [to; 4];
    }

    /// The fragment that cell `cell` of `fragment` is shaded with in the end.
    #[must_use]
    pub fn root(&self, fragment: u32, cell: usize) -> u32 {
        let mut at = fragment;
        loop {
            let next = self.into[at as usize][cell];
            if next == at {
                return at;
            }
            at = next;
        }
    }

    /// Fragments so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.into.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.into.is_empty()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.into.clear();
    }
}

/// A unit without time: fragments in, quads for the shader out.
pub trait Merging {
    /// Takes the next fragment; quads that leave are handed to `emit`, in order.
    fn push(
        &mut self,
        fragment: &QuadFragment,
        pattern: &SamplePattern,
        merges: &mut Merges,
        emit: &mut impl FnMut(MergedQuad),
    );

    /// Nothing comes that could merge with what is held: all of it leaves, oldest first. What is
    /// held may still merge with itself on its way out.
    fn flush(
        &mut self,
        pattern: &SamplePattern,
        merges: &mut Merges,
        emit: &mut impl FnMut(MergedQuad),
    );
}
