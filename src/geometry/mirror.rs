//! Mirror symmetry of the points of a mesh.

use nalgebra::Vector3;

use super::files::bounds;
use quadrille_base::math::whole;

/// Cells along the diagonal of the bounding box of a mesh (assumed).
const CELLS: usize = 64;
/// Cells per axis of the grid, with one more on either side.
const SIDE: usize = CELLS + 3;
/// Least share of mirrored cells for which a mesh counts as symmetric (assumed).
pub(super) const MIRRORED: f64 = 0.9;

/// Share of filled cells whose mirror image along the unit vector `across`, or a neighbouring cell, is filled too.
pub(super) fn mirrored_share(points: &[[f32; 3]], across: Vector3<f64>) -> f64 {
    let [least, most] = bounds(points).map(|corner| Vector3::from(corner.map(f64::from)));
    let (middle, diagonal) = ((least + most) / 2.0, (most - least).norm());
    let [mut filled, mut mirrored] = [(); 2].map(|()| vec![false; SIDE.pow(3)]);
    for point in points {
        let offset = (Vector3::from(point.map(f64::from)) - middle) / diagonal;
        filled[cell(offset)] = true;
        mirrored[cell(offset - across * (2.0 * across.dot(&offset)))] = true;
    }
    let cells = (0..filled.len()).filter(|&at| filled[at]);
    cells.clone().filter(|&at| is_near_filled(&mirrored, at)).count() as f64 / cells.count() as f64
}

fn is_near_filled(filled: &[bool], at: usize) -> bool {
    let rows = [0, SIDE, 2 * SIDE].map(|y| [0, SIDE * SIDE, 2 * SIDE * SIDE].map(|z| y + z));
    // The first of the 27 neighbouring cells. A layer of empty cells on every side keeps them in the grid.
    let first = at.saturating_sub(SIDE * SIDE + SIDE + 1);
    let mut starts = rows.as_flattened().iter().map(|row| first + row);
    starts.any(|start| filled[start..start + 3].contains(&true))
}

/// Cell of an offset from the middle of a bounding box with diagonal 1.
fn cell(offset: Vector3<f64>) -> usize {
    let half = (CELLS / 2) as f64;
    // Halves are rounded away from zero, so that the cells of mirror images are mirror images.
    let [x, y, z] =
        <[f64; 3]>::from(offset * (2.0 * half)).map(|c| whole::<usize>(c.round() + half) + 1);
    (z * SIDE + y) * SIDE + x
}
