//! Tests of chunks of splats that are close together.

use super::*;

/// One of two chunks of fine splats contains a far splat, which makes all splats of that chunk invisible.
#[test]
fn a_far_splat_spoils_its_chunk() {
    let mut raw = RawColumns::zeroed(2 * CHUNK_ROWS, 0);
    for row in 0..raw.rows() {
        raw.mean[0][row] = row as f64 * 0.01;
    }
    raw.scale.iter_mut().flatten().for_each(|log| *log = -3.0);
    let error = |raw: &RawColumns| {
        let rows: Vec<u32> = (0..u32::try_from(raw.rows()).unwrap()).collect();
        visible_error(raw, &rows, &Task::NEVER).unwrap()
    };
    let near = error(&raw);
    assert!(near < 1.0, "{near}");
    raw.mean[1][5] = 1e4;
    // The opacity is one half.
    let expected = 128.0 + near / 2.0;
    assert!((error(&raw) - expected).abs() < 1.0, "{}", error(&raw));
}

#[test]
fn chunks_are_compact() {
    // Chunks of 8 x 4 x 8 splats fill a box, and a few rows are left.
    let mut raw = RawColumns::zeroed(16 * 16 * 16 + 50, 0);
    for row in 0..raw.rows() {
        let cell = row * 1541 % 4096;
        for (axis, column) in raw.mean.iter_mut().enumerate() {
            column[row] = (cell >> (4 * axis) & 15) as f64;
        }
    }
    let order = chunk_order(&raw.mean, &Task::NEVER).unwrap();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..4146).collect::<Vec<u32>>());
    for chunk in order.chunks(CHUNK_ROWS) {
        let extents = raw.mean.each_ref().map(|column| {
            let values = || chunk.iter().map(|row| column[*row as usize]);
            values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min)
        });
        assert!(extents.iter().all(|extent| *extent <= 9.0), "{extents:?}");
    }
}
