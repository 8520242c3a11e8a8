//! Detection of surfaces whose backs are visible, in formats that do not state it.

use nalgebra::Vector3;

use super::mesh::{Corner, Mesh};
use crate::sets::Sets;

/// Volume relative to the sum of its parts that may be a rounding error, as for a sheet with two sides.
const ROUNDING: f64 = 1e-6;

/// Marks as two-sided the materials of surfaces whose backs may be seen.
///
/// A surface is a set of faces connected by positions. It is closed if its faces pass every edge equally often in both
/// directions: its backs cannot be seen from outside and need not be drawn. An open surface (a leaf, a sail, a cup of one
/// layer, faces with contradictory orientations) may be seen from either side, which OBJ and PLY cannot state. The same
/// holds for closed surfaces whose fronts are inside, as in a room or in a file with clockwise faces: all surfaces together
/// then enclose a negative volume, while a cavity is smaller than its surroundings.
pub(super) fn mark_two_sided(mesh: &mut Mesh) {
    let mut surfaces = Sets::new(mesh.positions.len());
    let faces = 0..mesh.faces();
    for face in faces.clone() {
        for pair in mesh.face(face).windows(2) {
            surfaces.join(pair[0].position, pair[1].position);
        }
    }
    // Per surface, the sum of its directed edges, each as a number that the opposite edge cancels. Edges of an
    // open surface cancel by accident with a probability of 2^-64.
    let mut sums = vec![0_u64; mesh.positions.len()];
    for face in faces.clone() {
        let corners = mesh.face(face);
        let surface = surfaces.of(corners[0].position);
        for (k, from) in corners.iter().enumerate() {
            let to = corners[(k + 1) % corners.len()];
            let sum = &mut sums[surface as usize];
            *sum = sum.wrapping_add(edge(from.position, to.position));
        }
    }
    let is_closed: Vec<bool> = faces
        .clone()
        .map(|face| sums[surfaces.of(mesh.face(face)[0].position) as usize] == 0)
        .collect();
    let are_inside_out = are_inside_out(mesh, &is_closed);
    for face in faces {
        if are_inside_out || !is_closed[face] {
            mesh.materials[mesh.face_materials[face] as usize].two_sided = true;
        }
    }
}

/// Tells for each position whether it lies on the rim of an open surface.
pub fn rims(mesh: &Mesh) -> Vec<bool> {
    // The directed edges at a position add up to 0 if each occurs in both directions.
    let mut sums = vec![0_u64; mesh.positions.len()];
    for face in 0..mesh.faces() {
        let corners = mesh.face(face);
        for (k, from) in corners.iter().enumerate() {
            let to = corners[(k + 1) % corners.len()];
            let number = edge(from.position, to.position);
            for end in [from, &to] {
                let sum = &mut sums[end.position as usize];
                *sum = sum.wrapping_add(number);
            }
        }
    }
    sums.into_iter().map(|sum| sum != 0).collect()
}

/// True if the closed surfaces together enclose a negative volume.
fn are_inside_out(mesh: &Mesh, is_closed: &[bool]) -> bool {
    let at = |place: u32| Vector3::from(mesh.positions[place as usize].map(f64::from));
    let Some(first) = mesh.corners.first() else { return false };
    // Coordinates relative to a vertex keep most digits of the volumes.
    let origin = at(first.position);
    let at = |corner: &Corner| at(corner.position) - origin;
    // Six times the signed and the absolute volumes of the tetrahedra from the origin to the triangles.
    let (mut volume, mut sizes) = (0.0, 0.0);
    for face in (0..mesh.faces()).filter(|&face| is_closed[face]) {
        let corners = mesh.face(face);
        let first = at(&corners[0]);
        for pair in corners[1..].windows(2) {
            let tetrahedron = first.dot(&at(&pair[0]).cross(&at(&pair[1])));
            volume += tetrahedron;
            sizes += f64::abs(tetrahedron);
        }
    }
    volume < -ROUNDING * sizes
}

/// Number of a directed edge. The numbers of opposite edges add up to 0 (modulo 2^64).
fn edge(from: u32, to: u32) -> u64 {
    let number = |low: u32, high: u32| scramble(u64::from(low) << 32 | u64::from(high));
    match from.cmp(&to) {
        std::cmp::Ordering::Less => number(from, to),
        std::cmp::Ordering::Equal => 0,
        std::cmp::Ordering::Greater => number(to, from).wrapping_neg(),
    }
}

/// Permutation of 64-bit numbers in which every bit depends on every other: the finalizer of `SplitMix64`
/// (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
fn scramble(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{Corner, Material, NONE};

    /// Tells for each face whether its material is two-sided. Every face has a material of its own.
    fn two_sided(positions: &[[f32; 3]], faces: &[&[u32]]) -> Vec<bool> {
        let mut mesh = Mesh {
            positions: positions.to_vec(),
            face_starts: vec![0],
            materials: vec![Material::default(); faces.len()],
            ..Mesh::default()
        };
        for (face, material) in faces.iter().zip(0..) {
            mesh.corners.extend(face.iter().map(|&position| Corner {
                position,
                uv: NONE,
                normal: NONE,
                colour: NONE,
            }));
            mesh.face_starts.push(u32::try_from(mesh.corners.len()).unwrap());
            mesh.face_materials.push(material);
        }
        mark_two_sided(&mut mesh);
        mesh.materials.iter().map(|m| m.two_sided).collect()
    }

    const TETRAHEDRON: [&[u32]; 4] = [&[0, 2, 1], &[0, 1, 3], &[1, 2, 3], &[2, 0, 3]];

    /// The corners of a tetrahedron, away from the origin.
    fn corners(size: f32) -> Vec<[f32; 3]> {
        let corners = [[0.0; 3], [size, 0.0, 0.0], [0.0, size, 0.0], [0.0, 0.0, size]];
        corners.map(|corner| corner.map(|c| c + 5.0)).to_vec()
    }

    /// A tetrahedron whose first vertex has this number, with its fronts inside.
    fn inside_out(first: u32) -> [[u32; 3]; 4] {
        TETRAHEDRON.map(|face| [first + face[2], first + face[1], first + face[0]])
    }

    #[test]
    fn only_open_surfaces_have_two_sides() {
        let mut positions = corners(1.0);
        assert_eq!(two_sided(&positions, &TETRAHEDRON), [false; 4]);
        assert_eq!(two_sided(&positions, &TETRAHEDRON[..3]), [true; 3]);
        let leaf: &[u32] = &[4, 5, 6];
        let mut both = TETRAHEDRON.to_vec();
        both.push(leaf);
        positions.extend([[0.0; 3], [1.0; 3], [0.0, 2.0, 0.0]]);
        assert_eq!(two_sided(&positions, &both), [false, false, false, false, true]);
    }

    #[test]
    fn a_face_turned_round_opens_its_surface() {
        let turned: [&[u32]; 4] = [&[0, 1, 2], &[0, 1, 3], &[1, 2, 3], &[2, 0, 3]];
        assert_eq!(two_sided(&corners(1.0), &turned), [true; 4]);
    }

    #[test]
    fn closed_surfaces_with_their_fronts_inside_have_two_sides() {
        let turned = inside_out(0);
        assert_eq!(two_sided(&corners(1.0), &turned.each_ref().map(|f| &f[..])), [true; 4]);
        // A cavity is seen from outside as little as any other back; an object in a room is seen from both sides.
        for (size, expected) in [(0.5, false), (2.0, true)] {
            let positions = [corners(1.0), corners(size)].concat();
            let other = inside_out(4);
            let faces = [TETRAHEDRON, other.each_ref().map(|f| &f[..])].concat();
            assert_eq!(two_sided(&positions, &faces), [expected; 8], "{size}");
        }
        // A sheet with two sides encloses no volume.
        assert_eq!(two_sided(&corners(1.0), &[&[1, 2, 3], &[3, 2, 1]]), [false; 2]);
    }
}
