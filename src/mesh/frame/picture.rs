//! Shading, and the resolve of samples to pixels.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::merging::{ShaderQuad, Shading};
use super::visibility::{VisibilityBuffer, VisibleQuad};
use super::visible_frame::VisibleFrame;
use crate::shade::{QuadInputs, Sampling, Shader, TrianglePlanes, TriangleRef, sampling_point};
use quadrille_base::image::srgb::decode_srgb;
use quadrille_base::image::{ColourSpace, Frame};
use quadrille_base::raster::sample_depth::NO_OWNER;

const QUADS_PER_TASK: usize = 1024;

/// Linear colours of a quad's shading pixels, each with its opacity.
type QuadColours = [[f32; 4]; 4];

pub(super) trait SampleColours: Sync {
    /// Data common to all samples of a shading pixel with the same owner.
    type Key: Copy;

    /// Key of shading pixel `pixel` (0 to 3) of the quad `owner`, an index in the frame.
    fn key(&self, owner: u32, pixel: usize) -> Self::Key;

    /// Linear colour and opacity of a sample, from the key of its shading pixel.
    fn colour(&self, key: Self::Key, position: [u16; 2], pixel: usize, sample: usize) -> [f32; 4];
}

impl VisibleFrame {
    /// Shades the quads that leave the merging unit, and resolves the picture, in linear light.
    ///
    /// The background is an sRGB colour; without one the picture has premultiplied alpha.
    pub fn picture(
        &self,
        shader: &Shader<'_>,
        shading: &Shading,
        sampling: Sampling,
        background: Option<[f32; 3]>,
    ) -> Frame {
        self.resolve(&self.shaded(shader, shading, sampling), background)
    }

    /// Shades the quads that leave the merging unit.
    pub fn shaded<'a>(
        &'a self,
        shader: &Shader<'_>,
        shading: &'a Shading,
        sampling: Sampling,
    ) -> ShadedColours<'a> {
        quadrille_base::span!("shade");
        let colours = self.shade_quads(shader, shading, sampling);
        ShadedColours { visible: self, shading, colours }
    }

    /// Runs the shader on the visible quads of `shading`. A GPU also shades the hidden ones; the counts include them.
    fn shade_quads(
        &self,
        shader: &Shader<'_>,
        shading: &Shading,
        sampling: Sampling,
    ) -> Vec<QuadColours> {
        let mut shows = Vec::new();
        shows.resize_with(shading.quads.len(), AtomicBool::default);
        self.bins.par_iter().for_each(|bin| {
            let show = |owner, pixel| {
                let (chunk, quad) = self.find(owner);
                if let Some(shaded) = shading.target(chunk, quad, pixel) {
                    shows[shaded as usize].store(true, Ordering::Relaxed);
                }
            };
            self.each_shading_pixel(bin, |_, pixel, owners| {
                let mut last = NO_OWNER;
                for &owner in owners.iter().filter(|&&o| o != NO_OWNER) {
                    if owner != last {
                        last = owner;
                        show(owner, pixel);
                    }
                }
            });
            for &owner in &bin.blended {
                (0..4).for_each(|pixel| show(owner, pixel));
            }
        });
        let mut colours = vec![QuadColours::default(); shading.quads.len()];
        let tasks = colours.par_chunks_mut(QUADS_PER_TASK);
        let quads = shading.quads.par_chunks(QUADS_PER_TASK);
        let shows = shows.par_chunks(QUADS_PER_TASK);
        tasks.zip(quads).zip(shows).for_each(|((out, quads), shows)| {
            if self.task.is_cancelled() {
                return;
            }
            for ((out, quad), shows) in out.iter_mut().zip(quads).zip(shows) {
                if shows.load(Ordering::Relaxed) {
                    *out = self.shade(shader, quad, sampling);
                }
            }
        });
        colours
    }

    /// Visits a bin's shading pixels with the quad's position, the index in the quad, and the samples' owners.
    pub(super) fn each_shading_pixel(
        &self,
        bin: &VisibilityBuffer,
        mut visit: impl FnMut([u16; 2], usize, &[u32]),
    ) {
        let count = self.settings.pattern.count() as usize;
        if self.task.is_cancelled() {
            return;
        }
        for quad in &bin.quads {
            let samples = &bin.samples[quad.first as usize..][..4 * count];
            for (pixel, owners) in samples.chunks_exact(count).enumerate() {
                visit(quad.position, pixel, owners);
            }
        }
    }

    fn shade(&self, shader: &Shader<'_>, quad: &ShaderQuad, sampling: Sampling) -> QuadColours {
        let pattern = self.settings.pattern;
        let chunk = &self.chunks[quad.chunk as usize];
        let grid = &chunk.grids[chunk.grid_of(quad.inputs[0])].grid;
        let inputs = quad.inputs.map(|q| &chunk.quads[q as usize]);
        let corners = inputs.map(|input| {
            let corners = grid.topology.triangles[usize::from(input.triangle)];
            corners.map(|c| &grid.vertices[usize::from(c)])
        });
        let mut planes: [Option<TrianglePlanes>; 4] = [None; 4];
        for pixel in 0..4 {
            let same = (0..pixel).find(|&k| inputs[k].triangle == inputs[pixel].triangle);
            planes[pixel] = match same {
                Some(k) => planes[k],
                None => TrianglePlanes::new(corners[pixel], &self.view),
            };
        }
        // A triangle seen exactly edge-on has no planes; its shading pixels use the planes of another
        // triangle of the quad.
        let Some((some, fallback)) = (0..4).find_map(|k| planes[k].map(|p| (k, p))) else {
            return QuadColours::default();
        };
        let from: [usize; 4] = std::array::from_fn(|k| if planes[k].is_some() { k } else { some });
        let planes = planes.map(|p| p.unwrap_or(fallback));
        let points_px = std::array::from_fn(|pixel| {
            let input = inputs[from[pixel]];
            let samples = pattern.pixel(input.coverage, pixel);
            let covers_centre = input.centres >> pixel & 1 == 1;
            sampling_point(inputs[0].position, pixel, pattern, sampling, samples, covers_centre)
        });
        shader.quad(&QuadInputs {
            triangles: std::array::from_fn(|k| TriangleRef {
                vertices: corners[from[k]],
                planes: &planes[k],
                extras: grid.corner_extras(inputs[from[k]].triangle),
            }),
            points_px,
            side_px: pattern.side_px(),
            wanted: pattern.covered_pixels(quad.coverage),
            material: grid.material,
            is_front: inputs[0].is_front,
        })
    }

    /// Blends each pixel's samples and averages them in linear light, over the sRGB `background`. Without a background,
    /// pixels have premultiplied alpha.
    pub(super) fn resolve(
        &self,
        colours: &impl SampleColours,
        background: Option<[f32; 3]>,
    ) -> Frame {
        let [width, height] = self.settings.size;
        let pattern = self.settings.pattern;
        let per_pixel = pattern.per_pixel() as usize;
        let side = pattern.side_px().cast_unsigned();
        let share = 1.0 / f32::from(u16::try_from(per_pixel).unwrap_or(1));
        let behind = background.map(decode_srgb);
        let empty = behind.map_or([0.0; 4], |[r, g, b]| [r, g, b, 1.0]);
        let finished: Vec<Vec<(u32, [f32; 4])>> = self
            .bins
            .par_iter()
            .map(|bin| {
                let mut pixels = Vec::with_capacity(bin.quads.len() * 4);
                let mut samples = Vec::new();
                for quad in bin.quads.iter().take_while(|_| !self.task.is_cancelled()) {
                    self.blend_samples(colours, bin, quad, &mut samples);
                    for (at, samples) in (0_u32..).zip(samples.chunks_exact(per_pixel)) {
                        let (pixel, within) = (at / (side * side), at % (side * side));
                        let [x, y] = [[pixel & 1, within % side], [pixel >> 1, within / side]];
                        let x = side * (2 * u32::from(quad.position[0]) + x[0]) + x[1];
                        let y = side * (2 * u32::from(quad.position[1]) + y[0]) + y[1];
                        if x >= width || y >= height {
                            continue;
                        }
                        let (mut sum, mut covered) = ([0.0_f32; 3], 0.0_f32);
                        for sample in samples {
                            (0..3).for_each(|i| sum[i] += sample[i]);
                            covered += sample[3];
                        }
                        if covered > 0.0 {
                            pixels.push((y * width + x, finish(sum, covered, share, behind)));
                        }
                    }
                }
                pixels
            })
            .collect();
        let mut pixels = vec![empty; width as usize * height as usize];
        for (at, pixel) in finished.into_iter().flatten() {
            pixels[at as usize] = pixel;
        }
        Frame::from_pixels(width, height, pixels).taken_as(ColourSpace::Linear)
    }

    /// Computes the premultiplied colours of a quad's samples: blended surfaces, in drawing order, over the opaque one.
    fn blend_samples<C: SampleColours>(
        &self,
        colours: &C,
        bin: &VisibilityBuffer,
        quad: &VisibleQuad,
        samples: &mut Vec<[f32; 4]>,
    ) {
        let pattern = self.settings.pattern;
        let count = pattern.count() as usize;
        samples.clear();
        let owners = &bin.samples[quad.first as usize..][..4 * count];
        for (pixel, owners) in owners.chunks_exact(count).enumerate() {
            let mut last = (NO_OWNER, None);
            samples.extend(owners.iter().enumerate().map(|(sample, &owner)| {
                if owner == NO_OWNER {
                    return [0.0; 4];
                }
                let key = match last {
                    (same, Some(key)) if same == owner => key,
                    _ => colours.key(owner, pixel),
                };
                last = (owner, Some(key));
                let [r, g, b, _] = colours.colour(key, quad.position, pixel, sample);
                [r, g, b, 1.0]
            }));
        }
        let [first, end] = quad.blended.map(|at| at as usize);
        for &owner in &bin.blended[first..end] {
            let (chunk, number) = self.find(owner);
            let passed = self.chunks[chunk].passed(number);
            for pixel in (0..4).filter(|pixel| pattern.pixel(passed, *pixel) != 0) {
                let key = colours.key(owner, pixel);
                for sample in (0..count).filter(|s| passed >> (pixel * count + s) & 1 == 1) {
                    let below = &mut samples[pixel * count + sample];
                    *below = over(colours.colour(key, quad.position, pixel, sample), *below);
                }
            }
        }
    }
}

/// Blends a colour with straight opacity over a premultiplied colour with alpha.
#[inline]
pub fn over([r, g, b, opacity]: [f32; 4], behind: [f32; 4]) -> [f32; 4] {
    let over = |own: f32, behind: f32| own * opacity + behind * (1.0 - opacity);
    [over(r, behind[0]), over(g, behind[1]), over(b, behind[2]), over(1.0, behind[3])]
}

/// Returns a pixel from the sums of its samples' premultiplied colours and alphas; `share` is the weight of one sample.
pub fn finish(sum: [f32; 3], covered: f32, share: f32, behind: Option<[f32; 3]>) -> [f32; 4] {
    let alpha = covered * share;
    let [r, g, b] = sum.map(|v| v * share);
    match behind {
        None => [r, g, b, alpha],
        Some(behind) => {
            let through = behind.map(|v| v * (1.0 - alpha));
            [r + through[0], g + through[1], b + through[2], 1.0]
        }
    }
}

/// Colours of a frame: one for all samples of a shading pixel.
#[derive(Debug)]
pub struct ShadedColours<'a> {
    visible: &'a VisibleFrame,
    shading: &'a Shading,
    colours: Vec<QuadColours>,
}

impl ShadedColours<'_> {
    pub(super) fn visible(&self) -> &VisibleFrame {
        self.visible
    }
}

impl SampleColours for ShadedColours<'_> {
    type Key = [f32; 4];

    #[inline]
    fn key(&self, owner: u32, pixel: usize) -> [f32; 4] {
        let (chunk, quad) = self.visible.find(owner);
        let shaded = self.shading.target(chunk, quad, pixel);
        shaded.map_or([0.0; 4], |quad| self.colours[quad as usize][pixel])
    }

    #[inline]
    fn colour(&self, key: [f32; 4], _: [u16; 2], _: usize, _: usize) -> [f32; 4] {
        key
    }
}
