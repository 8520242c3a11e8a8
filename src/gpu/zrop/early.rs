//! What the unit of the early tests asks of the state that all units of a draw share.

use crate::gpu::zrop::framebuffer::Failed;
use crate::pipeline::memory::Memory;
use crate::pipeline::packets::Quad;
use crate::pipeline::timing::Cycle;

/// Tests before shading, and what they read.
pub trait EarlyTests {
    /// Bytes that the tests read for a quad.
    fn bytes_per_quad(&self) -> u64;

    /// Whether there are stencil or depth tests.
    fn has_tests(&self) -> bool;

    /// Whether they write what they read.
    fn tests_write(&self) -> bool;

    /// L2 and DRAM.
    fn memory(&mut self) -> &mut Memory;

    /// Tests the fragments of a quad and makes the updates they cause.
    fn test(&mut self, tile: u32, quad: &Quad) -> Failed;

    /// Fragments of a quad whose pixel was terminated before `at`.
    fn terminated(&self, _tile: u32, _position: u8, _at: Cycle) -> u8 {
        0
    }

    /// Takes the next termination update of GPC `gpc` that has arrived by `now`: when it did, and
    /// its quad.
    fn next_update(&mut self, _gpc: usize, _now: Cycle) -> Option<(Cycle, u64)> {
        None
    }
}
