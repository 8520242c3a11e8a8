//! From a cage of quads to bicubic Bezier patches: exact where the cage is regular, elsewhere after
//! Loop and Schaefer 2008 ("Approximating Catmull-Clark Subdivision Surfaces with Bicubic
//! Patches", section 3) for inner control points and Loop, Schaefer, Ni and Castano 2009
//! ("Approximating Subdivision Surfaces with Gregory Patches for Hardware Tessellation",
//! section 3) for those of the edges, which makes points and normals at corners exact.

use std::f64::consts::{PI, TAU};

use nalgebra::Vector3;

use super::cage::{Cage, Edges, index};
use super::fans::{Fan, Walks};
use super::refine::{Rule, Rules};
use crate::math::narrow;
use crate::mesh::surface::cubic::Cubic;

/// Control points by the corner of the face that they lie next to.
pub(super) struct ControlPoints {
    vertices: Vec<Vector3<f64>>,
    /// On the edge to the next corner of the face.
    onwards: Vec<Vector3<f64>>,
    /// On the edge to the corner before.
    backwards: Vec<Vector3<f64>>,
    inner: Vec<Vector3<f64>>,
    /// Which vertices have one normal, the same in all faces around.
    pub(super) is_smooth: Vec<bool>,
}

/// What the control points next to a corner are made from.
struct CornerVertices {
    here: Vector3<f64>,
    onwards: Vector3<f64>,
    opposite: Vector3<f64>,
    backwards: Vector3<f64>,
}

impl CornerVertices {
    /// The inner control point, for a vertex of `n` edges (Loop and Schaefer 2008, section 3.1).
    fn inner(&self, n: f64) -> Vector3<f64> {
        (self.here * n + (self.onwards + self.backwards) * 2.0 + self.opposite) / (n + 5.0)
    }
}

impl ControlPoints {
    /// The control points of a cage of quads. Sharp edges are taken as sharp for ever.
    pub(super) fn new(cage: &Cage, edges: &Edges, rules: &Rules, walks: &Walks) -> Self {
        let none = vec![Vector3::zeros(); cage.corners.len()];
        let mut points = Self {
            vertices: cage.positions.clone(),
            onwards: none.clone(),
            backwards: none.clone(),
            inner: none,
            is_smooth: vec![false; cage.positions.len()],
        };
        let around = |corner: u32| {
            let [before, after] = walks.beside(corner);
            let [opposite, _] = walks.beside(index(before));
            let at = |corner: usize| cage.positions[cage.corners[corner] as usize];
            CornerVertices {
                here: at(corner as usize),
                onwards: at(after),
                opposite: at(opposite),
                backwards: at(before),
            }
        };
        for vertex in 0..cage.positions.len() {
            let rule = rules.0[vertex].0;
            if rule == Rule::Smooth {
                let fans = walks.fans(vertex, |edge| !edges.is_cut[edge as usize]);
                if let [fan] = fans.as_slice()
                    && fan.is_closed
                {
                    points.smooth(vertex, fan, &around);
                    continue;
                }
            }
            if let Rule::Crease([a, b]) = rule {
                let ends = cage.positions[a as usize] + cage.positions[b as usize];
                points.vertices[vertex] = (ends + cage.positions[vertex] * 4.0) / 6.0;
            }
            let is_crease = matches!(rule, Rule::Crease(_));
            for fan in walks.fans(vertex, |edge| edges.sharpness[edge as usize] == 0.0) {
                points.sector(&fan, is_crease, &around);
            }
        }
        points
    }

    /// The points around a vertex that no crease runs through.
    fn smooth(&mut self, vertex: usize, fan: &Fan, around: &impl Fn(u32) -> CornerVertices) {
        let count = fan.corners.len();
        let n = count as f64;
        let ring: Vec<CornerVertices> = fan.corners.iter().map(|c| around(*c)).collect();
        let mut sum = Vector3::zeros();
        for (corner, seen) in fan.corners.iter().zip(&ring) {
            let inner = seen.inner(n);
            self.inner[*corner as usize] = inner;
            sum += inner;
        }
        // The mean of the inner points is the limit point: (n^2 v + 4 sum e + sum f) / (n (n + 5)).
        let limit = sum / n;
        self.vertices[vertex] = limit;
        self.is_smooth[vertex] = true;
        let tangent_of = Tangents::new(count);
        for (place, corner) in fan.corners.iter().enumerate() {
            let edge = limit + tangent_of.edge(&ring, place);
            self.onwards[*corner as usize] = edge;
            let right = fan.corners[(place + count - 1) % count];
            self.backwards[right as usize] = edge;
        }
    }

    /// The points of the faces between two sharp edges of a vertex.
    fn sector(&mut self, fan: &Fan, is_crease: bool, around: &impl Fn(u32) -> CornerVertices) {
        // As many edges as a smooth vertex has that sees twice the faces: what makes a straight
        // border regular (Loop and Schaefer 2008, section 3.4). Corners are taken as regular.
        let faces = fan.corners.len() as f64;
        let n = if is_crease { 2.0 * faces } else { 4.0 };
        let along = |here: Vector3<f64>, to: Vector3<f64>| (here * 2.0 + to) / 3.0;
        for corner in &fan.corners {
            let seen = around(*corner);
            let at = *corner as usize;
            self.inner[at] = seen.inner(n);
            self.onwards[at] = along(seen.here, seen.onwards);
            self.backwards[at] = along(seen.here, seen.backwards);
        }
        if !is_crease {
            return;
        }
        for pair in fan.corners.windows(2) {
            let (right, left) = (pair[0] as usize, pair[1] as usize);
            let edge = (self.inner[right] + self.inner[left]) / 2.0;
            self.backwards[right] = edge;
            self.onwards[left] = edge;
        }
    }

    /// The Bezier patch of the face whose corners begin at `first`.
    pub(super) fn patch(&self, cage: &Cage, first: usize) -> Cubic {
        let vertex = |c: usize| self.vertices[cage.corners[first + c] as usize];
        let on = |c: usize| self.onwards[first + c];
        let back = |c: usize| self.backwards[first + c];
        let inner = |c: usize| self.inner[first + c];
        let points = [
            [vertex(0), on(0), back(1), vertex(1)],
            [back(0), inner(0), inner(1), on(1)],
            [on(3), inner(3), inner(2), back(2)],
            [vertex(3), back(3), on(2), vertex(2)],
        ];
        let mut control = [[0.0; 3]; 16];
        for (slot, point) in control.iter_mut().zip(points.iter().flatten()) {
            *slot = point.map(narrow).into();
        }
        Cubic::new(control)
    }
}

/// Masks of limit tangents along the edges of a vertex of `n` edges, times the two thirds that
/// make control points of them (Loop et al. 2009, section 3.1 and equation 1).
struct Tangents {
    edges: Vec<f64>,
    faces: Vec<f64>,
}

impl Tangents {
    fn new(count: usize) -> Self {
        let n = count as f64;
        let sigma = 1.0 / (4.0 + (PI / n).cos().powi(2)).sqrt();
        let wave = (TAU / n).cos();
        let lambda = (5.0 + wave + (PI / n).cos() * (18.0 + 2.0 * wave).sqrt()) / 16.0;
        let scale = 2.0 / 3.0 * lambda * 2.0 / n;
        let edge = |i: usize| scale * (1.0 - sigma * (PI / n).cos()) * (TAU * i as f64 / n).cos();
        let face = |i: usize| scale * 2.0 * sigma * ((TAU * i as f64 + PI) / n).cos();
        Self {
            edges: (0..count).map(edge).collect(),
            faces: (0..count).map(face).collect(),
        }
    }

    /// From the limit point to the control point on the edge onwards from corner `place`.
    fn edge(&self, ring: &[CornerVertices], place: usize) -> Vector3<f64> {
        let count = ring.len();
        let mut sum = Vector3::zeros();
        for (i, (edge, face)) in self.edges.iter().zip(&self.faces).enumerate() {
            let seen = &ring[(place + i) % count];
            let centre = (seen.here + seen.onwards + seen.opposite + seen.backwards) / 4.0;
            sum += (seen.here + seen.onwards) / 2.0 * *edge + centre * *face;
        }
        sum
    }
}
