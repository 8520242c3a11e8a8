//! Interface of the shared state to ZROP.

use crate::zrop::framebuffer::Failed;
use crate::zrop::termination::Updates;
use quadrille_machine::{Beat, Cycle, Memory, Quad, QuadMasks};

/// Shared state that the early tests read.
pub trait EarlyTests {
    /// Bytes per quad that the tests read.
    fn bytes_per_quad(&self) -> u64;

    /// Whether a stencil or depth test is enabled.
    fn has_tests(&self) -> bool;

    /// Whether the tests of a beat also write the buffers that they read.
    fn tests_write(&self, beat: &Beat) -> bool;

    /// Returns the memory system: L2 and DRAM.
    fn memory(&mut self) -> &mut Memory;

    /// Whether stencil values are written after shading, with no tests before it.
    fn writes_late(&self) -> bool {
        false
    }

    /// Removes the next stencil write that the shader cores of GPC `gpc` sent; returns it with its arrival cycle.
    fn next_late_write(&mut self, _gpc: usize) -> Option<(Beat, Cycle)> {
        None
    }

    /// Records that the last such write leaves its queue at `at`.
    fn leave_late(&mut self, _gpc: usize, _at: Cycle) {}

    /// Tests the fragments of a quad and performs the updates that follow.
    fn test(&mut self, tile: u32, quad: &Quad) -> Failed;

    /// Prefetches the data that [`EarlyTests::terminated`] reads of a screen tile.
    fn prefetch_termination(&self, _tile: u32) {}

    /// Fragments of up to a beat of quads of a screen tile whose pixels are terminated. Bits are written in the
    /// order of the test port, so all bits that a test reads were written before.
    fn terminated(&self, _tile: u32, _quads: &[Quad]) -> QuadMasks {
        QuadMasks::default()
    }

    /// Termination updates of GPC `gpc`, if any.
    fn updates(&mut self, gpc: usize) -> Option<&mut Updates> {
        self.updates_and_memory(gpc).0
    }

    /// Termination updates of GPC `gpc`, if any, and L2 and DRAM.
    fn updates_and_memory(&mut self, _gpc: usize) -> (Option<&mut Updates>, &mut Memory) {
        (None, self.memory())
    }

    /// Sets the termination bits of the pixels in `mask` of a quad at `at`.
    fn terminate(&mut self, _quad: usize, _mask: u8, _at: Cycle) {}
}
