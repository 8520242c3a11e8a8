//! Collects the cycles and the statistics of all units after a run.

use serde::{Serialize, Serializer};

use super::statistics::{Statistics, StatisticsByUnit};
use super::timing::{Activity, Cycle, StallReason, Timeline};
use super::unit::{Unit, Visitor};

/// The cycles of all units of one name.
#[derive(Debug, Clone, Serialize)]
pub struct UnitCycles {
    /// Its name.
    pub name: &'static str,
    /// Alike units whose cycles are summed: `busy` and `idle` make `instances` times the run's
    /// cycles.
    pub instances: u64,
    /// Cycles worked.
    pub busy: u64,
    /// Cycles not worked, by reason, those reasons alone that arose.
    #[serde(serialize_with = "as_map")]
    pub idle: Vec<(String, u64)>,
    /// Timeline of the first of them, if one was kept.
    #[serde(skip)]
    pub timeline: Option<Timeline>,
}

fn as_map<S: Serializer>(idle: &[(String, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(idle.iter().map(|(reason, cycles)| (reason, cycles)))
}

impl UnitCycles {
    /// All cycles that are accounted for.
    pub fn total(&self) -> u64 {
        self.busy + self.idle.iter().map(|(_, cycles)| cycles).sum::<u64>()
    }

    /// Share of its cycles in which the unit worked.
    #[allow(clippy::cast_precision_loss, reason = "a share, for people")]
    pub fn utilisation(&self) -> f64 {
        match self.total() {
            0 => 0.0,
            total => self.busy as f64 / total as f64,
        }
    }

    /// The unit of `units` that worked in the largest share of its cycles.
    pub fn busiest(units: &[Self]) -> Option<&Self> {
        units
            .iter()
            .max_by(|a, b| a.utilisation().total_cmp(&b.utilisation()))
    }

    /// Units that do not account for each of a run's `cycles`, one sentence each.
    pub(crate) fn discrepancies(units: &[Self], cycles: Cycle) -> impl Iterator<Item = String> {
        units.iter().filter_map(move |unit| {
            let (sum, expected) = (unit.total(), unit.instances * cycles);
            let name = unit.name;
            (sum != expected).then(|| format!("{name}: {sum} cycles accounted of {expected}"))
        })
    }
}

/// What all units of a run tell.
#[derive(Debug, Default)]
pub struct Collected {
    /// The cycle after the last work of any unit.
    pub cycles: Cycle,
    /// Every unit's cycles, in the order of the pipeline.
    pub units: Vec<UnitCycles>,
    /// What every unit counted.
    pub statistics: StatisticsByUnit,
}

impl Collected {
    /// Collects what `units` tell, and ends their activities.
    pub fn of(units: &mut impl Unit) -> Self {
        let mut seen = Seen::default();
        units.visit(&mut seen);
        let Seen {
            cycles,
            mut ports,
            statistics,
        } = seen;
        for (_, activity) in &mut ports {
            activity.idle_until(cycles, StallReason::Drained);
        }
        Self {
            cycles,
            units: unit_cycles(&ports),
            statistics,
        }
    }
}

/// What a visit has seen so far.
#[derive(Debug, Default)]
struct Seen {
    cycles: Cycle,
    ports: Vec<(&'static str, Activity)>,
    statistics: StatisticsByUnit,
}

impl Visitor for Seen {
    fn activity(&mut self, name: &'static str, activity: &mut Activity) {
        // The last work of a run may be a test that left nothing to be done behind it.
        self.cycles = self.cycles.max(activity.accounted());
        self.ports.push((name, std::mem::take(activity)));
    }

    fn statistics(&mut self, name: &'static str, statistics: &dyn Statistics) {
        self.statistics.add(name, statistics);
    }

    fn end(&mut self, at: Cycle) {
        self.cycles = self.cycles.max(at);
    }
}

/// Sums ports of the same name, and says by whom each was starved and blocked.
fn unit_cycles(ports: &[(&'static str, Activity)]) -> Vec<UnitCycles> {
    let mut names: Vec<&'static str> = Vec::new();
    for (name, _) in ports {
        if !names.contains(name) {
            names.push(name);
        }
    }
    let unit = |(at, &name): (usize, &&'static str)| {
        let alike: Vec<_> = ports.iter().filter(|(n, _)| *n == name).collect();
        let sum = |of: &dyn Fn(&Activity) -> u64| alike.iter().map(|(_, a)| of(a)).sum();
        let idle = StallReason::ALL.into_iter().map(|reason| {
            let named = match reason {
                StallReason::Starved if at == 0 => "starved by the draw".to_owned(),
                StallReason::Starved => format!("starved by {}", names[at - 1]),
                StallReason::Blocked => {
                    format!("blocked by {}", names.get(at + 1).unwrap_or(&"memory"))
                }
                other => format!("{other:?}").to_lowercase(),
            };
            (named, sum(&|a| a.idle[reason as usize]))
        });
        UnitCycles {
            name,
            instances: alike.len() as u64,
            busy: sum(&|a| a.busy),
            idle: idle.filter(|(_, cycles)| *cycles > 0).collect(),
            timeline: alike.first().and_then(|(_, a)| a.timeline().cloned()),
        }
    };
    names.iter().enumerate().map(unit).collect()
}
