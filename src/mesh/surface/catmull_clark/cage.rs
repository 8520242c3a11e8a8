//! Control cages: polygons, their edges and what is sharp.

use std::collections::HashMap;

use nalgebra::Vector3;

use crate::error::{Error, Result};
use crate::mesh::files::Mesh;

/// For an edge: no face.
pub(super) const NO_FACE: u32 = u32::MAX;

/// The face of a mesh that a face of its cage came from, and the corners that it kept.
pub(super) type Origin = (u32, Vec<u32>);

/// A polygon mesh, one step of subdivision.
#[derive(Debug, Clone, Default)]
pub(super) struct Cage {
    pub(super) positions: Vec<Vector3<f64>>,
    /// Vertices of all faces, face by face, counter-clockwise.
    pub(super) corners: Vec<u32>,
    /// Where each face's corners begin; one more entry than there are faces.
    pub(super) starts: Vec<u32>,
    /// Sharpness of edges by their ends, the lesser first; absent: 0.
    pub(super) sharp_edges: HashMap<[u32; 2], f32>,
    pub(super) sharp_vertices: Vec<f32>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Edges {
    /// For each corner of the cage: the edge to the next corner of its face.
    pub(super) of_corner: Vec<u32>,
    /// Ends of each edge, the lesser first.
    pub(super) ends: Vec<[u32; 2]>,
    /// The corners that each edge starts from, one on either side, or [`NO_FACE`].
    pub(super) sides: Vec<[u32; 2]>,
    /// Whether the surface ends or is cut apart there.
    pub(super) is_cut: Vec<bool>,
    /// Sharpness; infinite where cut.
    pub(super) sharpness: Vec<f32>,
}

/// Two numbers, the lesser first.
pub(super) fn ordered(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// `usize` of a small count as an index of this mesh; meshes of more than 2^32 are refused on entry.
pub(super) fn index(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl Cage {
    pub(super) fn faces(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Corners of a face, as indices into `corners`.
    pub(super) fn face(&self, face: usize) -> std::ops::Range<usize> {
        self.starts[face] as usize..self.starts[face + 1] as usize
    }

    /// The cage of `mesh` and, for each of its faces, the corners of `mesh` that it came from.
    /// Corners that repeat the one before are left out, and faces of fewer than three.
    pub(super) fn new(mesh: &Mesh) -> Result<(Self, Vec<Origin>)> {
        const MOST_CORNERS: u64 = 1 << 26;
        if mesh.corners.len() as u64 > MOST_CORNERS {
            return Err(Error::Limit {
                what: "corners of a subdivision cage".to_owned(),
                limit: MOST_CORNERS,
                found: mesh.corners.len() as u64,
            });
        }
        let mut cage = Self {
            positions: Vec::with_capacity(mesh.positions.len()),
            starts: vec![0],
            sharp_vertices: vec![0.0; mesh.positions.len()],
            ..Self::default()
        };
        for (number, position) in mesh.positions.iter().enumerate() {
            if !position.iter().all(|x| x.is_finite()) {
                let what = format!("position {number} of a subdivision cage");
                return Err(Error::argument(
                    what,
                    "finite numbers",
                    format!("{position:?}"),
                ));
            }
            cage.positions.push(Vector3::from(position.map(f64::from)));
        }
        let mut origins = Vec::with_capacity(mesh.faces());
        for face in 0..mesh.faces() {
            let kept = cage.kept_corners(mesh, face)?;
            if kept.len() < 3 {
                continue;
            }
            let vertices = kept.iter().map(|c| mesh.corners[*c as usize].position);
            cage.corners.extend(vertices);
            cage.starts.push(index(cage.corners.len()));
            origins.push((index(face), kept));
        }
        for crease in &mesh.creases {
            let [a, b] = crease.positions;
            let sharpness = cage.sharp_edges.entry(ordered(a, b)).or_default();
            *sharpness = sharpness.max(crease.sharpness);
        }
        for &(vertex, sharpness) in &mesh.sharp_corners {
            if let Some(slot) = cage.sharp_vertices.get_mut(vertex as usize) {
                *slot = slot.max(sharpness);
            }
        }
        Ok((cage, origins))
    }

    /// The corners of a face of `mesh` without those that repeat the one before.
    fn kept_corners(&self, mesh: &Mesh, face: usize) -> Result<Vec<u32>> {
        let first = mesh.face_starts[face];
        let corners = mesh.face(face);
        let count = corners.len();
        let differs = |i: usize| corners[i].position != corners[(i + count - 1) % count].position;
        let kept: Vec<u32> = (0..count)
            .filter(|i| differs(*i))
            .map(|i| first + index(i))
            .collect();
        let mut vertices: Vec<u32> = kept
            .iter()
            .map(|c| mesh.corners[*c as usize].position)
            .collect();
        vertices.sort_unstable();
        let repeats = vertices.windows(2).any(|pair| pair[0] == pair[1]);
        let outside = vertices
            .last()
            .is_some_and(|v| *v as usize >= self.positions.len());
        if repeats || outside {
            return Err(Error::argument(
                format!("face {face} of a subdivision cage"),
                "vertices that exist, each once",
                format!("{vertices:?}"),
            ));
        }
        Ok(kept)
    }

    /// The edges. Those with one face, with more than two, or with two that do not run against
    /// each other are cut apart: sharp for ever.
    pub(super) fn edges(&self) -> Edges {
        let mut numbers: HashMap<[u32; 2], u32> = HashMap::with_capacity(self.corners.len());
        let mut edges = Edges::default();
        for face in 0..self.faces() {
            let range = self.face(face);
            for corner in range {
                let [_, next] = self.beside(face, corner);
                let (from, to) = (self.corners[corner], self.corners[next]);
                let ends = ordered(from, to);
                let edge = *numbers.entry(ends).or_insert_with(|| {
                    edges.ends.push(ends);
                    edges.sides.push([NO_FACE; 2]);
                    edges.is_cut.push(false);
                    index(edges.ends.len() - 1)
                });
                edges.of_corner.push(edge);
                // The side is that of the direction, so that two faces of one direction collide.
                let side = &mut edges.sides[edge as usize][usize::from(from > to)];
                edges.is_cut[edge as usize] |= *side != NO_FACE;
                *side = index(corner);
            }
        }
        for (is_cut, sides) in edges.is_cut.iter_mut().zip(&edges.sides) {
            *is_cut |= sides.contains(&NO_FACE);
        }
        let sharpness = |(number, ends): (usize, &[u32; 2])| {
            if edges.is_cut[number] {
                f32::INFINITY
            } else {
                self.sharp_edges.get(ends).copied().unwrap_or(0.0)
            }
        };
        edges.sharpness = edges.ends.iter().enumerate().map(sharpness).collect();
        edges
    }

    /// The corner before `corner` and the one after it in its face, of which `face` is the number.
    pub(super) fn beside(&self, face: usize, corner: usize) -> [usize; 2] {
        let (start, count) = (self.face(face).start, self.face(face).len());
        let at = corner - start;
        [count - 1, 1].map(|steps| start + (at + steps) % count)
    }
}
