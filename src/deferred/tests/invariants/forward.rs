//! Sorted back end against a functional model of decoupled sampling during the raster, with alpha-tested and blended
//! triangles, and degenerate scenes.

use std::fmt::Write;

use super::scenes::{blurs, camera, frame, layered_soup, mesh, moving};
use super::{pass, shaded};
use quadrille_base::image::{ColourSpace, Frame};
use quadrille_base::task::Task;
use quadrille_deferred::backend::resolve::Background;
use quadrille_deferred::backend::shade::{QuadColours, QuadShader};
use quadrille_deferred::camera::lens::Lens;
use quadrille_deferred::camera::motion::SceneMotion;
use quadrille_deferred::camera::shutter::ShutterView;
use quadrille_deferred::forward::memo::Memo;
use quadrille_deferred::frame::StochasticFrame;
use quadrille_deferred::geometry::DrawLayer;
use quadrille_deferred::hits::{HitChunk, HitStream};
use quadrille_deferred::settings::DeferredSettings;
use quadrille_deferred::shading::spid::Spid;
use quadrille_mesh::frame::Faces;
use quadrille_mesh::shade::Shader;

/// Functional model of decoupled sampling: premultiplied colours and depths of samples.
struct Forward<'a> {
    frame: &'a StochasticFrame,
    shader: QuadShader<'a>,
    memo: Memo<QuadColours>,
    depths: Vec<f32>,
    colours: Vec<[f32; 4]>,
}

impl Forward<'_> {
    fn draw(&mut self, chunk: &HitChunk, layer: DrawLayer) {
        for (quad, hits, kept) in chunk.blocks() {
            let first = self.frame.visible.block(quad.block);
            let mut left = quad.coverage;
            for hit in hits {
                let sample = left.trailing_zeros();
                let at = first + sample as usize;
                left &= left - 1;
                if hit.depth <= self.depths[at] {
                    continue;
                }
                let spid = Spid { primitive: quad.primitive, morton: hit.morton };
                let shader = &mut self.shader;
                let shade = || shader.shade(spid.primitive, spid.morton >> 2, 0b1111);
                let colours = *self.memo.look_up(spid.quad(), shade, |_| ());
                let [r, g, b, alpha] = colours[usize::from(spid.corner())];
                if kept >> sample & 1 == 0 {
                    continue;
                }
                if layer == DrawLayer::Blended {
                    let behind = self.colours[at];
                    let over = |own: f32, behind: f32| own * alpha + behind * (1.0 - alpha);
                    let [r, g, b] = [0, 1, 2].map(|k| over([r, g, b][k], behind[k]));
                    self.colours[at] = [r, g, b, over(1.0, behind[3])];
                } else {
                    self.depths[at] = hit.depth;
                    self.colours[at] = [r, g, b, 1.0];
                }
            }
        }
    }
}

/// Picture of decoupled sampling with a memo of limited size, and number of quads shaded.
fn drawn_forward(
    frame: &StochasticFrame,
    shader: &Shader<'_>,
    background: Background,
    memo_quads: Option<u32>,
) -> (Frame, u64) {
    let samples = frame.visible.spids.len();
    let mut forward = Forward {
        frame,
        shader: QuadShader::new(frame, shader),
        memo: Memo::new(memo_quads),
        depths: vec![0.0; samples],
        colours: vec![[0.0; 4]; samples],
    };
    for layer in [DrawLayer::Opaque, DrawLayer::AlphaTested, DrawLayer::Blended] {
        frame.each_chunk(layer, &mut |chunk| forward.draw(chunk, layer));
    }
    let [width, height] = frame.view.size();
    let pixels = (0..width * height).map(|at| {
        let first = frame.visible.pixel(at % width, at / width);
        let count = frame.visible.samples as usize;
        background.resolve(&forward.colours[first..first + count])
    });
    let picture = Frame::from_pixels(width, height, pixels.collect()).taken_as(ColourSpace::Linear);
    (picture, forward.memo.counters().misses)
}

#[test]
fn sorting_and_forward_shading_draw_the_same_picture() {
    let source = layered_soup(11, 110, 0.5);
    for blur in blurs() {
        let frame = frame(
            &source,
            [66, 50],
            blur,
            &DeferredSettings { faces: Faces::Both, ..DeferredSettings::default() },
        );
        let [mut hits, mut kept] = [0, 0];
        let mut forward_raster = frame.each_chunk(DrawLayer::AlphaTested, &mut |chunk| {
            for (quad, _, of_quad) in chunk.blocks() {
                assert_eq!(of_quad & !quad.coverage, 0);
                hits += quad.coverage.count_ones();
                kept += of_quad.count_ones();
            }
        });
        assert!(4 * kept > hits && 4 * kept < 3 * hits, "{kept} of {hits}");
        assert!(frame.geometry.count(DrawLayer::Blended) > 10);
        forward_raster.add(&frame.each_chunk(DrawLayer::Blended, &mut |_| ()));
        assert!(forward_raster.hits > u64::from(hits) + 1000);
        for background in [None, Some([0.2, 0.5, 0.1])].map(Background::new) {
            shaded(&source, &frame, |shader| {
                let mut last = u64::MAX;
                let forward = [Some(4), Some(256), None].map(|memo_quads| {
                    let (picture, misses) = drawn_forward(&frame, shader, background, memo_quads);
                    assert!(misses <= last, "a larger memo shades less");
                    last = misses;
                    picture
                });
                assert!(forward[0] == forward[1] && forward[0] == forward[2]);
                for tile_px in [Some(8), Some(33), None] {
                    let tiled = frame.tiled(&pass(tile_px, (shader, background)));
                    assert!(tiled.picture.as_ref() == Some(&forward[0]), "{tile_px:?}");
                    let heat: f64 = tiled.heat.unwrap().iter().sum();
                    assert!((heat - 4.0 * tiled.counters.quads as f64).abs() < 1e-6 * heat);
                    assert_eq!(tiled.counters.forward.hits, forward_raster.hits);
                }
            });
        }
    }
}

#[test]
fn awkward_scenes_are_drawn() {
    let mut text = String::new();
    for z in [2.0, 2.0, 3.0] {
        // The same triangle twice, and a triangle behind it.
        writeln!(text, "v -1 -1 {z}\nv 1 -1 {z}\nv 0 1 {z}\nf -1 -2 -3").unwrap();
    }
    // Triangles without area, with a corner behind the eye, through the eye, tiny, and far away.
    writeln!(text, "v 0 0 2\nv 0 0 2\nv 1 1 2\nf -1 -2 -3").unwrap();
    writeln!(text, "v 0 0 -2\nv 3 0 4\nv 0 3 4\nf -1 -2 -3").unwrap();
    writeln!(text, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -1 -2 -3").unwrap();
    writeln!(text, "v 0 0 1\nv 1e-7 0 1\nv 0 1e-7 1\nf -1 -2 -3").unwrap();
    writeln!(text, "v -1e20 0 1e21\nv 1e20 0 1e21\nv 0 1e20 1e21\nf -1 -2 -3").unwrap();
    let source = mesh(&text);
    let settings = DeferredSettings { faces: Faces::Both, ..DeferredSettings::default() };
    for size in [[1, 1], [3, 5], [65, 2], [130, 9]] {
        for blur in blurs() {
            let frame = frame(&source, size, blur, &settings);
            shaded(&source, &frame, |shader| {
                let background = Background::new(None);
                let tiled = frame.tiled(&pass(Some(32), (shader, background)));
                let picture = tiled.picture.unwrap();
                assert!(picture.pixels().iter().flatten().all(|v| v.is_finite()));
                assert!(frame.tiled(&pass(None, (shader, background))).picture == Some(picture));
            });
            // Of two equal triangles, the first is visible.
            assert!(frame.visible.spids.iter().all(|spid| spid.primitive != 2));
        }
    }
    let empty = mesh("v 0 0 -9\nv 1 0 -9\nv 0 1 -9\nf 1 2 3\n");
    let frame = frame(&empty, [20, 20], (Lens::PINHOLE, moving()), &settings);
    assert_eq!(frame.counters.hits, 0);
    shaded(&empty, &frame, |shader| {
        let tiled = frame.tiled(&pass(Some(8), (shader, Background::new(None))));
        assert_eq!((tiled.counters.quads, tiled.counters.pixels_covered), (0, 0));
    });
}

#[test]
fn frames_with_too_many_samples_are_refused() {
    let source = mesh("v 0 0 2\nv 1 0 2\nv 0 1 2\nf 1 2 3\n");
    let view = ShutterView::new(&camera([8192, 8192]), 0.1, Lens::PINHOLE, SceneMotion::NONE);
    let frame =
        StochasticFrame::new(&source, view.unwrap(), &DeferredSettings::default(), &Task::NEVER);
    assert!(frame.unwrap_err().to_string().contains("samples of a frame"));
}
