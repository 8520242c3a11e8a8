//! Probes of pixels against the layers of the scalar renderer and the picture of the fast one.

use std::path::Path;
use std::time::Instant;

use nalgebra::Vector3;
use quadrille::{
    Camera, FisheyeLens, Frame, Layer, LayerSettings, Profile, Projection, Recipe, RenderSettings,
    Renderer, SimdLevel, Splats, StopRule, Synthetic, TopCount, load, load_cameras, render,
    render_reference_layers,
};
use rayon::ThreadPoolBuilder;

use crate::support::scenes::{self, Random};
use crate::support::shared;

/// Pixels that are probed in each picture.
const PROBES: usize = 500;
/// Pixels that are probed in the picture of a trained scene: each reads a million splats.
const TRAINED_PROBES: usize = 100;
/// Largest difference of a number from a layer, which is an f32, as a share of it.
const ROUNDING: f64 = 1e-6;
/// Largest difference between a weight sum or a colour and the fast renderer's picture.
const TOLERANCE: f64 = 1e-4;
/// Share of the pixels whose picture may differ by more: fragments at the alpha cut or the stop rule, and ties.
const AT_CUTS: f64 = 5e-3;

/// A frame that is probed.
struct Case {
    name: &'static str,
    splats: Splats,
    camera: Camera,
    profile: Profile,
}

impl Case {
    fn new(name: &'static str, splats: Splats, camera: Camera) -> Self {
        let profile = Profile::default();
        Self { name, splats, camera, profile }
    }

    fn settings(&self) -> RenderSettings {
        RenderSettings { profile: self.profile, ..RenderSettings::default() }
    }

    /// Probes pixels, two corners first, and compares them with the layers of the scalar renderer and
    /// with the fast renderer's picture.
    fn hold(&self, probes: usize) {
        let Self { name, splats, camera, .. } = self;
        let settings = self.settings();
        let most = TopCount::new(TopCount::MAX).unwrap();
        let layers = LayerSettings {
            layers: vec![
                Layer::Depth,
                Layer::DepthMedian,
                Layer::Alpha,
                Layer::Count,
                Layer::TopId(most),
                Layer::TopWeight(most),
            ],
            is_distance: false,
        };
        let (expected, pictures, _) = render_reference_layers(splats, camera, &settings, &layers);
        let [depths, medians, alphas, counts, ids, weights] = &pictures[..] else {
            panic!("{name}: another number of layers");
        };
        let (fast, _) = render(splats, camera, &settings);
        let mut renderer = Renderer::default();
        let mut random = Random::new(7);
        let (mut at_cuts, mut blended) = (0, 0);
        for probe in 0..probes {
            let pixel = [camera.width, camera.height].map(|side| match probe {
                0 => 0,
                1 => side - 1,
                _ => random.between(0.0, f64::from(side)) as u32,
            });
            let at = (pixel[1] * camera.width + pixel[0]) as usize;
            let place = format!("{name}, pixel {pixel:?}");
            let probe = renderer.probe(splats, camera, &settings, pixel).unwrap();
            assert_eq!(probe.pixel, pixel);
            assert_eq!(probe.fragments.len(), counts.integers()[at] as usize, "{place}");
            blended += probe.fragments.len();
            let close = |what: &str, found: f64, expected: f32| {
                let expected = f64::from(expected);
                let off = (found - expected).abs();
                assert!(
                    off <= ROUNDING * expected.abs().max(1e-3),
                    "{place}: {what} {found}, {expected}"
                );
            };
            close("depth", probe.depth, depths.plane(0)[at]);
            close("median depth", probe.depth_median, medians.plane(0)[at]);
            close("alpha", probe.alpha, alphas.plane(0)[at]);
            for (channel, colour) in probe.rgb.into_iter().enumerate() {
                close("colour", colour, expected.pixels()[at][channel]);
            }
            let (largest, rest, rest_weight) = probe.largest(usize::from(most.get()));
            assert_eq!(largest.len() + rest, probe.fragments.len(), "{place}");
            for (rank, fragment) in largest.iter().enumerate() {
                assert_eq!(fragment.index, ids.plane_bits(rank)[at], "{place}, rank {rank}");
                close("weight", fragment.weight, weights.plane(rank)[at]);
                assert!(probe.fragments.contains(fragment));
            }
            let sum: f64 = largest.iter().map(|fragment| fragment.weight).sum();
            assert!((sum + rest_weight - probe.alpha).abs() < TOLERANCE, "{place}");
            let is_in_order =
                |pair: &[quadrille::PixelFragment]| pair[0].depth as f32 <= pair[1].depth as f32;
            assert!(probe.fragments.windows(2).all(is_in_order), "{place}");
            let of_fragments = [0, 1, 2].map(|channel| -> f64 {
                let parts = probe.fragments.iter();
                parts.map(|fragment| fragment.weight * fragment.rgb[channel]).sum()
            });
            let drawn = fast.pixels()[at].map(f64::from);
            let [r, g, b] = of_fragments;
            let found = [r, g, b, sum + rest_weight];
            let off = found.iter().zip(drawn).map(|(a, b)| (a - b).abs());
            at_cuts += usize::from(off.fold(0.0, f64::max) > TOLERANCE);
        }
        println!("{name}: {blended} fragments, {at_cuts} pixels differ from the picture");
        assert!(blended > probes, "{name}: {blended} fragments");
        assert!(at_cuts as f64 <= AT_CUTS * probes as f64, "{name}: {at_cuts} pixels");
    }
}

#[test]
fn random_scenes_equal_the_scalar_renderer() {
    let mut random = Random::new(41);
    for (name, stop) in [
        ("before", StopRule::Before(1e-4)),
        ("never", StopRule::Never),
        ("at", StopRule::BeforeOrAt(1e-4)),
        ("after", StopRule::After(0.996)),
    ] {
        let camera = scenes::camera(&mut random, 129, 97);
        let splats = scenes::splats(&mut random, &camera, 4000, 2);
        let case = Case::new(name, splats.with_origin([1e6, -2e5, 30.0]), camera);
        let origin = Vector3::from(case.splats.origin());
        let moved = Camera {
            translation_in_view: case.camera.translation_in_view
                - case.camera.view_from_world * origin,
            ..case.camera.clone()
        };
        let profile = Profile { stop, ..case.profile };
        Case { camera: moved, profile, ..case }.hold(PROBES);
    }
}

#[test]
fn fisheyes_and_panoramas_equal_the_scalar_renderer() {
    let mut random = Random::new(42);
    let pinhole = scenes::camera(&mut random, 120, 60);
    let splats = || scenes::splats(&mut Random::new(43), &pinhole, 3000, 1);
    let fisheye = pinhole.clone().through_fisheye(200_f64.to_radians());
    let lens = FisheyeLens::new([-0.02, 0.004, -5e-4, 3e-5]).unwrap();
    let distorted = fisheye.clone().with_projection(Projection::Fisheye(lens));
    let panorama = pinhole.clone().with_projection(Projection::Equirectangular);
    for (name, camera) in [("fisheye", fisheye), ("distorted", distorted), ("panorama", panorama)] {
        Case::new(name, splats(), camera).hold(PROBES);
    }
}

#[test]
fn procedural_scenes_equal_the_scalar_renderer() {
    let room = Synthetic::new(Recipe::Room, 3, 60_000, 2).unwrap();
    let camera = room.cameras()[1].resized(160, 90).unwrap();
    let case = Case::new("room", room.splats(), camera);
    let profile = Profile::named("gsplat-aa").unwrap();
    Case { profile, ..case }.hold(PROBES);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes");
    let splats = load(folder.join("island.ply")).unwrap().splats;
    let cameras = load_cameras(folder.join("island.cameras.json")).unwrap();
    let camera = cameras.cameras[2].resized(160, 90).unwrap();
    Case::new("island", splats, camera).hold(PROBES);
}

#[test]
fn trained_scenes_equal_the_scalar_renderer() {
    for name in ["truck", "showroom"] {
        let cameras = shared::cameras(&format!("scenes/{name}.cameras.json"));
        let Some((splats, cameras)) = shared::scene(name).zip(cameras) else {
            return;
        };
        let case = Case::new(name, splats, cameras[0].resized(160, 89).unwrap());
        case.hold(TRAINED_PROBES);
        let (mut renderer, settings) = (Renderer::default(), case.settings());
        let mut frame = Frame::new(1, 1);
        let pixel = [cameras[0].width / 2, cameras[0].height / 2];
        for _ in 0..3 {
            let (splats, camera) = (&case.splats, &cameras[0]);
            let (_, times) = renderer
                .render_into(&mut frame, splats, camera, &settings, &quadrille::Task::NEVER)
                .unwrap();
            let start = Instant::now();
            let probe = renderer.probe(splats, camera, &settings, pixel).unwrap();
            println!(
                "{name}: {} fragments in {:.1} ms; preprocess of the frame {:.1} ms",
                probe.fragments.len(),
                start.elapsed().as_secs_f64() * 1e3,
                times.preprocess.as_secs_f64() * 1e3
            );
        }
    }
}

#[test]
fn probes_depend_on_neither_threads_nor_frames_before() {
    let mut random = Random::new(44);
    let camera = scenes::camera(&mut random, 97, 65);
    let splats = scenes::splats(&mut random, &camera, 20_000, 0);
    let pixel = [48, 32];
    let probe = |renderer: &mut Renderer, level| {
        let profile = Profile::default();
        let settings = RenderSettings { profile, level };
        renderer.probe(&splats, &camera, &settings, pixel).unwrap()
    };
    let mut renderer = Renderer::default();
    let first = probe(&mut renderer, SimdLevel::default());
    assert!(!first.fragments.is_empty());
    for level in SimdLevel::all() {
        for threads in [1, 3] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let probed = pool.install(|| probe(&mut renderer, level));
            assert_eq!(probed, first, "{threads} threads on {}", level.name());
        }
        renderer.render(&splats, &camera.resized(31, 200).unwrap(), &RenderSettings::default());
    }
}

#[test]
fn pixels_outside_the_picture_are_refused() {
    let camera = scenes::camera(&mut Random::new(45), 20, 10);
    let empty = Splats::from_splats(0, []);
    let mut renderer = Renderer::default();
    let settings = RenderSettings::default();
    for pixel in [[20, 0], [0, 10], [u32::MAX, u32::MAX]] {
        let error = renderer.probe(&empty, &camera, &settings, pixel).unwrap_err();
        let found = format!(
            "pixel: expected a column below 20 and a row below 10, found {},{}",
            pixel[0], pixel[1]
        );
        assert_eq!(error.to_string(), found);
    }
    let probe = renderer.probe(&empty, &camera, &settings, [19, 9]).unwrap();
    assert_eq!((probe.alpha, probe.depth, probe.rgb), (0.0, 0.0, [0.0; 3]));
    assert_eq!(probe.largest(3), (Vec::new(), 0, 0.0));
}
