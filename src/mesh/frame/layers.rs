//! Layers of a frame: depth, normals, triangles and coverage of every pixel, from its samples.
//!
//! In a pixel with n samples, each sample that shows the scene has the weight 1/n, like the fragments of a splat pixel
//! (see [`Layer`]). Blended surfaces are left out: layers show the surface in the depth buffer.

use nalgebra::Vector3;
use rayon::prelude::*;

use super::chunk::{RasterGrid, RasterQuad};
use super::visibility::VisibilityBuffer;
use super::visible_frame::VisibleFrame;
use crate::shade::TrianglePlanes;
use quadrille_base::image::{Layer, LayerPicture};
use quadrille_base::math::{fit, narrow};
use quadrille_base::raster::sample_depth::NO_OWNER;
use quadrille_geometry::grid::GridVertex;

const NO_ID: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct PixelLayers {
    /// Share of the samples that show the scene.
    coverage: f32,
    /// Mean depth of the samples that show the scene, along the line of sight, in world units.
    depth: f32,
    /// Mean of the samples' unit normals towards the camera (not normalised); x right, y down, z forward.
    normal: [f32; 3],
    /// Triangle that most samples show, numbered in submission order.
    id: u32,
}

struct ShownTriangle<'a> {
    planes: Option<TrianglePlanes>,
    vertices: [&'a GridVertex; 3],
    is_front: bool,
    id: u32,
}

impl VisibleFrame {
    /// Returns the requested layers that a mesh frame has: depth, normals, identifiers and coverage ([`Layer::Alpha`]).
    pub fn layers(&self, layers: &[Layer]) -> Vec<LayerPicture> {
        let [width, height] = self.settings.size;
        let pixels = width as usize * height as usize;
        let firsts = self.first_triangles();
        let bins = self.bins.par_iter();
        let found: Vec<Vec<(usize, PixelLayers)>> =
            bins.map(|bin| self.layers_of_bin(bin, &firsts)).collect();
        let picture = |layer: Layer| {
            let empty = if layer == Layer::Id { NO_ID } else { 0 };
            let mut bits = vec![empty; pixels * layer.planes()];
            for (at, shown) in found.iter().flatten() {
                for (plane, value) in shown.bits(layer).into_iter().flatten().enumerate() {
                    bits[plane * pixels + at] = value;
                }
            }
            LayerPicture::from_bits(layer, [width, height], bits)
        };
        let known = [Layer::Depth, Layer::Normal, Layer::Id, Layer::Alpha];
        layers.iter().filter(|layer| known.contains(layer)).map(|layer| picture(*layer)).collect()
    }

    /// Triangle shown by each sample, numbered by submission, with pixels in row order; [`u32::MAX`] for the background.
    pub fn triangles_of_samples(&self) -> Vec<u32> {
        let per_pixel = self.settings.pattern.per_pixel() as usize;
        let [width, height] = self.settings.size.map(|side| side as usize);
        let firsts = self.first_triangles();
        let mut ids = vec![NO_ID; width * height * per_pixel];
        for bin in &self.bins {
            self.each_pixel(bin, |at, owners, _, _| {
                for (id, &owner) in ids[at * per_pixel..].iter_mut().zip(owners) {
                    if owner != NO_OWNER {
                        *id = self.quad_shown(owner, &firsts).2;
                    }
                }
            });
        }
        ids
    }

    fn first_triangles(&self) -> Vec<u32> {
        let mut submitted: Vec<_> = (0..self.chunks.len()).collect();
        submitted.sort_by_key(|&chunk| self.chunks[chunk].first_batch);
        let mut firsts = vec![0; submitted.len()];
        let mut next = 0;
        for chunk in submitted {
            firsts[chunk] = fit(next);
            next += self.chunks[chunk].triangles_in;
        }
        firsts
    }

    fn layers_of_bin(&self, bin: &VisibilityBuffer, firsts: &[u32]) -> Vec<(usize, PixelLayers)> {
        let mut found = Vec::with_capacity(bin.quads.len() * 4);
        self.each_pixel(bin, |at, owners, corner, first| {
            found.push((at, self.pixel_layers(owners, corner, first, firsts)));
        });
        found
    }

    /// Visits the pixels of a bin that show the scene: index in row order, owners of the samples, top left pixel of
    /// the shading pixel, and index of the pixel's first sample in the shading pixel.
    fn each_pixel(
        &self,
        bin: &VisibilityBuffer,
        mut visit: impl FnMut(usize, &[u32], [u32; 2], usize),
    ) {
        let [width, height] = self.settings.size;
        let pattern = self.settings.pattern;
        let per_pixel = pattern.per_pixel() as usize;
        let side = pattern.side_px().cast_unsigned();
        self.each_shading_pixel(bin, |position, pixel, owners| {
            let corner = [0, 1].map(|axis| {
                let second = u32::from(pixel >> axis & 1 == 1);
                side * (2 * u32::from(position[axis]) + second)
            });
            for (at, owners) in (0_u32..).zip(owners.chunks_exact(per_pixel)) {
                let (x, y) = (corner[0] + at % side, corner[1] + at / side);
                if x < width && y < height && owners.iter().any(|&o| o != NO_OWNER) {
                    let index = y as usize * width as usize + x as usize;
                    visit(index, owners, corner, at as usize * per_pixel);
                }
            }
        });
    }

    /// Layers of a pixel from the owners of its samples, which are samples `first..` of the shading pixel at `corner`.
    fn pixel_layers(
        &self,
        owners: &[u32],
        corner: [u32; 2],
        first: usize,
        firsts: &[u32],
    ) -> PixelLayers {
        let (mut count, mut depth, mut normal) = (0.0, 0.0, Vector3::zeros());
        let mut ids: Vec<(u32, u32)> = Vec::with_capacity(owners.len());
        let mut last: Option<(u32, ShownTriangle<'_>)> = None;
        for (k, &owner) in owners.iter().enumerate().filter(|(_, o)| **o != NO_OWNER) {
            let triangle = match last.take() {
                Some((same, triangle)) if same == owner => triangle,
                _ => self.shown_triangle(owner, firsts),
            };
            let offset = self.settings.pattern.offsets()[first + k];
            let [x, y] =
                [0, 1].map(|axis| f64::from(corner[axis]) + f64::from(offset[axis]) / 256.0);
            let (z, facing) = self.surface_at(&triangle, [x, y]);
            count += 1.0;
            depth += z;
            normal += facing;
            match ids.iter_mut().find(|(id, _)| *id == triangle.id) {
                Some((_, samples)) => *samples += 1,
                None => ids.push((triangle.id, 1)),
            }
            last = Some((owner, triangle));
        }
        // If several triangles have the same number of samples, the first one is taken.
        let most = ids.iter().map(|(_, samples)| *samples).max();
        let id = ids.iter().find(|(_, samples)| Some(*samples) == most);
        let all = owners.len() as f64;
        PixelLayers {
            coverage: narrow(count / all),
            depth: narrow(depth / count),
            normal: (normal / all).map(narrow).into(),
            id: id.map_or(NO_ID, |(id, _)| *id),
        }
    }

    /// Returns the quad of an owner, its grid, and the index of its triangle in the frame.
    fn quad_shown(&self, owner: u32, firsts: &[u32]) -> (&RasterQuad, &RasterGrid, u32) {
        let number = self.find(owner).0;
        let (shown, grid) = self.quad_of(owner);
        let id = firsts[number] + grid.first_triangle + u32::from(shown.triangle);
        (shown, grid, id)
    }

    fn quad_of(&self, owner: u32) -> (&RasterQuad, &RasterGrid) {
        let (number, quad) = self.find(owner);
        let chunk = &self.chunks[number];
        (&chunk.quads[quad as usize], &chunk.grids[chunk.grid_of(quad)])
    }

    /// Returns the corners of an owner's triangle.
    pub(super) fn vertices_of(&self, owner: u32) -> [&GridVertex; 3] {
        let (shown, RasterGrid { grid, .. }) = self.quad_of(owner);
        let corners = grid.topology.triangles[usize::from(shown.triangle)];
        corners.map(|corner| &grid.vertices[usize::from(corner)])
    }

    fn shown_triangle(&self, owner: u32, firsts: &[u32]) -> ShownTriangle<'_> {
        let (shown, _, id) = self.quad_shown(owner, firsts);
        let vertices = self.vertices_of(owner);
        ShownTriangle {
            planes: TrianglePlanes::new(vertices, &self.view),
            vertices,
            is_front: shown.is_front,
            id,
        }
    }

    /// Depth and normal towards the camera at a picture position; seen edge-on, the depth of the first corner.
    fn surface_at(&self, shown: &ShownTriangle<'_>, [x, y]: [f64; 2]) -> (f64, Vector3<f64>) {
        let Some(planes) = &shown.planes else {
            return (self.view.project(shown.vertices[0].position).z, Vector3::zeros());
        };
        let at = planes.at(x, y);
        let mixed: [f32; 3] = at.mix(shown.vertices.map(|vertex| vertex.normal));
        let normal =
            Vector3::from(mixed.map(f64::from)).try_normalize(1e-15).unwrap_or_else(|| {
                let [a, b, c] = shown.vertices.map(|v| Vector3::from(v.position.map(f64::from)));
                (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_default()
            });
        let side = if shown.is_front { 1.0 } else { -1.0 };
        (at.inverse_z.recip(), self.view.camera.view_from_world * normal * side)
    }
}

impl PixelLayers {
    fn bits(&self, layer: Layer) -> [Option<u32>; 3] {
        let one = |value: f32| [Some(value.to_bits()), None, None];
        match layer {
            Layer::Depth => one(self.depth),
            Layer::Alpha => one(self.coverage),
            Layer::Normal => self.normal.map(|value| Some(value.to_bits())),
            Layer::Id => [Some(self.id), None, None],
            _ => [None; 3],
        }
    }
}
