//! Multisampling: a quad of pixels is shaded for each primitive that has a sample past the depth test
//! there. Only shading is counted.

use super::depths::SampleDepths;
use super::heat_shares::{HeatShares, serve};
use super::place::{SampleOrder, each_bit};
use super::{HitConsumer, PipelineOutcome};
use crate::hits::{HitChunk, QuadHits};
use crate::memory::depth_buffer::DepthRule;

/// The pipeline with multisampling.
#[derive(Debug)]
pub struct Msaa {
    order: SampleOrder,
    depths: SampleDepths,
    quads: u64,
    heat: Option<HeatShares>,
    /// Pixels that the current quad serves.
    served: Vec<(u32, u32)>,
}

impl Msaa {
    /// Creates the pipeline of a picture.
    pub fn new(order: SampleOrder, wants_heat: bool) -> Self {
        Self {
            order,
            depths: SampleDepths::Plain(vec![0.0; order.count()]),
            quads: 0,
            heat: wants_heat.then(|| HeatShares::new(order.pixels())),
            served: Vec::new(),
        }
    }

    fn draw(&mut self, chunk: &HitChunk, rule: DepthRule) {
        for quad in &chunk.quads {
            let first = self.order.first(quad.place);
            let passed = self.depths.test(first, quad.coverage, chunk.of(quad), rule);
            self.shade(quad, passed);
        }
    }

    /// Counts the quad of pixels of the samples in `passed`.
    fn shade(&mut self, quad: &QuadHits, passed: u64) {
        if passed == 0 {
            return;
        }
        self.quads += 1;
        if let Some(heat) = &mut self.heat {
            self.served.clear();
            each_bit(passed, |bit| {
                serve(&mut self.served, self.order.pixel(quad.place, bit));
            });
            heat.add(&self.served);
        }
    }
}

impl HitConsumer for Msaa {
    fn opaque(&mut self, chunk: &HitChunk) {
        self.draw(chunk, DepthRule::Nearer);
    }

    fn alpha_tested(&mut self, chunk: &HitChunk) {
        for (quad, hits, kept) in chunk.blocks() {
            let first = self.order.first(quad.place);
            let passed = self.depths.test_late(first, quad, hits, kept);
            self.shade(quad, passed);
        }
    }

    fn blended(&mut self, chunk: &HitChunk) {
        self.draw(chunk, DepthRule::NearerWithoutWrite);
    }

    fn finish(self: Box<Self>) -> PipelineOutcome {
        PipelineOutcome {
            quads: self.quads,
            heat: self.heat,
            ..PipelineOutcome::default()
        }
    }
}
