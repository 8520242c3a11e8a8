//! Cycles of units in rows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use quadrille_machine::{UnitCycles, documented};

documented! {
    /// Cycles of all ports with the same name.
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    pub struct UnitRow {
        /// Cycles with work.
        pub busy: u64,
        /// Cycles without work by reason.
        pub idle: BTreeMap<String, u64>,
        /// Number of ports with this name.
        pub instances: u64,
        /// Share of busy cycles, 0 to 1.
        pub utilisation: f64,
        /// Share of the cycles in which the port could serve no other item, 0 to 1.
        pub occupancy: f64,
        /// Share of the cycles that the port takes for its items at its own rate, with waits for its data, 0 to 1.
        pub demand: f64,
        /// Items as a share of the maximum at the port's rate, 0 to 1; `None` for ports without a fixed rate.
        pub throughput: Option<f64>,
    }
}

impl From<&UnitCycles> for UnitRow {
    fn from(unit: &UnitCycles) -> Self {
        Self {
            busy: unit.busy,
            idle: unit.idle.iter().cloned().collect(),
            instances: unit.instances,
            utilisation: unit.utilisation(),
            occupancy: unit.occupancy(),
            demand: unit.demand(),
            throughput: unit.throughput(),
        }
    }
}

/// Cycles of units by name.
pub fn units(units: &[UnitCycles]) -> BTreeMap<String, UnitRow> {
    units.iter().map(|unit| (unit.name.to_owned(), unit.into())).collect()
}

documented! {
    /// Ports that limit a run, if there are any, and the critical ports with their share of the cycles.
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    pub struct LimitRow {
        /// Names of the ports that limit the run, separated by commas; `None` if latency and bursts limit it.
        pub limiting_unit: Option<String>,
        /// Names of the ports with the highest demand, separated by commas.
        pub critical_unit: Option<String>,
        /// Largest demand of these ports, a share of the cycles, 0 to 1.
        pub critical_occupancy: Option<f64>,
    }
}

impl LimitRow {
    /// Finds the limits of a run.
    pub fn of(units: &[UnitCycles]) -> Self {
        let critical = UnitCycles::critical(units);
        Self {
            limiting_unit: UnitCycles::names(&UnitCycles::limiting(units)),
            critical_unit: UnitCycles::names(&critical),
            critical_occupancy: critical.iter().map(|port| port.demand()).reduce(f64::max),
        }
    }
}
