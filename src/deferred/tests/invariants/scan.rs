//! Scan of sorted samples into shading quads.

use quadrille_deferred::backend::radix::SortEntry;
use quadrille_deferred::backend::scan::*;
use quadrille_deferred::shading::spid::Spid;

#[test]
fn every_covered_sample_is_in_one_list_and_primitives_ascend() {
    let points = [(2, [5, 5]), (1, [0, 0]), (1, [1, 1]), (1, [2, 0]), (2, [4, 5]), (0, [0, 0])];
    let mut entries: Vec<SortEntry> = points
        .into_iter()
        .zip(0..)
        .map(|((primitive, point), value)| SortEntry { spid: Spid::new(primitive, point), value })
        .collect();
    entries.sort_by_key(|entry| entry.spid);
    let found: Vec<_> = quads(&entries).collect();
    let shape: Vec<_> = found.iter().map(|q| (q.primitive, q.count)).collect();
    assert_eq!(shape, [(1, 2), (1, 1), (2, 2)]);
    let mut values: Vec<u32> =
        found.iter().flat_map(|q| q.entries(&entries)).map(|e| e.value).collect();
    values.sort_unstable();
    assert_eq!(values, [0, 1, 2, 3, 4]);
    assert_eq!(found[0].wanted(&entries), 0b1001);
    assert_eq!(found[2].wanted(&entries), 0b1100);
    assert_eq!(quads(&entries[..1]).count(), 0, "the background");
    assert_eq!(quads(&[]).count(), 0);
}
