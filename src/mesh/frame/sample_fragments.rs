//! Fragments that the samples of a picture show, with their depths, for pictures that hold more than meshes.

use super::picture::{SampleColours, ShadedColours};
use crate::shade::TrianglePlanes;
use quadrille_base::math::fit;
use quadrille_base::raster::geometry::PixelRect;
use quadrille_base::raster::sample_depth::NO_OWNER;

/// Fragment that a sample shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleFragment {
    /// Column and row of the pixel.
    pub pixel: [u32; 2],
    /// Index of the sample in the pixel.
    pub sample: u32,
    /// Depth along the line of sight, in world units of the mesh.
    pub depth: f64,
    /// Linear colour, not premultiplied.
    pub colour: [f32; 3],
    /// Opacity; 1 for a fragment that is not blended.
    pub opacity: f32,
}

impl ShadedColours<'_> {
    /// Visits the fragments inside `area`, a part of the picture, that pass the depth test: at each sample first the blended
    /// ones, beginning with the last one drawn, then the one that is not blended. The frame must shade each pixel on its own.
    pub fn fragments(&self, area: PixelRect, mut visit: impl FnMut(SampleFragment)) {
        let frame = self.visible();
        let pattern = frame.settings.pattern;
        let count = pattern.count() as usize;
        for bin in frame.settings.bins_in(area).map(|bin| &frame.bins[bin]) {
            for (quad, place) in bin.quads.iter().flat_map(|quad| (0..4).map(move |k| (quad, k))) {
                let [x, y] = [0, 1].map(|axis| {
                    let second = i32::from(place >> axis & 1 == 1);
                    2 * i32::from(quad.position[axis]) + second
                });
                if !area.contains(x, y) {
                    continue;
                }
                let mut show = |owner: u32, samples: u64, is_blended: bool| {
                    let key = self.key(owner, place);
                    let [r, g, b, opacity] = self.colour(key, quad.position, place, 0);
                    let vertices = frame.vertices_of(owner);
                    let planes = TrianglePlanes::new(vertices, &frame.view);
                    for sample in (0..count).filter(|k| samples >> k & 1 == 1) {
                        let [u, v] =
                            pattern.offsets()[sample].map(|units| f64::from(units) / 256.0);
                        let at = planes.map(|p| p.at(f64::from(x) + u, f64::from(y) + v).inverse_z);
                        // Beyond the horizon of a triangle seen edge-on, its first corner tells the depth.
                        let depth = at.filter(|inverse| *inverse > 0.0).map(f64::recip);
                        visit(SampleFragment {
                            pixel: [x, y].map(i32::cast_unsigned),
                            sample: fit(sample),
                            depth: depth
                                .unwrap_or_else(|| frame.view.project(vertices[0].position).z),
                            colour: [r, g, b],
                            opacity: if is_blended { opacity } else { 1.0 },
                        });
                    }
                };
                let [first, end] = quad.blended.map(|at| at as usize);
                for &owner in bin.blended[first..end].iter().rev() {
                    let (chunk, number) = frame.find(owner);
                    show(
                        owner,
                        pattern.pixel(frame.chunks[chunk].passed(number), place).into(),
                        true,
                    );
                }
                let owners = &bin.samples[quad.first as usize + place * count..][..count];
                let mut first = 0;
                for run in owners.chunk_by(|a, b| a == b) {
                    if run[0] != NO_OWNER {
                        show(run[0], ((1 << run.len()) - 1) << first, false);
                    }
                    first += run.len();
                }
            }
        }
    }
}
