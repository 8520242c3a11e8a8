//! Control cages: polygons, their edges, and the fans of faces around their vertices.

use std::collections::HashMap;

use nalgebra::Vector3;

use crate::files::Mesh;
use quadrille_base::error::{Error, Result};
use quadrille_base::math::fit;

const NO_FACE: u32 = u32::MAX;

/// Face of the mesh, and its corners that the cage keeps.
pub(super) type Origin = (u32, Vec<u32>);

#[derive(Debug, Clone, Default)]
pub(super) struct Cage {
    pub(super) positions: Vec<Vector3<f64>>,
    /// Vertices of all faces, face by face, counter-clockwise.
    pub(super) corners: Vec<u32>,
    pub(super) starts: Vec<u32>,
    /// Sharpness of edges by their ends, the lower one first. Edges of sharpness 0 are absent.
    pub(super) sharp_edges: HashMap<[u32; 2], f32>,
    pub(super) sharp_vertices: Vec<f32>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Edges {
    /// Edge from each corner to the next corner of its face.
    pub(super) of_corner: Vec<u32>,
    pub(super) ends: Vec<[u32; 2]>,
    /// Corners where the edge starts in the faces on either side, or [`NO_FACE`].
    sides: Vec<[u32; 2]>,
    pub(super) is_cut: Vec<bool>,
    /// Sharpness of each edge; infinite for cut edges.
    pub(super) sharpness: Vec<f32>,
}

pub(super) fn ordered(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

impl Cage {
    pub(super) fn faces(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    pub(super) fn face(&self, face: usize) -> std::ops::Range<usize> {
        self.starts[face] as usize..self.starts[face + 1] as usize
    }

    /// Creates the cage of `mesh`, and the origin of each face. Repeated corners, and faces with under three, are omitted.
    pub(super) fn new(mesh: &Mesh) -> Result<(Self, Vec<Origin>)> {
        const MOST_CORNERS: u64 = 1 << 26;
        let corners = mesh.corners.len() as u64;
        Error::check_limit("corners of a subdivision cage", MOST_CORNERS, corners)?;
        let mut cage = Self {
            positions: Vec::with_capacity(mesh.positions.len()),
            starts: vec![0],
            sharp_vertices: vec![0.0; mesh.positions.len()],
            ..Self::default()
        };
        for (number, position) in mesh.positions.iter().enumerate() {
            if !position.iter().all(|x| x.is_finite()) {
                let what = format!("position {number} of a subdivision cage");
                return Err(Error::argument(what, "finite numbers", format!("{position:?}")));
            }
            cage.positions.push(Vector3::from(position.map(f64::from)));
        }
        let mut origins = Vec::with_capacity(mesh.faces());
        for face in 0..mesh.faces() {
            let kept = cage.kept_corners(mesh, face)?;
            if kept.len() < 3 {
                continue;
            }
            cage.corners.extend(kept.iter().map(|c| mesh.corners[*c as usize].position));
            cage.starts.push(fit::<u32>(cage.corners.len()));
            origins.push((fit::<u32>(face), kept));
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

    fn kept_corners(&self, mesh: &Mesh, face: usize) -> Result<Vec<u32>> {
        let first = mesh.face_starts[face];
        let corners = mesh.face(face);
        let count = corners.len();
        let differs = |i: usize| corners[i].position != corners[(i + count - 1) % count].position;
        let kept = (0..count).filter(|i| differs(*i)).map(|i| first + fit::<u32>(i));
        let kept: Vec<u32> = kept.collect();
        let vertices: Vec<u32> = kept.iter().map(|c| mesh.corners[*c as usize].position).collect();
        let mut sorted = vertices.clone();
        sorted.sort_unstable();
        let repeats = sorted.windows(2).any(|pair| pair[0] == pair[1]);
        let last = sorted.last();
        if repeats || last.is_some_and(|v| *v as usize >= self.positions.len()) {
            let what = format!("face {face} of a subdivision cage");
            let found = format!("{vertices:?}");
            return Err(Error::argument(what, "vertices that exist, each once", found));
        }
        Ok(kept)
    }

    /// Computes the edges. Edges of one face, of over two faces, or of two with opposite orientations are cut.
    pub(super) fn edges(&self) -> Edges {
        let mut numbers: HashMap<[u32; 2], u32> = HashMap::with_capacity(self.corners.len());
        let mut edges = Edges::default();
        for face in 0..self.faces() {
            for corner in self.face(face) {
                let [_, next] = self.neighbours(face, corner);
                let (from, to) = (self.corners[corner], self.corners[next]);
                let ends = ordered(from, to);
                let edge = *numbers.entry(ends).or_insert_with(|| {
                    edges.ends.push(ends);
                    edges.sides.push([NO_FACE; 2]);
                    edges.is_cut.push(false);
                    fit::<u32>(edges.ends.len() - 1)
                });
                edges.of_corner.push(edge);
                // The direction selects the side, so that two faces that use an edge in one direction collide.
                let side = &mut edges.sides[edge as usize][usize::from(from > to)];
                edges.is_cut[edge as usize] |= *side != NO_FACE;
                *side = fit::<u32>(corner);
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

    pub(super) fn neighbours(&self, face: usize, corner: usize) -> [usize; 2] {
        let (start, count) = (self.face(face).start, self.face(face).len());
        let at = corner - start;
        [count - 1, 1].map(|steps| start + (at + steps) % count)
    }
}

/// Faces around a vertex that are connected across its edges, counter-clockwise, each as its corner at the vertex.
#[derive(Debug, Clone)]
pub(super) struct Fan {
    pub(super) corners: Vec<u32>,
    pub(super) is_closed: bool,
}

pub(super) struct FanFinder<'a> {
    cage: &'a Cage,
    edges: &'a Edges,
    face_of_corner: Vec<u32>,
    at_vertex: Vec<u32>,
    starts: Vec<u32>,
}

impl<'a> FanFinder<'a> {
    pub(super) fn new(cage: &'a Cage, edges: &'a Edges) -> Self {
        let mut face_of_corner = vec![0; cage.corners.len()];
        for face in 0..cage.faces() {
            face_of_corner[cage.face(face)].fill(fit::<u32>(face));
        }
        let mut starts = vec![0_u32; cage.positions.len() + 1];
        for &vertex in &cage.corners {
            starts[vertex as usize + 1] += 1;
        }
        for vertex in 1..starts.len() {
            starts[vertex] += starts[vertex - 1];
        }
        let mut next = starts.clone();
        let mut at_vertex = vec![0; cage.corners.len()];
        for (corner, &vertex) in (0_u32..).zip(&cage.corners) {
            let slot = &mut next[vertex as usize];
            at_vertex[*slot as usize] = corner;
            *slot += 1;
        }
        Self { cage, edges, face_of_corner, at_vertex, starts }
    }

    pub(super) fn neighbours(&self, corner: u32) -> [usize; 2] {
        self.cage.neighbours(self.face_of_corner[corner as usize] as usize, corner as usize)
    }

    fn across(&self, corner: usize) -> Option<u32> {
        let sides = self.edges.sides[self.edges.of_corner[corner] as usize];
        let own = usize::from(sides[1] as usize == corner);
        let is_known = sides[own] as usize == corner && sides[1 - own] != NO_FACE;
        is_known.then_some(sides[1 - own])
    }

    /// Fans of a vertex in the order of their faces. They cross the edges for which `may_cross` is true.
    pub(super) fn fans(&self, vertex: usize, may_cross: impl Fn(u32) -> bool) -> Vec<Fan> {
        let all = &self.at_vertex[self.starts[vertex] as usize..self.starts[vertex + 1] as usize];
        let passable = |corner: usize| may_cross(self.edges.of_corner[corner]);
        let left = |corner: u32| {
            let [before, _] = self.neighbours(corner);
            passable(before).then(|| self.across(before)).flatten()
        };
        let right = |corner: u32| {
            let other = passable(corner as usize).then(|| self.across(corner as usize));
            other.flatten().map(|c| fit::<u32>(self.neighbours(c)[1]))
        };
        let mut fans: Vec<Fan> = Vec::new();
        for &start in all {
            if fans.iter().any(|fan| fan.corners.contains(&start)) {
                continue;
            }
            let mut first = start;
            let mut is_closed = false;
            while let Some(next) = right(first) {
                first = next;
                if first == start {
                    is_closed = true;
                    break;
                }
            }
            let mut corners = vec![first];
            let mut at = first;
            while let Some(next) = left(at).filter(|next| *next != first) {
                corners.push(next);
                at = next;
            }
            fans.push(Fan { corners, is_closed });
        }
        fans
    }

    /// Tells for each vertex whether a closed fan shares it, but no edge, with another fan. No subdivision rule suits both.
    pub(super) fn pinched(&self) -> Vec<bool> {
        let may_cross = |edge: u32| !self.edges.is_cut[edge as usize];
        let is_pinched = |vertex: usize| {
            let fans = self.fans(vertex, may_cross);
            fans.len() > 1 && fans.iter().any(|fan| fan.is_closed)
        };
        (0..self.cage.positions.len()).map(is_pinched).collect()
    }
}
