//! Accounting of the issue cycles that vertex warps take from fragment warps.

use quadrille_base::math::index;

/// Issue cycles used by vertex warps; they delay the next fragment warps of the same scheduler.
#[derive(Debug, Clone)]
pub struct ShaderIssue {
    /// Cycles owed by each scheduler, GPC after GPC.
    owed: Vec<u64>,
    schedulers: usize,
    issue_cycles: u64,
}

impl ShaderIssue {
    /// Creates `schedulers` schedulers without debt in each of `gpcs` GPCs. An instruction takes `issue_cycles`.
    pub fn new(gpcs: u64, schedulers: u64, issue_cycles: u64) -> Self {
        Self {
            owed: vec![0; index(gpcs * schedulers)],
            schedulers: index(schedulers),
            issue_cycles,
        }
    }

    /// Charges vertex warp `number` of `gpc`, of `instructions`, to its scheduler.
    pub fn charge_vertex_warp(&mut self, gpc: usize, number: u64, instructions: u64) {
        let scheduler = index(number % self.schedulers as u64);
        self.owed[gpc * self.schedulers + scheduler] += instructions * self.issue_cycles;
    }

    /// Returns the cycles that a scheduler of `gpc` owes, and clears them.
    pub fn pay(&mut self, gpc: usize, scheduler: usize) -> u64 {
        std::mem::take(&mut self.owed[gpc * self.schedulers + scheduler])
    }
}
