//! Pipelines that shade during the raster against the sorted back end, and codecs on blocks of real frames.

use super::passes;
use super::scenes::{blurs, frame, soup};
use quadrille_deferred::backend::shade::{QuadColours, QuadShader};
use quadrille_deferred::forward::colour::SampleColour;
use quadrille_deferred::forward::{PipelineOutcome, QuadShading};
use quadrille_deferred::frame::StochasticFrame;
use quadrille_deferred::memory::bits::{BLOCK_WORDS, Block};
use quadrille_deferred::memory::codec::{BlockFormat, PackedBlock, PackedSize};
use quadrille_deferred::memory::depth_buffer::DepthFormat;
use quadrille_deferred::memory::spec::MemorySpec;
use quadrille_deferred::settings::DeferredSettings;
use quadrille_deferred::simulate::{PipelineRun, SimulationSettings, simulate};
use quadrille_geometry::grid::GridSource;
use quadrille_geometry::triangles::Triangles;
use quadrille_mesh::frame::Faces;
use quadrille_mesh::shade::{ShadeSettings, Shader, Textures};

/// Quad shading of a frame, as a source of shaders.
struct FrameQuads<'a> {
    frame: &'a StochasticFrame,
    shader: &'a Shader<'a>,
}

impl QuadShading for FrameQuads<'_> {
    fn shader(&self) -> Box<dyn FnMut(u32, u32) -> QuadColours + Send + '_> {
        let mut shader = QuadShader::new(self.frame, self.shader);
        Box::new(move |primitive, quad| shader.shade(primitive, quad, 0b1111))
    }
}

fn run(frame: &StochasticFrame, source: &Triangles, runs: &[PipelineRun]) -> Vec<PipelineOutcome> {
    let textures = Textures::new(source.textures(), source.materials());
    let view = frame.view.middle();
    let shader = Shader::new(source.materials(), &textures, view, ShadeSettings::default());
    let shader = &shader;
    let settings = SimulationSettings {
        memory: &MemorySpec::default(),
        depth: DepthFormat::D24,
        colour: SampleColour::Rgba16f,
        shading: Some(&FrameQuads { frame, shader }),
        measures_traffic: true,
        picture: None,
        wants_heat: true,
        wants_spids: true,
    };
    simulate(frame, runs, &settings).unwrap().outcomes
}

const fn cached(memo_quads: Option<u32>, has_prepass: bool) -> PipelineRun {
    PipelineRun::CachedDecoupled { memo_quads, has_prepass }
}

#[test]
fn pipelines_agree_with_the_sorted_back_end() {
    let source = soup(11, 150, 0.5);
    for blur in blurs() {
        let settings = DeferredSettings { faces: Faces::Both, ..DeferredSettings::default() };
        let frame = frame(&source, [66, 47], blur, &settings);
        let runs = [
            cached(None, true),
            cached(Some(1), false),
            cached(Some(64), false),
            cached(Some(64), true),
            PipelineRun::Sds { tile_px: Some(32) },
        ];
        let outcomes = run(&frame, &source, &runs);
        for outcome in &outcomes {
            let spids = outcome.spids.as_ref().unwrap();
            assert!(*spids == frame.visible.spids);
            assert!(outcome.traffic.unwrap().total() > 0);
        }
        let quads = |at: usize| outcomes[at].quads;
        let sorted = |tile| passes(&frame, &source, tile).counters.quads;
        // After a prepass, a memo without limit shades each visible quad once, as a single tile does.
        assert_eq!(quads(0), sorted(None));
        assert!(sorted(Some(16)) >= quads(0));
        assert!(quads(1) >= quads(2) && quads(2) >= quads(3) && quads(3) >= quads(0));
        let heat = outcomes[2].heat.as_ref().unwrap();
        assert!((heat.sum() / (4.0 * quads(2) as f64) - 1.0).abs() < 1e-9);
    }
}

/// Encodes and decodes a block; returns its bytes.
fn round_trip(block: &Block, format: BlockFormat) -> u64 {
    let spec = MemorySpec::default();
    let packed = PackedBlock::encode(&spec, block, format, 0);
    assert_eq!(packed.decode(format, 0, 0), *block);
    assert_eq!(packed.size, PackedSize::of(&spec, block, format, 0));
    packed.size.bytes
}

#[test]
fn blocks_of_real_frames_come_back() {
    let source = soup(12, 200, 0.4);
    for blur in blurs() {
        let frame = frame(&source, [80, 64], blur, &DeferredSettings::default());
        let textures = Textures::new(source.textures(), source.materials());
        let view = frame.view.middle();
        let shader = Shader::new(source.materials(), &textures, view, ShadeSettings::default());
        let mut shader = QuadShader::new(&frame, &shader);
        let [mut packed, mut raw] = [0, 0];
        for (spids, depths) in frame
            .visible
            .spids
            .chunks_exact(BLOCK_WORDS)
            .zip(frame.visible.depths.chunks_exact(BLOCK_WORDS))
        {
            let primitives = std::array::from_fn(|k| spids[k].primitive);
            let mortons = std::array::from_fn(|k| spids[k].morton);
            packed += round_trip(&primitives, BlockFormat::Identifiers);
            packed += round_trip(&mortons, BlockFormat::Identifiers);
            raw += 512;
            let depths: [f32; BLOCK_WORDS] = std::array::from_fn(|k| depths[k]);
            round_trip(&depths.map(f32::to_bits), BlockFormat::Depth32F);
            let words = spids[..BLOCK_WORDS / 2].iter().flat_map(|spid| {
                let (primitive, quad) = spid.quad();
                let colour = match primitive {
                    0 => [0.0; 4],
                    _ => shader.shade(primitive, quad, 0b1111)[usize::from(spid.corner())],
                };
                SampleColour::Rgba16f.encode(colour)
            });
            let words: Vec<u32> = words.collect();
            round_trip(&words.try_into().unwrap(), BlockFormat::Rgba16F);
        }
        assert!(packed < raw && packed >= raw / 4);
    }
}
