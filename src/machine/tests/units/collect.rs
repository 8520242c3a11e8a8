//! Ports that limit a run, case by case.

use super::*;

/// A port of a run of 100 cycles that is busy in `busy` of them, for items that need `needed`, and otherwise idle for
/// `reason`.
fn port(name: &'static str, [busy, needed]: [u64; 2], reason: &str) -> UnitCycles {
    let waits = ["miss", "contended", "full"].contains(&reason);
    UnitCycles {
        name,
        kind: PortKind::Pipeline,
        instances: 1,
        busy,
        idle: vec![(reason.to_owned(), 100 - busy)],
        moved: 0,
        rate: None,
        holds_items: false,
        needed,
        busiest: needed + if waits { 100 - busy } else { 0 },
        timeline: None,
    }
}

fn named(units: &[UnitCycles]) -> Option<String> {
    UnitCycles::names(&UnitCycles::limiting(units))
}

/// The coarse raster emits two tiles per cycle and Hi-Z passes one: both are always busy.
#[test]
fn a_port_that_passes_partial_beats_does_not_limit() {
    let [coarse, crop] =
        [port("coarse", [99, 50], "drained"), port("crop", [60, 60], "starved by cores")];
    let hi_z = port("hi_z", [99, 99], "drained");
    assert_eq!(named(&[coarse, hi_z, crop]).as_deref(), Some("hi_z"));
}

/// Tile coalescing waits for bins in front of a slow output port, or a unit without an output port for room of its own.
#[test]
fn full_bins_count_for_the_port_that_empties_them() {
    let full = |holds_items| {
        let busiest = if holds_items { 50 } else { 100 };
        let unit = UnitCycles { holds_items, busiest, ..port("tc", [50, 50], "full") };
        named(&[unit, port("tc_out", [95, 95], "drained")])
    };
    assert_eq!(full(true).as_deref(), Some("tc_out"));
    assert_eq!(full(false).as_deref(), Some("tc, tc_out"));
}

/// Room for ten cycles is worth as much as faster ports where these work in 90, and nothing where they work in 99.
#[test]
fn a_storage_limits_if_its_room_is_worth_as_much_as_the_ports() {
    let with = |coarse: u64| {
        let storage = UnitCycles { kind: PortKind::Storage, ..port("buffer", [88, 0], "full") };
        let units = [storage, port("coarse", [coarse; 2], "starved by setup")];
        named(&[&units[..], &[port("crop", [80, 80], "starved by cores")]].concat())
    };
    assert_eq!(with(90).as_deref(), Some("buffer, coarse"));
    assert_eq!(with(99).as_deref(), Some("coarse"));
}

/// The fetch of positions holds up grids in 24 cycles, whatever the rate of CROP: twice this rate saves 10 cycles until the
/// grids limit, and more room saves the 6 in which CROP does not work.
#[test]
fn waits_for_room_remain_behind_faster_ports() {
    let storage = UnitCycles {
        kind: PortKind::Storage,
        idle: vec![("full".to_owned(), 24), ("unused".to_owned(), 76)],
        ..port("fetch", [0, 0], "")
    };
    let crop = || port("crop", [94, 94], "starved by cores");
    let grids = |busy| port("grids", [busy; 2], "blocked by setup");
    assert_eq!(named(&[grids(60), storage.clone(), crop()]).as_deref(), Some("fetch, crop"));
    assert_eq!(named(&[grids(30), storage, crop()]).as_deref(), Some("crop"));
}

/// Items that wait behind a port block it: its demand is that of its items.
#[test]
fn waits_behind_a_port_are_not_taken_from_its_demand() {
    let waits = Waits { name: "fetch", port: "tgc", reason: StallReason::Full, cycles: 20 };
    let demand = |reason| {
        let mut units = vec![port("tgc", [70, 70], reason)];
        waits.add_to(&mut units);
        units[0].busiest
    };
    assert_eq!(demand("blocked by setup"), 70);
    // All 30 waits of the port count for its demand, and 20 of them are waits for the storage.
    assert_eq!(demand("full"), 80);
}

/// Quad reordering, at work in two thirds of the cycles, holds up the test in front of it while the raster waits.
#[test]
fn a_port_that_holds_up_the_others_limits_too() {
    let units = |blocked: &str| {
        let zrop = port("zrop", [82, 50], blocked);
        let qru = port("qru", [67, 67], "starved by zrop");
        [port("coarse", [82, 82], "blocked by zrop"), zrop, qru]
    };
    assert_eq!(named(&units("blocked by qru")).as_deref(), Some("coarse, qru"));
    assert_eq!(named(&units("starved by coarse")).as_deref(), Some("coarse, zrop"));
}

/// Two instances share the work of a port unevenly: the busier one works in 90 of 100 cycles, both in 60 on average. A
/// storage of two instances holds up the draw in the waits of either.
#[test]
fn the_busiest_of_several_instances_limits() {
    let of_two = |cycles: UnitCycles| UnitCycles { instances: 2, ..cycles };
    let idle = |cycles: u64| vec![("starved by cores".to_owned(), cycles)];
    let even = UnitCycles { idle: idle(70), ..of_two(port("pack", [130, 65], "")) };
    let uneven = UnitCycles { idle: idle(80), busiest: 90, ..of_two(port("crop", [120, 60], "")) };
    assert_eq!(named(&[even.clone(), uneven]).as_deref(), Some("crop"));
    let waits = Waits { name: "fetch", port: "tgc", reason: StallReason::Full, cycles: 70 };
    let full = vec![("full".to_owned(), 70), ("starved by vpo".to_owned(), 90)];
    let mut units = vec![UnitCycles { idle: full, ..of_two(port("tgc", [40, 20], "")) }];
    waits.add_to(&mut units);
    assert_eq!(named(&units).as_deref(), Some("fetch"));
    // The instances wait in 45 of 100 cycles each, perhaps at the same time, and CROP works in 76.
    let storage = UnitCycles {
        kind: PortKind::Storage,
        idle: vec![("full".to_owned(), 90), ("unused".to_owned(), 110)],
        ..of_two(port("fetch", [0, 0], ""))
    };
    let crop = UnitCycles { idle: idle(80), busiest: 76, ..of_two(port("crop", [120, 60], "")) };
    assert_eq!(named(&[storage, crop]).as_deref(), Some("fetch, crop"));
}

/// Busy memory goes before the port that waits for it; in half of the cycles or less, nothing limits.
#[test]
fn memory_goes_before_ports_that_wait_for_it() {
    let crop = port("crop", [11, 11], StallReason::Miss.name());
    let dram = |busy| UnitCycles { kind: PortKind::Memory, ..port("dram", [busy, busy], "unused") };
    assert_eq!(named(&[crop.clone(), dram(97)]).as_deref(), Some("dram"));
    assert_eq!(named(&[crop, dram(40)]).as_deref(), Some("crop"));
    assert_eq!(named(&[dram(40)]), None);
}
