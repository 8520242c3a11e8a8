//! Layers of a frame: the geometry of splats that they need, and the memory of their planes.

use rayon::prelude::*;

use super::LayerSettings;
use crate::preprocess::exact::{distance, facing_normal};
use crate::preprocess::{Projected, ProjectedSplat, ViewTransform};
use quadrille_base::image::{Layer, LayerPicture};
use quadrille_base::math::narrow;
use quadrille_scene::Splats;

pub(crate) const LEAST_ALPHA: f32 = 1e-10;
/// Transmittance at which a fragment determines the median depth.
pub(super) const MEDIAN_TRANSMITTANCE: f64 = 0.5;
pub(super) const NO_ID: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct SplatGeometry {
    pub(super) depth: f32,
    pub(super) normal: [f32; 3],
}

/// Geometry of all splats in view, by slot; empty if the projections suffice.
pub(super) fn geometry(
    splats: &Splats,
    view: &ViewTransform,
    projected: &Projected,
    settings: &LayerSettings,
) -> Vec<SplatGeometry> {
    if !settings.needs_geometry() {
        return Vec::new();
    }
    let has_normal = settings.layers.contains(&Layer::Normal);
    let of_splat = |projected: &ProjectedSplat| {
        let splat = splats.geometry(projected.index as usize);
        let depth =
            if settings.is_distance { narrow(distance(view, splat.mean)) } else { projected.depth };
        SplatGeometry {
            depth,
            normal: if has_normal { facing_normal(view, &splat).map(narrow) } else { [0.0; 3] },
        }
    };
    let mut geometry = vec![SplatGeometry::default(); projected.slots().len()];
    geometry
        .par_chunks_mut(projected.chunk_slots())
        .zip(projected.slots().par_chunks(projected.chunk_slots()))
        .enumerate()
        .for_each(|(chunk, (geometry, slots))| {
            if chunk < projected.chunks() {
                let len = projected.chunk(chunk).keys.len();
                for (geometry, splat) in geometry.iter_mut().zip(&slots[..len]) {
                    *geometry = of_splat(splat);
                }
            }
        });
    geometry
}

pub(super) struct Planes {
    size: [u32; 2],
    pictures: Vec<(Layer, Vec<u32>)>,
}

impl Planes {
    pub(super) fn new(size: [u32; 2], layers: &[Layer]) -> Self {
        let pixels = size[0] as usize * size[1] as usize;
        let pictures = layers.iter().map(|layer| (*layer, vec![0; pixels * layer.planes()]));
        Self { size, pictures: pictures.collect() }
    }

    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut [u32]> {
        let pixels = self.size[0] as usize * self.size[1] as usize;
        self.pictures.iter_mut().flat_map(move |(_, bits)| bits.chunks_exact_mut(pixels.max(1)))
    }

    pub(super) fn into_pictures(self) -> Vec<LayerPicture> {
        let size = self.size;
        let pictures = self.pictures.into_iter();
        pictures.map(|(layer, bits)| LayerPicture::from_bits(layer, size, bits)).collect()
    }
}
