use super::*;

/// A draw of splats in a tile, by scene index and depth, in ascending depth.
fn draw(splats: &[(u32, f32)]) -> Draw {
    let rectangles = vec![[0, 0, 4, 4]; splats.len()];
    let mut draw = Draw::rectangles(16, 16, &rectangles, [1.0; 3], 0.5);
    for (splat, (index, depth)) in draw.splats.iter_mut().zip(splats) {
        (splat.index, splat.depth) = (*index, *depth);
    }
    draw
}

fn lists(draw: &Draw) -> TileLists {
    TileLists::of_tiles(&[(0..draw.len()).collect()])
}

fn order(updated: &Updated, draw: &Draw) -> Vec<u32> {
    let numbers = updated.lists.tile(0).iter();
    numbers.map(|number| draw.splats[*number as usize].index).collect()
}

fn spec(chunk: u64) -> GscoreSpec {
    GscoreSpec { chunk, ..GscoreSpec::default() }
}

/// Four frames of a tile with chunks of two, by hand. All entries are read, so that depths are one frame old.
#[test]
fn an_order_follows_the_depths_of_the_frame_before() {
    let spec = spec(2);
    let first = draw(&[(10, 1.0), (11, 2.0), (12, 3.0), (13, 4.0)]);
    let kept = KeptOrder::first(&first, &lists(&first));
    // Splat 13 comes to the front: the table does not know it yet.
    let second = draw(&[(13, 0.5), (10, 1.0), (11, 2.0), (12, 3.0)]);
    let updated = kept.updated(&second, &lists(&second), &spec).unwrap();
    assert_eq!(order(&updated, &second), [10, 11, 12, 13]);
    let counts = updated.counted([4].into_iter());
    assert_eq!((counts.table_pairs, counts.incoming, counts.outgoing), (4, 0, 0));
    // One pair of neighbours is out of order: splat 13 behind splat 12. It has moved by three places, the others by one.
    assert_eq!((counts.inversions, counts.places_max, counts.places_p99), (1, 3, 3));
    // Shifted borders: chunks of 1, 2 and 1 pairs.
    assert_eq!(updated.sort.chunks, 3);
    let kept = updated.written(&second, [4].into_iter());
    // Its depth is known now. Chunks of two pairs move it by one place.
    let updated = kept.updated(&second, &lists(&second), &spec).unwrap();
    assert_eq!(order(&updated, &second), [10, 11, 13, 12]);
    let kept = updated.written(&second, [4].into_iter());
    let updated = kept.updated(&second, &lists(&second), &spec).unwrap();
    assert_eq!(order(&updated, &second), [10, 13, 11, 12]);
    let kept = updated.written(&second, [4].into_iter());
    let updated = kept.updated(&second, &lists(&second), &spec).unwrap();
    assert_eq!(order(&updated, &second), [13, 10, 11, 12]);
    let counts = updated.counted([4].into_iter());
    assert_eq!((counts.inversions, counts.places_max), (0, 0));
}

#[test]
fn splats_come_by_their_depth_and_leave() {
    let spec = spec(256);
    let first = draw(&[(1, 1.0), (2, 2.0), (3, 3.0)]);
    let kept = KeptOrder::first(&first, &lists(&first));
    let second = draw(&[(9, 0.5), (1, 1.0), (8, 1.5), (3, 3.0), (7, 4.0)]);
    let updated = kept.updated(&second, &lists(&second), &spec).unwrap();
    assert_eq!(order(&updated, &second), [9, 1, 8, 3, 7]);
    let counts = updated.counted([5].into_iter());
    assert_eq!((counts.incoming, counts.outgoing, counts.inversions), (3, 1, 0));
    // Three pairs of the table, three that have come, and a merge of the two that remain with these.
    assert_eq!((updated.sort.chunks, updated.sort.quick_sort), (2, 5));
}

/// Entries behind the last one that the tile reads keep the depth by which they were sorted.
#[test]
fn depths_of_entries_that_are_not_read_stay_old() {
    let spec = spec(256);
    let first = draw(&[(1, 1.0), (2, 2.0), (3, 3.0)]);
    let kept = KeptOrder::first(&first, &lists(&first));
    let second = draw(&[(3, 0.25), (2, 0.5), (1, 1.0)]);
    let updated = kept.updated(&second, &lists(&second), &spec).unwrap();
    assert_eq!(order(&updated, &second), [1, 2, 3]);
    let kept = updated.written(&second, [2].into_iter());
    let updated = kept.updated(&second, &lists(&second), &spec).unwrap();
    assert_eq!(order(&updated, &second), [2, 1, 3]);
}

#[test]
fn a_picture_of_another_size_begins_anew() {
    let first = draw(&[(1, 1.0)]);
    let kept = KeptOrder::first(&first, &lists(&first));
    let other = Draw::projected(Vec::new(), 32, 16);
    assert!(kept.updated(&other, &TileLists::of_tiles(&[vec![], vec![]]), &spec(2)).is_none());
}
