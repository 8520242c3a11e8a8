//! Interface through which ZROP reads and writes the shared state of a draw.

use crate::zrop::framebuffer::Failed;
use crate::zrop::termination::Updates;
use quadrille_machine::{Beat, Cycle, Memory, Quad, QuadMasks};

/// Shared state of a draw that the early tests use.
pub trait EarlyTests {
    /// Bytes per quad that the tests read.
    fn bytes_per_quad(&self) -> u64;

    /// Whether a stencil or depth test is enabled.
    fn has_tests(&self) -> bool;

    /// Whether the tests of a beat also write the buffers that they read.
    fn tests_write(&self, beat: &Beat) -> bool;

    /// Returns the memory system: L2 and DRAM.
    fn memory(&mut self) -> &mut Memory;

    /// Whether stencil values are written after shading, and no test runs before it.
    fn writes_late(&self) -> bool {
        false
    }

    /// Removes the next stencil write that the shader cores of GPC `gpc` sent; returns it with its arrival cycle.
    fn next_late_write(&mut self, _gpc: usize) -> Option<(Beat, Cycle)> {
        None
    }

    /// Records that the write removed last leaves its queue at cycle `at`.
    fn leave_late(&mut self, _gpc: usize, _at: Cycle) {}

    /// Runs the stencil and depth tests on the fragments of a quad and updates their stencil values.
    fn test(&mut self, tile: u32, quad: &Quad) -> Failed;

    /// Prefetches the termination bits of a screen tile for [`EarlyTests::terminated`].
    fn prefetch_termination(&self, _tile: u32) {}

    /// Returns masks of the terminated pixels of at most a beat of quads in a screen tile. Bits are written in the order of
    /// the test port, so a test reads only bits written before it.
    fn terminated(&self, _tile: u32, _quads: &[Quad]) -> QuadMasks {
        QuadMasks::default()
    }

    /// Returns the queue of termination updates of GPC `gpc`; `None` if the state has no early termination.
    fn updates(&mut self, gpc: usize) -> Option<&mut Updates> {
        self.updates_and_memory(gpc).0
    }

    /// Returns [`EarlyTests::updates`] together with the memory system.
    fn updates_and_memory(&mut self, _gpc: usize) -> (Option<&mut Updates>, &mut Memory) {
        (None, self.memory())
    }

    /// Sets the termination bits of the pixels in `mask` of a quad at cycle `at`.
    fn terminate(&mut self, _quad: usize, _mask: u8, _at: Cycle) {}
}
