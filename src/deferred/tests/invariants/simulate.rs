//! Pipelines on rectangles in random order of depth.

use quadrille_deferred::forward::colour::SampleColour;
use quadrille_deferred::forward::{PipelineOutcome, QuadShading};
use quadrille_deferred::geometry::DrawLayer;
use quadrille_deferred::hits::{Hit, HitChunk, HitStream, QuadHits};
use quadrille_deferred::memory::depth_buffer::DepthFormat;
use quadrille_deferred::memory::spec::MemorySpec;
use quadrille_deferred::raster::cost::RasterCounters;
use quadrille_deferred::shading::spid::Spid;
use quadrille_deferred::simulate::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Source of hits: rectangles in random order of depth, some at equal depths, followed by alpha-tested and blended ones.
struct Rectangles {
    size: [u32; 2],
    samples: u32,
    opaque: u32,
    tested: u32,
    blended: u32,
}

const SMALL: Rectangles =
    Rectangles { size: [75, 51], samples: 16, opaque: 80, tested: 8, blended: 6 };

impl Rectangles {
    fn chunk(&self, primitives: std::ops::Range<u32>) -> HitChunk {
        let mut chunk = HitChunk::default();
        let blocks = self.size.map(|px| px.div_ceil(2));
        for primitive in primitives {
            let mut rng = Pcg64::seed_from_u64(primitive.into());
            let depth = f32::from(rng.random_range(1..20_u8)) / 20.0;
            let range = |rng: &mut Pcg64, blocks: u32| {
                let from = rng.random_range(0..blocks);
                from..blocks.min(from + rng.random_range(2..16))
            };
            let (columns, rows) = (range(&mut rng, blocks[0]), range(&mut rng, blocks[1]));
            for row in rows {
                for column in columns.clone() {
                    let block = [column, row].map(|at| u16::try_from(at).unwrap());
                    let mut coverage = rng.random::<u64>() | rng.random::<u64>();
                    if rng.random_range(0..2_u8) == 0 {
                        coverage = u64::MAX;
                    }
                    coverage &= u64::MAX >> (64 - 4 * self.samples);
                    let inside = |bit: u32| {
                        let corner = bit / self.samples;
                        let [x, y] = [2 * column + (corner & 1), 2 * row + (corner >> 1)];
                        x < self.size[0] && y < self.size[1]
                    };
                    (0..64).filter(|bit| !inside(*bit)).for_each(|bit| coverage &= !(1 << bit));
                    if coverage == 0 {
                        continue;
                    }
                    let first = chunk.hits.len() as u64;
                    chunk.quads.push(QuadHits { primitive, block, coverage, first });
                    for _ in 0..coverage.count_ones() {
                        let point = block.map(|at| 2 * at + rng.random_range(0..6_u16));
                        let morton = Spid::new(primitive, point).morton;
                        let depth = depth - f32::from(block[0]) * 1e-4;
                        chunk.hits.push(Hit { depth, morton });
                    }
                }
            }
        }
        chunk
    }
}

impl HitStream for Rectangles {
    fn size(&self) -> [u32; 2] {
        self.size
    }
    fn samples(&self) -> u32 {
        self.samples
    }
    fn each_chunk(&self, layer: DrawLayer, consume: &mut dyn FnMut(&HitChunk)) -> RasterCounters {
        let middle = self.opaque / 2;
        let tested = self.opaque + 1;
        let blended = tested + self.tested;
        match layer {
            DrawLayer::Opaque => {
                consume(&self.chunk(1..middle));
                consume(&self.chunk(middle..tested));
            }
            DrawLayer::AlphaTested => {
                let mut chunk = self.chunk(tested..blended);
                let quads = chunk.quads.iter();
                chunk.kept = quads.map(|q| q.coverage & 0x0f33_5a5a_ff00_9669).collect();
                consume(&chunk);
            }
            DrawLayer::Blended => consume(&self.chunk(blended..blended + self.blended)),
        }
        RasterCounters::default()
    }
}

/// Colours that differ from quad to quad, half transparent.
struct Plain;

impl QuadShading for Plain {
    fn shader(&self) -> Box<dyn FnMut(u32, u32) -> [[f32; 4]; 4] + Send + '_> {
        Box::new(|primitive, quad| {
            let shade = (primitive * 37 + quad * 11) % 256;
            [0.0, 0.01, 0.02, 0.03].map(|c| [shade as f32 / 256.0 + c, c, 0.5, 0.5])
        })
    }
}

fn run(stream: &Rectangles, runs: &[PipelineRun]) -> Vec<PipelineOutcome> {
    let settings = SimulationSettings {
        memory: &MemorySpec::default(),
        depth: DepthFormat::D24,
        colour: SampleColour::Rgba16f,
        shading: Some(&Plain),
        measures_traffic: true,
        picture: None,
        wants_heat: true,
        wants_spids: true,
    };
    simulate(stream, runs, &settings).unwrap().outcomes
}

const fn cached(memo_quads: Option<u32>, has_prepass: bool) -> PipelineRun {
    PipelineRun::CachedDecoupled { memo_quads, has_prepass }
}

#[test]
fn all_pipelines_with_identifiers_show_the_same() {
    for samples in [1, 3, 16] {
        let stream = Rectangles { samples, ..SMALL };
        let runs = [
            PipelineRun::Sds { tile_px: Some(32) },
            PipelineRun::Sds { tile_px: None },
            cached(Some(1), false),
            cached(Some(64), true),
            cached(None, false),
        ];
        let outcomes = run(&stream, &runs);
        let shown = outcomes[0].spids.as_ref().unwrap();
        assert!(shown.iter().any(|spid| !spid.is_background()));
        for outcome in &outcomes {
            assert_eq!(outcome.spids.as_ref(), Some(shown), "{samples}");
        }
    }
}

#[test]
fn shading_falls_with_the_memo_to_what_is_visible() {
    let stream = Rectangles { tested: 0, blended: 0, ..SMALL };
    let memos = [Some(1), Some(4), Some(16), Some(64), Some(1024), None];
    for has_prepass in [false, true] {
        let outcomes = run(&stream, &memos.map(|memo| cached(memo, has_prepass)));
        let quads: Vec<u64> = outcomes.iter().map(|o| o.quads).collect();
        assert!(quads.is_sorted_by(|a, b| a >= b), "{quads:?}");
        let mut visible: Vec<_> = outcomes[5].spids.as_ref().unwrap().clone();
        visible.retain(|spid| !spid.is_background());
        let mut visible: Vec<_> = visible.iter().map(|spid| spid.quad()).collect();
        visible.sort_unstable();
        visible.dedup();
        let least = visible.len() as u64;
        if has_prepass { assert_eq!(quads[5], least) } else { assert!(quads[5] > least) }
    }
}

#[test]
fn heat_sums_to_the_executions() {
    let runs = [PipelineRun::Msaa, cached(Some(16), false), cached(None, true)];
    for outcome in run(&SMALL, &runs) {
        let heat = outcome.heat.unwrap();
        let executions = 4.0 * outcome.quads as f64;
        assert!((heat.sum() - executions).abs() < 1e-6 * executions);
        assert!(heat.executions.iter().all(|e| *e >= 0.0));
    }
}

/// A depth prepass reads and writes more depths and fewer colours.
#[test]
fn a_prepass_moves_traffic_from_colour_to_depth() {
    let outcomes = run(&SMALL, &[cached(Some(64), false), cached(Some(64), true)]);
    let [plain, prepass] = [0, 1].map(|i: usize| outcomes[i].traffic.unwrap());
    assert!(prepass.depth.read >= plain.depth.read);
    assert!(prepass.colour.bytes() < plain.colour.bytes());
    for traffic in [plain, prepass] {
        assert_eq!(traffic.resolve.write, 75 * 51 * 4);
        assert!(traffic.resolve.read > 0 && traffic.raw() > traffic.total());
        assert_eq!(traffic.spid, Default::default());
    }
}

#[test]
fn sds_moves_identifiers_and_loads_each_block_once_per_tile() {
    let stream = Rectangles { tested: 0, blended: 0, ..SMALL };
    let runs = [Some(16), Some(32), None].map(|tile_px| PipelineRun::Sds { tile_px });
    let outcomes = run(&stream, &runs);
    let traffic: Vec<_> = outcomes.iter().map(|o| o.traffic.unwrap()).collect();
    // With 16 samples, a block of memory is a block of 2x2 pixels, so tiles share no block.
    assert_eq!((traffic[0], traffic[1]), (traffic[2], traffic[2]));
    let spid = traffic[0].spid;
    assert!(spid.read > 0 && spid.ratio().unwrap() < 1.0);
    assert_eq!(traffic[0].colour, Default::default());
    let blocks = outcomes[0].spid_blocks.unwrap();
    let written = blocks.offset + blocks.min_max + blocks.palette + blocks.raw;
    assert!(written * 64 <= spid.write && spid.write <= written * 256);
    // With one sample, blocks of memory are 32 pixels wide, and narrow tiles load them several times.
    let stream = Rectangles { samples: 1, ..stream };
    let read: Vec<_> = run(&stream, &runs).iter().map(|o| o.traffic.unwrap().spid.read).collect();
    assert!(read[0] > read[1] && read[1] >= read[2], "{read:?}");
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let runs = [
        PipelineRun::Msaa,
        cached(Some(64), false),
        cached(Some(64), true),
        PipelineRun::Sds { tile_px: Some(32) },
    ];
    let all = [1, 2, 7].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| run(&SMALL, &runs))
    });
    for outcomes in &all[1..] {
        for (one, other) in all[0].iter().zip(outcomes) {
            assert_eq!(
                (one.quads, one.memo, one.traffic),
                (other.quads, other.memo, other.traffic)
            );
            assert_eq!((&one.heat, &one.spids), (&other.heat, &other.spids));
        }
    }
}

#[test]
fn a_specification_out_of_bounds_is_refused() {
    let memory = MemorySpec { bus_bytes: 1, ..MemorySpec::default() };
    let settings = SimulationSettings {
        memory: &memory,
        depth: DepthFormat::D32f,
        colour: SampleColour::Rgba8,
        shading: None,
        measures_traffic: false,
        picture: None,
        wants_heat: false,
        wants_spids: false,
    };
    let error = simulate(&SMALL, &[PipelineRun::Msaa], &settings).unwrap_err();
    assert!(error.to_string().contains("memory.bus_bytes"), "{error}");
}
