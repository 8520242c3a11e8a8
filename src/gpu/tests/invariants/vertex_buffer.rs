//! Occupancy of the buffer of vertex results, against values computed by hand.

use quadrille_gpu::geometry::vertex_buffer::{EntryBytes, VertexBuffer};

/// Warps of two splats are dispatched in cycles 0, 10 and 20. Splat 1 is read last in cycle 15, after splat 2 in cycle 12.
/// So splats 1, 2 and 3 are live in cycle 10, and splats 3 to 5 in cycle 20.
#[test]
fn entries_are_freed_when_they_were_read_last() {
    let entry = EntryBytes { positions: 64, attributes: 96 };
    let mut buffer = VertexBuffer::new(entry, None, 6);
    for (end, at) in [(2, 0), (4, 10), (6, 20)] {
        buffer.dispatch(end, at);
    }
    for (splat, at) in (0..).zip([5, 15, 12, 30, 40, 50]) {
        buffer.keep_until(splat, at);
    }
    let peaks = buffer.peaks();
    assert_eq!((peaks.live_splats, peaks.span_splats), (3, 3));
    // Splat 0 is read until cycle 25, so no entry is freed in order before; without order, splats 1 and 2 are free by cycle
    // 20.
    buffer.keep_until(0, 25);
    let peaks = buffer.peaks();
    assert_eq!((peaks.live_splats, peaks.span_splats), (4, 6));
    assert_eq!((peaks.live_bytes, peaks.span_bytes), (640, 960));
}

/// Room for four splats, in warps of two. The third warp waits for splats 0 and 1, the later of which is read last in cycle
/// 15, and the fourth also for splats 2 and 3. A buffer smaller than a warp holds one warp.
#[test]
fn entries_are_freed_in_order() {
    let mut buffer = VertexBuffer::new(EntryBytes::default(), Some(4), 8);
    for (splat, at) in (0..).zip([5, 15, 12, 30]) {
        buffer.keep_until(splat, at);
    }
    let leaves = [2, 4, 6, 8].map(|end| buffer.must_leave(end, 2));
    assert_eq!(leaves, [None, None, Some(1), Some(3)]);
    assert_eq!(
        (buffer.free_through(1), buffer.free_through(2), buffer.free_through(3)),
        (15, 15, 30)
    );
    assert_eq!(VertexBuffer::new(EntryBytes::default(), Some(1), 8).must_leave(4, 2), Some(1));
    assert_eq!(VertexBuffer::new(EntryBytes::default(), None, 8).must_leave(8, 2), None);
}
