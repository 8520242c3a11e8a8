//! Tests of the module `order`.

use super::*;

/// Checks the order of entries whose keys are a function of their slots.
fn sorted_alike(len: u32, key: impl Fn(u32) -> u32) {
    let entries: Vec<u64> =
        (0..len).map(|slot| u64::from(key(slot)) << 32 | u64::from(slot)).collect();
    let mut expected = entries.clone();
    expected.sort_unstable();
    for level in SimdLevel::all() {
        let mut sorted = entries.clone();
        Sorter::default().sort(level, &mut sorted);
        assert!(sorted == expected, "{len} entries on {}", level.name());
    }
}

#[test]
fn lists_of_any_length_and_any_keys_are_sorted() {
    for len in [0, 1, 2, 31, 32, 33, 64, 100, 200, 300, 600, 1000, 2000, 5000, 70_000] {
        sorted_alike(len, |slot| slot.wrapping_mul(0x9e37_79b9));
        sorted_alike(len, |slot| 0x4000_0000 + slot.wrapping_mul(0x9e37_79b9) % 1000);
        sorted_alike(len, |slot| 5000 - slot % 7);
        sorted_alike(len, |slot| u32::MAX - slot);
        sorted_alike(len, |_| 3);
        // All keys but one are close together.
        sorted_alike(len, |slot| if slot == 1 { u32::MAX } else { len - slot });
    }
}
