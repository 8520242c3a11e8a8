//! Bicubic Bezier patches of a cage of quads. They are exact where the cage is regular. Elsewhere, inner control points
//! follow Loop and Schaefer 2008 ("Approximating Catmull-Clark Subdivision Surfaces with Bicubic Patches", section 3), and
//! control points of the edges follow Loop, Schaefer, Ni and Castano 2009 ("Approximating Subdivision Surfaces with Gregory
//! Patches for Hardware Tessellation", section 3), which makes positions and normals at corners exact.

use std::f64::consts::{PI, TAU};

use nalgebra::Vector3;

use super::cage::{Cage, Edges, Fan, FanFinder};
use super::refine::{Rule, Rules};
use crate::surface::bezier::BicubicPatch;
use quadrille_base::math::{fit, narrow};

pub(super) struct ControlPoints {
    vertices: Vec<Vector3<f64>>,
    /// Control points on the edges to the next corner of the face.
    onwards: Vec<Vector3<f64>>,
    /// Control points on the edges to the previous corner of the face.
    backwards: Vec<Vector3<f64>>,
    inner: Vec<Vector3<f64>>,
    pub(super) is_smooth: Vec<bool>,
}

struct CornerVertices {
    corner_vertex: Vector3<f64>,
    onwards: Vector3<f64>,
    opposite: Vector3<f64>,
    backwards: Vector3<f64>,
}

impl CornerVertices {
    /// Inner control point at a vertex of `n` edges (Loop and Schaefer 2008, section 3.1).
    fn inner(&self, n: f64) -> Vector3<f64> {
        (self.corner_vertex * n + (self.onwards + self.backwards) * 2.0 + self.opposite) / (n + 5.0)
    }
}

impl ControlPoints {
    /// Creates the control points of a cage of quads; sharp edges count as infinitely sharp.
    pub(super) fn new(cage: &Cage, edges: &Edges, rules: &Rules, finder: &FanFinder) -> Self {
        let none = vec![Vector3::zeros(); cage.corners.len()];
        let mut points = Self {
            vertices: cage.positions.clone(),
            onwards: none.clone(),
            backwards: none.clone(),
            inner: none,
            is_smooth: vec![false; cage.positions.len()],
        };
        let around = |corner: u32| {
            let [before, after] = finder.neighbours(corner);
            let [opposite, _] = finder.neighbours(fit::<u32>(before));
            let at = |corner: usize| cage.positions[cage.corners[corner] as usize];
            CornerVertices {
                corner_vertex: at(corner as usize),
                onwards: at(after),
                opposite: at(opposite),
                backwards: at(before),
            }
        };
        for vertex in 0..cage.positions.len() {
            let rule = rules.0[vertex].0;
            if rule == Rule::Smooth
                && let [fan] = finder.fans(vertex, |edge| !edges.is_cut[edge as usize]).as_slice()
                && fan.is_closed
            {
                points.smooth(vertex, fan, &around);
                continue;
            }
            if let Rule::Crease([a, b]) = rule {
                let ends = cage.positions[a as usize] + cage.positions[b as usize];
                points.vertices[vertex] = (ends + cage.positions[vertex] * 4.0) / 6.0;
            }
            let is_crease = matches!(rule, Rule::Crease(_));
            for fan in finder.fans(vertex, |edge| edges.sharpness[edge as usize] == 0.0) {
                points.sector(&fan, is_crease, &around);
            }
        }
        points
    }

    /// Sets the control points around a vertex without creases.
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
        // The mean of the inner points equals the limit point (n^2 v + 4 sum e + sum f) / (n (n + 5)).
        let limit = sum / n;
        self.vertices[vertex] = limit;
        self.is_smooth[vertex] = true;
        let tangents = Tangents::new(count);
        for (i, corner) in fan.corners.iter().enumerate() {
            let edge = limit + tangents.edge(&ring, i);
            self.onwards[*corner as usize] = edge;
            self.backwards[fan.corners[(i + count - 1) % count] as usize] = edge;
        }
    }

    fn sector(&mut self, fan: &Fan, is_crease: bool, around: &impl Fn(u32) -> CornerVertices) {
        // The valence is that of a smooth vertex with twice the faces, for which a straight border is regular
        // (Loop and Schaefer 2008, section 3.4). Corners count as regular.
        let faces = fan.corners.len() as f64;
        let n = if is_crease { 2.0 * faces } else { 4.0 };
        let along =
            |corner_vertex: Vector3<f64>, to: Vector3<f64>| (corner_vertex * 2.0 + to) / 3.0;
        for corner in &fan.corners {
            let seen = around(*corner);
            let at = *corner as usize;
            self.inner[at] = seen.inner(n);
            self.onwards[at] = along(seen.corner_vertex, seen.onwards);
            self.backwards[at] = along(seen.corner_vertex, seen.backwards);
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

    pub(super) fn patch(&self, cage: &Cage, first: usize) -> BicubicPatch {
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
        BicubicPatch::new(control)
    }
}

/// Masks of the limit tangents along the edges of a vertex, times two thirds, which makes them offsets of control
/// points (Loop et al. 2009, section 3.1 and equation 1).
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
        Self { edges: (0..count).map(edge).collect(), faces: (0..count).map(face).collect() }
    }

    fn edge(&self, ring: &[CornerVertices], corner: usize) -> Vector3<f64> {
        let count = ring.len();
        let mut sum = Vector3::zeros();
        for (i, (edge, face)) in self.edges.iter().zip(&self.faces).enumerate() {
            let seen = &ring[(corner + i) % count];
            let centre = (seen.corner_vertex + seen.onwards + seen.opposite + seen.backwards) / 4.0;
            sum += (seen.corner_vertex + seen.onwards) / 2.0 * *edge + centre * *face;
        }
        sum
    }
}
