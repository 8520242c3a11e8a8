//! What a unit tells of itself after a run.

use super::statistics::Statistics;
use super::timing::{Activity, Cycle};

/// A unit, or a chain of units, that says where its cycles went and what it counted.
pub trait Unit {
    /// Shows `visitor` the activities and statistics, unit by unit in the order of the pipeline.
    fn visit(&mut self, visitor: &mut dyn Visitor);
}

/// Sees all units of a pipeline.
pub trait Visitor {
    /// Visits the port `name` of a unit. Ports of the same name belong to units of the same kind.
    fn activity(&mut self, name: &'static str, activity: &mut Activity);

    /// Visits what the unit `name` counted.
    fn statistics(&mut self, name: &'static str, statistics: &dyn Statistics) {
        let _ = (name, statistics);
    }

    /// Visits the end of a pipeline, which was reached at `at`.
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

/// Keeps timelines of all units from now on.
pub fn keep_timelines(units: &mut impl Unit) {
    struct Keep;
    impl Visitor for Keep {
        fn activity(&mut self, _name: &'static str, activity: &mut Activity) {
            activity.keep_timeline();
        }
    }
    units.visit(&mut Keep);
}
