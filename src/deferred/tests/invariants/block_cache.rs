//! Cache of blocks under random accesses.

use quadrille_deferred::memory::cache::*;
use quadrille_deferred::memory::traffic::BufferTraffic;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const BLOCKS: u32 = 200;

/// Random accesses near a moving position, like the accesses of a raster.
fn accesses() -> Vec<(u32, CacheAccess)> {
    let mut rng = Pcg64::seed_from_u64(3);
    let access = |number: u32| {
        let block = (number / 50 + rng.random_range(0..40_u32)) % BLOCKS;
        let access = match rng.random_range(0..4_u8) {
            0 => CacheAccess::WriteWhole,
            1 => CacheAccess::Write,
            _ => CacheAccess::Read,
        };
        (block, access)
    };
    (0..20_000).map(access).collect()
}

fn run(capacity: Capacity) -> BufferTraffic {
    let mut cache = BlockCache::new(capacity, BLOCKS);
    for (block, access) in accesses() {
        cache.access(block, access, |_| 64);
    }
    cache.flush(|_| 64);
    cache.flush(|_| unreachable!("nothing is dirty any more"));
    cache.traffic()
}

#[test]
fn misses_fall_with_the_size() {
    let sizes = [1, 2, 4, 8, 16, 32, 64, 128].map(|blocks| run(Capacity::Bytes(256 * blocks)));
    for pair in sizes.windows(2) {
        assert!(pair[1].bytes() <= pair[0].bytes() && pair[1].raw <= pair[0].raw);
    }
    assert!(sizes[0].bytes() > 10 * sizes[7].bytes());
    assert!(sizes.iter().all(|traffic| traffic.raw == 4 * traffic.bytes()));
}

#[test]
fn an_unbounded_cache_writes_each_dirty_block_once_and_reads_none() {
    let mut dirty: Vec<u32> = accesses()
        .into_iter()
        .filter_map(|(block, access)| (access != CacheAccess::Read).then_some(block))
        .collect();
    dirty.sort_unstable();
    dirty.dedup();
    let traffic = run(Capacity::Unbounded);
    assert_eq!((traffic.read, traffic.write), (0, 64 * dirty.len() as u64));
}

#[test]
fn clear_and_wholly_written_blocks_are_not_fetched() {
    let mut cache = BlockCache::new(Capacity::Bytes(256), 3);
    let read = |cache: &BlockCache| cache.traffic().read;
    cache.access(0, CacheAccess::Read, |_| unreachable!());
    cache.access(1, CacheAccess::Write, |_| unreachable!());
    assert_eq!(read(&cache), 0);
    // Block 1 is dirty and is written back packed; block 0 is still clear and needs no read.
    cache.access(0, CacheAccess::Write, |block| 128 + u64::from(block));
    assert_eq!((read(&cache), cache.traffic().write), (0, 129));
    cache.access(1, CacheAccess::WriteWhole, |_| 64);
    assert_eq!((read(&cache), cache.traffic().write), (0, 193));
    cache.access(0, CacheAccess::Read, |_| 192);
    assert_eq!(read(&cache), 64);
    cache.access(1, CacheAccess::Read, |_| unreachable!("block 0 is not dirty"));
    assert_eq!((read(&cache), cache.stored_bytes(1)), (256, 192));
}

#[test]
fn the_least_recently_used_block_leaves() {
    let mut cache = BlockCache::new(Capacity::Bytes(512), 4);
    for block in [0, 1, 0, 2] {
        cache.access(block, CacheAccess::Write, |block| {
            assert_eq!(block, 1);
            64
        });
    }
}
