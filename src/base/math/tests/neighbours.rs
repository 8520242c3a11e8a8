//! Tests of the module `neighbours`.

use super::*;

#[test]
fn neighbours_are_those_of_a_full_search() {
    let hash = |v: u32| (v.wrapping_mul(0x9e37_79b9) >> 12) as f32 / 1_048_576.0;
    // Half of the points lie on a coarse grid, so that distances are equal and points coincide.
    let at = |row: u32, axis: u32| match row % 2 {
        0 => hash(row * 3 + axis),
        _ => (hash(row * 3 + axis) * 4.0).floor() / 4.0,
    };
    let columns = [0, 1, 2].map(|axis| (0..1500).map(|row| at(row, axis)).collect::<Vec<f32>>());
    let positions = (0..1500).map(|row| [0, 1, 2].map(|axis| f64::from(columns[axis][row])));
    let found =
        Neighbours::new(positions, [0.0; 3], &Task::NEVER)
            .of_all(6, &Task::NEVER, |_, nearest| nearest.to_vec());
    let found = found.unwrap();
    for (row, found) in found.iter().enumerate() {
        let mut all: Vec<(f32, u32)> = (0..1500u32)
            .filter(|other| *other as usize != row)
            .map(|other| {
                let offset = [0, 1, 2].map(|a| columns[a][row] - columns[a][other as usize]);
                (offset.iter().map(|v| v * v).sum(), other)
            })
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let found: Vec<(f32, u32)> = found.iter().map(|n| (n.distance_squared, n.row)).collect();
        let (farthest, _) = all[5];
        let nearer = all.partition_point(|(distance, _)| *distance < farthest);
        assert_eq!(found[..nearer], all[..nearer], "row {row}");
        assert!(found.is_sorted() && found.len() == 6, "row {row}");
        for at_farthest in &found[nearer..] {
            assert!(all[nearer..].contains(at_farthest), "row {row}");
        }
    }
}

#[test]
fn points_that_coincide_have_neighbours_of_their_own() {
    let rows = 40_000;
    let positions = std::iter::repeat_n([1.0, 2.0, 3.0], rows);
    let found =
        Neighbours::new(positions, [0.0; 3], &Task::NEVER)
            .of_all(6, &Task::NEVER, |_, nearest| nearest.to_vec());
    let found = found.unwrap();
    let mut neighbour_of = vec![0; rows];
    for neighbour in found.iter().flatten() {
        neighbour_of[neighbour.row as usize] += 1;
    }
    assert!(found.iter().all(|nearest| nearest.len() == 6));
    assert!(neighbour_of.iter().all(|count| *count < 100));
}

#[test]
fn few_points_have_few_neighbours() {
    let pair = [[0.0; 3], [1.0, 0.0, 0.0]].into_iter();
    let rows = |_, nearest: &[Neighbour]| nearest.iter().map(|n| n.row).collect::<Vec<u32>>();
    assert_eq!(
        Neighbours::new(pair, [0.0; 3], &Task::NEVER).of_all(4, &Task::NEVER, rows).unwrap(),
        [[1], [0]]
    );
    assert!(
        Neighbours::new(std::iter::empty(), [0.0; 3], &Task::NEVER)
            .of_all(4, &Task::NEVER, rows)
            .unwrap()
            .is_empty()
    );
}
