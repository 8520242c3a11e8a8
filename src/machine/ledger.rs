//! Optional records of a unit's counters by screen tile and by interval of time.

use super::statistics::{Counter, Statistics};
use super::timing::{Cycle, MAX_WINDOWS};
use quadrille_base::math::index;

/// Resolution of a ledger in screen space and in time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LedgerSpec {
    /// Number of screen tiles; 0 if nothing is recorded by tile.
    pub tiles: usize,
    /// Initial cycles per interval; 0 if nothing is recorded by interval. Like the windows of a
    /// [timeline](super::timing::Timeline), intervals double in length when a run outgrows them.
    pub interval: Cycle,
}

/// Record of a unit, empty unless [started](Ledger::start). A unit marks its counters before it works on an item and
/// records the changes since the mark afterwards. Changes by a nested item count for the nested item alone.
#[derive(Debug, Default)]
pub struct Ledger(Option<Box<Started>>);

/// Mark of a unit's counters, which [`Ledger::record`] consumes. Zero-sized, so a unit without a ledger pays nothing.
#[derive(Debug)]
#[must_use = "the changes since the mark are not recorded"]
pub struct LedgerMark(());

#[derive(Debug)]
struct Started {
    record: Record,
    /// Counter values before each item in progress, innermost last, plus the changes by items nested in it.
    marks: Vec<Vec<u64>>,
}

impl Ledger {
    /// Starts recording at the resolution of `spec`.
    pub fn start(&mut self, spec: LedgerSpec) {
        let record = Record { spec, ..Record::default() };
        self.0 = Some(Box::new(Started { record, marks: Vec::new() }));
    }

    /// Marks the counters, and the busy cycles of the unit's port if it records one, before work on an item.
    #[inline(always)]
    pub fn mark(&mut self, counters: &impl Counter, busy: Option<u64>) -> LedgerMark {
        if let Some(started) = &mut self.0 {
            started.mark(counters, busy);
        }
        LedgerMark(())
    }

    /// Records the changes since the mark for an item of screen `tile`, if it belongs to one, in cycle `at`.
    #[inline(always)]
    pub fn record(
        &mut self,
        LedgerMark(()): LedgerMark,
        counters: &impl Counter,
        busy: Option<u64>,
        tile: Option<u32>,
        at: Cycle,
    ) {
        if let Some(started) = &mut self.0 {
            started.add_since_mark(counters, busy, tile, at);
        }
    }

    /// Whether the ledger records.
    #[inline(always)]
    pub fn records(&self) -> bool {
        self.0.is_some()
    }

    /// Takes the record. Columns are named `prefix.counter`, and `units.port.busy` for the busy cycles of `port`.
    pub fn take(
        &mut self,
        prefix: &str,
        counters: &dyn Statistics,
        port: Option<&str>,
    ) -> Option<Record> {
        let mut record = self.0.take()?.record;
        let counts = counters.counts().into_iter();
        let column = |name: String, meaning| RecordColumn { name, meaning };
        record.columns =
            counts.map(|count| column(format!("{prefix}.{}", count.name), count.meaning)).collect();
        let busy = port.map(|port| column(format!("units.{port}.busy"), "Cycles with work."));
        record.columns.extend(busy);
        Some(record)
    }
}

impl Started {
    #[cold]
    #[inline(never)]
    fn mark(&mut self, counters: &impl Counter, busy: Option<u64>) {
        self.marks.push(values(counters, busy));
    }

    #[cold]
    #[inline(never)]
    fn add_since_mark(
        &mut self,
        counters: &impl Counter,
        busy: Option<u64>,
        tile: Option<u32>,
        at: Cycle,
    ) {
        let mut changes = values(counters, busy);
        for (value, before) in changes.iter_mut().zip(self.marks.pop().unwrap_or_default()) {
            *value -= before;
        }
        for outer in &mut self.marks {
            add_to_row(outer, 0, &changes);
        }
        self.record.add(&changes, tile, at);
    }
}

fn values(counters: &impl Counter, busy: Option<u64>) -> Vec<u64> {
    let mut values = Vec::new();
    counters.values(&mut |value| values.push(value));
    values.extend(busy);
    values
}

/// Column of a [`Record`]: one counter of the unit, or the busy cycles of its port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordColumn {
    /// Name of the counter, as in the results of the run.
    pub name: String,
    /// Documentation of the counter.
    pub meaning: &'static str,
}

/// Changes of the counters of a unit by tile and by interval.
#[derive(Debug, Clone, Default)]
pub struct Record {
    spec: LedgerSpec,
    /// Names and meanings of the values in each row.
    pub columns: Vec<RecordColumn>,
    totals: Vec<u64>,
    tiles: Vec<u64>,
    intervals: Vec<u64>,
}

impl Record {
    fn add(&mut self, changes: &[u64], tile: Option<u32>, at: Cycle) {
        let columns = changes.len();
        self.totals.resize(columns, 0);
        add_to_row(&mut self.totals, 0, changes);
        if self.spec.tiles > 0
            && let Some(tile) = tile
        {
            self.tiles.resize(self.spec.tiles * columns, 0);
            add_to_row(&mut self.tiles, tile as usize, changes);
        }
        if self.spec.interval > 0 {
            while at >= self.spec.interval * MAX_WINDOWS as u64 {
                self.double(columns);
            }
            let interval = index(at.div_euclid(self.spec.interval));
            self.intervals.resize(self.intervals.len().max((interval + 1) * columns), 0);
            add_to_row(&mut self.intervals, interval, changes);
        }
    }

    fn double(&mut self, columns: usize) {
        self.spec.interval *= 2;
        let mut joined = vec![0; (self.intervals.len() / columns).div_ceil(2) * columns];
        for (row, changes) in self.intervals.chunks(columns).enumerate() {
            add_to_row(&mut joined, row / 2, changes);
        }
        self.intervals = joined;
    }

    pub(super) fn merge(&mut self, mut other: Self) {
        self.widen(other.spec.interval);
        other.widen(self.spec.interval);
        for (sums, values) in [
            (&mut self.totals, other.totals),
            (&mut self.tiles, other.tiles),
            (&mut self.intervals, other.intervals),
        ] {
            sums.resize(sums.len().max(values.len()), 0);
            add_to_row(sums, 0, &values);
        }
    }

    /// Joins pairs of intervals until they are `interval` cycles long: their current length times a power of two.
    pub fn widen(&mut self, interval: Cycle) {
        while self.spec.interval < interval {
            self.double(self.columns.len());
        }
    }

    /// Cycles per interval; 0 if nothing was recorded by interval.
    pub fn interval(&self) -> Cycle {
        self.spec.interval
    }

    /// Changes of the columns, one row per screen tile; no rows if no item belonged to a tile.
    pub fn tiles(&self) -> impl ExactSizeIterator<Item = &[u64]> {
        self.tiles.chunks(self.columns.len().max(1))
    }

    /// Whether all changes of each column belong to screen tiles.
    pub fn are_of_tiles(&self) -> Vec<bool> {
        let sum = |column: usize| self.tiles().map(|row| row[column]).sum::<u64>();
        let totals = self.totals.iter().enumerate();
        let mut all: Vec<_> = totals.map(|(column, total)| sum(column) == *total).collect();
        all.resize(self.columns.len(), true);
        all
    }

    /// Changes of the columns, one row per interval, up to the last interval with a change.
    pub fn intervals(&self) -> impl ExactSizeIterator<Item = &[u64]> {
        self.intervals.chunks(self.columns.len().max(1))
    }
}

fn add_to_row(rows: &mut [u64], row: usize, changes: &[u64]) {
    let first = row * changes.len();
    for (sum, change) in rows[first..].iter_mut().zip(changes) {
        *sum += change;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One count in each of the cycles 0, 10, 20, ..., 49,990: 5,000 intervals of 10 cycles exceed the limit of 4,096,
    /// so their length doubles once.
    #[test]
    fn intervals_double_and_lose_nothing() {
        let mut ledger = Ledger::default();
        let mark = ledger.mark(&0_u64, None);
        ledger.record(mark, &1_u64, None, None, 0);
        assert!(!ledger.records());
        ledger.start(LedgerSpec { tiles: 2, interval: 10 });
        let mut count = 0_u64;
        for at in (0..50_000).step_by(10) {
            let mark = ledger.mark(&count, Some(3 * count));
            count += 1;
            let tile = (at % 20 == 0).then_some(1);
            ledger.record(mark, &count, Some(3 * count), tile, at);
        }
        let record = ledger.take("unit", &count, Some("port")).unwrap();
        let names: Vec<_> = record.columns.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["unit.", "units.port.busy"]);
        assert_eq!(record.interval(), 20);
        assert_eq!(record.intervals().len(), 2_500);
        assert!(record.intervals().all(|row| row == [2, 6]));
        assert_eq!(record.tiles().collect::<Vec<_>>(), [[0, 0], [2_500, 7_500]]);
    }

    /// An item of tile 0 counts three; an item of tile 1 nested in it counts four, and an item of tile 2 in that five.
    #[test]
    fn changes_count_for_the_innermost_item_alone() {
        let mut ledger = Ledger::default();
        ledger.start(LedgerSpec { tiles: 3, interval: 0 });
        let [outer, inner, innermost] = [10_u64, 11, 13].map(|count| ledger.mark(&count, None));
        ledger.record(innermost, &18_u64, None, Some(2), 0);
        ledger.record(inner, &20_u64, None, Some(1), 0);
        ledger.record(outer, &22_u64, None, Some(0), 0);
        let record = ledger.take("unit", &22_u64, None).unwrap();
        assert_eq!(record.tiles().collect::<Vec<_>>(), [[3], [4], [5]]);
        assert_eq!(record.are_of_tiles(), [true]);
    }
}
