//! The buffer of vertex results, against entries worked out by hand.

use quadrille_gpu::geometry::vertex_buffer::{EntryBytes, VertexBuffer};

/// Warps of two splats in cycles 0, 10 and 20. Splat 1 is read last in cycle 15, after splat 2 in
/// cycle 12: in cycle 10 splats 1, 2 and 3 are live, in cycle 20 splats 3 to 5.
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
    // Splat 0 is read until cycle 25, so that nothing is freed in order before; out of order splats 1
    // and 2 are by cycle 20.
    buffer.keep_until(0, 25);
    let peaks = buffer.peaks();
    assert_eq!((peaks.live_splats, peaks.span_splats), (4, 6));
    assert_eq!((peaks.live_bytes, peaks.span_bytes), (640, 960));
}

/// Room for four splats, in warps of two. The third warp waits for the first two splats, of which the later
/// one is read last in cycle 15, and the fourth also for splat 2; a warp alone always has room.
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
