//! Timing of the shader cores for any program: warp slots, schedulers, and the order of retirement.

use quadrille_base::math::index;
use quadrille_machine::{Activity, Cycle, Rate, RateLimiter, StallReason};

/// Cost of a warp on its scheduler.
#[derive(Debug, Clone, Copy)]
pub struct WarpProgram {
    /// Number of instructions to issue.
    pub instructions: u64,
    /// Cycles of its chain of dependent instructions.
    pub latency: u64,
}

/// Timing of the schedulers and warp slots of one GPC.
#[derive(Debug)]
pub struct Schedule {
    issue_cycles: u64,
    issued: Vec<Cycle>,
    next_scheduler: usize,
    /// Per slot, the cycle at which its last warp left, and the cycles by which the next unit delayed that warp.
    slots: Vec<(Cycle, u64)>,
    next_slot: usize,
    held_up: u64,
    left_at: Cycle,
    export: RateLimiter,
    /// Accounting of the issue cycles of each scheduler.
    pub activity: Vec<Activity>,
}

impl Schedule {
    /// Creates idle schedulers and empty slots; warps leave at the rate `export`.
    pub fn new(schedulers: u64, issue_cycles: u64, slots: u64, export: Rate) -> Self {
        let schedulers = index(schedulers);
        Self {
            issue_cycles,
            issued: vec![0; schedulers],
            next_scheduler: 0,
            slots: vec![(0, 0); index(slots)],
            next_slot: 0,
            held_up: 0,
            left_at: 0,
            export: RateLimiter::new(export),
            activity: vec![Activity::default(); schedulers],
        }
    }

    /// Index of the scheduler of the next warp.
    pub fn next_scheduler(&self) -> usize {
        self.next_scheduler
    }

    /// Reasons for idle issue slots before the arrival of a warp, each with the cycle at which it ends. A warp that waited
    /// for its slot lacked slots, or was blocked while the next unit delayed the slot's last warp. Otherwise warps were
    /// lacking.
    fn idle_before(&self, arrival: Cycle) -> [(Cycle, StallReason); 2] {
        match self.slots[self.next_slot] {
            (left, held_up) if left == arrival && left > 0 => {
                [(left - held_up, StallReason::Full), (arrival, StallReason::Blocked)]
            }
            _ => [(0, StallReason::Full), (arrival, StallReason::Starved)],
        }
    }

    /// Runs a warp that gets its slot at `arrival`, on a scheduler that owes `owed` cycles. Returns when the warp is done.
    pub fn run(&mut self, arrival: Cycle, program: WarpProgram, owed: u64) -> Cycle {
        let scheduler = self.next_scheduler;
        self.next_scheduler += 1;
        if self.next_scheduler == self.issued.len() {
            self.next_scheduler = 0;
        }
        self.issue(scheduler, arrival, program, owed, self.idle_before(arrival))
    }

    /// Like [`Schedule::run`], for a slot of `scheduler` that the caller manages. `before` holds the reasons for which the
    /// scheduler was idle, each with the cycle at which it ends.
    pub(super) fn issue(
        &mut self,
        scheduler: usize,
        arrival: Cycle,
        program: WarpProgram,
        owed: u64,
        before: [(Cycle, StallReason); 2],
    ) -> Cycle {
        // The owed issue cycles of vertex warps count as if they preceded this warp: no issue slot is used twice.
        let free = self.issued[scheduler] + owed;
        let begin = free.max(arrival);
        let end = begin + program.instructions * self.issue_cycles;
        let activity = &mut self.activity[scheduler];
        // The cycles up to `free` belong to vertex warps.
        activity.work_around(free, before, end);
        activity.moved += 1;
        self.issued[scheduler] = end;
        end.max(begin + program.latency)
    }

    /// Retires the warp that was done at `done`, in launch order. `take` maps the cycle of the offer to the
    /// cycle of acceptance by the next unit, which is returned. A warp without results passes no port.
    pub fn leave(&mut self, done: Cycle, take: Option<impl FnOnce(Cycle) -> Cycle>) -> Cycle {
        let mut ready = done.max(self.left_at);
        // A warp that is done behind a delayed one is delayed as well.
        let behind = self.held_up.min(ready - done);
        self.left_at = ready;
        if let Some(take) = take {
            ready = self.export.serve(ready);
            self.left_at = take(ready);
        }
        self.held_up = behind + (self.left_at - ready);
        self.slots[self.next_slot] = (self.left_at, self.held_up);
        self.next_slot += 1;
        if self.next_slot == self.slots.len() {
            self.next_slot = 0;
        }
        self.left_at
    }

    /// Cycle at which the last warp left its slot.
    pub fn left_at(&self) -> Cycle {
        self.left_at
    }
}
