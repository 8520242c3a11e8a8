//! Neighbours of the triangles of a grid.

use quadrille::geometry::grid::{NO_NEIGHBOUR, neighbours};

const NO: u16 = NO_NEIGHBOUR;

#[test]
fn two_triangles_of_a_square() {
    let found = neighbours(&[[0, 1, 2], [0, 2, 3]]);
    assert_eq!(found, [[NO, NO, 1], [0, NO, NO]]);
}

#[test]
fn three_faces_on_an_edge_join_nothing() {
    let found = neighbours(&[[0, 1, 2], [1, 0, 3], [1, 0, 4]]);
    assert_eq!(found, [[NO; 3]; 3]);
}

#[test]
fn a_moebius_strip_is_cut_where_it_turns() {
    // Five quads in a ring, the last joined to the first upside down.
    let mut triangles = Vec::new();
    for k in 0..5_u16 {
        let (a, b) = (2 * k, 2 * k + 1);
        let (c, d) = if k == 4 { (1, 0) } else { (2 * k + 2, 2 * k + 3) };
        triangles.extend([[a, c, b], [b, c, d]]);
    }
    let found = neighbours(&triangles);
    let joined: usize = found.iter().flatten().filter(|&&n| n != NO).count();
    // Five diagonals and four seams, from both sides; the fifth seam runs the same way twice.
    assert_eq!(joined, 2 * (5 + 4));
    for (triangle, around) in found.iter().enumerate() {
        for &other in around.iter().filter(|&&n| n != NO) {
            assert!(found[usize::from(other)].contains(&u16::try_from(triangle).unwrap()));
        }
    }
}

#[test]
fn a_bow_tie_and_an_edge_without_length() {
    assert_eq!(neighbours(&[[0, 1, 2], [0, 3, 4]]), [[NO; 3]; 2]);
    // A triangle whose corners coincide in two places has no third edge to share.
    assert_eq!(
        neighbours(&[[0, 0, 1], [1, 0, 2]]),
        [[NO; 3]; 2],
        "the edge 0-1 runs both ways in the first"
    );
}

#[test]
fn inside_out_is_as_connected() {
    let found = neighbours(&[[2, 1, 0], [3, 2, 0]]);
    assert_eq!(found.iter().flatten().filter(|&&n| n != NO).count(), 2);
}

#[test]
fn duplicated_positions_are_two_surfaces() {
    // The second triangle has its own copies: what the reader's weld is for.
    assert_eq!(neighbours(&[[0, 1, 2], [3, 5, 4]]), [[NO; 3]; 2]);
}
