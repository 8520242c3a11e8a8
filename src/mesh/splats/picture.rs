//! The picture that transparent quads leave when they are blended in a given order.

use super::SplatQuads;
use crate::gpu::draw::Draw;
use crate::gpu::warp::fragment::FragmentShader;
use crate::image::Frame;
use crate::mesh::merge::MergedQuad;
use crate::shading::under_channel;

/// A colour buffer with samples: what comes goes behind what is there, as the emulated pipeline
/// blends. A fragment is shaded once, at the pixel's centre, for all its samples.
pub(super) struct Blending<'a> {
    quads: &'a SplatQuads,
    draw: &'a Draw,
    shader: FragmentShader<'a>,
    /// Premultiplied colours, sample by sample, pixel by pixel, row by row.
    samples: Vec<[f32; 4]>,
}

impl<'a> Blending<'a> {
    pub(super) fn new(quads: &'a SplatQuads, draw: &'a Draw, shader: FragmentShader<'a>) -> Self {
        let [width, height] = quads.size.map(|side| side as usize);
        let count = quads.pattern.count() as usize;
        Self {
            quads,
            draw,
            shader,
            samples: vec![[0.0; 4]; width * height * count],
        }
    }

    /// Blends a quad; each cell has the colour and alpha of the splat that gives its inputs.
    #[allow(clippy::cast_possible_truncation, reason = "cells of a quad")]
    pub(super) fn blend(&mut self, quad: &MergedQuad) {
        let pattern = self.quads.pattern;
        let count = pattern.count() as usize;
        let width = self.quads.size[0];
        for (cell, &input) in quad.inputs.iter().enumerate() {
            let covered = pattern.cell(quad.coverage, cell);
            if covered == 0 {
                continue;
            }
            let input = &self.quads.quads[input as usize];
            let x = u32::from(input.position[0]) * 2 + (cell as u32 & 1);
            let y = u32::from(input.position[1]) * 2 + (cell as u32 >> 1);
            let splat = &self.draw.splats[input.splat as usize];
            let Some(alpha) = self.shader.fragment(splat, x, y) else {
                continue;
            };
            let [r, g, b] = splat.colour.map(|c| alpha * c);
            let at = (y as usize * width as usize + x as usize) * count;
            for (sample, stored) in self.samples[at..at + count].iter_mut().enumerate() {
                if covered >> sample & 1 == 1 {
                    let front = stored[3];
                    for (channel, back) in stored.iter_mut().zip([r, g, b, alpha]) {
                        *channel = under_channel(*channel, front, back);
                    }
                }
            }
        }
    }

    /// The mean of each pixel's samples.
    pub(super) fn resolve(self) -> Frame {
        let count = self.quads.pattern.count() as usize;
        let share = 1.0 / f32::from(u16::try_from(count).unwrap_or(1));
        let mean = |samples: &[[f32; 4]]| {
            [0, 1, 2, 3].map(|k| samples.iter().map(|s| s[k]).sum::<f32>() * share)
        };
        let [width, height] = self.quads.size;
        let pixels = self.samples.chunks_exact(count).map(mean).collect();
        Frame::from_pixels(width, height, pixels)
    }
}
