//! Tests of Morton codes, and of orders for formats with chunks.

use super::*;

#[test]
fn bits_are_spaced_by_two() {
    for bit in 0..BITS {
        assert_eq!(spaced(1 << bit), 1 << (3 * bit));
    }
}

/// For splats that are dense in the middle, compact chunks have the least error if tails are short and equal in two axes,
/// and the Morton order has it if tails are very long.
#[test]
fn chunks_are_ordered_by_what_shows() {
    let short = [(5, 300.0), (5, 300.0), (1, 1.0)];
    let long = [(9, 1e9), (3, 1e3), (1, 10.0)];
    for (tails, is_compact_best) in [(short, true), (long, false)] {
        let mut raw = RawColumns::zeroed(8192, 0);
        for row in 0..8192_u32 {
            for (axis, (power, reach)) in (0_u32..).zip(tails) {
                let hash = (row * 3 + axis).wrapping_mul(0x9e37_79b9) >> 8;
                let v = f64::from(hash) / f64::from(1 << 23) - 1.0;
                raw.mean[axis as usize][row as usize] = v.powi(power) * reach;
            }
        }
        raw.scale.iter_mut().flatten().for_each(|log| *log = -3.0);
        let order = improved_chunk_order(&raw, &Task::NEVER).unwrap().unwrap();
        let error = |order: &[u32]| visible_error(&raw, order, &Task::NEVER).unwrap();
        let compact = error(&chunk_order(&raw.mean, &Task::NEVER).unwrap());
        let morton = error(&morton_order(&raw, &Task::NEVER).unwrap());
        assert_eq!(compact < morton, is_compact_best, "{compact} {morton}");
        assert!(error(&order) <= compact.min(morton), "{tails:?}");
    }
}

#[test]
fn an_ordered_table_stays_as_it_is() {
    let mut raw = RawColumns::zeroed(4096, 0);
    for row in 0..4096u32 {
        // Scattered over a cube of 16 by 16 by 16.
        let cell = row.wrapping_mul(1541) % 4096;
        for (axis, column) in raw.mean.iter_mut().enumerate() {
            column[row as usize] = f64::from(cell >> (4 * axis) & 15);
        }
    }
    let improved = |raw: &RawColumns| improved_order(raw, &Task::NEVER).unwrap();
    let order = improved(&raw).expect("a scattered table");
    for column in &mut raw.mean {
        *column = order.iter().map(|row| column[*row as usize]).collect();
    }
    assert_eq!(improved(&raw), None);
    assert_eq!(morton_order(&raw, &Task::NEVER).unwrap(), (0..4096).collect::<Vec<_>>());
}
