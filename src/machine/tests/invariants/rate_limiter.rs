//! Rate limiters: cycles of service at whole and rational rates.

use quadrille_machine::rate::Rate;
use quadrille_machine::rate_limiter::*;

#[test]
fn items_share_cycles_up_to_the_rate() {
    let mut limiter = RateLimiter::new(Rate::new(2, 1));
    let served: Vec<_> = [5, 5, 5, 6, 9].map(|t| limiter.serve(t)).into();
    assert_eq!(served, [5, 5, 6, 6, 9]);
    // One item in three cycles.
    let mut slow = RateLimiter::new(Rate::new(1, 3));
    assert_eq!([0, 0, 0, 100].map(|t| slow.serve(t)), [0, 3, 6, 100]);
    // Three items in two cycles.
    let mut mixed = RateLimiter::new(Rate::new(3, 2));
    assert_eq!([0; 7].map(|t| mixed.serve(t)), [0, 0, 1, 2, 2, 3, 4]);
    assert_eq!([mixed.serve_all(0, 3), mixed.serve_all(9, 4)], [6, 11]);
}

/// No rate drifts: after many items the cycle is the exact quotient.
#[test]
fn rates_are_exact() {
    for (items, cycles) in [(3, 1), (7, 3), (1, 3), (31, 32), (32, 5), (65_535, 65_534)] {
        let mut limiter = RateLimiter::new(Rate::new(items, cycles));
        let cycle_of = |item: u64| item * u64::from(cycles) / u64::from(items);
        for n in 0..100_000 {
            assert_eq!(limiter.serve(0), cycle_of(n), "{items}/{cycles}, item {n}");
            let (mut jumping, mut first) = (RateClock::new(Rate::new(items, cycles)), n / 3);
            jumping.pass(first);
            let mut batches = 0;
            while first < n && batches < 50 {
                batches += 1;
                let batch = jumping.left_in_cycle(n - first);
                assert!(batch > 0, "{items}/{cycles}, from item {first} of {n}");
                let (place, next) = ((items, cycles, first, batch, n), first + batch);
                assert_eq!(cycle_of(next - 1), cycle_of(first), "one cycle: {place:?}");
                let all = next == n || cycle_of(next) > cycle_of(first);
                assert!(all, "all that start in the cycle: {place:?}");
                jumping.pass(batch);
                assert_eq!(jumping.cycle(), cycle_of(next), "{place:?}");
                first = next;
            }
        }
    }
}
