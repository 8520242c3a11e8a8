//! Collection of cycles and statistics after a run.

use serde::{Serialize, Serializer};

use super::ledger::{Ledger, Record};
use super::rate::Rate;
use super::statistics::{Statistics, StatisticsByUnit};
use super::timing::{Activity, Cycle, StallReason, Timeline};
use super::unit::{Unit, Visitor};

/// Demand of the busiest port below which no port limits a run, but latency and bursts do (assumed).
const LIMITING_DEMAND: f64 = 0.5;

/// Smallest demand, relative to the highest, of a port that limits a run together with other ports (assumed).
const NEARLY_HIGHEST: f64 = 0.9;

/// Utilisation above which a memory port takes precedence over the ports that wait for memory, and demand above which a port
/// takes precedence over a storage (assumed).
const SATURATED: f64 = 0.9;

/// Smallest share of the cycles that more room in a storage must save for the storage to limit a run (assumed).
const LEAST_GAIN_OF_ROOM: f64 = 0.03;

/// Smallest share of the cycles in which a port holds up the ports before it, to limit a run together with ports of
/// higher demand (assumed).
const LEAST_GAIN_OF_PORT: f64 = 0.1;

/// Location of a port in the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortKind {
    /// Port of a pipeline unit.
    Pipeline,
    /// Port between the cache of a unit and the L2.
    Cache,
    /// Storage or lock for which items wait.
    Storage,
    /// Port of the L2 or of DRAM.
    Memory,
}

/// Cycles of all ports of one name, summed over the instances of the unit.
#[derive(Debug, Clone, Serialize)]
pub struct UnitCycles {
    /// Name of the port.
    pub name: &'static str,
    /// Location of the port in the machine.
    #[serde(skip)]
    pub kind: PortKind,
    /// Number of instances: the sum of `busy` and `idle` is `instances` times the run's cycles.
    pub instances: u64,
    /// Cycles with work.
    pub busy: u64,
    /// Cycles without work by reason; reasons that did not occur are left out.
    #[serde(serialize_with = "as_map")]
    pub idle: Vec<(String, u64)>,
    /// Items that passed, summed over the instances.
    pub moved: u64,
    /// Largest rate at which items pass each instance, if it has one.
    #[serde(skip)]
    pub rate: Option<Rate>,
    /// Whether the unit is built to hold items in bins, so that full storage is its normal state.
    #[serde(skip)]
    pub holds_items: bool,
    /// Minimum number of cycles for the items at that rate, over all instances; `busy` if there is no rate.
    #[serde(skip)]
    pub needed: u64,
    /// Cycles that the busiest instance needs and waits for data, for other users and for room that only it can make.
    #[serde(skip)]
    pub busiest: u64,
    /// Sum of the timelines of all instances, if they were kept.
    #[serde(skip)]
    pub timeline: Option<Timeline>,
}

fn as_map<S: Serializer>(idle: &[(String, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(idle.iter().map(|(reason, cycles)| (reason, cycles)))
}

impl UnitCycles {
    /// Creates the cycles of `instances` ports that never stall and moved `moved` items in a run of `cycles`. Busy
    /// cycles are `moved` divided by `rate`; the others are unused.
    pub(crate) fn of_items(
        name: &'static str,
        kind: PortKind,
        instances: u64,
        moved: u64,
        rate: Rate,
        cycles: Cycle,
    ) -> Self {
        let busy = rate.cycles_for(moved);
        let unused = (instances * cycles).saturating_sub(busy);
        Self {
            name,
            kind,
            instances,
            busy,
            idle: vec![("unused".to_owned(), unused)],
            moved,
            rate: Some(rate),
            holds_items: false,
            needed: busy,
            busiest: busy.div_ceil(instances.max(1)),
            timeline: None,
        }
    }

    /// Sum of busy and idle cycles.
    pub fn total(&self) -> u64 {
        self.busy + self.idle.iter().map(|(_, cycles)| cycles).sum::<u64>()
    }

    /// Share of busy cycles, 0 to 1.
    pub fn utilisation(&self) -> f64 {
        self.share(self.busy)
    }

    /// Items that passed the port, as a share of the number that can pass at its largest rate, 0 to 1 (VR-Pipe, Fig. 6);
    /// `None` for ports without a fixed rate.
    pub fn throughput(&self) -> Option<f64> {
        Some(self.moved as f64 / self.rate?.in_cycles(self.total()).max(1.0))
    }

    /// Share of the cycles in which the port could serve no other item, 0 to 1: it was busy, its data was in flight, or
    /// another user held it. Cycles without input or with blocked output are charged to the neighbouring units.
    pub fn occupancy(&self) -> f64 {
        self.share(self.busy + self.idle(StallReason::Miss) + self.idle(StallReason::Contended))
    }

    /// Share of the cycles in which the port worked for any user, 0 to 1.
    fn working(&self) -> f64 {
        self.share(self.busy + self.idle(StallReason::Contended))
    }

    /// Idle cycles for a `reason` other than starved and blocked, whose names also name a neighbour.
    fn idle(&self, reason: StallReason) -> u64 {
        self.idle.iter().filter(|(name, _)| name == reason.name()).map(|(_, cycles)| cycles).sum()
    }

    fn share(&self, cycles: u64) -> f64 {
        cycles as f64 / self.total().max(1) as f64
    }

    /// Share of the cycles that the items of the busiest instance need at the port's own rate, plus its waits for data, for
    /// other users, and for room that no output port of the unit makes, 0 to 1. Partial beats keep a neighbour of a limiting
    /// port occupied as long as that port, although its items need fewer cycles.
    pub fn demand(&self) -> f64 {
        self.share(self.busiest * self.instances).min(1.0)
    }

    /// Share of the cycles in which items wait for room in a storage, 0 to 1. Primitives and quads pass the instances in the
    /// order of the draw, so that one full instance holds up all: the waits of the instances add up.
    fn waits_for_room(&self) -> f64 {
        let is_storage = self.kind == PortKind::Storage;
        let waits = if is_storage { self.idle(StallReason::Full) } else { 0 };
        self.share(waits * self.instances).min(1.0)
    }

    /// Share of the cycles in which the port waits to pass its items on.
    fn blocked(&self) -> f64 {
        let is_blocked = |reason: &str| {
            reason.starts_with(StallReason::Blocked.name())
                || self.holds_items && reason == StallReason::Full.name()
        };
        self.share(self.idle.iter().filter(|(name, _)| is_blocked(name)).map(|(_, c)| c).sum())
    }

    /// The critical resources of a run, in pipeline order:
    ///
    /// - the ports with nearly the highest [demand](Self::demand);
    /// - each storage whose lack of room may cost as much as these ports;
    /// - each port behind which the ports before it wait that long, although it is not always at work itself.
    ///
    /// A memory port that is busy nearly all the time takes precedence over ports that wait for memory, and a storage for
    /// which items wait longer than any port works takes precedence over these ports.
    pub fn critical(units: &[Self]) -> Vec<&Self> {
        let all: Vec<_> = units.iter().filter(|unit| unit.total() > 0).collect();
        let (storages, ports): (Vec<&Self>, Vec<&Self>) =
            all.iter().partition(|unit| unit.waits_for_room() > 0.0);
        let highest = self::highest(&ports, Self::demand);
        let is_near = |unit: &&&Self| unit.demand() >= highest * NEARLY_HIGHEST;
        let near: Vec<&Self> = ports.iter().copied().filter(|unit| is_near(&unit)).collect();
        let is_memory = |unit: &&&Self| matches!(unit.kind, PortKind::Cache | PortKind::Memory);
        let memory = ports.iter().filter(is_memory);
        let busiest = memory.max_by(|a, b| a.utilisation().total_cmp(&b.utilisation()));
        let waiting: Vec<_> = near.iter().filter(|unit| !is_memory(unit)).copied().collect();
        let working = self::highest(&waiting, Self::working);
        if let Some(memory) = busiest
            .filter(|memory| memory.utilisation() >= SATURATED && memory.utilisation() > working)
        {
            return vec![memory];
        }
        // Doubling the rates of the ports saves cycles until the next port is critical, at most half of their own cycles;
        // waits for room remain. More room and a faster port behind them save cycles in which these ports do not work.
        let saved =
            |waits: fn(&Self) -> f64| (highest - Self::highest_behind(&all, &near, waits)).max(0.0);
        let (saved, beside_waits) = (saved(|_| 0.0), saved(Self::waits_for_room));
        let unused = 1.0 - highest;
        let lacks_room = |unit: &Self| {
            unit.waits_for_room().min(unused) >= (beside_waits / 2.0).max(LEAST_GAIN_OF_ROOM)
        };
        let is_first = |waits: fn(&Self) -> f64| {
            highest < SATURATED && self::highest(&storages, waits) > highest
        };
        let storages_wait_most = is_first(Self::waits_for_room);
        // The waits of several instances may overlap, so that their sum does not exclude the ports.
        let is_storage_first = is_first(|unit| unit.share(unit.idle(StallReason::Full)));
        let mut blocked_before = 0.0;
        let mut is_critical = |unit: &Self| {
            if unit.kind != PortKind::Pipeline {
                let is_storage = unit.waits_for_room() > 0.0;
                return lacks_room(unit) || !is_storage_first && !is_storage && is_near(&&unit);
            }
            let blocked = unit.blocked();
            let adds = f64::min(std::mem::replace(&mut blocked_before, blocked) - blocked, unused);
            let holds_up = unit.demand() >= highest / 2.0 && adds >= saved.max(LEAST_GAIN_OF_PORT);
            !is_storage_first && (is_near(&&unit) || holds_up && !storages_wait_most)
        };
        all.into_iter().filter(|unit| is_critical(unit)).collect()
    }

    /// Highest demand of a port, with its `waits` for storages, if the ports `doubled` have twice their rates.
    fn highest_behind(all: &[&Self], doubled: &[&Self], waits: fn(&Self) -> f64) -> f64 {
        let (mut highest, mut demand) = (0.0, 0.0);
        for unit in all {
            if unit.kind == PortKind::Storage {
                demand += waits(unit);
            } else {
                let is_doubled = doubled.iter().any(|port| port.name == unit.name);
                demand = unit.demand() / if is_doubled { 2.0 } else { 1.0 };
            }
            highest = f64::max(highest, demand);
        }
        highest
    }

    /// The [critical](Self::critical) ports if they limit the run; empty if latency and bursts limit it.
    pub fn limiting(units: &[Self]) -> Vec<&Self> {
        let critical = Self::critical(units);
        if highest(&critical, Self::demand) >= LIMITING_DEMAND { critical } else { Vec::new() }
    }

    /// Names of ports separated by commas; `None` for an empty list.
    pub fn names(ports: &[&Self]) -> Option<String> {
        let names: Vec<_> = ports.iter().map(|port| port.name).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// Describes each port whose counted cycles do not match a run of `cycles`.
    pub fn discrepancies(units: &[Self], cycles: Cycle) -> impl Iterator<Item = String> {
        units.iter().filter_map(move |unit| {
            let (sum, expected) = (unit.total(), unit.instances * cycles);
            let name = unit.name;
            (sum != expected)
                .then(|| format!("{name}: {sum} of {expected} cycles are accounted for"))
        })
    }
}

fn highest(units: &[&UnitCycles], share: impl Fn(&UnitCycles) -> f64) -> f64 {
    units.iter().map(|unit| share(unit)).fold(0.0, f64::max)
}

/// Cycles and statistics of all units of a run.
#[derive(Debug, Default)]
pub struct Collected {
    /// Length of the run in cycles, up to the last work of any unit.
    pub cycles: Cycle,
    /// Cycles by port in pipeline order, followed by the ports of caches.
    pub units: Vec<UnitCycles>,
    /// Statistics by unit, summed over the instances of each unit.
    pub statistics: StatisticsByUnit,
    /// Records of the ledgers; empty if no ledger was started.
    pub records: Vec<Record>,
}

impl Collected {
    /// Visits `units` and takes their activities, statistics and records. The run ends no earlier than `end`.
    pub fn of(units: &mut impl Unit, end: Cycle) -> Self {
        let mut seen = Seen { cycles: end, ..Seen::default() };
        units.visit(&mut seen);
        let Seen { cycles, mut ports, cache_ports, waits, statistics, records } = seen;
        for (_, activity) in &mut ports {
            activity.idle_until(cycles, StallReason::Drained);
        }
        let cache_ports = cache_ports.into_iter().map(|(name, rate, [instances, bytes])| {
            UnitCycles::of_items(name, PortKind::Cache, instances, bytes, rate, cycles)
        });
        let mut units = unit_cycles(&ports);
        waits.iter().for_each(|waits| waits.add_to(&mut units));
        units.extend(cache_ports);
        Self { cycles, units, statistics, records }
    }
}

#[derive(Debug, Default)]
struct Seen {
    cycles: Cycle,
    ports: Vec<(&'static str, Activity)>,
    /// Cache ports with rate, instances and bytes.
    cache_ports: Vec<(&'static str, Rate, [u64; 2])>,
    waits: Vec<Waits>,
    statistics: StatisticsByUnit,
    records: Vec<Record>,
}

/// Waits of items at a port for a storage or lock, summed over its instances.
#[derive(Debug)]
struct Waits {
    name: &'static str,
    port: &'static str,
    reason: StallReason,
    cycles: u64,
}

impl Waits {
    /// Inserts the storage behind its port, and appends its name to the port's stall reason, whose cycles count for the
    /// storage in place of the port.
    fn add_to(&self, units: &mut Vec<UnitCycles>) {
        let Some(place) = units.iter().position(|unit| unit.name == self.port) else { return };
        let port = &mut units[place];
        let (instances, all) = (port.instances, port.total());
        let mut idle = port.idle.iter_mut();
        // Items that wait behind the port block it instead.
        if let Some((reason, _)) = idle.find(|(name, _)| name == self.reason.name()) {
            *reason = format!("{reason} {}", self.name);
            if !(self.reason == StallReason::Full && port.holds_items) {
                port.busiest = port.busiest.saturating_sub(self.cycles / instances.max(1));
            }
        }
        let unused = all.saturating_sub(self.cycles);
        let storage = UnitCycles {
            name: self.name,
            kind: PortKind::Storage,
            instances,
            busy: 0,
            idle: vec![(self.reason.name().to_owned(), self.cycles), ("unused".to_owned(), unused)],
            moved: 0,
            rate: None,
            holds_items: false,
            needed: 0,
            busiest: match self.reason {
                StallReason::Full => self.cycles,
                _ => self.cycles.div_ceil(instances.max(1)),
            },
            timeline: None,
        };
        units.insert(place + 1, storage);
    }
}

impl Visitor for Seen {
    fn activity(&mut self, name: &'static str, activity: &mut Activity) {
        // A run may end with a test that discards its item, after all later units are done.
        self.cycles = self.cycles.max(activity.accounted());
        self.ports.push((name, std::mem::take(activity)));
    }

    fn cache_port(&mut self, name: &'static str, rate: Rate, bytes: u64) {
        match self.cache_ports.iter_mut().find(|port| port.0 == name) {
            Some((_, _, [instances, sum])) => {
                *instances += 1;
                *sum += bytes;
            }
            None => self.cache_ports.push((name, rate, [1, bytes])),
        }
    }

    fn waits(&mut self, name: &'static str, port: &'static str, reason: StallReason, cycles: u64) {
        match self.waits.iter_mut().find(|waits| waits.name == name) {
            Some(waits) => waits.cycles += cycles,
            None => self.waits.push(Waits { name, port, reason, cycles }),
        }
    }

    fn statistics(&mut self, name: &'static str, statistics: &dyn Statistics) {
        self.statistics.add(name, statistics);
    }

    fn ledger(
        &mut self,
        unit: &'static str,
        port: Option<&'static str>,
        ledger: &mut Ledger,
        counters: &dyn Statistics,
    ) {
        let Some(record) = ledger.take(&format!("counters.{unit}"), counters, port) else { return };
        let mut records = self.records.iter_mut();
        match records.find(|other| other.columns == record.columns) {
            Some(sum) => sum.merge(record),
            None => self.records.push(record),
        }
    }

    fn end(&mut self, at: Cycle) {
        self.cycles = self.cycles.max(at);
    }
}

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
                other => other.name().to_owned(),
            };
            (named, sum(&|a| a.idle[reason as usize]))
        });
        let holds_items = alike.iter().any(|(_, activity)| activity.holds_items);
        let full = [StallReason::Full].into_iter().filter(|_| !holds_items);
        let waits = || [StallReason::Miss, StallReason::Contended].into_iter().chain(full.clone());
        let of_instance =
            |a: &Activity| a.needed() + waits().map(|reason| a.idle[reason as usize]).sum::<u64>();
        UnitCycles {
            name,
            kind: PortKind::Pipeline,
            instances: alike.len() as u64,
            busy: sum(&|a| a.busy),
            moved: sum(&|a| a.moved),
            rate: alike.first().and_then(|(_, a)| a.rate),
            holds_items,
            needed: sum(&Activity::needed),
            busiest: alike.iter().map(|(_, a)| of_instance(a)).max().unwrap_or(0),
            idle: idle.filter(|(_, cycles)| *cycles > 0).collect(),
            timeline: (alike.iter())
                .filter_map(|(_, activity)| activity.timeline().cloned())
                .reduce(|mut sum, other| {
                    sum.merge(other);
                    sum
                }),
        }
    };
    names.iter().enumerate().map(unit).collect()
}

#[cfg(test)]
#[path = "tests/units/collect.rs"]
mod tests;
