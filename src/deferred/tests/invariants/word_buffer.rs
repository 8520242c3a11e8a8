//! Buffers of words against plain arrays.

use quadrille_deferred::memory::bits::BLOCK_WORDS;
use quadrille_deferred::memory::codec::BlockFormat;
use quadrille_deferred::memory::spec::MemorySpec;
use quadrille_deferred::memory::word_buffer::*;

fn colours(cache_blocks: u64) -> WordBuffer {
    let spec = MemorySpec { colour_cache_bytes: 256 * cache_blocks, ..MemorySpec::default() };
    WordBuffer::new(&spec, BlockFormat::Rgba16F, 4 * BLOCK_WORDS, &[7, 8]).unwrap()
}

#[test]
fn samples_of_two_words_fill_two_blocks() {
    let mut buffer = colours(1);
    buffer.write(128, u64::MAX, |k| [k, k + 1]);
    assert_eq!(buffer.sample::<2>(126), [7, 8]);
    assert_eq!(buffer.sample::<2>(128 + 2 * 63), [63, 64]);
    // Both blocks are written as a whole: the first is evicted, and nothing is read.
    assert_eq!(buffer.traffic().read, 0);
    assert_eq!(buffer.traffic().raw, 256);
    buffer.write(128, 1, |_| [0, 0]);
    assert!(buffer.traffic().read > 0, "the rest of the block is needed");
    buffer.flush();
    let read = buffer.read_from_memory(0..4);
    assert_eq!((read.raw, read.write), (512, 0));
    let written = buffer.codecs();
    assert_eq!(written.offset + written.raw, 3);
}

#[test]
fn blending_reads_also_what_it_covers_wholly() {
    let mut buffer = colours(1);
    buffer.blend(0, u64::MAX, |_, [a, b]| [a + 1, b + 1]);
    assert_eq!(buffer.traffic().read, 0, "clear blocks");
    buffer.blend(0, u64::MAX >> 32, |_, [a, b]| [a + 1, b + 1]);
    assert_eq!(buffer.traffic().read, 64);
    assert_eq!((buffer.sample(0), buffer.sample(64)), ([9, 10], [8, 9]));
}

#[test]
fn masks_are_cut_at_blocks() {
    let spec = MemorySpec::default();
    let mut buffer = WordBuffer::new(&spec, BlockFormat::Identifiers, 256, &[0]).unwrap();
    buffer.write(60, 0xfff, |k| [k + 1]);
    let words: Vec<u32> = (59..73).map(|at| buffer.sample::<1>(at)[0]).collect();
    assert_eq!(words, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0]);
    assert_eq!((buffer.block_count(), buffer.block(1)[0]), (4, 5));
    buffer.flush();
    assert_eq!(buffer.traffic().write, 128);
}
