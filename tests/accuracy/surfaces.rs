//! Surfaces among splats: the fast renderer against the scalar definition, on every SIMD level and any number of threads.

use quadrille::surfaces::{SurfaceFragment, SurfaceScene, Surfaces};
use quadrille::{
    Camera, Counts, Error, Frame, Layer, LayerPicture, LayerSettings, Profile, Projection,
    RenderSettings, Renderer, SimdLevel, SplatOrder, Splats, StopRule, Task, TopCount,
    render_reference_surfaces,
};
use rayon::ThreadPoolBuilder;

use crate::support::pictures::Differences;
use crate::support::scenes::{self, Random};

/// Fragments of `samples` samples in about half of the pixels, at depths like those of the splats.
fn random_fragments(
    random: &mut Random,
    camera: &Camera,
    samples: u32,
    depths: &[f32],
) -> Vec<SurfaceFragment> {
    let mut fragments = Vec::new();
    for pixel in (0..camera.height).flat_map(|y| (0..camera.width).map(move |x| [x, y])) {
        // Whole tiles without surfaces, and whole blocks behind them.
        let is_bare = (pixel[0] / 32 + pixel[1] / 32) % 3 == 2 || pixel[0] % 32 > 24;
        for sample in (0..samples).filter(|_| !is_bare) {
            for _ in 0..random.one_of(&[1, 1, 2, 3]) {
                let colour = [0; 3].map(|_| random.between(0.0, 1.0) as f32);
                let opacity = random.one_of(&[1.0, 1.0, 0.25, 0.7]);
                let depth = random.one_of(depths);
                fragments.push(SurfaceFragment { pixel, sample, depth, colour, opacity });
            }
        }
    }
    fragments
}

fn surfaces(camera: &Camera, samples: u32, fragments: &[SurfaceFragment]) -> Surfaces {
    let size = [camera.width, camera.height];
    Surfaces::new(size, samples, |_, found| found.extend_from_slice(fragments)).unwrap()
}

fn all_layers() -> LayerSettings {
    let top = TopCount::new(3).unwrap();
    let layers = [&Layer::ALL[..], &[Layer::TopId(top), Layer::TopWeight(top)]].concat();
    LayerSettings { layers, is_distance: false }
}

fn fast(
    scene: SurfaceScene<'_>,
    camera: &Camera,
    settings: &RenderSettings,
    layers: &LayerSettings,
) -> (Frame, Vec<LayerPicture>, Counts) {
    let mut frame = Frame::new(0, 0);
    let drawn = Renderer::default().render_surfaces(
        &mut frame,
        scene,
        camera,
        settings,
        layers,
        &Task::NEVER,
    );
    let (layers, counts, _) = drawn.unwrap();
    (frame, layers, counts)
}

/// Share of the values of a layer that differ by more than 1e-4 of the larger one, or of 1.
fn differing(a: &LayerPicture, b: &LayerPicture) -> f64 {
    let values = |picture: &LayerPicture| -> Vec<f64> {
        let planes = 0..picture.layer.planes();
        match picture.layer.is_whole() {
            true => planes.flat_map(|p| picture.plane_bits(p)).map(|v| f64::from(*v)).collect(),
            false => planes.flat_map(|p| picture.plane(p)).map(|v| f64::from(*v)).collect(),
        }
    };
    let (a, b) = (values(a), values(b));
    let differ = |(p, q): &(&f64, &f64)| (*p - *q).abs() > 1e-4 * p.abs().max(q.abs()).max(1.0);
    a.iter().zip(&b).filter(differ).count() as f64 / a.len() as f64
}

struct Case {
    splats: Splats,
    camera: Camera,
    samples: u32,
    fragments: Vec<SurfaceFragment>,
}

impl Case {
    fn random(random: &mut Random, (width, height, count): (u32, u32, usize)) -> Self {
        let camera = scenes::camera(random, width, height);
        let splats = scenes::splats(random, &camera, count, 1);
        let mut renderer = Renderer::default();
        renderer.render(&splats, &camera, &RenderSettings::default());
        // Exact depths of splats too, so that equal depths occur.
        let mut depths: Vec<f32> = renderer.drawn().map(|(splat, _)| splat.depth).collect();
        depths.extend(depths.clone().iter().map(|depth| depth * 1.000_1));
        let samples = random.one_of(&[1, 2, 4, 8]);
        let fragments = random_fragments(random, &camera, samples, &depths);
        Self { splats, camera, samples, fragments }
    }
}

#[test]
fn random_surfaces_equal_the_definition_on_every_level() {
    let mut random = Random::new(71);
    let stops = [Profile::default().stop, StopRule::Never, StopRule::BeforeOrAt(1e-4)];
    for stop in stops.into_iter().chain([StopRule::After(0.996)]) {
        let profile = Profile { stop, ..Profile::default() };
        for size in [(33, 31, 300), (100, 70, 1500), (129, 97, 4000)] {
            let case = Case::random(&mut random, size);
            let surfaces = surfaces(&case.camera, case.samples, &case.fragments);
            let scene = SurfaceScene { splats: &case.splats, surfaces: &surfaces };
            let settings = RenderSettings { profile, ..RenderSettings::default() };
            let layers = all_layers();
            let (expected, expected_layers, expected_counts) =
                render_reference_surfaces(scene, &case.camera, &settings, &layers).unwrap();
            assert!(expected_counts.fragments_blended > 0);
            for level in SimdLevel::all() {
                let settings = RenderSettings { profile, level };
                let (frame, found, counts) = fast(scene, &case.camera, &settings, &layers);
                let differences = Differences::between(&frame, &expected);
                let place = format!("{stop:?}, {size:?}, {}", level.name());
                assert!(differences.p99_9() < 1e-5, "{place}: {:e}", differences.p99_9());
                assert!(differences.max() < 0.02, "{place}: {:e}", differences.max());
                for (a, b) in found.iter().zip(&expected_layers) {
                    assert!(differing(a, b) <= 1e-3, "{place}, {}: {}", a.layer, differing(a, b));
                }
                let (a, b) = (counts.fragments_blended, expected_counts.fragments_blended);
                assert!(a.abs_diff(b) as f64 <= 1e-4 * b as f64 + 2.0, "{place}: {a}, not {b}");
                let none = LayerSettings::default();
                let (alone, _, same) = fast(scene, &case.camera, &settings, &none);
                assert!(alone == frame && same == counts, "{place}: layers change the colours");
            }
        }
    }
}

#[test]
fn pictures_do_not_depend_on_the_number_of_threads() {
    let case = Case::random(&mut Random::new(72), (231, 135, 20_000));
    let surfaces = surfaces(&case.camera, case.samples, &case.fragments);
    let scene = SurfaceScene { splats: &case.splats, surfaces: &surfaces };
    let on = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fast(scene, &case.camera, &RenderSettings::default(), &all_layers()))
    };
    let first = on(1);
    for threads in [2, 7] {
        assert!(on(threads) == first, "on {threads} threads");
    }
}

/// Two samples before, at and behind one splat of alpha 1/2, worked by hand.
#[test]
fn a_surface_takes_its_place_by_depth() {
    let splat = quadrille::Splat {
        mean: [0.0, 0.0, 4.0],
        scale: [9.0; 3],
        rotation: [1.0, 0.0, 0.0, 0.0],
        opacity: 0.5,
        // Grey of 0.5.
        sh: [[0.0; 3]; 25],
    };
    let splats = Splats::from_splats(0, [splat]);
    let lens = quadrille::Intrinsics::from_vertical_fov(1, 1, 0.02);
    let (eye, up) = (quadrille::nalgebra::Vector3::zeros(), [0.0, -1.0, 0.0].into());
    let camera = Camera::look_at("a", lens, eye, [0.0, 0.0, 1.0].into(), up).unwrap();
    let layers = LayerSettings {
        layers: vec![Layer::Depth, Layer::DepthMedian, Layer::Id, Layer::Count],
        is_distance: false,
    };
    let draw = |fragments: &[(u32, f32, f32)]| {
        let fragment = |&(sample, depth, opacity): &(u32, f32, f32)| SurfaceFragment {
            pixel: [0, 0],
            sample,
            depth,
            colour: [1.0, 0.0, 0.0],
            opacity,
        };
        let fragments: Vec<_> = fragments.iter().map(fragment).collect();
        let surfaces = surfaces(&camera, 2, &fragments);
        let scene = SurfaceScene { splats: &splats, surfaces: &surfaces };
        let settings = RenderSettings::default();
        let (frame, layers, counts) = fast(scene, &camera, &settings, &layers);
        let exact = render_reference_surfaces(scene, &camera, &settings, &LayerSettings::default());
        assert!(Differences::between(&frame, &exact.unwrap().0).max() < 1e-6);
        let values = [layers[0].plane(0)[0], layers[1].plane(0)[0]];
        let whole = [layers[2].integers()[0], layers[3].integers()[0]];
        assert_eq!(u64::from(whole[1]), counts.fragments_blended);
        (frame.pixels()[0], values, whole[0])
    };
    let close = |found: &[f32], expected: &[f32]| {
        let is_close = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3);
        assert!(is_close, "{found:?}, not {expected:?}");
    };
    // At the depth of the splat and behind it, the splat is in front: 0.25 of grey, half of red, no light left.
    for depth in [4.0, 9.0] {
        let (rgba, [mean, median], id) = draw(&[(0, depth, 1.0), (1, depth, 1.0)]);
        close(&rgba, &[0.75, 0.25, 0.25, 1.0]);
        close(&[mean, median], &[(4.0 + depth) / 2.0, 4.0]);
        assert_eq!(id, 0);
    }
    // Before the splat, nothing of the splat is left.
    let (rgba, depths, id) = draw(&[(0, 3.0, 1.0), (1, 3.0, 1.0)]);
    close(&rgba, &[1.0, 0.0, 0.0, 1.0]);
    close(&depths, &[3.0, 3.0]);
    assert_eq!(id, u32::MAX);
    // One sample of two before the splat; the other one is bare.
    close(&draw(&[(0, 3.0, 1.0)]).0, &[0.5 + 0.0 + 0.125, 0.125, 0.125, 0.75]);
    // Glass of 1/4 before the splat and an opaque surface behind it, in both samples.
    let glass = [(0, 3.0, 0.25), (0, 9.0, 1.0), (1, 9.0, 1.0), (1, 3.0, 0.25)];
    let red = 0.25 + 0.75 * (0.25 + 0.5);
    close(&draw(&glass).0, &[red, 0.75 * 0.25, 0.75 * 0.25, 1.0]);
}

#[test]
fn wrong_surfaces_are_errors() {
    let mut random = Random::new(73);
    let camera = scenes::camera(&mut random, 40, 30);
    let splats = scenes::splats(&mut random, &camera, 10, 0);
    let size = [camera.width, camera.height];
    for samples in [0, 17] {
        assert!(matches!(Surfaces::new(size, samples, |_, _| ()), Err(Error::Argument { .. })));
    }
    // Fragments of no pixel or sample are left out, and numbers that are not finite do not panic.
    let odd =
        SurfaceFragment { pixel: [40, 0], sample: 0, depth: 1.0, colour: [1.0; 3], opacity: 1.0 };
    let is_nan = SurfaceFragment { pixel: [3, 3], depth: f32::NAN, opacity: f32::NAN, ..odd };
    let odd = [odd, SurfaceFragment { pixel: [0, 0], sample: 1, ..odd }, is_nan];
    let surfaces = surfaces(&camera, 1, &odd);
    let scene = SurfaceScene { splats: &splats, surfaces: &surfaces };
    let settings = RenderSettings::default();
    let (frame, ..) = fast(scene, &camera, &settings, &LayerSettings::default());
    let (plain, _) = quadrille::render(&splats, &camera, &settings);
    let differ = frame.pixels().iter().zip(plain.pixels()).filter(|(a, b)| a != b);
    assert!(differ.count() <= 1, "more than the pixel without a number");

    // Splats among surfaces have the order by depth, whatever their file states, and no other.
    let stated = splats.clone().with_order(Some(SplatOrder::Distance));
    let of_stated = SurfaceScene { splats: &stated, surfaces: &surfaces };
    for layers in [LayerSettings::default(), all_layers()] {
        let [(own, ..), (by_file, ..)] =
            [scene, of_stated].map(|scene| fast(scene, &camera, &settings, &layers));
        assert!(own == by_file, "{layers:?}");
        let [own, by_file] = [scene, of_stated]
            .map(|scene| render_reference_surfaces(scene, &camera, &settings, &layers).unwrap().0);
        assert!(own == by_file, "{layers:?}");
    }
    let by_flag = Profile { order: Some(SplatOrder::Distance), ..settings.profile };
    let by_flag = RenderSettings { profile: by_flag, ..settings };
    let error = render_reference_surfaces(scene, &camera, &by_flag, &all_layers()).unwrap_err();
    assert!(error.to_string().contains("the order z among surfaces"), "{error}");
    let (frame, layers) = (&mut Frame::new(0, 0), all_layers());
    let mut renderer = Renderer::default();
    let drawn = renderer.render_surfaces(frame, scene, &camera, &by_flag, &layers, &Task::NEVER);
    assert!(drawn.is_err());

    let draw = |camera: &Camera, is_distance: bool| {
        let layers = LayerSettings { layers: vec![Layer::Depth], is_distance };
        let frame = &mut Frame::new(0, 0);
        let mut renderer = Renderer::default();
        let fast = renderer.render_surfaces(frame, scene, camera, &settings, &layers, &Task::NEVER);
        let exact = render_reference_surfaces(scene, camera, &settings, &layers);
        assert_eq!(fast.is_err(), exact.is_err());
        fast.err().map(|error| error.to_string())
    };
    assert_eq!(draw(&camera, false), None);
    let error = draw(&camera.resized(80, 60).unwrap(), false).unwrap();
    assert!(error.contains("40x30") && error.contains("80x60"), "{error}");
    assert!(draw(&camera, true).unwrap().contains("layers"));
    let panorama = Camera { projection: Projection::Equirectangular, ..camera.clone() };
    assert!(draw(&panorama, false).unwrap().contains("pinhole"));
}
