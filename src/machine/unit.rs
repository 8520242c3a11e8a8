//! Visitors that collect cycles by stall reason and counters from all units of a pipeline.

use super::ledger::{Ledger, LedgerSpec};
use super::rate::Rate;
use super::statistics::Statistics;
use super::timing::{Activity, Cycle, StallReason};

/// A unit or a chain of units that reports its activities and statistics.
pub trait Unit {
    /// Passes all activities and statistics to `visitor`, unit by unit in pipeline order.
    fn visit(&mut self, visitor: &mut dyn Visitor);
}

/// Receives the activities and statistics of all units of a pipeline.
pub trait Visitor {
    /// Visits the activity of port `name`. Several instances of one unit use the same name.
    fn activity(&mut self, name: &'static str, activity: &mut Activity);

    /// Visits the port `name` between a cache and the L2, which moved `bytes` at no more than `rate` bytes per cycle.
    fn cache_port(&mut self, name: &'static str, rate: Rate, bytes: u64) {
        let _ = (name, rate, bytes);
    }

    /// Visits the storage or lock `name`, for which items waited `cycles` cycles at `port`. All idle cycles of the port for
    /// this `reason` are waits for `name`. Several instances use the same names.
    fn waits(&mut self, name: &'static str, port: &'static str, reason: StallReason, cycles: u64) {
        let _ = (name, port, reason, cycles);
    }

    /// Visits the statistics of unit `name`.
    fn statistics(&mut self, name: &'static str, statistics: &dyn Statistics) {
        let _ = (name, statistics);
    }

    /// Visits the ledger of `unit`, with the counters that it records and the port whose busy cycles it records, if any.
    fn ledger(
        &mut self,
        unit: &'static str,
        port: Option<&'static str>,
        ledger: &mut Ledger,
        counters: &dyn Statistics,
    ) {
        let _ = (unit, port, ledger, counters);
    }

    /// Visits the end of a pipeline, whose last work ended at `at`.
    fn end(&mut self, at: Cycle) {
        let _ = at;
    }
}

impl<U: Unit> Unit for [U] {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        for unit in self {
            unit.visit(visitor);
        }
    }
}

/// Starts a timeline in windows of `window` cycles in every activity of `units`.
pub fn keep_timelines(units: &mut impl Unit, window: Cycle) {
    struct Keep(Cycle);
    impl Visitor for Keep {
        fn activity(&mut self, _name: &'static str, activity: &mut Activity) {
            activity.keep_timeline(self.0);
        }
    }
    units.visit(&mut Keep(window));
}

/// Starts the ledger of every unit in `units`.
pub fn keep_ledgers(units: &mut impl Unit, spec: LedgerSpec) {
    struct Keep(LedgerSpec);
    impl Visitor for Keep {
        fn activity(&mut self, _name: &'static str, _activity: &mut Activity) {}

        fn ledger(
            &mut self,
            _unit: &'static str,
            _port: Option<&'static str>,
            ledger: &mut Ledger,
            _counters: &dyn Statistics,
        ) {
            ledger.start(self.0);
        }
    }
    units.visit(&mut Keep(spec));
}
