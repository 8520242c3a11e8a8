//! Streams of bit fields are read back as they were written.

use quadrille_deferred::memory::bits::*;

#[test]
fn widths_of_numbers() {
    assert_eq!([0, 1, 2, 255, 256].map(significant_bits), [0, 1, 2, 8, 9]);
    assert_eq!([1, 2, 3, 4, 5, 64].map(index_bits), [0, 1, 2, 2, 3, 6]);
    assert_eq!(significant_bits(u32::MAX), 32);
}

#[test]
fn fields_of_all_widths_come_back() {
    let fields = [(0, 0), (1, 1), (u32::MAX, 32), (5, 3), (0xdead_beef, 32), (9, 31)];
    let mut writer = BitWriter::default();
    for round in 0..17 {
        for (value, width) in fields {
            writer.put(value ^ (round << 1), width);
        }
    }
    assert_eq!(writer.bits(), 17 * 99);
    let words = writer.into_words();
    let mut reader = BitReader::new(&words);
    for round in 0..17_u32 {
        for (value, width) in fields {
            let kept = (1_u64 << width) - 1;
            let expected = u64::from(value ^ (round << 1)) & kept;
            assert_eq!(u64::from(reader.take(width)), expected);
        }
    }
}

#[test]
fn nothing_is_written_or_read_beyond_the_block() {
    let mut writer = BitWriter::default();
    (0..70).for_each(|_| writer.put(u32::MAX, 31));
    let words = writer.into_words();
    let mut reader = BitReader::new(&words);
    (0..66).for_each(|_| assert_eq!(reader.take(31), u32::MAX >> 1));
    assert_eq!(reader.take(31), 3);
    assert_eq!(reader.take(31), 0);
}
