//! Interface of the shared state to ZROP.

use crate::gpu::zrop::framebuffer::Failed;
use crate::pipeline::memory::Memory;
use crate::pipeline::packets::Quad;
use crate::pipeline::timing::Cycle;

/// The shared state as ZROP sees it.
pub trait EarlyTests {
    /// Bytes per quad that the tests read.
    fn bytes_per_quad(&self) -> u64;

    /// Whether a stencil or depth test is enabled.
    fn has_tests(&self) -> bool;

    /// Whether the tests write what they read.
    fn tests_write(&self) -> bool;

    /// L2 and DRAM.
    fn memory(&mut self) -> &mut Memory;

    /// Tests the fragments of a quad and performs the updates that follow.
    fn test(&mut self, tile: u32, quad: &Quad) -> Failed;

    /// Fragments of a quad whose pixel was terminated before `at`.
    fn terminated(&self, _tile: u32, _position: u8, _at: Cycle) -> u8 {
        0
    }

    /// Removes the next termination update of GPC `gpc` that arrives by `now`; returns its cycle and
    /// its quad.
    fn next_update(&mut self, _gpc: usize, _now: Cycle) -> Option<(Cycle, u64)> {
        None
    }
}
