//! Multisampling: a quad of pixels is shaded for each primitive of which a sample passes the depth test. Only shading is
//! counted. In a picture, samples have the colours of their shading points, not one colour per pixel and primitive.

use super::depths::SampleDepths;
use super::heat_shares::{HeatShares, serve};
use super::memo::Memo;
use super::sample_order::{SampleOrder, each_bit};
use super::shown::ShownSamples;
use super::{HitConsumer, PipelineOutcome, QuadShaderFn, QuadShading};
use crate::backend::resolve::Background;
use crate::geometry::DrawLayer;
use crate::hits::{Hit, HitChunk, QuadHits};
use crate::memory::bits::BLOCK_WORDS;
use crate::memory::depth_buffer::DepthRule;

/// Shaded quads kept to draw the picture faster; they do not affect counters.
const PICTURE_MEMO_QUADS: u32 = 4096;

/// Pipeline with multisampling.
pub struct Msaa<'a> {
    order: SampleOrder,
    depths: SampleDepths,
    quads: u64,
    heat: Option<HeatShares>,
    served: Vec<(u32, u32)>,
    shown: ShownSamples,
    /// Shader for the picture; `None` for no picture.
    shader: Option<QuadShaderFn<'a>>,
    memo: Memo<[[f32; 4]; 4]>,
}

impl<'a> Msaa<'a> {
    /// Creates the pipeline; draws a picture if `picture` gives a background and a shading.
    pub(crate) fn new(
        order: SampleOrder,
        wants_heat: bool,
        picture: Option<(Background, &'a dyn QuadShading)>,
    ) -> Self {
        Self {
            order,
            depths: SampleDepths::Plain(vec![0.0; order.count()]),
            quads: 0,
            heat: wants_heat.then(|| HeatShares::new(order.pixels())),
            served: Vec::new(),
            shown: ShownSamples::new(order, picture.map(|(background, _)| background)),
            shader: picture.map(|(_, shading)| shading.shader()),
            memo: Memo::new(Some(PICTURE_MEMO_QUADS)),
        }
    }

    fn draw(&mut self, chunk: &HitChunk, rule: DepthRule, layer: DrawLayer) {
        for quad in &chunk.quads {
            let (first, hits) = (self.order.first(quad.block), chunk.of(quad));
            let passed = self.depths.test(first, quad.coverage, hits, rule);
            self.shade(quad, hits, passed, passed, layer);
        }
    }

    /// Counts a pixel quad if `passed` has samples, and draws the samples in `kept`.
    fn shade(&mut self, quad: &QuadHits, hits: &[Hit], passed: u64, kept: u64, layer: DrawLayer) {
        if passed == 0 {
            return;
        }
        self.quads += 1;
        if let Some(heat) = &mut self.heat {
            self.served.clear();
            each_bit(passed, |bit| {
                serve(&mut self.served, self.order.pixel(quad.block, bit));
            });
            heat.add(&self.served);
        }
        let colours = self.colours(quad, hits, kept);
        self.shown.draw(quad, kept, layer, &colours);
    }

    fn colours(&mut self, quad: &QuadHits, hits: &[Hit], kept: u64) -> [[f32; 4]; BLOCK_WORDS] {
        let mut colours = [[0.0; 4]; BLOCK_WORDS];
        let Some(shader) = &mut self.shader else { return colours };
        let mut hits = hits.iter();
        let mut last: Option<(u32, [[f32; 4]; 4])> = None;
        each_bit(quad.coverage, |bit| {
            let morton = hits.next().map_or(0, |hit| hit.morton);
            if kept >> bit & 1 == 0 {
                return;
            }
            let number = morton >> 2;
            let points = match last {
                Some((same, points)) if same == number => points,
                _ => {
                    let shade = || shader(quad.primitive, number);
                    let points = *self.memo.look_up((quad.primitive, number), shade, |_| ());
                    last = Some((number, points));
                    points
                }
            };
            colours[bit as usize] = points[(morton & 3) as usize];
        });
        colours
    }
}

impl HitConsumer for Msaa<'_> {
    fn opaque(&mut self, chunk: &HitChunk) {
        self.draw(chunk, DepthRule::Nearer, DrawLayer::Opaque);
    }

    fn alpha_tested(&mut self, chunk: &HitChunk) {
        for (quad, hits, kept) in chunk.blocks() {
            let passed = self.depths.test_late(self.order.first(quad.block), quad, hits, kept);
            self.shade(quad, hits, passed, passed & kept, DrawLayer::AlphaTested);
        }
    }

    fn blended(&mut self, chunk: &HitChunk) {
        self.draw(chunk, DepthRule::NearerWithoutWrite, DrawLayer::Blended);
    }

    fn finish(self: Box<Self>) -> PipelineOutcome {
        PipelineOutcome {
            quads: self.quads,
            heat: self.heat,
            shown: Some(self.shown.finish()),
            ..PipelineOutcome::default()
        }
    }
}
