//! Depth buffer against contents worked out by hand.

use quadrille_deferred::hits::Hit;
use quadrille_deferred::memory::depth_buffer::{DepthBlocks, DepthFormat, DepthRule};
use quadrille_deferred::memory::spec::MemorySpec;

fn buffer(samples: usize) -> DepthBlocks {
    DepthBlocks::new(&MemorySpec::default(), DepthFormat::D24, samples).unwrap()
}

fn hits(depths: &[f32]) -> Vec<Hit> {
    let hit = |&depth| Hit { depth, morton: 0 };
    depths.iter().map(hit).collect()
}

#[test]
fn hits_pass_where_they_are_nearer() {
    let mut buffer = buffer(64);
    let near = hits(&[0.5, 0.25]);
    assert_eq!(buffer.test(0, 0b1010, &near, DepthRule::Nearer), 0b1010);
    let more = hits(&[0.1, 0.5, 0.1, 0.3]);
    let found = buffer.test(0, 0b1111, &more, DepthRule::NearerWithoutWrite);
    assert_eq!(found, 0b1101 & !0b10);
    assert_eq!(buffer.test(0, 0b1111, &more, DepthRule::Nearer), 0b1101);
    assert_eq!(buffer.test(0, 0b1111, &more, DepthRule::Nearer), 0);
    assert_eq!(buffer.test(0, 0b1111, &more, DepthRule::Equal), 0b1111);
    assert_eq!((buffer.depth(1), buffer.depth(3), buffer.depth(4)), (0.5, 0.3, 0.0));
}

/// The samples of a block of pixels may lie in two blocks of memory.
#[test]
fn blocks_of_three_samples_per_pixel_straddle() {
    let mut buffer = buffer(12 * 6);
    let twelve = hits(&[0.5; 12]);
    let all = (1 << 12) - 1;
    assert_eq!(buffer.test(60, all, &twelve, DepthRule::Nearer), all);
    assert_eq!(buffer.test(60, 0b11_0000_1000, &twelve[..3], DepthRule::Equal), 0b11_0000_1000);
    assert_eq!(buffer.test(48, all, &twelve, DepthRule::Equal), 0);
    assert_eq!((buffer.depth(59), buffer.depth(60), buffer.depth(71)), (0.0, 0.5, 0.5));
    buffer.flush();
    assert_eq!(buffer.traffic().write, 128);
}

#[test]
fn hidden_hits_and_clear_blocks_read_no_depths() {
    // The cache has one block, so that every other block evicts it.
    let spec = MemorySpec { depth_cache_bytes: 256, ..MemorySpec::default() };
    let mut buffer = DepthBlocks::new(&spec, DepthFormat::D24, 128).unwrap();
    let full = hits(&[0.5; 64]);
    for first in [0, 64] {
        assert_eq!(buffer.test(first, u64::MAX, &full, DepthRule::Nearer), u64::MAX);
    }
    assert_eq!((buffer.traffic().read, buffer.traffic().write), (0, 64));
    assert_eq!(buffer.test(0, 1, &hits(&[0.4]), DepthRule::Nearer), 0);
    assert_eq!(buffer.test(0, 1, &hits(&[0.4]), DepthRule::Equal), 0);
    assert_eq!(buffer.traffic().read, 0, "the header answers");
    assert_eq!(buffer.test(0, 1, &hits(&[0.6]), DepthRule::Nearer), 1);
    assert_eq!((buffer.traffic().read, buffer.traffic().write), (64, 128));
    buffer.flush();
    assert_eq!(buffer.header_traffic().write, 64);
}
