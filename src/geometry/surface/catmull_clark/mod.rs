//! Catmull-Clark subdivision surfaces as bicubic patches.
//!
//! A control cage is subdivided a few times, which isolates irregular vertices and blunts creases of
//! finite sharpness, and then each quad becomes a Bezier patch. A patch of the tessellator is a quad of
//! the cage with all its Bezier patches, so that grids are as large as possible.
//!
//! Regular quads are exact. Elsewhere corners are exact and the surface between them is approximate; its error falls to
//! about a quarter with every step of subdivision. Measured against the same cage after five steps, the greatest error
//! along the normal, relative to the diagonal of the bounding box, and the greatest angle between normals are: for a cube,
//! 4.1e-3 and 7.4 degrees without subdivision, 7.9e-4 and 2.3 after one step, 1.6e-4 and 1.0 after two; for a figure of
//! 1450 quads, 5.1e-4, 1.4e-4 and 5.5e-5, with normals up to 9.3 degrees off after one step and 5.9 after two.

mod cage;
mod limit;
mod refine;

use super::bezier::BicubicPatch;
use super::owners::{Owners, PatchKeys};
use super::patches::{Geometry, PatchMaterials, Surface, SurfacePoint};
use crate::files::{Mesh, NONE, bounds};
use cage::{Cage, Edges, FanFinder, Origin};
use limit::ControlPoints;
use quadrille_base::error::{Error, Result};
use quadrille_base::math::{fit, whole};
use refine::{Rules, refined};

/// Default number of steps of subdivision. After one step, no quad of a cage of quads has more than one irregular vertex.
pub const DEFAULT_LEVELS: u32 = 1;
/// Limit on subdivisions (assumed): a thousand patches per quad. Sharper creases count as infinitely sharp.
pub const MAX_LEVELS: u32 = 5;
/// Limit on Bezier patches (assumed): 4 GiB of control points.
const MAX_CUBICS: u64 = 1 << 24;

#[derive(Debug)]
struct CatmullClark {
    /// Bezier patches, `side * side` per patch of the surface, row by row.
    cubics: Vec<BicubicPatch>,
    side: u8,
    uvs: Vec<[[f32; 2]; 4]>,
}

struct SubdivisionLevel {
    cage: Cage,
    edges: Edges,
    rules: Rules,
}

impl SubdivisionLevel {
    fn new(cage: Cage) -> Self {
        let edges = cage.edges();
        let pinched = FanFinder::new(&cage, &edges).pinched();
        let rules = Rules::new(&cage, &edges, &pinched);
        Self { cage, edges, rules }
    }

    fn refined(&self) -> Self {
        Self::new(refined(&self.cage, &self.edges, &self.rules))
    }
}

impl Surface {
    /// Creates the subdivision surface of a control cage. It is subdivided `levels` times (0 to 5), or more often if its
    /// creases or faces of other than four corners require it. Texture coordinates are linear between the corners of faces.
    ///
    /// Borders are creases, and border vertices of a single face are corners. Edges of more than two faces, or of two faces
    /// of opposite orientation, are cut and become creases for each of their faces.
    ///
    /// # Errors
    /// [`Error::Argument`] when a face has a vertex twice, a position is not finite or there is no
    /// material; [`Error::Limit`] when the cage or the surface is too large.
    pub fn catmull_clark(mesh: &Mesh, levels: u32) -> Result<Self> {
        let what = "materials of a subdivision cage";
        Error::refuse_if(mesh.materials.is_empty(), what, "at least one material", "none")?;
        let (cage, faces) = Cage::new(mesh)?;
        let is_quads = (0..cage.faces()).all(|face| cage.face(face).len() == 4);
        let levels = levels.max(creased_levels(&cage)).min(MAX_LEVELS);
        let steps = if is_quads { levels } else { levels.max(1) - 1 };
        let found = (cage.corners.len() as u64) << (2 * steps);
        Error::check_limit("Bezier patches of a subdivision surface", MAX_CUBICS, found)?;
        let (uvs, parts) = attributes(mesh, &faces, is_quads);
        let first = SubdivisionLevel::new(cage);
        let base = if is_quads { first } else { first.refined() };
        let refined = (0..steps).fold(None, |last: Option<SubdivisionLevel>, _| {
            Some(last.as_ref().unwrap_or(&base).refined())
        });
        let last = refined.as_ref().unwrap_or(&base);
        let finder = FanFinder::new(&last.cage, &last.edges);
        let points = ControlPoints::new(&last.cage, &last.edges, &last.rules, &finder);
        let side = 1_u8 << steps;
        let mut cubics = Vec::with_capacity(last.cage.faces());
        for patch in 0..base.cage.faces() {
            for i in 0..usize::from(side).pow(2) {
                let quad = quad_at(patch, [i % usize::from(side), i / usize::from(side)], steps);
                cubics.push(points.patch(&last.cage, 4 * quad));
            }
        }
        let owners = owners(&base, &points.is_smooth, steps);
        let patch_materials = PatchMaterials {
            materials: mesh.materials.clone(),
            textures: mesh.textures.clone(),
            parts,
        };
        let patches = uvs.len();
        let geometry = CatmullClark { cubics, side, uvs };
        Ok(Self::new(geometry, patches, owners, patch_materials).with_origin(mesh.origin))
    }
}

impl CatmullClark {
    #[inline]
    fn cubic(&self, patch: usize, u: f32, v: f32) -> (&BicubicPatch, f32, f32) {
        let side = usize::from(self.side);
        let split = |t: f32| {
            let scaled = t * f32::from(self.side);
            let at = whole::<usize>(scaled).min(side - 1);
            (at, scaled - at as f32)
        };
        let ((column, u), (row, v)) = (split(u), split(v));
        (&self.cubics[(patch * side + row) * side + column], u, v)
    }
}

/// Steps after which all creases and corners of finite sharpness are smooth.
fn creased_levels(cage: &Cage) -> u32 {
    let sharp = cage.sharp_edges.values().chain(&cage.sharp_vertices);
    let sharpest = sharp.copied().filter(|s| s.is_finite()).fold(0.0, f32::max).ceil();
    (0..MAX_LEVELS).find(|level| sharpest <= *level as f32).unwrap_or(MAX_LEVELS)
}

fn quad_at(patch: usize, [column, row]: [usize; 2], steps: u32) -> usize {
    // Child `c` of a quad contains its corner `c`; corners are in cyclic order.
    const CHILD: [[usize; 2]; 2] = [[0, 1], [3, 2]];
    (0..steps).rev().fold(patch, |quad, step| {
        let bit = |x: usize| x >> step & 1;
        4 * quad + CHILD[bit(row)][bit(column)]
    })
}

type Attributes = (Vec<[[f32; 2]; 4]>, Vec<[u32; 2]>);

fn attributes(mesh: &Mesh, faces: &[Origin], is_quads: bool) -> Attributes {
    let (mut uvs, mut parts) = (Vec::new(), Vec::new());
    let mut draw = 0;
    for (face, corners) in faces {
        while mesh.draws.get(draw).is_some_and(|d| d.end <= *face) && draw + 1 < mesh.draws.len() {
            draw += 1;
        }
        let part = [mesh.face_materials[*face as usize], fit::<u32>(draw)];
        let uv = |corner: &u32| {
            let uv = mesh.corners[*corner as usize].uv;
            (uv != NONE).then(|| mesh.uvs.get(uv as usize)).flatten().copied().unwrap_or_default()
        };
        let around: Vec<[f32; 2]> = corners.iter().map(uv).collect();
        if is_quads {
            uvs.push(std::array::from_fn(|c| around[c]));
            parts.push(part);
            continue;
        }
        let n = around.len();
        let sum = |axis: usize| around.iter().map(|uv| uv[axis]).sum::<f32>();
        let centre = [sum(0) / n as f32, sum(1) / n as f32];
        let middle = |a: [f32; 2], b: [f32; 2]| [(a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0];
        for c in 0..n {
            let (here, next, before) = (around[c], around[(c + 1) % n], around[(c + n - 1) % n]);
            let mut quad = [here, middle(here, next), centre, middle(before, here)];
            if n == 4 {
                quad.rotate_right(c);
            }
            uvs.push(quad);
            parts.push(part);
        }
    }
    (uvs, parts)
}

/// Owners of the sides and corners of the quads of `base`. `is_smooth` is of the vertices after `steps` further steps, in
/// which the vertices of `base` keep their indices.
fn owners(base: &SubdivisionLevel, is_smooth: &[bool], steps: u32) -> Owners {
    Owners::new((0..base.cage.faces()).map(|face| {
        let corners = std::array::from_fn(|c| base.cage.corners[4 * face + c]);
        let is_smooth_side = |c: usize| {
            base.edges.sharpness[base.edges.of_corner[4 * face + c] as usize] <= steps as f32
        };
        PatchKeys {
            smooth_sides: std::array::from_fn(is_smooth_side),
            smooth_corners: corners.map(|vertex| is_smooth[vertex as usize]),
            ..PatchKeys::smooth(corners)
        }
    }))
}

impl Geometry for CatmullClark {
    #[inline]
    fn position(&self, patch: usize, u: f32, v: f32) -> [f32; 3] {
        let (cubic, u, v) = self.cubic(patch, u, v);
        cubic.position(u, v)
    }
    #[inline]
    fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint {
        let (cubic, u, v) = self.cubic(patch, u, v);
        cubic.point(u, v)
    }
    fn uv(&self, patch: usize, u: f32, v: f32) -> [f32; 2] {
        // Bilinear interpolation: the linear rule for face-varying attributes.
        let corners = &self.uvs[patch];
        std::array::from_fn(|axis| {
            let c = |corner: usize| corners[corner][axis];
            let low = c(0) * (1.0 - u) + c(1) * u;
            let high = c(3) * (1.0 - u) + c(2) * u;
            low * (1.0 - v) + high * v
        })
    }
    fn patch_bounds(&self, patch: usize) -> [[f32; 3]; 2] {
        let count = usize::from(self.side).pow(2);
        let cubics = &self.cubics[patch * count..(patch + 1) * count];
        bounds(cubics.iter().flat_map(BicubicPatch::bounds))
    }
}
