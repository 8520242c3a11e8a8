//! L2 and DRAM: cycles of requests and bytes by client.

use quadrille_machine::memory::dram::DramSpec;
use quadrille_machine::memory::l2::L2Spec;
use quadrille_machine::memory::traffic::Client;
use quadrille_machine::memory::*;

/// At twice the clock, the same nanoseconds are twice the cycles, and the same GB/s half the bytes
/// per cycle.
#[test]
fn the_clock_of_the_units_leaves_memory_alone() {
    let cycles = |clock_mhz: f64| {
        let dram = DramSpec { gb_per_s: 60.0, latency_ns: 500.0 };
        let mut memory = Memory::new(&L2Spec::default(), &dram, clock_mhz, 1);
        let first = memory.read(Client::Colour, 0, 1, 0);
        memory.stream(Client::Vertex, 6_000_000, 0);
        let [_, dram] = &memory.units(1_000_000)[..] else { panic!("two units") };
        (first, dram.busy)
    };
    // 240 ns in the L2 and 500 ns behind it; 6,000,032 bytes at 100 and at 50 bytes per cycle.
    assert_eq!(cycles(600.0), (144 + 300, 60_001));
    assert_eq!(cycles(1200.0), (288 + 600, 120_001));
}

/// A dirty line counts for the client that wrote it, whichever client's data replaces it.
#[test]
fn write_backs_count_for_the_client_that_wrote() {
    let spec = L2Spec { bytes: 4096, ..L2Spec::default() };
    let mut memory = Memory::new(&spec, &DramSpec::default(), 612.0, 64);
    memory.keep_timelines(64);
    (0..32).for_each(|line| _ = memory.write(Client::Colour, line, 0b11, 0));
    (32..64).for_each(|line| _ = memory.read(Client::Depth, line, 1, 0));
    let traffic = memory.l2.traffic;
    assert_eq!(traffic.colour.dram_written_bytes, 32 * 64);
    assert_eq!(traffic.depth.dram_written_bytes, 0);
    assert_eq!(traffic.depth.dram_read_bytes, 32 * 32);
    // 3072 bytes at 167 per cycle; the timeline of DRAM holds all of them.
    let [_, dram] = &memory.units(1000)[..] else { panic!("two units") };
    assert_eq!(dram.busy, 19);
    let busy: u64 = dram.timeline.iter().flat_map(|t| &t.windows).map(|states| states[0]).sum();
    assert!((19..=21).contains(&busy), "{busy}");
}

/// The latencies are 146 and 367 cycles at 612 MHz. Neither a read nor a write of a sector makes its neighbour in
/// the line resident.
#[test]
fn sectors_of_a_line_are_fetched_one_by_one() {
    let mut memory = Memory::new(&L2Spec::default(), &DramSpec::default(), 612.0, 64);
    assert_eq!(memory.read(Client::Colour, 0, 0b0001, 0), 146 + 367);
    // The sector is in flight, so its data arrive no earlier for the second request.
    assert_eq!(memory.read(Client::Colour, 0, 0b0001, 100), 146 + 367);
    assert_eq!(memory.read(Client::Colour, 0, 0b0010, 100), 100 + 146 + 367);
    assert_eq!(memory.write(Client::Colour, 0, 0b0100, 1000), 1000);
    assert_eq!(memory.read(Client::Colour, 0, 0b0100, 2000), 2000 + 146);
    assert_eq!(memory.read(Client::Colour, 0, 0b1000, 2000), 2000 + 146 + 367);
    let counters = memory.l2.counters().cache;
    assert_eq!((counters.hits, counters.misses, counters.fetched), (2, 4, 3));
}

/// A sector that is written twice counts as 32 dirty bytes.
#[test]
fn dirty_bytes_are_those_of_the_mask() {
    let spec = L2Spec { bytes: 4096, ..L2Spec::default() };
    let mut memory = Memory::new(&spec, &DramSpec::default(), 612.0, 64);
    memory.write(Client::Colour, 0, 0b0001, 0);
    memory.write(Client::Colour, 0, 0b0001, 0);
    assert_eq!(memory.l2.counters().cache.dirty_at_end_bytes, 32);
    // Reads fill all other ways of the set and need one more.
    (1..=16).for_each(|n| _ = memory.read(Client::Colour, 2 * n, 1, 0));
    assert_eq!(memory.l2.traffic.colour.dram_written_bytes, 32);
    assert_eq!(memory.l2.counters().cache.dirty_at_end_bytes, 0);
}

#[test]
fn more_ways_than_lines_add_no_capacity() {
    let spec = L2Spec { bytes: 4096, ways: 1024, ..L2Spec::default() };
    let mut memory = Memory::new(&spec, &DramSpec::default(), 612.0, 64);
    for line in (0..64).chain(0..64) {
        memory.read(Client::Colour, line, 1, 0);
    }
    // Only 32 lines fit, so each line is evicted before it is read again.
    assert_eq!(memory.l2.counters().cache.misses, 128);
}

/// 200 bytes from address 100 lie in three lines, in one, four and two sectors. Data that pass the L2 leave no copy there: a
/// later read of their line misses.
#[test]
fn bytes_are_whole_sectors_of_their_lines() {
    let mut memory = Memory::new(&L2Spec::default(), &DramSpec::default(), 612.0, 8);
    let written = memory.write_bytes(Client::VertexResults, 100, 200, 0);
    let read = memory.read_bytes(Client::VertexResults, 100, 200, written);
    assert!(read >= written + memory.l2.latency());
    let traffic = memory.l2.traffic.vertex_results;
    assert_eq!([traffic.l2_written_bytes, traffic.l2_read_bytes], [7 * 32; 2]);
    assert_eq!(traffic.dram_bytes(), 0);
    memory.write_through(Client::Colour, 4, 256, 0);
    memory.read_through(Client::Colour, 4, 256, 0);
    memory.read_bytes(Client::Colour, 4 * 128, 32, 0);
    let colour = memory.l2.traffic.colour;
    assert_eq!([colour.dram_written_bytes, colour.dram_read_bytes], [256, 256 + 32]);
    assert_eq!(memory.dram.bytes(), 256 + 256 + 32);
}
