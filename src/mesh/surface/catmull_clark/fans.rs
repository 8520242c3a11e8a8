//! Fans: faces around a vertex, in order, as far as one can walk across edges.

use super::cage::{Cage, Edges, NO_FACE, index};

/// Faces around a vertex, each by its corner there, counter-clockwise.
#[derive(Debug, Clone)]
pub(super) struct Fan {
    pub(super) corners: Vec<u32>,
    /// Whether the last face meets the first.
    pub(super) is_closed: bool,
}

/// Walks around the vertices of a cage.
pub(super) struct Walks<'a> {
    cage: &'a Cage,
    edges: &'a Edges,
    face_of_corner: Vec<u32>,
    /// Corners of each vertex, and where they begin.
    at_vertex: Vec<u32>,
    starts: Vec<u32>,
}

impl<'a> Walks<'a> {
    pub(super) fn new(cage: &'a Cage, edges: &'a Edges) -> Self {
        let mut face_of_corner = vec![0; cage.corners.len()];
        for face in 0..cage.faces() {
            face_of_corner[cage.face(face)].fill(index(face));
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
        Self {
            cage,
            edges,
            face_of_corner,
            at_vertex,
            starts,
        }
    }

    /// The corners before and after `corner` in its face.
    pub(super) fn beside(&self, corner: u32) -> [usize; 2] {
        let face = self.face_of_corner[corner as usize];
        self.cage.beside(face as usize, corner as usize)
    }

    /// The corner across an edge from the corner that it starts from, if there is one.
    fn across(&self, corner: usize) -> Option<u32> {
        let sides = self.edges.sides[self.edges.of_corner[corner] as usize];
        let own = usize::from(sides[1] as usize == corner);
        let is_known = sides[own] as usize == corner && sides[1 - own] != NO_FACE;
        is_known.then_some(sides[1 - own])
    }

    /// The fans of a vertex, walking across edges that `may_cross`, in the order of their faces.
    pub(super) fn fans(&self, vertex: usize, may_cross: impl Fn(u32) -> bool) -> Vec<Fan> {
        let all = self.starts[vertex] as usize..self.starts[vertex + 1] as usize;
        let all = &self.at_vertex[all];
        let passable = |corner: usize| may_cross(self.edges.of_corner[corner]);
        let left = |corner: u32| {
            let [before, _] = self.beside(corner);
            passable(before).then(|| self.across(before)).flatten()
        };
        let right = |corner: u32| {
            let other = passable(corner as usize).then(|| self.across(corner as usize));
            other.flatten().map(|c| index(self.beside(c)[1]))
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

    /// For each vertex, whether fans of faces meet in it that share no edge there, one of them
    /// all around: no rule of the surface holds for both.
    pub(super) fn pinched(&self) -> Vec<bool> {
        let may_cross = |edge: u32| !self.edges.is_cut[edge as usize];
        let is_pinched = |vertex: usize| {
            let fans = self.fans(vertex, may_cross);
            fans.len() > 1 && fans.iter().any(|fan| fan.is_closed)
        };
        (0..self.cage.positions.len()).map(is_pinched).collect()
    }
}
