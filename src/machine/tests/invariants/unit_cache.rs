//! Caches of units: write buffer, lines in use, write-back.

use quadrille_machine::memory::Memory;
use quadrille_machine::memory::dram::DramSpec;
use quadrille_machine::memory::l2::L2Spec;
use quadrille_machine::memory::traffic::Client;
use quadrille_machine::memory::unit_cache::*;

/// All sectors of a line.
const WHOLE_LINE: u8 = 0b1111;

/// Cache of one line in front of an L2 that moves a byte per cycle.
fn one_line(write_buffer: u64) -> (UnitCache, Memory) {
    let spec = UnitCacheSpec {
        client: Client::Colour,
        bytes: 128,
        ways: 1,
        l2_bytes_per_cycle: 4096,
        write_buffer,
        fast_clear: true,
    };
    let l2 = L2Spec { slices: 1, slice_bytes_per_cycle: 1, ..L2Spec::default() };
    let memory = Memory::new(&l2, &DramSpec::default(), 612.0, 8);
    (UnitCache::new(&spec, 0..8), memory)
}

/// Line 0 enters the buffer in cycle 10, and its 128 bytes have passed the port of the L2 in cycle 127. Line 1 enters
/// in cycle 20 if the buffer holds two lines, otherwise when line 0 has left.
#[test]
fn a_full_write_buffer_holds_the_fill_that_evicts() {
    for (places, ready) in [(1, 127), (2, 20)] {
        let (mut cache, mut memory) = one_line(places);
        let mut write = |line, at| cache.access(line, WHOLE_LINE, true, at, &mut memory).1;
        assert_eq!([write(0, 0), write(1, 10), write(2, 20)], [0, 10, ready]);
        assert!(memory.writes_done() == 256);
    }
}

/// An access during the use of the line waits for the end of the use; an access from before it, made later since
/// requests come out of time order, does not.
#[test]
fn a_line_in_use_is_not_evicted() {
    for (at, ready) in [(60, 80), (90, 90), (40, 40)] {
        let (mut cache, mut memory) = one_line(1);
        let (slot, _) = cache.access(0, 1, false, 50, &mut memory);
        cache.used(slot, 80);
        assert_eq!(cache.access(1, 1, false, at, &mut memory).1, ready);
    }
}

/// Two lines of 128 dirty bytes each pass the port of the L2, a byte per cycle, in cycles 304 to 559.
/// They stay resident: nothing is fetched when they are read again, and nothing is dirty.
#[test]
fn lines_that_are_written_back_stay_resident() {
    let (_, mut memory) = one_line(4);
    let spec = UnitCacheSpec {
        client: Client::Colour,
        bytes: 256,
        ways: 2,
        l2_bytes_per_cycle: 4096,
        write_buffer: 4,
        fast_clear: true,
    };
    let mut cache = UnitCache::new(&spec, 0..8);
    for line in [5, 2] {
        cache.access(line, WHOLE_LINE, true, 0, &mut memory);
    }
    assert_eq!(cache.write_back_all(304, &mut memory), 559);
    assert_eq!(cache.write_back_all(600, &mut memory), 600);
    cache.access(5, WHOLE_LINE, false, 700, &mut memory);
    let counters = cache.counters();
    assert_eq!((counters.fetched, counters.written_back), (0, 8));
    assert_eq!(counters.dirty_at_end_bytes, 0);
}

/// After a sector was written back, a read fetches this sector and no other of its line.
#[test]
fn a_miss_fetches_the_sector_alone() {
    let (mut cache, mut memory) = one_line(4);
    cache.access(0, 0b0001, true, 0, &mut memory);
    cache.access(1, 0b0001, true, 1000, &mut memory);
    cache.access(0, 0b0011, false, 2000, &mut memory);
    assert_eq!(memory.l2.counters().read_bytes, 32);
    let counters = cache.counters();
    assert_eq!((counters.fetched, counters.misses), (1, 4));
    assert_eq!(counters.dirty_at_end_bytes, 0);
}
