//! Invariants of whole frames on random scenes, and parts against slower definitions.
#![allow(clippy::unwrap_used, reason = "tests")]

mod adaptive;
mod bits;
mod block_cache;
mod codec;
mod depth_buffer;
mod edges;
mod exact;
mod forward;
mod instants;
mod memo;
mod pipelines;
mod radix;
mod scan;
mod scenes;
mod simulate;
#[allow(dead_code, reason = "shared with the tests of the program")]
#[path = "../../../../tests/support/skipped.rs"]
mod skipped;
mod word_buffer;

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::sync::LazyLock;

use rayon::prelude::*;

use exact::exact;
use quadrille_base::math::{SimdLevel, narrow};
use quadrille_base::raster::sample_depth::NO_OWNER;
use quadrille_base::raster::samples::SamplePattern;
use quadrille_base::task::Task;
use quadrille_deferred::backend::attributes::VertexCacheSpec;
use quadrille_deferred::backend::resolve::Background;
use quadrille_deferred::backend::tiles::{TiledOutcome, TiledPass};
use quadrille_deferred::camera::lens::Lens;
use quadrille_deferred::camera::motion::SceneMotion;
use quadrille_deferred::frame::StochasticFrame;
use quadrille_deferred::geometry::DrawLayer;
use quadrille_deferred::hits::HitStream;
use quadrille_deferred::raster::lanes::TestView;
use quadrille_deferred::raster::sample_test::{Sample, sample_test};
use quadrille_deferred::raster::triangle::{MovingTriangle, SetUpView};
use quadrille_deferred::sample::pattern::{PixelPattern, StochasticPattern};
use quadrille_deferred::settings::DeferredSettings;
use quadrille_deferred::shading::grid::ShadingGrid;
use quadrille_deferred::shading::grid_view::{GridRule, GridView};
use quadrille_deferred::shading::spid::Spid;
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::grid::GridSource;
use quadrille_geometry::triangles::Triangles;
use quadrille_mesh::frame::{Cull, Faces, FrameSettings, VisibleFrame};
use quadrille_mesh::shade::{Albedo, ShadeSettings, Shader, Textures};
use scenes::{Random, blurs, camera, frame, mesh, soup};

/// All opaque triangles of a frame after set-up.
fn triangles(frame: &StochasticFrame) -> Vec<MovingTriangle> {
    frame.geometry.chunks.iter().flat_map(|c| c.layer(DrawLayer::Opaque).iter().copied()).collect()
}

/// Camera of the sample tests.
fn test_view(frame: &StochasticFrame) -> TestView {
    TestView {
        shear: *frame.view.shear(),
        near: narrow(frame.view.near()),
        centre: frame.view.centre_px().map(narrow),
    }
}

/// View of the shading grids. Regions are clipped at 1.5 times the larger side of the picture.
fn grid_view(frame: &StochasticFrame) -> GridView {
    let [width, height] = frame.view.size().map(f64::from);
    GridView {
        rule: frame.settings.grid,
        shear: *frame.view.shear(),
        near: narrow(frame.view.near()),
        centre: frame.view.centre_px(),
        reach_px: 1.5 * width.max(height),
    }
}

/// Samples of all pixels of a frame.
fn pattern(settings: &DeferredSettings) -> StochasticPattern {
    StochasticPattern::new(settings.samples, settings.pattern, settings.seed).unwrap()
}

fn each_sample(frame: &StochasticFrame, mut visit: impl FnMut(usize, Sample)) {
    let [width, height] = frame.view.size();
    let (test, pattern) = (test_view(frame), pattern(&frame.settings));
    for y in 0..height {
        for x in 0..width {
            for number in 0..frame.settings.samples {
                let at = frame.visible.pixel(x, y) + number as usize;
                let sample = pattern.sample([x, y], number);
                visit(at, test.sample([x, y], &sample));
            }
        }
    }
}

#[test]
fn samples_show_what_the_definition_and_exact_arithmetic_say() {
    for (seed, size) in [(1, 0.3), (2, 1.5)] {
        let source = soup(seed, 60, size);
        for blur in blurs() {
            let frame = frame(
                &source,
                [45, 37],
                blur,
                &DeferredSettings { faces: Faces::Both, seed, ..DeferredSettings::default() },
            );
            let triangles = triangles(&frame);
            assert!(triangles.len() > 30);
            let (test, grids) = (test_view(&frame), grid_view(&frame));
            let grid: HashMap<u32, ShadingGrid> =
                triangles.iter().map(|t| (t.primitive, ShadingGrid::new(t, &grids))).collect();
            let (mut covered, mut close) = (0, 0);
            each_sample(&frame, |at, sample| {
                let (mut depth, mut spid) = (0.0, Spid::BACKGROUND);
                let (mut exact_depth, mut owner, mut is_close) = (0.0, 0, false);
                for triangle in &triangles {
                    let hit = sample_test(triangle, &test.shear, test.near, &sample);
                    if let Some(hit) = hit.filter(|hit| hit.depth > depth) {
                        depth = hit.depth;
                        let primitive = triangle.primitive;
                        let morton = grid[&primitive].map(hit.weights);
                        spid = Spid { primitive, morton };
                    }
                    let hit = exact(triangle, &test.shear, test.near.into(), &sample);
                    is_close |= hit.is_close;
                    if hit.is_hit {
                        is_close |= (hit.depth - exact_depth).abs() < 1e-5;
                        if hit.depth > exact_depth {
                            exact_depth = hit.depth;
                            owner = triangle.primitive;
                        }
                    }
                }
                let found = frame.visible.spids[at];
                assert_eq!((found, frame.visible.depths[at]), (spid, depth), "{sample:?}");
                if is_close {
                    close += 1;
                } else {
                    assert_eq!(found.primitive, owner, "{sample:?}");
                }
                covered += u32::from(!found.is_background());
            });
            assert!(covered > 5000, "{covered} covered, {close} close");
            assert!(close < 2000, "{close}");
        }
    }
}

/// Compares the visible primitives of all samples of random frames with the result of exact arithmetic, until `wanted`
/// samples are compared. Returns the number of samples too close to an edge, another depth or the near plane to
/// decide, and the number of covered samples.
fn compare_owners(wanted: u64) -> (u64, u64) {
    let frames = blurs().into_iter().cycle().zip(0_u64..);
    let (mut compared, mut close, mut covered) = (0, 0, 0);
    for (blur, seed) in frames {
        if compared >= wanted {
            break;
        }
        let source = soup(100 + seed, 24, if seed % 2 == 0 { 0.5 } else { 1.2 });
        let settings = DeferredSettings { faces: Faces::Both, seed, ..DeferredSettings::default() };
        let size = [480, 360];
        let frame = frame(&source, size, blur, &settings);
        let triangles = triangles(&frame);
        let (test, pattern) = (test_view(&frame), pattern(&settings));
        let rows = (0..size[1]).into_par_iter().map(|y| {
            let [mut close, mut covered] = [0, 0];
            for x in 0..size[0] {
                for number in 0..16 {
                    let sample = test.sample([x, y], &pattern.sample([x, y], number));
                    let (mut depth, mut owner, mut is_close) = (0.0, 0, false);
                    for triangle in &triangles {
                        let hit = exact(triangle, &test.shear, test.near.into(), &sample);
                        is_close |= hit.is_close;
                        if hit.is_hit {
                            is_close |= (hit.depth - depth).abs() < 1e-5;
                            if hit.depth > depth {
                                (depth, owner) = (hit.depth, triangle.primitive);
                            }
                        }
                    }
                    let found = frame.visible.spids[frame.visible.pixel(x, y) + number as usize];
                    assert!(
                        is_close || found.primitive == owner,
                        "seed {seed}: {found:?} instead of {owner} at {x} {y}, {sample:?}"
                    );
                    close += u64::from(is_close);
                    covered += u64::from(owner != 0);
                }
            }
            [close, covered]
        });
        let [own_close, own_covered] = rows
            .reduce(|| [0; 2], |[a, b], [own_close, own_covered]| [a + own_close, b + own_covered]);
        close += own_close;
        covered += own_covered;
        compared += u64::from(size[0]) * u64::from(size[1]) * 16;
    }
    (close, covered)
}

#[test]
fn owners_are_those_of_exact_arithmetic() {
    let samples = skipped::part_of(10_000_000);
    let (close, covered) = compare_owners(samples);
    assert!(covered > samples / 10 && close < samples / 100, "{covered} {close}");
}

#[test]
#[ignore = "compares 100 million samples with all triangles: some minutes"]
fn owners_of_a_hundred_million_samples_are_those_of_exact_arithmetic() {
    let (close, covered) = compare_owners(100_000_000);
    assert!(covered > 10_000_000 && close < 1_000_000, "{covered} {close}");
}

#[test]
fn culled_triangles_have_no_hits() {
    let source = soup(5, 80, 0.8);
    let settings = DeferredSettings { faces: Faces::Front, ..DeferredSettings::default() };
    for blur in blurs() {
        let frame = frame(&source, [24, 16], blur, &settings);
        let kept: BTreeSet<u32> = triangles(&frame).iter().map(|t| t.primitive).collect();
        let test = test_view(&frame);
        let set_up = SetUpView {
            shear: *frame.view.shear(),
            size: frame.view.size(),
            near: frame.view.near(),
        };
        let total = u32::try_from(frame.geometry.primitives()).unwrap();
        let mut culled = 0;
        let chunks = &frame.geometry.chunks;
        for chunk in chunks {
            for placed in &chunk.grids {
                for (number, corners) in (1_u32..).zip(&placed.grid.topology.triangles) {
                    let primitive = chunk.first + placed.first + number;
                    let corners = corners.map(|c| {
                        let position = placed.grid.vertices[usize::from(c)].position;
                        frame.view.project(&chunk.placements, position)
                    });
                    if kept.contains(&primitive) {
                        continue;
                    }
                    culled += 1;
                    let mut triangle = MovingTriangle::unculled(corners, primitive);
                    triangle.faces.back = false;
                    each_sample(&frame, |_, sample| {
                        let hit = exact(&triangle, &test.shear, test.near.into(), &sample);
                        assert!(!hit.is_hit || hit.is_close, "{primitive} {sample:?}");
                    });
                    assert!(MovingTriangle::set_up(corners, &set_up, 1, false).is_err());
                }
            }
        }
        assert!(culled > 10 && total == 80, "{culled}");
    }
}

/// Calls `use_shader` with the shader of a frame.
fn shaded(source: &Triangles, frame: &StochasticFrame, use_shader: impl FnOnce(&Shader<'_>)) {
    let textures = Textures::new(source.textures(), source.materials());
    let shade =
        ShadeSettings { albedo: Albedo::Checker { scale: 8.0 }, ..ShadeSettings::default() };
    let middle = frame.view.middle();
    use_shader(&Shader::new(source.materials(), &textures, middle, shade));
}

/// Settings of a second pass with a picture and heat.
fn pass<'a>(tile_px: Option<u32>, picture: (&'a Shader<'a>, Background)) -> TiledPass<'a> {
    static CACHE: LazyLock<VertexCacheSpec> = LazyLock::new(VertexCacheSpec::default);
    TiledPass {
        tile_px,
        picture: Some(picture),
        heat: true,
        measures_packed: false,
        memo_quads: Some(64),
        vertex_cache: &CACHE,
    }
}

fn passes(frame: &StochasticFrame, source: &Triangles, tile_px: Option<u32>) -> TiledOutcome {
    let mut outcome = None;
    shaded(source, frame, |shader| {
        let background = Background::new(Some([0.1, 0.2, 0.3]));
        outcome = Some(frame.tiled(&pass(tile_px, (shader, background))));
    });
    outcome.unwrap()
}

#[test]
fn pictures_do_not_depend_on_tiles_threads_or_vectors() {
    let source = soup(3, 120, 0.4);
    for (blur, grid) in blurs().into_iter().zip([
        GridRule::Pixel,
        GridRule::Pixel,
        GridRule::Adaptive { quality: 0.5 },
        GridRule::Adaptive { quality: 0.5 },
    ]) {
        let settings = DeferredSettings { faces: Faces::Both, grid, ..DeferredSettings::default() };
        let first = frame(&source, [70, 67], blur.clone(), &settings);
        let whole = passes(&first, &source, None);
        for tile in [8, 20, 64] {
            let tiled = passes(&first, &source, Some(tile));
            assert_eq!(tiled.picture, whole.picture, "tiles of {tile}");
            assert!(tiled.counters.quads >= whole.counters.quads);
            assert_eq!(tiled.counters.samples_covered, whole.counters.samples_covered);
            assert_eq!(tiled.counters.pixels_covered, whole.counters.pixels_covered);
            let heat: f64 = tiled.heat.unwrap().iter().sum();
            assert!((heat - 4.0 * tiled.counters.quads as f64).abs() < 1e-6 * heat);
        }
        for (threads, level) in [(1, None), (2, None), (7, None)]
            .into_iter()
            .chain(SimdLevel::all().into_iter().map(|level| (2, Some(level))))
        {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let settings = DeferredSettings { level: level.unwrap_or_default(), ..settings };
            let again = pool.install(|| frame(&source, [70, 67], blur.clone(), &settings));
            assert!(again.visible == first.visible, "{threads} {level:?}");
            assert_eq!(again.counters, first.counters);
            let tiled = pool.install(|| passes(&again, &source, Some(20)));
            assert_eq!(tiled.picture, whole.picture);
        }
    }
}

#[test]
fn the_ordered_hits_lead_to_the_same_samples() {
    let source = soup(4, 90, 0.7);
    for blur in blurs() {
        let frame = frame(
            &source,
            [61, 42],
            blur,
            &DeferredSettings { faces: Faces::Both, samples: 8, ..DeferredSettings::default() },
        );
        let mut spids = vec![Spid::BACKGROUND; frame.visible.spids.len()];
        let mut depths = vec![0.0; spids.len()];
        let (mut hits, mut last) = (0, 0);
        frame.each_chunk(DrawLayer::Opaque, &mut |chunk| {
            for quad in &chunk.quads {
                assert!(quad.primitive >= last && quad.coverage != 0);
                last = quad.primitive;
                let first = frame.visible.block(quad.block);
                let mut left = quad.coverage;
                for hit in chunk.of(quad) {
                    let at = first + left.trailing_zeros() as usize;
                    left &= left - 1;
                    hits += 1;
                    if hit.depth > depths[at] {
                        depths[at] = hit.depth;
                        spids[at] = Spid { primitive: quad.primitive, morton: hit.morton };
                    }
                }
            }
        });
        assert_eq!(hits, frame.counters.hits);
        assert!(spids == frame.visible.spids && depths == frame.visible.depths);
    }
}

#[test]
fn adaptive_grids_without_blur_are_pixel_grids() {
    let source = soup(6, 60, 0.5);
    let of = |grid| {
        let settings = DeferredSettings { grid, ..DeferredSettings::default() };
        frame(&source, [40, 40], (Lens::PINHOLE, SceneMotion::NONE), &settings).visible
    };
    assert!(of(GridRule::Pixel) == of(GridRule::Adaptive { quality: 0.5 }));
}

#[test]
fn moving_sheets_have_neither_cracks_nor_double_hits() {
    // A sheet of triangles that fills the picture at all times, with a lens in front.
    let mut text = String::new();
    let mut random = Random(9);
    let cells = 12;
    for y in 0..=cells {
        for x in 0..=cells {
            let [x, y] = [x, y].map(|v| f64::from(v) / f64::from(cells) * 8.0 - 4.0);
            let off = [0.12, 0.12, 0.4].map(|v| random.next(-v, v));
            writeln!(text, "v {} {} {}", x + off[0], y + off[1], 3.0 + off[2]).unwrap();
        }
    }
    for y in 0..cells {
        for x in 0..cells {
            let a = y * (cells + 1) + x + 1;
            let (b, c, d) = (a + 1, a + cells + 2, a + cells + 1);
            writeln!(text, "f {a} {b} {c}\nf {a} {c} {d}").unwrap();
        }
    }
    let source = mesh(&text);
    for pattern in [PixelPattern::Sobol, PixelPattern::Standard] {
        for blur in blurs() {
            let frame = frame(
                &source,
                [48, 36],
                blur,
                &DeferredSettings { faces: Faces::Both, pattern, ..DeferredSettings::default() },
            );
            let samples = u64::from(48_u32 * 36 * 16);
            assert_eq!(frame.counters.hits, samples, "{pattern:?}");
            assert!(frame.visible.spids.iter().all(|s| !s.is_background()));
        }
    }
}

#[test]
fn without_blur_quads_are_those_of_multisampling() {
    let source = soup(7, 150, 0.4);
    let settings =
        DeferredSettings { pattern: PixelPattern::Standard, ..DeferredSettings::default() };
    let size = [80, 60];
    let frame = frame(&source, size, (Lens::PINHOLE, SceneMotion::NONE), &settings);
    let quads = passes(&frame, &source, None).counters.quads;
    let view = MeshCamera::new(camera(size), 0.05);
    let visible = VisibleFrame::new(
        &source,
        [&view, &view],
        &FrameSettings {
            size,
            pattern: SamplePattern::standard(16).unwrap().shared(),
            faces: Faces::Material,
            cull: Cull::Quads,
            memory_bytes: quadrille_mesh::frame::MEMORY_BYTES,
            level: SimdLevel::best(),
        },
        &Task::NEVER,
    )
    .unwrap();
    // Each triangle is about one fragment, and triangles share no quads.
    let owners = visible.bins.iter().flat_map(|bin| &bin.samples);
    let owners: BTreeSet<u32> = owners.copied().filter(|o| *o != NO_OWNER).collect();
    let difference = quads.abs_diff(owners.len() as u64) as f64 / owners.len() as f64;
    // The mesh path snaps vertices to 1/256 px, this raster does not.
    assert!(difference < 0.01 && owners.len() > 500, "{quads} {}", owners.len());
}
