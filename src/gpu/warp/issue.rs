//! Issue cycles of the shader cores that vertex warps use.

use crate::math::index;

/// Issue cycles used by vertex warps, which the next fragment warps of the same scheduler do without.
#[derive(Debug, Clone)]
pub struct ShaderIssue {
    /// Cycles owed, by scheduler.
    owed: Vec<u64>,
    issue_cycles: u64,
    /// Issue cycles of all vertex warps.
    pub vertex_cycles: u64,
}

impl ShaderIssue {
    /// Creates `schedulers` that owe no cycles and issue an instruction every `issue_cycles`.
    pub fn new(schedulers: u64, issue_cycles: u64) -> Self {
        Self {
            owed: vec![0; index(schedulers)],
            issue_cycles,
            vertex_cycles: 0,
        }
    }

    /// Charges vertex warp `number` of `instructions` to its scheduler.
    pub fn charge_vertex_warp(&mut self, number: u64, instructions: u64) {
        let scheduler = index(number % self.owed.len() as u64);
        self.owed[scheduler] += instructions * self.issue_cycles;
        self.vertex_cycles += instructions * self.issue_cycles;
    }

    /// Returns the cycles that a scheduler owes, and clears them.
    pub fn pay(&mut self, scheduler: usize) -> u64 {
        std::mem::take(&mut self.owed[scheduler])
    }
}
