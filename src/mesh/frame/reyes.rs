//! Reyes, for comparison: vertices of visible grids are shaded before rasterization and colours interpolated at samples
//! ("Reducing Shading on GPUs using Quad-Fragment Merging", sections 2.2 and 4: VERTEX). Only whole grids are culled.

use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::chunk::Chunk;
use super::picture::SampleColours;
use super::visible_frame::VisibleFrame;
use crate::shade::{Shader, TrianglePlanes, VertexStep};
use quadrille_base::image::Frame;
use quadrille_base::math::fit;
use quadrille_geometry::grid::Grid;

impl VisibleFrame {
    pub(crate) fn vertices_shaded(&self) -> u64 {
        self.chunks.iter().flat_map(Chunk::visible).map(|g| g.grid.vertices.len() as u64).sum()
    }

    /// Number of vertices that Reyes shades at each pixel, in row order. Vertices outside the picture are not counted.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "casts of floats saturate, and the result is compared with the picture's size"
    )]
    pub fn vertices_per_pixel(&self) -> Vec<u32> {
        let [width, height] = self.settings.size;
        let mut counts = vec![0; (width * height) as usize];
        for [x, y] in self.vertices_px() {
            if x >= 0.0 && y >= 0.0 && x < f64::from(width) && y < f64::from(height) {
                counts[(y as u32 * width + x as u32) as usize] += 1;
            }
        }
        counts
    }

    /// Picture positions in pixels of the vertices that Reyes shades, except vertices nearer than the near plane.
    pub fn vertices_px(&self) -> impl Iterator<Item = [f64; 2]> {
        let grids = self.chunks.iter().flat_map(Chunk::visible);
        let points =
            grids.flat_map(|grid| &grid.grid.vertices).map(|v| self.view.project(v.position));
        let points = points.filter(|point| point.z >= self.view.near);
        points.map(|point| [point.xz / point.z, point.yz / point.z])
    }

    /// Shades vertices as Reyes does, and resolves the picture.
    pub fn reyes_picture(&self, shader: &Shader<'_>, background: Option<[f32; 3]>) -> Frame {
        self.resolve(&VertexColours::new(self, shader), background)
    }
}

/// Colours of all vertices of visible grids. A vertex with a front and a back colour is counted once.
struct VertexColours<'a> {
    visible: &'a VisibleFrame,
    colours: Vec<Vec<SideColours>>,
    firsts: Vec<Vec<u32>>,
}

impl<'a> VertexColours<'a> {
    fn new(visible: &'a VisibleFrame, shader: &Shader<'_>) -> Self {
        let shade = |chunk: &Chunk| {
            let (mut colours, mut firsts) = (Vec::new(), Vec::new());
            for grid in &chunk.grids {
                firsts.push(fit::<u32>(colours.len()));
                if grid.is_visible.load(Ordering::Relaxed) {
                    let quads = &chunk.quads[grid.quads.start as usize..grid.quads.end as usize];
                    let shows = [true, false].map(|side| quads.iter().any(|q| q.is_front == side));
                    shade_grid(visible, shader, &grid.grid, shows, &mut colours);
                }
            }
            (colours, firsts)
        };
        let (colours, firsts) = visible.chunks.par_iter().map(shade).unzip();
        Self { visible, colours, firsts }
    }
}

/// Front and back colour of a vertex, with opacity.
type SideColours = [[f32; 4]; 2];

/// Shades a grid's vertices for the sides (front, back) in `shows`. Derivatives are taken along two edges of a triangle.
fn shade_grid(
    visible: &VisibleFrame,
    shader: &Shader<'_>,
    grid: &Grid,
    shows: [bool; 2],
    out: &mut Vec<SideColours>,
) {
    let mut around: Vec<Option<[u16; 2]>> = vec![None; grid.vertices.len()];
    for corners in &grid.topology.triangles {
        for k in 0..3 {
            let others = [corners[(k + 1) % 3], corners[(k + 2) % 3]];
            around[usize::from(corners[k])].get_or_insert(others);
        }
    }
    for (at, (vertex, others)) in grid.vertices.iter().zip(around).enumerate() {
        let extras = grid.vertex_extras(at);
        let steps = others.map_or([VertexStep::default(); 2], |others| {
            others.map(|other| {
                let other = usize::from(other);
                VertexStep::between(vertex, &grid.vertices[other], &visible.view)
                    .with_extras(&extras, &grid.vertex_extras(other))
            })
        });
        let material = grid.material;
        let shade = |is_front| shader.vertex(vertex, extras, &steps, material, is_front);
        out.push([
            if shows[0] { shade(true) } else { [0.0; 4] },
            if shows[1] { shade(false) } else { [0.0; 4] },
        ]);
    }
}

#[derive(Clone, Copy)]
pub(super) struct ColouredTriangle {
    planes: Option<TrianglePlanes>,
    colours: [[f32; 4]; 3],
}

impl SampleColours for VertexColours<'_> {
    type Key = ColouredTriangle;

    fn key(&self, owner: u32, _pixel: usize) -> ColouredTriangle {
        let (number, quad) = self.visible.find(owner);
        let chunk = &self.visible.chunks[number];
        let at = chunk.grid_of(quad);
        let grid = &chunk.grids[at].grid;
        let shown = &chunk.quads[quad as usize];
        let (triangle, side) = (usize::from(shown.triangle), usize::from(!shown.is_front));
        let corners = grid.topology.triangles[triangle];
        let first = self.firsts[number][at];
        ColouredTriangle {
            planes: TrianglePlanes::new(
                corners.map(|c| &grid.vertices[usize::from(c)]),
                &self.visible.view,
            ),
            colours: corners.map(|c| self.colours[number][first as usize + usize::from(c)][side]),
        }
    }

    fn colour(
        &self,
        key: ColouredTriangle,
        position: [u16; 2],
        pixel: usize,
        sample: usize,
    ) -> [f32; 4] {
        let Some(planes) = key.planes else { return key.colours[0] };
        let pattern = self.visible.settings.pattern;
        let side = f64::from(pattern.side_px());
        let offset = pattern.offsets()[sample];
        let [x, y] = [0, 1].map(|axis| {
            let second = if pixel >> axis & 1 == 1 { 1.0 } else { 0.0 };
            (2.0 * f64::from(position[axis]) + second) * side + f64::from(offset[axis]) / 256.0
        });
        planes.at(x, y).mix(key.colours).map(|v| v.clamp(0.0, 1.0))
    }
}
