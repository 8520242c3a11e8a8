//! Tests of chunks of splats that are close together.

use super::*;
use crate::morton::morton_order;

fn error_of(raw: &RawColumns, order: &[u32]) -> f64 {
    let items = items(raw, &Task::NEVER).unwrap();
    let items: Vec<Item> = order.iter().map(|row| items[*row as usize]).collect();
    visible_error(&items, &Task::NEVER).unwrap()
}

/// One of two chunks of fine splats contains a far splat, which makes all splats of that chunk invisible.
#[test]
fn a_far_splat_spoils_its_chunk() {
    let mut raw = RawColumns::zeroed(2 * CHUNK_ROWS, 0);
    for row in 0..raw.rows() {
        raw.mean[0][row] = row as f64 * 0.01;
    }
    raw.scale.iter_mut().flatten().for_each(|log| *log = -3.0);
    let rows: Vec<u32> = (0..u32::try_from(raw.rows()).unwrap()).collect();
    let near = error_of(&raw, &rows);
    raw.mean[1][5] = 1e5;
    let found = error_of(&raw, &rows);
    let of_chunk = items(&raw, &Task::NEVER).unwrap();
    let of_chunk: f64 = of_chunk[..CHUNK_ROWS].iter().map(|item| f64::from(item.opacity)).sum();
    assert!(near < 0.01 * of_chunk && found > 0.9 * of_chunk, "{near} {found} {of_chunk}");
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
    let order = improved_chunk_order(&raw, &Task::NEVER).unwrap().unwrap();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..4146).collect::<Vec<u32>>());
    let morton = morton_order(&raw, &Task::NEVER).unwrap();
    assert!(error_of(&raw, &order) < error_of(&raw, &morton));
    // Splats at one place are blended in the order of the file.
    assert!(order.chunks(CHUNK_ROWS).all(<[u32]>::is_sorted));
    // An ordered table stays as it is.
    raw.select(&order, &Task::NEVER).unwrap();
    assert_eq!(improved_chunk_order(&raw, &Task::NEVER).unwrap(), None);
}

/// A file that is read and written again: its chunks could be smaller, but their positions are numbers of their grids.
#[test]
fn chunks_of_quantised_positions_stay() {
    let mut raw = RawColumns::zeroed(4 * CHUNK_ROWS, 0);
    for row in 0..raw.rows() {
        // Every chunk has splats at both ends of the scene.
        let end = if row % 2 == 0 { 0.0 } else { 1000.0 };
        for (axis, column) in raw.mean.iter_mut().enumerate() {
            let step = 1000.0 / f64::from(GRID[axis]);
            let number = (row % CHUNK_ROWS / 2) as f64 * step;
            column[row] = if end > 0.0 { end - number } else { number };
        }
    }
    raw.scale.iter_mut().flatten().for_each(|log| *log = -3.0);
    assert_eq!(improved_chunk_order(&raw, &Task::NEVER).unwrap(), None);
    raw.mean[1][700] += 0.5 * 1000.0 / f64::from(GRID[1]);
    assert!(improved_chunk_order(&raw, &Task::NEVER).unwrap().is_some());
}

/// Splats that are dense in the middle, with tails along some axes, as skies and floaters are.
#[test]
fn outliers_are_in_chunks_of_their_own() {
    let short = [(5, 300.0), (5, 300.0), (1, 1.0)];
    let long = [(9, 1e9), (3, 1e3), (1, 10.0)];
    let stored: Vec<u32> = (0..8192).collect();
    let improved = |raw: &RawColumns| {
        improved_chunk_order(raw, &Task::NEVER).unwrap().unwrap_or_else(|| stored.clone())
    };
    for tails in [short, long] {
        let mut raw = RawColumns::zeroed(8192, 0);
        for row in 0..8192_u32 {
            for (axis, (power, reach)) in (0_u32..).zip(tails) {
                let hash = (row * 3 + axis).wrapping_mul(0x9e37_79b9) >> 8;
                let v = f64::from(hash) / f64::from(1 << 23) - 1.0;
                raw.mean[axis as usize][row as usize] = v.powi(power) * reach;
            }
        }
        raw.scale.iter_mut().flatten().for_each(|log| *log = -3.0);
        let order = improved(&raw);
        let morton = morton_order(&raw, &Task::NEVER).unwrap();
        let [own, of_morton] = [&order, &morton].map(|order| error_of(&raw, order));
        assert!(own <= GOOD_RATIO * of_morton, "{tails:?}: {own} {of_morton}");
        // The unit of the scene does not matter.
        raw.mean.iter_mut().flatten().for_each(|v| *v *= 1024.0);
        raw.scale.iter_mut().flatten().for_each(|log| *log += 1024_f32.ln());
        let order = improved(&raw);
        let scaled = error_of(&raw, &order);
        assert!((scaled / own - 1.0).abs() < 0.01, "{tails:?}: {own} {scaled}");
    }
}
