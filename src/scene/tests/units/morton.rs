//! Tests of Morton codes and of the Morton order.

use super::*;

#[test]
fn bits_are_spaced_by_two() {
    for bit in 0..BITS {
        assert_eq!(spaced(1 << bit), 1 << (3 * bit));
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
