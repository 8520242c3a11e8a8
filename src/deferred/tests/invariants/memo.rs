//! Memo of shaded quads under random look-ups.

use quadrille_deferred::forward::memo::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

#[test]
fn the_least_recently_used_quad_makes_room() {
    let mut memo = Memo::new(Some(2));
    let mut evicted = Vec::new();
    for quad in [1, 2, 1, 3, 2] {
        memo.look_up((1, quad), || quad, |old| evicted.push(*old));
    }
    assert_eq!(evicted, [2, 1]);
    assert_eq!(memo.counters(), MemoCounters { hits: 1, misses: 4 });
    memo.clear(|old| evicted.push(*old));
    assert_eq!(evicted, [2, 1, 3, 2]);
    memo.look_up((1, 3), || 0, |_| unreachable!());
    assert_eq!(memo.counters().misses, 5);
}

/// An LRU memo holds all quads of a smaller LRU memo.
#[test]
fn misses_fall_with_the_size() {
    let mut rng = Pcg64::seed_from_u64(5);
    let quad = |number: u32| (number / 300, number / 60 % 16 + rng.random_range(0..12_u32));
    let quads: Vec<_> = (0..30_000).map(quad).collect();
    let misses = |capacity| {
        let mut memo = Memo::new(capacity);
        for quad in &quads {
            memo.look_up(*quad, || (), |()| ());
        }
        memo.counters().misses
    };
    let misses = [Some(0), Some(1), Some(4), Some(16), Some(64), Some(4096), None].map(misses);
    assert!(misses.is_sorted_by(|a, b| a >= b), "{misses:?}");
    assert_eq!(misses[0], misses[1], "at least one quad");
    let mut distinct = quads.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(misses[6], distinct.len() as u64);
    assert!(misses[1] > 4 * misses[6]);
}
