//! Decoded blocks equal their input, and sizes follow from the formats.

use quadrille_deferred::memory::bits::{BLOCK_WORDS, Block};
use quadrille_deferred::memory::codec::*;
use quadrille_deferred::memory::spec::MemorySpec;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const FORMATS: [BlockFormat; 5] = [
    BlockFormat::Identifiers,
    BlockFormat::Rgba8,
    BlockFormat::Rgba16F,
    BlockFormat::Depth24,
    BlockFormat::Depth32F,
];

/// Encodes and decodes a block; returns its size.
fn round_trip(block: &Block, format: BlockFormat, clear: u64) -> PackedSize {
    let spec = MemorySpec::default();
    let packed = PackedBlock::encode(&spec, block, format, clear);
    assert_eq!(packed.size, PackedSize::of(&spec, block, format, clear));
    assert!(packed.size.bytes <= 256 && packed.size.bits <= RAW_BITS);
    assert!(u64::from(packed.size.bits) <= 8 * packed.size.bytes);
    let clear_value = 7;
    let expected: Block = std::array::from_fn(|at| match clear >> at & 1 {
        0 => block[at],
        _ => clear_value,
    });
    let decoded = packed.decode(format, clear, clear_value);
    // A raw block of depths also holds clear samples, which the mask replaces.
    let decoded = std::array::from_fn(|at| match clear >> at & 1 {
        0 => decoded[at],
        _ => clear_value,
    });
    assert_eq!(expected, decoded, "{format:?} {:?}", packed.size);
    packed.size
}

/// Random block as buffers hold them: few or many distinct values, in one range or two.
fn random_block(rng: &mut Pcg64) -> Block {
    let mask = u32::MAX.checked_shr(32 - rng.random_range(0..=32_u32)).unwrap_or(0);
    let bases: [u32; 2] = [rng.random(), rng.random()];
    let palette: [u32; 8] = std::array::from_fn(|_| rng.random::<u32>() & mask);
    let kind = rng.random_range(0..4_u8);
    std::array::from_fn(|_| {
        let random: u32 = rng.random();
        match kind {
            0 => palette[(random % 8) as usize],
            1 => bases[0].wrapping_add(random & mask),
            2 => bases[(random >> 31) as usize].wrapping_add(random & mask),
            _ => random & mask,
        }
    })
}

#[test]
fn a_million_random_blocks_come_back() {
    let mut rng = Pcg64::seed_from_u64(1);
    let mut found = Vec::new();
    for round in 0..200_000 {
        let block = random_block(&mut rng);
        for format in FORMATS {
            let clear = match format {
                BlockFormat::Depth24 | BlockFormat::Depth32F if round % 2 == 1 => {
                    rng.random::<u64>() | rng.random::<u64>()
                }
                _ => 0,
            };
            let block = match format {
                BlockFormat::Depth24 => block.map(|word| word & 0xff_ffff),
                _ => block,
            };
            let codec = round_trip(&block, format, clear).codec;
            if !found.contains(&codec) {
                found.push(codec);
            }
        }
    }
    assert_eq!(found.len(), 5, "every codec is used: {found:?}");
}

#[test]
fn constant_blocks_take_one_transfer() {
    for format in FORMATS {
        for value in [0, 1, 0xff_ffff] {
            let size = round_trip(&[value; BLOCK_WORDS], format, 0);
            assert_eq!(size.bytes, 64, "{format:?} {value}");
        }
    }
    for format in [BlockFormat::Depth24, BlockFormat::Depth32F] {
        assert_eq!(round_trip(&[9; BLOCK_WORDS], format, u64::MAX).bytes, 0);
    }
}

/// Block of the values that `value` returns for 0 to 63.
fn block_of(value: impl FnMut(u32) -> u32) -> Block {
    let values: Vec<u32> = (0..64).map(value).collect();
    values.try_into().unwrap()
}

/// Sizes at which each codec needs one more transfer, derived from its format.
#[test]
fn sizes_follow_from_the_formats() {
    let bytes = |block: &Block, codec: Codec| {
        let size = round_trip(block, BlockFormat::Identifiers, 0);
        assert_eq!(size.codec, codec);
        size.bytes
    };
    // Two ranges, at the smallest and largest numbers, with distances of b bits.
    let ranges = |b: u32| {
        block_of(|at| {
            let distance = match at {
                0 | 1 => 0,
                2 | 3 => 1 << (b - 1),
                _ => (at * 0x0765_4321) & ((1 << b) - 1),
            };
            [distance, u32::MAX - distance][at as usize % 2]
        })
    };
    for (b, expected) in [(5, 64), (6, 128), (13, 128), (14, 192), (21, 192)] {
        assert_eq!(bytes(&ranges(b), Codec::MinMax), expected, "{b}");
    }
    // Prefix and fields, 9 entries and 64 indices: 48 + 9 * 32 + 64 * 4 bits.
    let few = block_of(|at| (at % 9) * 0x1999_9999);
    let size = round_trip(&few, BlockFormat::Identifiers, 0);
    assert_eq!((size.codec, size.bits), (Codec::Palette, 592));
    // 4 + 4 * 21 + 32 * 5 bits: one channel moves by up to 31.
    let colours = block_of(|at| match at % 2 {
        0 => 0x3c00_3800 + at / 2,
        _ => 0x3c00_3000,
    });
    let size = round_trip(&colours, BlockFormat::Rgba16F, 0);
    assert_eq!((size.codec, size.bits), (Codec::Offset, 248));
    // 53 + 32 * (1 + 0) bits: half of the samples are clear, the other half has two depths.
    let depths = block_of(|at| if at % 4 < 2 { 1000 } else { 0xff_0000 });
    let size = round_trip(&depths, BlockFormat::Depth24, 0xaaaa_aaaa_aaaa_aaaa);
    assert_eq!((size.codec, size.bits), (Codec::Depth, 85));
}
