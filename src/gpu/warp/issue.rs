//! Issue slots of the shader cores that vertex warps take.

use crate::math::index;

/// Issue slots that vertex warps took and fragment warps have to do without.
#[derive(Debug, Clone)]
pub struct ShaderIssue {
    /// Cycles owed, by scheduler.
    owed: Vec<u64>,
    issue_cycles: u64,
    /// Cycles that vertex warps issued in all.
    pub vertex_cycles: u64,
}

impl ShaderIssue {
    /// No slots owed by any of `schedulers`, which issue an instruction every `issue_cycles`.
    pub fn new(schedulers: u64, issue_cycles: u64) -> Self {
        Self {
            owed: vec![0; index(schedulers)],
            issue_cycles,
            vertex_cycles: 0,
        }
    }

    /// Charges the `number`th vertex warp, of so many instructions, to its scheduler.
    pub fn charge_vertex_warp(&mut self, number: u64, instructions: u64) {
        let scheduler = index(number % self.owed.len() as u64);
        self.owed[scheduler] += instructions * self.issue_cycles;
        self.vertex_cycles += instructions * self.issue_cycles;
    }

    /// Takes the cycles that a scheduler owes.
    pub fn pay(&mut self, scheduler: usize) -> u64 {
        std::mem::take(&mut self.owed[scheduler])
    }
}
