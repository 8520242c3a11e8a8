//! Issue slots of the shader cores that vertex warps take.

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
    #[must_use]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "validated to be at most 2^14"
    )]
    pub fn new(schedulers: u64, issue_cycles: u64) -> Self {
        Self {
            owed: vec![0; schedulers as usize],
            issue_cycles,
            vertex_cycles: 0,
        }
    }

    /// Charges the `number`th vertex warp, of so many instructions, to its scheduler.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a remainder of a length that is a usize"
    )]
    pub fn charge_vertex_warp(&mut self, number: u64, instructions: u64) {
        let scheduler = (number % self.owed.len() as u64) as usize;
        self.owed[scheduler] += instructions * self.issue_cycles;
        self.vertex_cycles += instructions * self.issue_cycles;
    }

    /// Takes the cycles that a scheduler owes.
    pub fn pay(&mut self, scheduler: usize) -> u64 {
        std::mem::take(&mut self.owed[scheduler])
    }
}
