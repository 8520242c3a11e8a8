//! Timing of the shader cores for any program: warp slots, schedulers, and the order in which warps
//! leave.

use quadrille_base::math::index;
use quadrille_machine::{Activity, Cycle, Rate, RateLimiter, StallReason};

/// Cost of a warp.
#[derive(Debug, Clone, Copy)]
pub struct WarpProgram {
    /// Instructions to issue.
    pub instructions: u64,
    /// Cycles of its chain of dependent instructions.
    pub latency: u64,
}

/// The schedulers and warp slots of one GPC's cores.
#[derive(Debug)]
pub struct Schedule {
    issue_cycles: u64,
    /// Cycle at which each scheduler has issued all its instructions.
    issued: Vec<Cycle>,
    next_scheduler: usize,
    /// Per slot: cycle at which its last warp left, and the cycles by which the next unit delayed that warp.
    slots: Vec<(Cycle, u64)>,
    next_slot: usize,
    /// Cycles by which the next unit delayed the last warp.
    held_up: u64,
    left_at: Cycle,
    /// Port towards the colour unit.
    export: RateLimiter,
    /// Issue cycles by scheduler.
    pub activity: Vec<Activity>,
}

impl Schedule {
    /// Creates idle schedulers and empty warp slots, whose warps leave at the rate `export`.
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

    /// The scheduler that the next warp goes to.
    pub(crate) fn next_scheduler(&self) -> usize {
        self.next_scheduler
    }

    /// Reasons why nothing was issued before a warp arrived at `arrival`, each up to a cycle. If the warp waited
    /// for its slot, slots were lacking, but as long as the next unit delayed the slot's last warp, the cores were
    /// blocked.
    fn idle_before(&self, arrival: Cycle) -> [(Cycle, StallReason); 2] {
        match self.slots[self.next_slot] {
            (left, held_up) if left == arrival && left > 0 => {
                [(left - held_up, StallReason::Full), (arrival, StallReason::Blocked)]
            }
            _ => [(0, StallReason::Full), (arrival, StallReason::Starved)],
        }
    }

    /// Runs a warp that got its slot at `arrival` on a scheduler that owes `owed` cycles; returns the
    /// cycle at which it is done.
    pub fn run(&mut self, arrival: Cycle, program: WarpProgram, owed: u64) -> Cycle {
        let scheduler = self.next_scheduler;
        self.next_scheduler += 1;
        if self.next_scheduler == self.issued.len() {
            self.next_scheduler = 0;
        }
        let before = self.idle_before(arrival);
        self.issue(scheduler, arrival, program, owed, before)
    }

    /// Runs a warp that got a slot of `scheduler` at `arrival`, before which the scheduler was idle for the
    /// reasons `before`, each up to a cycle, as [`Schedule::run`] does. Slots are kept by the caller.
    pub(super) fn issue(
        &mut self,
        scheduler: usize,
        arrival: Cycle,
        program: WarpProgram,
        owed: u64,
        before: [(Cycle, StallReason); 2],
    ) -> Cycle {
        let free = self.issued[scheduler] + owed;
        let begin = free.max(arrival);
        let end = begin + program.instructions * self.issue_cycles;
        let activity = &mut self.activity[scheduler];
        // Vertex warps came first.
        activity.work_around(free, before, end);
        activity.moved += 1;
        self.issued[scheduler] = end;
        end.max(begin + program.latency)
    }

    /// Retires the warp that was done at `done`, in launch order. `take` maps the cycle at which the
    /// warp is offered to the cycle at which the next unit accepts it, which is returned. A warp without
    /// results has nothing to take and passes no port.
    pub fn leave(&mut self, done: Cycle, take: Option<impl FnOnce(Cycle) -> Cycle>) -> Cycle {
        let mut ready = done.max(self.left_at);
        // Done behind a warp that was kept waiting, it was kept waiting too.
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

    /// Cycle at which the last warp left.
    pub(crate) fn left_at(&self) -> Cycle {
        self.left_at
    }
}
