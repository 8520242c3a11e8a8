//! Shading of a quad: four shading pixels, each with inputs from its own triangle.

use super::derivatives::Stencil;
use super::interpolate::{Barycentrics, TrianglePlanes};
use super::points::{SurfacePoints, TexturePlaces};
use super::shader::Shader;
use quadrille_base::choice;
use quadrille_base::raster::geometry::SUBPIXEL_BITS;
use quadrille_base::raster::samples::SamplePattern;
use quadrille_geometry::grid::{CornerExtras, GridVertex};

const UNITS_PER_PIXEL: f32 = (1 << SUBPIXEL_BITS) as f32;

choice! {
    /// Point in a shading pixel at which shading inputs are sampled.
    #[derive(Default)]
    pub enum Sampling {
        /// The centre, covered or not.
        #[default]
        Centre = "centre",
        /// The centre if it is covered, else the covered sample nearest to it.
        Centroid = "centroid",
    }
}

/// Point in pixels at which shading pixel `pixel` (0 to 3) of the quad at `position` (in quads) samples its inputs.
///
/// `samples` is the mask of the shading pixel's samples that the triangle covers, and `covers_centre` whether it covers the
/// centre. Shading pixels that are fully covered or not covered are sampled at their centre, as in Direct3D.
#[inline]
pub fn sampling_point(
    position: [u16; 2],
    pixel: usize,
    pattern: &SamplePattern,
    sampling: Sampling,
    samples: u16,
    covers_centre: bool,
) -> [f32; 2] {
    let side = pattern.side_px() as f32;
    let corner = [0, 1].map(|k| {
        let second = if pixel >> k & 1 == 1 { side } else { 0.0 };
        2.0 * side * f32::from(position[k]) + second
    });
    let is_centre =
        sampling == Sampling::Centre || covers_centre || samples == pattern.full_pixel();
    let nearest = if is_centre { None } else { pattern.nearest_to_centre(samples) };
    let offset = nearest.map_or([side / 2.0; 2], |(sample, _)| {
        pattern.offsets()[usize::from(sample)].map(|units| units as f32 / UNITS_PER_PIXEL)
    });
    [corner[0] + offset[0], corner[1] + offset[1]]
}

/// Triangle that provides the inputs of a shading pixel.
#[derive(Debug, Clone, Copy)]
pub struct TriangleRef<'a> {
    /// Corners of the triangle.
    pub vertices: [&'a GridVertex; 3],
    /// Interpolation planes of the triangle, computed from the same corners.
    pub planes: &'a TrianglePlanes,
    /// Attributes of the corners that few meshes have.
    pub extras: CornerExtras,
}

/// Inputs of the shader for a quad. Shading pixels are counted from the top left, row by row.
#[derive(Debug, Clone, Copy)]
pub struct QuadInputs<'a> {
    /// Triangle that provides the inputs of each shading pixel.
    pub triangles: [TriangleRef<'a>; 4],
    /// Sampling point of each shading pixel, in pixels: see [`sampling_point`].
    pub points_px: [[f32; 2]; 4],
    /// Pixels along the side of a shading pixel: [`SamplePattern::side_px`].
    pub side_px: i32,
    /// Mask of the shading pixels whose colour is used. The others only serve derivatives.
    pub wanted: u8,
    /// Index of the material in the scene.
    pub material: u32,
    /// Whether the triangles face the viewer.
    pub is_front: bool,
}

/// Four points on surfaces of one material, at the corners of a grid cell, row by row.
#[derive(Debug, Clone, Copy)]
pub struct QuadPoints<'a> {
    /// Corners of the triangle under each point.
    pub vertices: [[&'a GridVertex; 3]; 4],
    /// Barycentric coordinates of each point on its triangle.
    pub at: [Barycentrics; 4],
    /// Attributes of the corners of each point's triangle that few meshes have.
    pub extras: [CornerExtras; 4],
    /// Mask of the points whose colour is used. The others only serve derivatives.
    pub wanted: u8,
    /// Index of the material in the scene.
    pub material: u32,
    /// Whether the triangles face the viewer.
    pub is_front: bool,
}

impl QuadPoints<'_> {
    #[inline]
    fn colour(&self) -> Option<[[f32; 4]; 4]> {
        if self.extras.iter().all(|extras| extras.colours.is_none()) {
            return None;
        }
        let mut colour = [[1.0; 4]; 4];
        for (k, (extras, at)) in self.extras.iter().zip(&self.at).enumerate() {
            if let Some(corners) = &extras.colours {
                let mixed = at.mix(*corners);
                (0..4).for_each(|c| colour[c][k] = mixed[c].max(0.0));
            }
        }
        Some(colour)
    }

    #[inline]
    fn second_uvs(&self, stencil: &Stencil) -> Option<TexturePlaces> {
        // A mesh has the second set at all of its corners or at none.
        let mut uv = [[0.0; 4]; 2];
        for (k, (extras, at)) in self.extras.iter().zip(&self.at).enumerate() {
            [uv[0][k], uv[1][k]] = at.mix(extras.second_uvs?);
        }
        Some(TexturePlaces::of(uv, stencil))
    }
}

impl Shader<'_> {
    /// Linear colours and opacities of the shading pixels, all 0 for pixels that are not wanted. The opacity is the
    /// material's opacity times the alpha of its colour texture, and 1 for an opaque material.
    ///
    /// Derivatives are differences across the quad: plain if every shading pixel is sampled at its centre, even if the
    /// inputs come from several triangles; otherwise corrected for the sampling points.
    #[inline]
    pub fn quad(&self, inputs: &QuadInputs) -> [[f32; 4]; 4] {
        let at = std::array::from_fn(|k| {
            let [x, y] = inputs.points_px[k];
            inputs.triangles[k].planes.at(x.into(), y.into())
        });
        let points = QuadPoints {
            vertices: inputs.triangles.map(|triangle| triangle.vertices),
            at,
            extras: inputs.triangles.map(|triangle| triangle.extras),
            wanted: inputs.wanted,
            material: inputs.material,
            is_front: inputs.is_front,
        };
        self.lit(&points, &stencil(inputs.points_px, inputs.side_px as f32))
    }

    /// Colours and opacities, as in [`Shader::quad`], of the corners of a grid cell on a surface. Derivatives are
    /// plain differences between the corners, so that textures are filtered over the width of a cell.
    pub fn grid_quad(&self, points: &QuadPoints) -> [[f32; 4]; 4] {
        self.lit(points, &Stencil::PLAIN)
    }

    #[inline(always)]
    fn lit(&self, inputs: &QuadPoints, stencil: &Stencil) -> [[f32; 4]; 4] {
        // Positions are relative to a corner: far from the world's origin, f32 would lose their small
        // differences across a quad.
        let origin = inputs.vertices[0][0].position;
        let relative = |v: &GridVertex| [0, 1, 2].map(|c| v.position[c] - origin[c]);
        let to_eye = self.eye_from(origin);
        let mut positions = [[0.0; 4]; 3];
        let mut normal = [[0.0; 4]; 3];
        let mut uv = [[0.0; 4]; 2];
        for (k, (vertices, at)) in inputs.vertices.iter().zip(&inputs.at).enumerate() {
            let [x, y, z] = at.mix(vertices.map(relative));
            let [nx, ny, nz] = at.mix(vertices.map(|v| v.normal));
            let [u, v] = at.mix(vertices.map(|v| v.uv));
            [positions[0][k], positions[1][k], positions[2][k]] = [x, y, z];
            [normal[0][k], normal[1][k], normal[2][k]] = [nx, ny, nz];
            [uv[0][k], uv[1][k]] = [u, v];
        }
        let [x, y, z] = positions.map(|values| stencil.apply(values));
        let points = SurfacePoints {
            to_eye: [0, 1, 2].map(|c| positions[c].map(|p| to_eye[c] - p)),
            normal,
            places: TexturePlaces::of(uv, stencil),
            second_places: inputs.second_uvs(stencil),
            colour: inputs.colour(),
            position_slopes: [0, 1].map(|d| [x[d], y[d], z[d]]),
            is_front: inputs.is_front,
            wanted: inputs.wanted,
        };
        let mut colours = self.light(self.material(inputs.material), &points);
        for (k, colour) in colours.iter_mut().enumerate() {
            if inputs.wanted >> k & 1 == 0 {
                *colour = [0.0; 4];
            }
        }
        colours
    }
}

/// Returns plain differences if all shading pixels are sampled at the same offset, otherwise corrected ones.
#[inline]
fn stencil(points_px: [[f32; 2]; 4], side: f32) -> Stencil {
    let [[x0, y0], [x1, y1], [x2, y2], [x3, y3]] = points_px;
    // Positions are multiples of 1/256 px, so sums are exact.
    #[allow(clippy::float_cmp, reason = "exact numbers")]
    let is_regular = (x1 == x0 + side) & (y1 == y0) & (x2 == x0) & (y2 == y0 + side)
        && (x3 == x0 + side) & (y3 == y0 + side);
    if is_regular {
        return Stencil::PLAIN;
    }
    Stencil::at(points_px.map(|p| [(p[0] - x0) / side, (p[1] - y0) / side]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shade::texture::{MipChain, TextureRole};
    use quadrille_geometry::files::Texture;

    /// Mip levels of the shading pixels of a quad for a texture of 256 texels that lies on the picture without distortion.
    fn levels(points_px: [[f32; 2]; 4], texels_per_px: f32) -> [f32; 4] {
        let texture = Texture {
            width: 256,
            height: 256,
            texels: vec![[0; 4]; 256 * 256],
            ..Texture::default()
        };
        let chain = MipChain::new(&texture, TextureRole::Raw).unwrap();
        let uv = |axis: usize| points_px.map(|p| p[axis] * texels_per_px / 256.0);
        let slopes = [0, 1].map(|axis| stencil(points_px, 1.0).apply(uv(axis)));
        std::array::from_fn(|c| {
            let [dx, dy] = [0, 1].map(|d| [slopes[0][d][c], slopes[1][d][c]]);
            chain.level(dx, dy)
        })
    }

    #[test]
    fn texture_levels_of_a_plane() {
        let centres = [[300.5, 200.5], [301.5, 200.5], [300.5, 201.5], [301.5, 201.5]];
        for (texels, level) in [(1.0, 0.0), (4.0, 2.0), (3.0, 1.584_962_5), (0.25, -2.0)] {
            let found = levels(centres, texels);
            assert!(found.iter().all(|l| (l - level).abs() < 1e-3), "{found:?}");
            let [a, b, c, _] = centres;
            let one = [a, b, c, [301.062_5, 201.937_5]];
            let three = [[300.937_5, 200.062_5], [301.25, 200.875], c, one[3]];
            for (moved, limit) in [(one, 1e-3), (three, 2e-3)] {
                let corrected = levels(moved, texels);
                let off = corrected.map(|l| (l - level).abs());
                assert!(off.iter().all(|off| *off < limit), "{corrected:?}");
            }
        }
    }

    #[test]
    fn coarse_quads_are_regular() {
        let points = [[301.0, 201.0], [303.0, 201.0], [301.0, 203.0], [303.0, 203.0]];
        assert_eq!(stencil(points, 2.0), Stencil::PLAIN);
    }
}
