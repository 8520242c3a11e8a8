//! The alpha test, for materials whose shader discards fragments below an alpha, such as foliage cards.
//!
//! A fragment is discarded if the alpha at the centre of its shading pixel is below the cutoff. The depth test comes first,
//! and the quad is shaded and counted, since the shader decides; the samples show nothing and write no depth.

use super::derivatives::Stencil;
use super::interpolate::{Barycentrics, TrianglePlanes};
use super::texture::{MipChain, Textures};
use quadrille_base::raster::samples::SamplePattern;
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::files::{Material, Texture};
use quadrille_geometry::grid::Grid;

/// Relative rounding error of an alpha: of the weights of a texture lookup in two levels, and of the three corners. A surface
/// of constant alpha is kept whole if this alpha equals the cutoff.
const ROUNDING: f32 = 1e-6;

/// Alpha tests of a scene's materials, with the textures that they read.
#[derive(Debug, Default)]
pub struct AlphaTests {
    cutoffs: Vec<Option<f32>>,
    base_textures: Vec<Option<u32>>,
    textures: Textures,
}

impl AlphaTests {
    /// Collects the cutoffs of the materials and builds the mip chains of the textures that the tests read.
    pub fn new(materials: &[Material], textures: &[Texture]) -> Self {
        let cutoffs: Vec<_> = materials.iter().map(Material::tested_alpha).collect();
        if cutoffs.iter().all(Option::is_none) {
            return Self::default();
        }
        let tested: Vec<_> =
            materials.iter().map(|m| m.tested_alpha().and(m.base_texture)).collect();
        let is_read = |at: usize| tested.iter().flatten().any(|&t| t as usize == at);
        let read = (textures.iter().enumerate())
            .map(|(at, texture)| if is_read(at) { texture.clone() } else { Texture::default() });
        Self {
            textures: Textures::new(&read.collect::<Vec<_>>(), materials),
            base_textures: tested,
            cutoffs,
        }
    }

    #[inline]
    pub(crate) fn tests(&self, material: u32) -> bool {
        self.cutoffs.get(material as usize).is_some_and(Option::is_some)
    }

    /// Returns the alpha test of a triangle at pixels of the picture; `None` if its material discards nothing.
    pub fn of_triangle<'a>(
        &'a self,
        grid: &Grid,
        triangle: u16,
        view: &MeshCamera,
    ) -> Option<TriangleAlpha<'a>> {
        let corners = grid.topology.triangles[usize::from(triangle)];
        let vertices = corners.map(|corner| &grid.vertices[usize::from(corner)]);
        Some(TriangleAlpha {
            surface: self.of_surface(grid, triangle)?,
            planes: TrianglePlanes::new(vertices, view)?,
        })
    }

    /// Returns the alpha test of a triangle at barycentric coordinates; `None` if its material discards nothing.
    pub fn of_surface<'a>(&'a self, grid: &Grid, triangle: u16) -> Option<SurfaceAlpha<'a>> {
        let material = grid.material as usize;
        let cutoff = self.cutoffs.get(material).copied().flatten()?;
        let corners = grid.topology.triangles[usize::from(triangle)];
        let texture = self.base_textures[material].and_then(|t| self.textures.get(t));
        let colours = grid.corner_extras(triangle).colours;
        Some(SurfaceAlpha {
            uvs: corners.map(|corner| grid.vertices[usize::from(corner)].uv),
            alphas: colours.map(|corners| corners.map(|colour| [colour[3]])),
            texture,
            cutoff: cutoff * (1.0 - ROUNDING),
        })
    }
}

/// The alpha test of a triangle at pixels of the picture.
#[derive(Debug)]
pub struct TriangleAlpha<'a> {
    surface: SurfaceAlpha<'a>,
    planes: TrianglePlanes,
}

/// The alpha test of a triangle at points given by barycentric coordinates.
#[derive(Debug)]
pub struct SurfaceAlpha<'a> {
    uvs: [[f32; 2]; 3],
    alphas: Option<[[f32; 1]; 3]>,
    texture: Option<&'a MipChain>,
    cutoff: f32,
}

impl TriangleAlpha<'_> {
    /// Mask of the samples in the shading pixels of the quad at `position` that the test keeps.
    pub fn kept(&self, position: [u16; 2], pattern: &SamplePattern) -> u64 {
        let side = f64::from(pattern.side_px());
        let at = [0, 1, 2, 3].map(|pixel: usize| {
            let [x, y] = [0, 1].map(|axis| {
                let second = if pixel >> axis & 1 == 1 { 1.0 } else { 0.0 };
                (2.0 * f64::from(position[axis]) + second + 0.5) * side
            });
            self.planes.at(x, y)
        });
        let full = u64::from(pattern.full_pixel());
        let mut kept = 0;
        for (k, is_kept) in self.surface.kept(at).into_iter().enumerate() {
            if is_kept {
                kept |= full << (k * pattern.count() as usize);
            }
        }
        kept
    }
}

impl SurfaceAlpha<'_> {
    /// Whether each of the four neighbouring points of a quad is kept.
    pub fn kept(&self, at: [Barycentrics; 4]) -> [bool; 4] {
        let uv = at.map(|at| at.mix(self.uvs));
        let [u, v] = [0, 1].map(|axis| Stencil::PLAIN.apply(uv.map(|uv| uv[axis])));
        [0, 1, 2, 3].map(|k: usize| {
            let mut alpha = self.texture.map_or(1.0, |texture| {
                let level = texture.level([u[0][k], v[0][k]], [u[1][k], v[1][k]]);
                texture.sample(uv[k], level)[3]
            });
            if let Some(corners) = self.alphas {
                alpha *= at[k].mix(corners)[0];
            }
            // A NaN alpha keeps the fragment.
            alpha >= self.cutoff || alpha.is_nan()
        })
    }
}
