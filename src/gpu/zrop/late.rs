//! Stencil writes after shading: the shader of a stencil update writes them while early tests are off (VR-Pipe, IV-B).

use std::collections::VecDeque;

use quadrille_base::math::index;
use quadrille_machine::{Beat, Cycle};

/// Minimum entries of a [`LateQueue`]: a beat of quads makes at most two warps, which are sent before ZROP takes the first.
const LEAST_ENTRIES: u64 = 2;

/// Bounded queue of beats from the shader cores of a GPC to its ZROP, in order.
#[derive(Debug)]
pub struct LateQueue {
    waiting: VecDeque<(Beat, Cycle)>,
    left_at: Box<[Cycle]>,
    offered: usize,
    taken: usize,
}

impl LateQueue {
    /// Creates an empty queue for `depth` beats, at least two.
    pub(crate) fn new(depth: u64) -> Self {
        Self {
            waiting: VecDeque::new(),
            left_at: vec![0; index(depth.max(LEAST_ENTRIES))].into(),
            offered: 0,
            taken: 0,
        }
    }

    /// Adds a beat that is offered at `at`. Returns the cycle at which it enters, when an entry is free.
    pub fn offer(&mut self, beat: Beat, at: Cycle) -> Cycle {
        let entered = at.max(self.left_at[self.offered % self.left_at.len()]);
        self.offered += 1;
        self.waiting.push_back((beat, entered));
        entered
    }

    /// Removes the next beat; returns it with the cycle at which it entered.
    pub fn take(&mut self) -> Option<(Beat, Cycle)> {
        self.waiting.pop_front()
    }

    /// Records that the beat taken last leaves at `cycle`.
    pub fn leave(&mut self, cycle: Cycle) {
        self.left_at[self.taken % self.left_at.len()] = cycle;
        self.taken += 1;
    }
}

/// State of the stencil updates of a rendering in several passes (VR-Pipe, section IV-B).
#[derive(Debug, Default)]
pub struct StencilUpdate {
    /// Whether the draw is a stencil update: its fragments pass no early test and reach no CROP.
    pub(crate) active: bool,
    /// Whether CROP writes its dirty colours to the L2 at the end of the draw, for a shader that reads them.
    pub(crate) write_back_colours: bool,
    /// Pixels terminated by all updates so far.
    pub terminated_pixels: u64,
    /// Stencil writes in transit, by GPC.
    pub writes: Vec<LateQueue>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadrille_machine::Quad;

    /// With two entries, the third beat enters when the first has left, and the fourth when the second has.
    #[test]
    fn a_beat_enters_when_an_entry_is_free() {
        let beat = || Beat {
            tile: 0,
            quads: [Quad::default()].into_iter().collect(),
            pairs: 0,
            last: true,
        };
        let mut queue = LateQueue::new(1);
        assert_eq!([queue.offer(beat(), 3), queue.offer(beat(), 4)], [3, 4]);
        for left in [10, 20] {
            assert!(queue.take().is_some());
            queue.leave(left);
        }
        assert_eq!([queue.offer(beat(), 5), queue.offer(beat(), 25)], [10, 25]);
        assert_eq!(queue.take().map(|(_, entered)| entered), Some(10));
    }
}
