//! The ports of a merging unit: look-ups on one side, one quad a cycle on the other.

use super::machine::MeshMachine;
use crate::pipeline::issue_port::IssuePort;
use crate::pipeline::packets::Quad;
use crate::pipeline::stage::Sink;
use crate::pipeline::timing::{Cycle, StallReason};

/// The ports.
#[derive(Debug)]
pub(super) struct Port {
    per_cycle: u64,
    /// Look-ups in cycle `at`.
    used: u64,
    at: Cycle,
    /// The first cycle in which the output is free.
    output_free: Cycle,
    /// Issue port of the rigid pipeline between them.
    pub(super) pipe: IssuePort,
}

impl Port {
    pub(super) fn new(per_cycle: u64, latency: u64) -> Self {
        Self {
            per_cycle,
            used: 0,
            at: 0,
            output_free: 0,
            pipe: IssuePort::new(latency),
        }
    }

    /// When a quad that arrived at `arrival` is looked up, no earlier than `not_before`, which is
    /// when one at its place has been written, and `evictions` cycles after its turn.
    pub(super) fn look_up(&mut self, arrival: Cycle, not_before: Cycle, evictions: u64) -> Cycle {
        let shares = self.used < self.per_cycle
            && evictions == 0
            && self.at >= arrival.max(not_before)
            && self.pipe.free() == self.at + 1;
        if shares {
            self.used += 1;
            return self.at;
        }
        let mut start = self.pipe.start(arrival);
        if not_before > start {
            self.pipe.hold_until(not_before, StallReason::Contended);
            start = not_before;
        }
        if evictions > 0 {
            start += evictions;
            self.pipe.hold_until(start, StallReason::Full);
        }
        (self.used, self.at) = (1, start);
        start
    }

    /// Hands quads on that a look-up at `start` let go, one a cycle; it takes `cycles` at least.
    /// Returns the first cycle after it.
    pub(super) fn send(
        &mut self,
        quads: &mut Vec<Quad>,
        start: Cycle,
        cycles: u64,
        machine: &mut MeshMachine,
        next: &mut impl Sink<Quad, MeshMachine>,
    ) -> Cycle {
        let mut at = start;
        let mut worked = 0;
        for quad in quads.drain(..) {
            at = at.max(self.output_free);
            self.pipe.issue(quad, at, 1, machine, next);
            at = self.pipe.free();
            self.output_free = at;
            worked += 1;
        }
        if worked < cycles {
            self.pipe.work(at, cycles - worked);
        }
        self.pipe.free()
    }
}
