//! Cached decoupled sampling (Ragan-Kelley and others 2011): samples that pass the depth test look up their shading quad
//! in a memo, and a miss shades it at once (section 6). With a depth prepass, only visible samples are shaded.

use super::colour::SampleColour;
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
use crate::memory::depth_buffer::{DepthFormat, DepthRule};
use crate::memory::spec::MemorySpec;
use crate::memory::traffic::{BufferTraffic, PipelineTraffic};
use crate::memory::word_buffer::WordBuffer;
use crate::shading::spid::Spid;
use quadrille_base::error::Result;

/// Settings of cached decoupled sampling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CachedDecoupledSettings {
    /// Capacity of the memo in quads; `None` for no limit.
    pub memo_quads: Option<u32>,
    /// Whether a depth prepass comes first.
    pub has_prepass: bool,
    /// Whether shader executions are counted per pixel.
    pub wants_heat: bool,
    /// Whether the identifier of each sample is returned.
    pub wants_spids: bool,
    /// Background of the picture; `None` for no picture.
    pub picture: Option<Background>,
}

/// Configuration of the memory whose traffic is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MeasuredMemory<'a> {
    /// Configuration of the caches and of the memory bus.
    pub spec: &'a MemorySpec,
    /// Format of stored depths.
    pub depth: DepthFormat,
    /// Format of stored colours of samples.
    pub colour: SampleColour,
}

#[derive(Debug)]
struct ShadedQuad {
    colours: [[f32; 4]; 4],
    /// The same colours as words of the colour buffer, if traffic is measured.
    words: [[u32; 2]; 4],
    /// Pixels that use the quad, with numbers of samples; empty unless executions are counted per pixel.
    served: Vec<(u32, u32)>,
}

struct Colours {
    buffer: WordBuffer,
    format: SampleColour,
    resolved_pixel_bytes: u64,
}

/// Pipeline with cached decoupled sampling.
pub struct CachedDecoupled<'a> {
    order: SampleOrder,
    depths: SampleDepths,
    memo: Memo<ShadedQuad>,
    shader: Option<QuadShaderFn<'a>>,
    colours: Option<Colours>,
    shown: ShownSamples,
    /// Samples shaded after the prepass, per block of 2x2 pixels: of several hits at the visible depth, the first is shown.
    shaded: Option<Vec<u64>>,
    heat: Option<HeatShares>,
    spids: Option<Vec<Spid>>,
}

impl<'a> CachedDecoupled<'a> {
    /// Creates the pipeline of a picture; with `memory`, it measures traffic. Pictures and traffic need `shading`, since
    /// the size of packed colours depends on the colours: without it, all colours are 0.
    pub(crate) fn new(
        order: SampleOrder,
        settings: &CachedDecoupledSettings,
        memory: Option<MeasuredMemory<'_>>,
        shading: Option<&'a dyn QuadShading>,
    ) -> Result<Self> {
        let colours = match memory {
            None => None,
            Some(m) => Some(Colours {
                buffer: WordBuffer::new(
                    m.spec,
                    m.colour.block_format(),
                    order.count() * m.colour.words(),
                    &[0],
                )?,
                format: m.colour,
                resolved_pixel_bytes: m.spec.resolved_pixel_bytes,
            }),
        };
        let [columns, rows] = order.blocks().map(|n| n as usize);
        let shows_colours = memory.is_some() || settings.picture.is_some();
        Ok(Self {
            order,
            depths: SampleDepths::new(order, memory.map(|m| (m.spec, m.depth)))?,
            memo: Memo::new(settings.memo_quads),
            shader: shading.filter(|_| shows_colours).map(|s| s.shader()),
            colours,
            shown: ShownSamples::new(order, settings.picture),
            shaded: settings.has_prepass.then(|| vec![0; columns * rows]),
            heat: settings.wants_heat.then(|| HeatShares::new(order.pixels())),
            spids: (settings.wants_spids).then(|| vec![Spid::BACKGROUND; order.count()]),
        })
    }

    fn draw(&mut self, chunk: &HitChunk, rule: DepthRule) {
        for quad in &chunk.quads {
            let first = self.order.first(quad.block);
            let mut passed = self.depths.test(first, quad.coverage, chunk.of(quad), rule);
            if let (Some(shaded), DepthRule::Equal) = (&mut self.shaded, rule) {
                let block = first / (4 * self.order.samples as usize);
                passed &= !shaded[block];
                shaded[block] |= passed;
            }
            let layer = match rule {
                DepthRule::NearerWithoutWrite => DrawLayer::Blended,
                DepthRule::Nearer | DepthRule::Equal => DrawLayer::Opaque,
            };
            self.shade(quad, chunk.of(quad), passed, passed, layer);
        }
    }

    /// Shades the samples in `passed` and stores the colours of the samples in `kept`. Samples of the block that share a
    /// shading quad share one look-up.
    fn shade(&mut self, quad: &QuadHits, hits: &[Hit], passed: u64, kept: u64, layer: DrawLayer) {
        if passed == 0 {
            return;
        }
        let mut mortons = [0_u32; BLOCK_WORDS];
        let mut hits = hits.iter();
        each_bit(quad.coverage, |bit| {
            mortons[bit as usize] = hits.next().map_or(0, |hit| hit.morton);
        });
        let first = self.order.first(quad.block);
        if let Some(spids) = self.spids.as_mut().filter(|_| layer == DrawLayer::Opaque) {
            each_bit(passed, |bit| {
                spids[first + bit as usize] =
                    Spid { primitive: quad.primitive, morton: mortons[bit as usize] };
            });
        }
        let mut colours = [[0.0; 4]; BLOCK_WORDS];
        let mut words = [[0; 2]; BLOCK_WORDS];
        let mut left = passed;
        while left != 0 {
            let wanted = mortons[left.trailing_zeros() as usize] >> 2;
            let mut same = 0_u64;
            each_bit(left, |bit| {
                same |= u64::from(mortons[bit as usize] >> 2 == wanted) << bit;
            });
            left &= !same;
            let (order, heat, shader) = (self.order, &mut self.heat, &mut self.shader);
            let format = self.colours.as_ref().map(|target| target.format);
            let has_heat = heat.is_some();
            let entry = self.memo.look_up(
                (quad.primitive, wanted),
                || ShadedQuad::new(shader, format, quad.primitive, wanted),
                |old| {
                    if let Some(heat) = heat {
                        heat.add(&old.served);
                    }
                },
            );
            each_bit(same, |bit| {
                let point = (mortons[bit as usize] & 3) as usize;
                words[bit as usize] = entry.words[point];
                colours[bit as usize] = entry.colours[point];
                if has_heat {
                    serve(&mut entry.served, order.pixel(quad.block, bit));
                }
            });
        }
        self.shown.draw(quad, kept, layer, &colours);
        if let Some(target) = &mut self.colours {
            let is_blended = layer == DrawLayer::Blended;
            target.store(first, kept, &words, is_blended.then_some(&colours));
        }
    }
}

impl ShadedQuad {
    fn new(
        shader: &mut Option<QuadShaderFn<'_>>,
        format: Option<SampleColour>,
        primitive: u32,
        quad: u32,
    ) -> Self {
        let mut shaded = Self { colours: [[0.0; 4]; 4], words: [[0; 2]; 4], served: Vec::new() };
        if let Some(shader) = shader {
            shaded.colours = shader(primitive, quad);
        }
        if let Some(format) = format {
            shaded.words = shaded.colours.map(|[r, g, b, _]| format.encode([r, g, b, 1.0]));
        }
        shaded
    }
}

impl Colours {
    #[inline]
    fn store(
        &mut self,
        first: usize,
        mask: u64,
        words: &[[u32; 2]; BLOCK_WORDS],
        blended: Option<&[[f32; 4]; BLOCK_WORDS]>,
    ) {
        let (format, buffer) = (self.format, &mut self.buffer);
        let one = |bit: u32| [words[bit as usize][0]];
        match (format, blended) {
            (SampleColour::Rgba16f, None) => {
                buffer.write(2 * first, mask, |bit| words[bit as usize]);
            }
            (SampleColour::Rgba8, None) => buffer.write(first, mask, one),
            (SampleColour::Rgba16f, Some(colours)) => {
                buffer.blend(2 * first, mask, |bit, old| format.blend(colours[bit as usize], old));
            }
            (SampleColour::Rgba8, Some(colours)) => buffer.blend(first, mask, |bit, [old]| {
                [format.blend(colours[bit as usize], [old, 0])[0]]
            }),
        }
    }

    /// Writes back dirty blocks at the end of the frame and resolves all samples; returns the traffic of both.
    fn resolve(&mut self, pixels: usize) -> [BufferTraffic; 2] {
        self.buffer.flush();
        let mut resolve = self.buffer.read_from_memory(0..self.buffer.block_count());
        let written = pixels as u64 * self.resolved_pixel_bytes;
        resolve.add_write(written, written);
        [self.buffer.traffic(), resolve]
    }
}

impl HitConsumer for CachedDecoupled<'_> {
    fn has_prepass(&self) -> bool {
        self.shaded.is_some()
    }

    fn prepass(&mut self, chunk: &HitChunk) {
        for quad in &chunk.quads {
            let first = self.order.first(quad.block);
            self.depths.test(first, quad.coverage, chunk.of(quad), DepthRule::Nearer);
        }
    }

    fn opaque(&mut self, chunk: &HitChunk) {
        let rule = match self.shaded {
            Some(_) => DepthRule::Equal,
            None => DepthRule::Nearer,
        };
        self.draw(chunk, rule);
    }

    fn alpha_tested(&mut self, chunk: &HitChunk) {
        for (quad, hits, kept) in chunk.blocks() {
            let passed = self.depths.test_late(self.order.first(quad.block), quad, hits, kept);
            self.shade(quad, hits, passed, passed & kept, DrawLayer::AlphaTested);
        }
    }

    fn blended(&mut self, chunk: &HitChunk) {
        self.draw(chunk, DepthRule::NearerWithoutWrite);
    }

    fn finish(mut self: Box<Self>) -> PipelineOutcome {
        let heat = &mut self.heat;
        self.memo.clear(|quad| {
            if let Some(heat) = heat {
                heat.add(&quad.served);
            }
        });
        let pixels = self.order.pixels();
        let traffic = match (&mut self.depths, &mut self.colours) {
            (SampleDepths::Modelled(depths), Some(colours)) => {
                depths.flush();
                let [colour, resolve] = colours.resolve(pixels);
                Some(PipelineTraffic {
                    depth: depths.traffic(),
                    headers: depths.header_traffic(),
                    colour,
                    resolve,
                    ..PipelineTraffic::default()
                })
            }
            _ => None,
        };
        let memo = self.memo.counters();
        PipelineOutcome {
            quads: memo.misses,
            memo: Some(memo),
            traffic,
            heat: self.heat,
            spids: self.spids,
            shown: Some(self.shown.finish()),
            ..PipelineOutcome::default()
        }
    }
}
