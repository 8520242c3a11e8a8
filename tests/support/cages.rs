//! Control cages for tests.

use quadrille::geometry::files::Crease;
use quadrille::geometry::files::Mesh;

use super::mesh;

/// A mesh of faces without attributes.
pub(crate) fn mesh(positions: &[[f32; 3]], faces: &[Vec<u32>]) -> Mesh {
    mesh::mesh(positions.to_vec(), faces)
}

/// A cube of side 2 around the origin.
pub(crate) fn cube() -> Mesh {
    let positions: [[f32; 3]; 8] =
        std::array::from_fn(|i| [0, 1, 2].map(|axis| if i >> axis & 1 == 1 { 1.0 } else { -1.0 }));
    let faces =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    mesh(&positions, &faces.map(|f| f.to_vec()))
}

/// The cube with all of its edges of one sharpness.
pub(crate) fn creased_cube(sharpness: f32) -> Mesh {
    let mut cube = cube();
    for a in 0..8_u32 {
        for bit in 0..3 {
            let b = a | 1 << bit;
            if b != a {
                let positions = [a, b];
                cube.creases.push(Crease { positions, sharpness });
            }
        }
    }
    cube
}

/// Two cubes, one on the other, with the face between them extruded off the centre, a triangle pair
/// and a pentagon: vertices of three to six edges, faces of three to five corners.
pub(crate) fn odd_solid() -> Mesh {
    let positions = [
        [-1.0, -1.0, 0.0],
        [1.0, -1.0, 0.0],
        [1.0, 1.0, 0.0],
        [-1.0, 1.0, 0.0],
        [-1.0, -1.0, 1.0],
        [1.0, -1.0, 1.2],
        [1.0, 1.0, 1.0],
        [-1.0, 1.0, 0.8],
        [0.2, 0.1, 2.5],
        [0.0, -1.4, 0.5],
    ];
    let faces = [
        vec![3, 2, 1, 0],
        vec![1, 2, 6, 5],
        vec![2, 3, 7, 6],
        vec![3, 0, 4, 7],
        vec![0, 1, 9],
        vec![1, 5, 9],
        vec![5, 4, 9],
        vec![4, 0, 9],
        vec![4, 5, 8],
        vec![5, 6, 8],
        vec![6, 7, 8],
        vec![7, 4, 8],
    ];
    mesh(&positions, &faces)
}
