//! Radix sort against the sort of the standard library.

use quadrille_deferred::backend::radix::*;
use quadrille_deferred::shading::spid::Spid;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Section 4.3 states "2.6 MB" for a tile and "144 MB" for a frame.
#[test]
fn sizes_are_the_published_ones() {
    let tile = 128 * 128 * 16;
    assert_eq!(value_bits(tile), 18);
    let mebibytes = |bits: u64| bits as f64 / 8.0 / f64::from(1 << 20);
    assert_eq!(mebibytes(buffer_bits(tile)), 2.5625);
    let frame = 1280 * 720 * 16;
    let frame_bits = frame * (buffer_bits(tile) / tile);
    assert!((mebibytes(frame_bits) - 144.1).abs() < 0.05);
    // The RGBA16F colours of the tile fit into the second buffer.
    assert!(64 * tile <= buffer_bits(tile) && mebibytes(64 * tile) == 2.0);
}

fn random_entries(count: u32, primitive: u32, morton: u32, seed: u64) -> Vec<SortEntry> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let entry = |value| SortEntry {
        spid: Spid {
            primitive: rng.random_range(0..=primitive),
            morton: rng.random_range(0..=morton),
        },
        value,
    };
    (0..count).map(entry).collect()
}

#[test]
fn order_is_that_of_a_stable_sort() {
    let mut sort = TileSort::new(true);
    for (seed, (primitive, morton, passes)) in (0..).zip([
        (0, 0, 0),
        (1, 0, 1),
        (0, 255, 1),
        (0, 256, 2),
        (200, 70_000, 4),
        (65_535, 65_535, 4),
        (u32::MAX, u32::MAX, 8),
    ]) {
        for count in [0, 1, 2, 63, 64, 65, 5000] {
            let mut entries = random_entries(count, primitive, morton, seed);
            if let Some(first) = entries.first_mut() {
                first.spid = Spid { primitive, morton };
            }
            let mut expected = entries.clone();
            expected.sort_by_key(|entry| entry.spid.key());
            let counters = sort.sort(&mut entries, 18);
            assert_eq!(entries, expected);
            let passes = if count == 0 { 0 } else { passes };
            // A tile without covered samples is not sorted, and does not lower the mean of the other tiles.
            let tiles = u64::from(passes > 0);
            assert_eq!((counters.tiles, counters.passes), (tiles, passes));
            assert!(counters.packed_bytes <= counters.raw_bytes);
        }
    }
}

#[test]
fn a_pass_reads_one_plane_and_moves_all() {
    let mut entries = random_entries(4096, 0xffff, 0xff_ffff, 7);
    let counters = TileSort::new(false).sort(&mut entries, 18);
    // Five planes and 18 bits: 1 + 2 * (5 + 2.25) bytes per entry and pass.
    assert_eq!((counters.passes, counters.identifiers), (5, 4096));
    assert_eq!(counters.raw_bytes * 2, 5 * 4096 * 31);
    assert_eq!(counters.packed_bytes, 0, "not measured");
}

#[test]
fn coherent_tiles_pack_well_and_random_ones_do_not() {
    let mut sort = TileSort::new(true);
    let share = |counters: SortCounters| counters.packed_bytes as f64 / counters.raw_bytes as f64;
    let mut random = random_entries(1 << 14, 0xffff, 0xffff, 1);
    assert!(share(sort.sort(&mut random, 18)) > 0.7);
    let coherent = |value: u32| SortEntry {
        spid: Spid { primitive: 7000 + value / 500, morton: value / 8 },
        value,
    };
    let mut coherent: Vec<SortEntry> = (0..1 << 14).map(coherent).collect();
    assert!(share(sort.sort(&mut coherent, 18)) < 0.35);
}
