//! Geometry of a frame: grids in submission order, their triangles while the shutter is open, and primitive ids.

use std::ops::{ControlFlow, Range};

use rayon::prelude::*;

use super::camera::motion::Placement;
use super::camera::shutter::{CentredPoint, ShutterView};
use super::raster::cost::RasterCounters;
use super::raster::triangle::{CullReason, MovingTriangle, SetUpView};
use quadrille_base::math::{fit, low, whole};
use quadrille_base::{Error, Result, Task};
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::files::Material;
use quadrille_geometry::grid::{Grid, GridSource, batch_runs};
use quadrille_mesh::frame::Faces;
use quadrille_mesh::shade::AlphaTests;

/// Primitive ids have 32 bits, of which 0 is the background.
const MAX_PRIMITIVES: u64 = u32::MAX as u64;

/// Set of triangles that are drawn together; layers are drawn in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawLayer {
    /// Triangles that hide all surfaces behind them. Their shading is deferred.
    Opaque,
    /// Triangles with an alpha test, which affects coverage, so they are drawn forward (section 4.3).
    AlphaTested,
    /// Triangles that are blended over the colour behind them. They are drawn forward and write no depth.
    Blended,
}

impl DrawLayer {
    /// Layers that are drawn forward in the second pass, in order.
    pub(crate) const FORWARD: [Self; 2] = [Self::AlphaTested, Self::Blended];

    fn of(material: &Material) -> Self {
        match material.tested_alpha() {
            _ if material.is_blended() => Self::Blended,
            Some(_) => Self::AlphaTested,
            None => Self::Opaque,
        }
    }
}

/// A tessellated grid, and the position of its triangles in a chunk.
#[derive(Debug)]
pub struct PlacedGrid {
    /// Vertices and triangles of the grid.
    pub grid: Grid,
    /// Index of the grid's first triangle in the chunk.
    pub first: u32,
}

/// Consecutive batches of one draw.
#[derive(Debug)]
pub struct GeometryChunk {
    /// Index of the draw in the scene.
    pub draw: u32,
    /// Placement of the draw when the shutter opens, half-way, and when it closes.
    pub placements: [Placement; 3],
    /// Number of primitives in earlier chunks, which is the index of the chunk's first primitive.
    pub first: u32,
    /// Grids with at least one triangle that is not culled.
    pub grids: Vec<PlacedGrid>,
    /// Triangles of each layer after culling.
    layers: [Vec<MovingTriangle>; 3],
    counters: RasterCounters,
}

/// Tessellated geometry of a frame.
#[derive(Debug)]
pub struct Geometry {
    /// Grids and triangles in submission order.
    pub chunks: Vec<GeometryChunk>,
    /// Counters of the set-up of all triangles.
    pub counters: RasterCounters,
    pub(crate) alpha_tests: AlphaTests,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct PrimitiveRef<'a> {
    pub(crate) chunk: &'a GeometryChunk,
    pub(crate) grid: &'a Grid,
    pub(crate) triangle: u16,
}

impl Geometry {
    /// Tessellates a scene for the middle of the exposure and sets up its triangles. Omits parts of the scene that no blur
    /// can bring into the picture. In views from inside a scene, it also omits parts that are behind the camera half-way
    /// through the exposure, or farther from the picture than half of its larger side.
    ///
    /// # Errors
    /// [`Error::Limit`] when there are 2^32 primitives or more, and [`Error::Cancelled`].
    pub(crate) fn new(
        source: &dyn GridSource,
        view: &ShutterView,
        faces: Faces,
        task: &Task,
    ) -> Result<Self> {
        quadrille_base::span!("geometry");
        let tessellation_view = widened(view, source.bounds(), source);
        let mut chunks: Vec<_> = batch_runs(source)
            .into_par_iter()
            .map(|batches| {
                GeometryChunk::new(source, batches, view, &tessellation_view, faces, task)
            })
            .collect();
        task.check()?;
        let mut primitives: u64 = 0;
        let mut counters = RasterCounters::default();
        for chunk in &mut chunks {
            chunk.first = u32::try_from(primitives).unwrap_or(u32::MAX);
            primitives += chunk.counters.triangles;
            counters.add(&chunk.counters);
        }
        Error::check_limit("primitives of a frame", MAX_PRIMITIVES, primitives)?;
        chunks.par_iter_mut().for_each(|chunk| {
            for triangle in chunk.layers.iter_mut().flatten() {
                triangle.primitive += chunk.first;
            }
        });
        Ok(Self {
            chunks,
            counters,
            alpha_tests: AlphaTests::new(source.materials(), source.textures()),
        })
    }

    /// Number of primitives, culled or not.
    pub fn primitives(&self) -> u64 {
        self.counters.triangles
    }

    /// Number of primitives of a layer after culling.
    pub fn count(&self, layer: DrawLayer) -> u64 {
        self.chunks.iter().map(|chunk| chunk.layer(layer).len() as u64).sum()
    }

    /// Number of alpha-tested and blended primitives after culling.
    pub fn forward(&self) -> u64 {
        DrawLayer::FORWARD.map(|layer| self.count(layer)).iter().sum()
    }

    pub(crate) fn find(&self, primitive: u32) -> PrimitiveRef<'_> {
        let index = primitive - 1;
        let chunk = &self.chunks[self.chunks.partition_point(|c| c.first <= index) - 1];
        let index = index - chunk.first;
        let grid = &chunk.grids[chunk.grids.partition_point(|g| g.first <= index) - 1];
        PrimitiveRef { chunk, grid: &grid.grid, triangle: fit(index - grid.first) }
    }
}

impl PrimitiveRef<'_> {
    pub(crate) fn moving(&self, view: &ShutterView, primitive: u32) -> MovingTriangle {
        let corners = self.grid.topology.triangles[usize::from(self.triangle)].map(|c| {
            view.project(&self.chunk.placements, self.grid.vertices[usize::from(c)].position)
        });
        MovingTriangle::unculled(corners, primitive)
    }
}

impl GeometryChunk {
    /// Triangles of a layer after culling, in submission order.
    #[inline]
    pub fn layer(&self, layer: DrawLayer) -> &[MovingTriangle] {
        &self.layers[layer as usize]
    }

    fn new(
        source: &dyn GridSource,
        batches: Range<usize>,
        view: &ShutterView,
        tessellation_view: &MeshCamera,
        faces: Faces,
        task: &Task,
    ) -> Self {
        let draw = source.draw(batches.start);
        let mut chunk = Self {
            draw,
            placements: view.placements(draw),
            first: 0,
            grids: Vec::new(),
            layers: Default::default(),
            counters: RasterCounters::default(),
        };
        let set_up = SetUpView { shear: *view.shear(), size: view.size(), near: view.near() };
        let mut points = Vec::new();
        let _ = batches.into_iter().try_for_each(|batch| {
            source.visit_grids(batch, tessellation_view, task, &mut |grid| {
                let material: &Material = &source.materials()[grid.material as usize];
                let draws_backs = faces.draws_backs(material);
                let vertices = grid.vertices.iter();
                points.clear();
                chunk.counters.vertices += vertices.len() as u64;
                points.extend(vertices.map(|v| view.project(&chunk.placements, v.position)));
                chunk.add(grid, &points, &set_up, DrawLayer::of(material), draws_backs);
                ControlFlow::Continue(())
            })
        });
        chunk
    }

    fn add(
        &mut self,
        grid: Grid,
        points: &[[CentredPoint; 2]],
        set_up: &SetUpView,
        layer: DrawLayer,
        draws_backs: bool,
    ) {
        let first = low::<u32>(self.counters.triangles);
        let triangles = &mut self.layers[layer as usize];
        let before = triangles.len();
        for (corners, number) in grid.topology.triangles.iter().zip(1_u32..) {
            self.counters.triangles += 1;
            let corners = corners.map(|c| points[usize::from(c)]);
            let number = first.wrapping_add(number);
            match MovingTriangle::set_up(corners, set_up, number, draws_backs) {
                Ok(triangle) => triangles.push(triangle),
                Err(CullReason::Frustum) => self.counters.outside += 1,
                Err(CullReason::Facing) => self.counters.turned_away += 1,
                Err(CullReason::NotFinite) => self.counters.not_finite += 1,
            }
        }
        if triangles.len() > before {
            self.grids.push(PlacedGrid { grid, first });
        }
    }
}

/// View half-way through the exposure, enlarged by the largest blur of the bounding box's corners, so that no surface
/// outside is ever visible. If a corner comes near the eye, as in all views from inside a scene, the margin is half of the
/// larger picture side: without a bound, surfaces beside the eye would be tessellated as if they filled a huge picture.
fn widened(view: &ShutterView, bounds: [[f32; 3]; 2], source: &dyn GridSource) -> MeshCamera {
    let mut wide = view.middle().clone();
    let draws = (0..source.batches()).map(|batch| source.draw(batch));
    let mut margin = 0.0_f64;
    if !(view.is_still() && view.shear().is_pinhole()) {
        let mut last = None;
        for draw in draws {
            if last == Some(draw) {
                continue;
            }
            last = Some(draw);
            margin = margin.max(blur_px(view, &view.placements(draw), bounds));
        }
    }
    let camera = &mut wide.camera;
    // Edges are measured within the picture: without a limit, patches around the eye would be divided into
    // millions of triangles. With blur beyond the limit, surfaces entirely outside the margin are lost.
    let side = f64::from(camera.width.max(camera.height));
    let margin = if margin.is_finite() { margin.ceil().min(side) } else { (side / 2.0).ceil() };
    camera.principal_px = camera.principal_px.map(|px| px + margin);
    let margin = whole::<u32>(margin);
    camera.width += 2 * margin;
    camera.height += 2 * margin;
    wide
}

/// Largest distance in pixels of a box corner from its position half-way through the exposure, over all times
/// and points of the lens; infinite if a corner comes nearer than the near plane.
fn blur_px(view: &ShutterView, placements: &[Placement; 3], bounds: [[f32; 3]; 2]) -> f64 {
    (0..8_usize)
        .map(|corner| std::array::from_fn(|axis| bounds[corner >> axis & 1][axis]))
        .map(|position| view.project(placements, position))
        .map(|[start, end]| {
            let middle = [0, 1, 2].map(|k| f64::midpoint(start[k], end[k]));
            let blurs = [start, end, middle].map(|p| {
                if p[2] <= view.near() {
                    return f64::INFINITY;
                }
                let shear = view.shear().at(p[2]);
                let off = |k: usize| {
                    (p[k] / p[2] - middle[k] / middle[2]).abs() + (shear[k] / p[2]).abs()
                };
                off(0).max(off(1))
            });
            blurs.into_iter().fold(0.0, f64::max)
        })
        .fold(0.0, f64::max)
}
