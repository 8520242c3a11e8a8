//! One contract for every unit, over whatever state it shares with others: nothing is lost, order
//! is kept, all of it comes out, twice the same; times follow from rates and latencies to the cycle;
//! a unit that is held up loses nothing, says so, and holds up what comes before it; and every cycle
//! is accounted for.

use std::collections::HashMap;
use std::fmt::Debug;

use quadrille::machine::stage::Link;
use quadrille::machine::stage::Sink;
use quadrille::machine::stage::Stage;
use quadrille::machine::timing::Activity;
use quadrille::machine::timing::Cycle;
use quadrille::machine::timing::StallReason;

use quadrille::machine::unit::{Unit, Visitor};

use super::gpu::Collector;

/// When the first item is offered: away from the edges of memory's windows at 0.
pub(crate) const FIRST: Cycle = 96;
/// Cycles between two items that a slow sink takes.
const SLOW: u64 = 16;

/// Items of a packet that may be neither lost nor doubled: the position in the picture, at which items keep
/// their order, and the splat.
pub(crate) type Trail = Vec<(u32, u32)>;

/// Tells what a packet that left is about, from the shared state.
pub(crate) type TrailOut<M, S> = Box<dyn Fn(&<S as Stage<M>>::Out, &M) -> Trail>;

/// What to try on a unit.
pub(crate) struct Contract<M, S: Stage<M>> {
    /// The shared state at the start.
    pub(crate) machine: Box<dyn Fn() -> M>,
    pub(crate) unit: Box<dyn Fn() -> S>,
    pub(crate) items: Vec<S::In>,
    pub(crate) trail_in: fn(&S::In) -> Trail,
    pub(crate) trail_out: TrailOut<M, S>,
    /// Things dropped or taken out of the pipeline for good, as the unit counts them.
    pub(crate) gone: fn(&S) -> u64,
    /// Cycles from an item's arrival in an empty unit until it is offered to the next.
    pub(crate) latency: u64,
    /// Whether the next unit can hold it up, and whether that holds up what comes before.
    pub(crate) blocks: Blocks,
}

/// Where the cycles of a unit's ports went.
pub(crate) fn activities(unit: &mut impl Unit) -> Vec<Activity> {
    struct Seen(Vec<Activity>);
    impl Visitor for Seen {
        fn activity(&mut self, _name: &'static str, activity: &mut Activity) {
            self.0.push(activity.clone());
        }
    }
    let mut seen = Seen(Vec::new());
    unit.visit(&mut seen);
    seen.0
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Blocks {
    /// The next unit's not taking is passed on.
    Through,
    /// Its input is not held up.
    OutputOnly,
    /// There is no next unit.
    Never,
}

/// Records of a run.
pub(crate) struct Trace<M, S: Stage<M>> {
    pub(crate) unit: S,
    pub(crate) entered: Vec<Cycle>,
    pub(crate) sink: Collector<S::Out>,
    pub(crate) machine: M,
}

impl<M, S: Stage<M> + Unit> Contract<M, S>
where
    S::In: Clone + Debug,
    S::Out: Debug,
{
    /// Offers `items`, each as soon as the one before has entered a queue of two.
    pub(crate) fn run(&self, items: &[S::In], every: u64) -> Trace<M, S> {
        let mut machine = (self.machine)();
        let mut link = Link::new(2, (self.unit)(), Collector::new(every));
        let mut at = FIRST;
        let mut entered = Vec::new();
        for item in items {
            at = link.offer(item.clone(), at, &mut machine);
            entered.push(at);
        }
        link.end(at, &mut machine);
        Trace { unit: link.stage, entered, sink: link.next, machine }
    }

    pub(crate) fn check(&self) {
        let free = self.run(&self.items, 0);
        self.nothing_is_lost(&free);
        self.order_is_kept(&free);
        self.times_follow(&free);
        let again = self.run(&self.items, 0);
        assert_eq!(free.entered, again.entered, "not the same twice");
        let (one, other) = (format!("{:?}", free.sink), format!("{:?}", again.sink));
        assert_eq!(one, other, "not the same twice");
        self.one_item_is_on_time();
        self.held_up(&free);
        self.cycles_add_up(free);
    }

    fn trails<'a>(&'a self, trace: &'a Trace<M, S>) -> impl Iterator<Item = Trail> + 'a {
        let trail = |out| (self.trail_out)(out, &trace.machine);
        trace.sink.values().map(trail)
    }

    pub(crate) fn nothing_is_lost(&self, trace: &Trace<M, S>) {
        let count = |trails: &mut dyn Iterator<Item = Trail>| {
            let mut counts: HashMap<(u32, u32), i64> = HashMap::new();
            for thing in trails.flatten() {
                *counts.entry(thing).or_default() += 1;
            }
            counts
        };
        let mut left = count(&mut self.items.iter().map(&self.trail_in));
        for (thing, number) in count(&mut self.trails(trace)) {
            *left.entry(thing).or_default() -= number;
        }
        let mut missing = 0;
        for (thing, number) in left {
            assert!(number >= 0, "{thing:?} came out of nothing");
            missing += number;
        }
        assert_eq!(missing.unsigned_abs(), (self.gone)(&trace.unit), "lost");
        assert!(trace.sink.ended.is_some(), "the end was not passed on");
    }

    pub(crate) fn order_is_kept(&self, trace: &Trace<M, S>) {
        let mut last: HashMap<u32, u32> = HashMap::new();
        for (place, splat) in self.trails(trace).flatten() {
            let before = last.insert(place, splat).unwrap_or(0);
            assert!(before <= splat, "{splat} overtook {before} at {place}");
        }
    }

    /// Offers come in order, none before its item could have passed; arrivals come in order.
    pub(crate) fn times_follow(&self, trace: &Trace<M, S>) {
        assert!(trace.entered.is_sorted());
        assert!(trace.sink.times().is_sorted(), "offers go back in time");
        for (item, offered, _) in &trace.sink.items {
            let splats = (self.trail_out)(item, &trace.machine);
            let Some(last) = splats.iter().map(|(_, splat)| splat).max() else {
                continue;
            };
            let holds = |i: &S::In| (self.trail_in)(i).iter().any(|(_, s)| s == last);
            let source = self.items.iter().position(holds).unwrap();
            // Coalescing units write first, then flush full bins.
            let least = trace.entered[source] + self.latency.min(577) - 1;
            assert!(*offered >= least, "{item:?} at {offered}, before {least}");
        }
        let last = trace.sink.items.last().map_or(0, |(_, _, taken)| *taken);
        assert!(trace.sink.ended >= Some(last), "ended before the last item");
    }

    /// Not ready a cycle before its latency has passed, ready then.
    pub(crate) fn one_item_is_on_time(&self) {
        let trace = self.run(&self.items[..1], 0);
        let ready = match self.blocks {
            Blocks::Never => trace.sink.ended.unwrap(),
            _ => trace.sink.times()[0],
        };
        assert_eq!(ready, FIRST + self.latency, "latency of one item");
    }

    pub(crate) fn held_up(&self, free: &Trace<M, S>) {
        if self.blocks == Blocks::Never {
            return;
        }
        let mut slow = self.run(&self.items, SLOW);
        self.nothing_is_lost(&slow);
        self.order_is_kept(&slow);
        self.times_follow(&slow);
        let taken = |trace: &Trace<M, S>| trace.sink.items.last().unwrap().2;
        assert!(taken(&slow) > taken(free), "the sink was not slow");
        let blocked = |trace: &mut Trace<M, S>| {
            activities(&mut trace.unit)
                .iter()
                .map(|a| a.idle[StallReason::Blocked as usize])
                .sum::<u64>()
        };
        assert!(blocked(&mut slow) > 0, "held up, and does not say so");
        if self.blocks == Blocks::Through {
            let last = self.items.len() - 1;
            assert!(
                slow.entered[last] > free.entered[last],
                "held up, and does not hold up what comes before"
            );
        }
        self.cycles_add_up(slow);
    }

    pub(crate) fn cycles_add_up(&self, mut trace: Trace<M, S>) {
        let end = trace.sink.ended.unwrap();
        for mut activity in activities(&mut trace.unit) {
            assert!(activity.total() <= end, "worked after the end");
            activity.idle_until(end, StallReason::Drained);
            assert_eq!(activity.busy + activity.idle.iter().sum::<u64>(), end);
        }
    }
}
