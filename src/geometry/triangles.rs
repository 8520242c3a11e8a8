//! Polygon meshes as grids: triangles in the order of the file, in runs of at most 512, with adjacency from an
//! index buffer ("Reducing Shading on GPUs using Quad-Fragment Merging", section 5).

use std::borrow::Borrow;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::camera::MeshCamera;
use super::files::{Corner, Material, Mesh, Texture, bounds};
use super::grid::{Grid, GridSource, GridVertex, MAX_GRID_TRIANGLES, Topology, neighbours};
use super::polygon::PolygonCutter;
use super::reorder::TriangleOrder;
use super::smooth::SmoothNormals;
use super::vertex_names::VertexNames;
use quadrille_base::math::fit;
use quadrille_base::{Result, Task};

/// Vertex property that two triangles must share at both ends of an edge to be adjacent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Adjacency {
    /// The vertex: equal values of position, texture coordinate, normal and colour. It is the comparison of indices
    /// that both merging papers describe, in an index buffer without duplicates.
    #[default]
    Vertex,
    /// The position alone, so that triangles are adjacent across seams of the texture and across hard
    /// edges, where merging takes attributes from the wrong side.
    Position,
}

/// Triangles of a mesh, a source of grids with one grid per batch.
#[derive(Debug)]
pub struct Triangles<M = Mesh> {
    mesh: M,
    /// Normals of the corners that have none in the mesh.
    smooth: SmoothNormals,
    triangles: Vec<[Corner; 3]>,
    vertices: Vec<[u32; 3]>,
    adjacency: Adjacency,
    runs: Vec<TriangleRun>,
    bounds: [[f32; 3]; 2],
}

#[derive(Debug, Clone)]
struct TriangleRun {
    triangles: Range<usize>,
    material: u32,
    draw: u32,
}

impl<M: Borrow<Mesh>> Triangles<M> {
    /// Cuts the faces of a mesh, owned or borrowed, into triangles, and the triangles into grids.
    ///
    /// # Errors
    /// [`Error::Cancelled`](quadrille_base::Error::Cancelled).
    pub fn new(owner: M, adjacency: Adjacency, task: &Task) -> Result<Self> {
        let mesh = owner.borrow();
        let mut cutter = PolygonCutter::default();
        let (mut triangles, mut faces_cut) = (Vec::new(), Vec::new());
        let mut runs: Vec<TriangleRun> = Vec::new();
        for (draw, faces) in (0..).zip(&mesh.draws) {
            let faces = faces.start as usize..faces.end as usize;
            for face in faces.take_while(|_| !task.is_cancelled()) {
                let material = mesh.face_materials[face];
                let corners = mesh.face(face);
                cutter.triangles(mesh, corners, |triangle| {
                    let at = triangles.len();
                    triangles.push(triangle.map(|k| corners[k]));
                    faces_cut.push(fit::<u32>(face));
                    match runs.last_mut() {
                        Some(run)
                            if run.draw == draw
                                && run.material == material
                                && run.triangles.len() < MAX_GRID_TRIANGLES =>
                        {
                            run.triangles.end = at + 1;
                        }
                        _ => runs.push(TriangleRun { triangles: at..at + 1, material, draw }),
                    }
                });
            }
        }
        let smooth = SmoothNormals::of(mesh, &mut triangles, &faces_cut, task);
        let mut names = VertexNames::new(mesh, &smooth.of_sides);
        let vertices = triangles.iter().take_while(|_| !task.is_cancelled());
        let vertices = vertices.map(|corners| corners.map(|corner| names.number(corner))).collect();
        task.check()?;
        let bounds = bounds(&mesh.positions);
        Ok(Self { vertices, smooth, bounds, triangles, adjacency, runs, mesh: owner })
    }

    /// Returns the triangles in another order within each draw and material. `seed` seeds a random order.
    #[must_use]
    pub fn reordered(mut self, order: TriangleOrder, seed: u64) -> Self {
        let is_same =
            |a: &TriangleRun, b: &TriangleRun| (a.draw, a.material) == (b.draw, b.material);
        for runs in self.runs.chunk_by(is_same) {
            let ends = |run: &TriangleRun| run.triangles.end;
            let all = runs[0].triangles.start..runs.last().map_or(0, ends);
            let order = order.permutation(&self.vertices[all.clone()], seed);
            let (triangles, vertices) = (&mut self.triangles[all.clone()], &mut self.vertices[all]);
            let moved: Vec<_> = order.iter().map(|&at| (triangles[at], vertices[at])).collect();
            for (at, (triangle, vertex)) in moved.into_iter().enumerate() {
                (triangles[at], vertices[at]) = (triangle, vertex);
            }
        }
        self
    }

    fn colour(&self, corner: Corner) -> Option<[f32; 4]> {
        let colours = &self.mesh.borrow().colours;
        let own = colours.get(corner.colour as usize).copied();
        (!colours.is_empty()).then(|| own.unwrap_or([1.0; 4]))
    }

    fn second_uv(&self, corner: Corner) -> Option<[f32; 2]> {
        let second = &self.mesh.borrow().second_uvs;
        let own = second.get(corner.uv as usize).copied();
        (!second.is_empty()).then(|| own.unwrap_or_default())
    }

    fn vertex(&self, corner: Corner) -> GridVertex {
        let mesh = self.mesh.borrow();
        let uv = mesh.uvs.get(corner.uv as usize);
        GridVertex {
            position: mesh.positions[corner.position as usize],
            normal: self.smooth.of_corner(mesh, corner),
            uv: uv.copied().unwrap_or_default(),
        }
    }
}

impl<M: Borrow<Mesh> + Send + Sync> GridSource for Triangles<M> {
    fn batches(&self) -> usize {
        self.runs.len()
    }

    fn draw(&self, batch: usize) -> u32 {
        self.runs[batch].draw
    }

    fn material(&self, batch: usize) -> u32 {
        self.runs[batch].material
    }

    fn visit_grids(
        &self,
        batch: usize,
        _view: &MeshCamera,
        task: &Task,
        visit: &mut dyn FnMut(Grid) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        task.flow()?;
        let run = &self.runs[batch];
        // A grid has too few vertices for a file to slow down this map by equal hashes.
        let mut numbers = FxHashMap::with_capacity_and_hasher(run.triangles.len(), FxBuildHasher);
        let mut vertices = Vec::with_capacity(run.triangles.len());
        let mut ids = Vec::with_capacity(run.triangles.len());
        let (mut colours, mut second_uvs) = (Vec::new(), Vec::new());
        let mut local = |triangle: usize, k: usize| {
            let number = self.vertices[triangle][k];
            *numbers.entry(number).or_insert_with(|| {
                let corner = self.triangles[triangle][k];
                vertices.push(self.vertex(corner));
                ids.push(match self.adjacency {
                    Adjacency::Vertex => number,
                    Adjacency::Position => corner.position,
                });
                colours.extend(self.colour(corner));
                second_uvs.extend(self.second_uv(corner));
                fit::<u16>(vertices.len() - 1)
            })
        };
        let corners = |t: usize| [0, 1, 2].map(|k| local(t, k));
        let triangles: Vec<[u16; 3]> = run.triangles.clone().map(corners).collect();
        let neighbours = match self.adjacency {
            Adjacency::Vertex => neighbours(&triangles),
            Adjacency::Position => {
                let mut positions =
                    FxHashMap::with_capacity_and_hasher(vertices.len(), FxBuildHasher);
                let mut position = |vertex: u16| {
                    let next = fit::<u16>(positions.len());
                    *positions.entry(ids[usize::from(vertex)]).or_insert(next)
                };
                neighbours(&triangles.iter().map(|t| t.map(&mut position)).collect::<Vec<_>>())
            }
        };
        visit(Grid {
            material: run.material,
            vertices,
            ids,
            colours,
            second_uvs,
            topology: Arc::new(Topology { triangles, neighbours }),
        })
    }

    fn materials(&self) -> &[Material] {
        &self.mesh.borrow().materials
    }

    fn textures(&self) -> &[Texture] {
        &self.mesh.borrow().textures
    }

    fn origin(&self) -> [f64; 3] {
        self.mesh.borrow().origin
    }

    fn bounds(&self) -> [[f32; 3]; 2] {
        self.bounds
    }
}
