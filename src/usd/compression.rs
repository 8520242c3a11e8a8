//! LZ4 blocks and integers as differences, as binary layers store their tables.

use std::collections::HashMap;

use crate::bytes::Bytes;
use crate::layer::Fault;

/// Largest ratio of unpacked to packed size that LZ4 can reach.
const MAX_EXPANSION: usize = 255;

/// Unpacks LZ4 blocks to `most` bytes at most. The first byte is the number of blocks with a size of their own; 0 means that
/// one block follows.
pub(crate) fn unpack(packed: &[u8], most: usize) -> Result<Vec<u8>, Fault> {
    let wrong = |found: &dyn std::fmt::Display| Fault::new("LZ4", "a block of LZ4", found);
    let (blocks, rest) = packed.split_first().ok_or_else(|| wrong(&"nothing"))?;
    let block = |bytes: &[u8], most: usize| {
        let most = most.min(bytes.len().saturating_mul(MAX_EXPANSION));
        lz4_flex::block::decompress(bytes, most).map_err(|error| wrong(&error))
    };
    if *blocks == 0 {
        return block(rest, most);
    }
    let (mut unpacked, mut left) = (Vec::new(), Bytes::at(rest, 0));
    for _ in 0..*blocks {
        let size = left.u32()? as usize;
        unpacked.extend(block(left.take(size)?, most - unpacked.len())?);
    }
    Ok(unpacked)
}

/// Packs bytes as one block.
pub(crate) fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut packed = vec![0];
    packed.extend(lz4_flex::block::compress(bytes));
    packed
}

/// Unpacks `count` integers: the most common difference of neighbours, two bits per integer for the width of its difference
/// (0 for the common one, 1, 2, 4 bytes), and the other differences. The caller bounds `count`.
pub(crate) fn unpack_integers(packed: &[u8], count: usize) -> Result<Vec<i32>, Fault> {
    let widths = (2 * count).div_ceil(8);
    let unpacked = unpack(packed, 4 + widths + 4 * count)?;
    let mut bytes = Bytes::at(&unpacked, 0);
    let common = bytes.array().map(i32::from_le_bytes)?;
    let widths = bytes.take(widths)?;
    let (mut integers, mut last) = (Vec::with_capacity(count), 0_i32);
    for at in 0..count {
        let difference = match widths[at / 4] >> (2 * (at % 4)) & 3 {
            0 => common,
            1 => bytes.array().map(i8::from_le_bytes)?.into(),
            2 => bytes.array().map(i16::from_le_bytes)?.into(),
            _ => bytes.array().map(i32::from_le_bytes)?,
        };
        last = last.wrapping_add(difference);
        integers.push(last);
    }
    Ok(integers)
}

/// Inverse of [`unpack_integers`].
pub(crate) fn pack_integers(integers: &[i32]) -> Vec<u8> {
    let before = std::iter::once(0).chain(integers.iter().copied());
    let differences: Vec<i32> =
        integers.iter().zip(before).map(|(own, before)| own.wrapping_sub(before)).collect();
    let mut counts: HashMap<i32, usize> = HashMap::new();
    differences.iter().for_each(|difference| *counts.entry(*difference).or_default() += 1);
    let common = counts.into_iter().max_by_key(|(value, count)| (*count, *value));
    let common = common.map_or(0, |(value, _)| value);
    let mut widths = vec![0; (2 * differences.len()).div_ceil(8)];
    let mut values = Vec::new();
    for (at, difference) in differences.into_iter().enumerate() {
        let width = if difference == common {
            0
        } else if let Ok(small) = i8::try_from(difference) {
            values.extend(small.to_le_bytes());
            1
        } else if let Ok(middle) = i16::try_from(difference) {
            values.extend(middle.to_le_bytes());
            2
        } else {
            values.extend(difference.to_le_bytes());
            3
        };
        widths[at / 4] |= width << (2 * (at % 4));
    }
    pack(&[&common.to_le_bytes()[..], &widths, &values].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_all_widths_come_back() {
        let integers = [0, 1, 2, 3, -4, 300, 301, 70_000, i32::MAX, i32::MIN, 5, 6, 7];
        for len in 0..integers.len() {
            let packed = pack_integers(&integers[..len]);
            assert_eq!(unpack_integers(&packed, len).unwrap(), integers[..len]);
        }
    }
}
