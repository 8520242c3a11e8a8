//! Layers of the fast renderer against the scalar oracle, on every SIMD level and any number of threads.

use quadrille::Task;
use quadrille::{
    Camera, Frame, Layer, LayerPicture, LayerSettings, Profile, RenderSettings, Renderer,
    SimdLevel, Splats, StopRule, TopCount, render_reference_layers,
};
use rayon::ThreadPoolBuilder;

use crate::support::scenes::{self, Random};
use crate::support::shared;

/// Largest difference of a layer from the oracle, as a share of the larger number, or of 1.
const TOLERANCE: f64 = 1e-4;
/// Share of the pixels that may differ by more: fragments at the alpha cut or the stop rule, and ties.
const AT_CUTS: f64 = 1e-3;

/// All layers, with the splats of the five largest weights.
fn all_layers(is_distance: bool) -> LayerSettings {
    let [id, weight] = top(5);
    LayerSettings { layers: [&Layer::ALL[..], &[id, weight]].concat(), is_distance }
}

fn top(count: u8) -> [Layer; 2] {
    let count = TopCount::new(count).unwrap();
    [Layer::TopId(count), Layer::TopWeight(count)]
}

/// Values of all planes of a picture, pixel by pixel.
fn values(picture: &LayerPicture) -> Vec<f64> {
    let planes = 0..picture.layer.planes();
    if picture.layer.is_whole() {
        let bits = planes.flat_map(|plane| picture.plane_bits(plane));
        return bits.map(|v| f64::from(*v)).collect();
    }
    let values = planes.flat_map(|plane| picture.plane(plane));
    values.map(|v| f64::from(*v)).collect()
}

/// Number of values that differ, and of all.
fn differing(a: &LayerPicture, b: &LayerPicture) -> (usize, usize) {
    assert_eq!((a.layer, a.width, a.height), (b.layer, b.width, b.height));
    let (a, b) = (values(a), values(b));
    let differ = |p: f64, q: f64| (p - q).abs() > TOLERANCE * p.abs().max(q.abs()).max(1.0);
    let count = a.iter().zip(&b).filter(|(p, q)| differ(**p, **q)).count();
    assert!(a.iter().chain(&b).all(|v| v.is_finite()));
    (count, a.len())
}

fn rendered(
    splats: &Splats,
    camera: &Camera,
    settings: &RenderSettings,
    layers: &LayerSettings,
) -> (Frame, Vec<LayerPicture>) {
    let mut frame = Frame::new(1, 1);
    let (pictures, _, _) = Renderer::default()
        .render_layers(&mut frame, splats, camera, settings, layers, &Task::NEVER)
        .unwrap();
    (frame, pictures)
}

fn hold_to_oracle(cases: &[(Splats, Camera)], profile: Profile) {
    for layers in [all_layers(false), all_layers(true)] {
        let oracle: Vec<_> = cases
            .iter()
            .map(|(splats, camera)| {
                let level = SimdLevel::default();
                let settings = RenderSettings { profile, level };
                render_reference_layers(splats, camera, &settings, &layers).1
            })
            .collect();
        for level in SimdLevel::all() {
            let mut found = vec![(0, 0); layers.layers.len()];
            for ((splats, camera), expected) in cases.iter().zip(&oracle) {
                let settings = RenderSettings { profile, level };
                let (frame, pictures) = rendered(splats, camera, &settings, &layers);
                let (alone, _) = Renderer::default().render(splats, camera, &settings);
                assert_eq!(frame, alone, "the colours change with layers");
                for ((found, a), b) in found.iter_mut().zip(&pictures).zip(expected) {
                    let (count, all) = differing(a, b);
                    *found = (found.0 + count, found.1 + all);
                }
            }
            for (layer, (count, all)) in layers.layers.iter().zip(found) {
                let share = count as f64 / all as f64;
                assert!(share <= AT_CUTS, "{layer} on {}: {share}", level.name());
            }
        }
    }
}

#[test]
fn random_scenes_equal_the_oracle() {
    let mut random = Random::new(31);
    for stop in [
        Profile::default().stop,
        StopRule::Never,
        StopRule::BeforeOrAt(1e-4),
        StopRule::After(0.996),
    ] {
        let cases: Vec<_> = [(33, 31, 200), (100, 7, 1500), (129, 97, 4000)]
            .into_iter()
            .map(|(width, height, count)| {
                let camera = scenes::camera(&mut random, width, height);
                let splats = scenes::splats(&mut random, &camera, count, 1);
                (splats, camera)
            })
            .collect();
        for shapes in ["inria", "2dgs"] {
            let profile = Profile { stop, ..Profile::named(shapes).unwrap() };
            hold_to_oracle(&cases, profile);
        }
    }
}

#[test]
fn a_trained_scene_equals_the_oracle() {
    let (Some(splats), Some(cameras)) =
        (shared::scene("truck"), shared::cameras("scenes/reference/truck.small.cameras.json"))
    else {
        return;
    };
    let camera = cameras[0].resized(200, 111).unwrap();
    hold_to_oracle(&[(splats, camera)], Profile::default());
}

#[test]
fn layers_do_not_depend_on_the_number_of_threads() {
    let mut random = Random::new(32);
    let camera = scenes::camera(&mut random, 231, 135);
    let splats = scenes::splats(&mut random, &camera, 20_000, 0);
    let settings = RenderSettings::default();
    let on = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| rendered(&splats, &camera, &settings, &all_layers(false)))
    };
    let first = on(1);
    for threads in [2, 7] {
        assert!(on(threads) == first, "on {threads} threads");
    }
}

/// One splat at depth 4 in front of another at depth 8, worked by hand.
#[test]
fn layers_of_two_splats_are_those_of_the_definition() {
    let splat = |z: f32, opacity: f32, scale: [f32; 3]| quadrille::Splat {
        mean: [0.0, 0.0, z],
        scale,
        rotation: [1.0, 0.0, 0.0, 0.0],
        opacity,
        sh: [[0.0; 3]; 25],
    };
    let splats = [splat(8.0, 0.9, [9.0, 1.0, 9.0]), splat(4.0, 0.25, [9.0, 9.0, 1.0])];
    let splats = Splats::from_splats(0, splats);
    let lens = quadrille::Intrinsics::from_vertical_fov(3, 3, 0.02);
    let (eye, up) = (quadrille::nalgebra::Vector3::zeros(), [0.0, -1.0, 0.0].into());
    let camera = Camera::look_at("a", lens, eye, [0.0, 0.0, 1.0].into(), up).unwrap();
    let settings = RenderSettings::default();
    let (_, pictures) = rendered(&splats, &camera, &settings, &all_layers(false));
    let at_centre = |layer: Layer, plane: usize| {
        let picture = pictures.iter().find(|p| p.layer == layer).unwrap();
        f64::from(picture.plane(plane)[4])
    };
    let whole = |layer: Layer| pictures.iter().find(|p| p.layer == layer).unwrap().integers()[4];
    // Weights 0.25 and 0.75 * 0.9.
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-3, "{found}");
    close(at_centre(Layer::Alpha, 0), 0.925);
    close(at_centre(Layer::DepthSum, 0), 6.4);
    close(at_centre(Layer::Depth, 0), 6.4 / 0.925);
    close(at_centre(Layer::DepthInverse, 0), 0.25 / 4.0 + 0.675 / 8.0);
    close(at_centre(Layer::DepthMedian, 0), 8.0);
    // The nearer splat faces the camera; the farther one is edge-on, and faces up or down.
    close(at_centre(Layer::Normal, 2), -0.25);
    close(at_centre(Layer::Normal, 1).abs(), 0.675);
    assert_eq!((whole(Layer::Id), whole(Layer::Count)), (0, 2));
}

/// Each set of layers has an inner loop that keeps what the set needs, and perhaps more.
#[test]
fn layers_do_not_depend_on_those_beside_them() {
    let mut random = Random::new(33);
    let camera = scenes::camera(&mut random, 75, 41);
    let splats = scenes::splats(&mut random, &camera, 3000, 1);
    let settings = RenderSettings::default();
    let [top_id, top_weight] = top(5);
    for is_distance in [false, true] {
        let all = all_layers(is_distance);
        let (_, together) = rendered(&splats, &camera, &settings, &all);
        let pairs = [
            vec![Layer::Alpha, Layer::Depth],
            vec![Layer::DepthSum, Layer::Normal],
            vec![top_weight, top_id],
            vec![top_id, Layer::DepthMedian],
        ];
        for set in all.layers.iter().map(|l| vec![*l]).chain(pairs) {
            let few = LayerSettings { layers: set, is_distance };
            for picture in rendered(&splats, &camera, &settings, &few).1 {
                assert!(together.contains(&picture), "{few:?}: {}", picture.layer);
            }
        }
    }
}

#[test]
fn the_largest_weights_are_in_order_and_begin_with_the_largest() {
    let mut random = Random::new(34);
    let camera = scenes::camera(&mut random, 61, 37);
    let splats = scenes::splats(&mut random, &camera, 3000, 0);
    let [id, weight] = top(4);
    let settings =
        LayerSettings { layers: vec![Layer::Id, Layer::Alpha, id, weight], is_distance: false };
    let (_, pictures) = rendered(&splats, &camera, &RenderSettings::default(), &settings);
    let [largest, alpha, ids, weights] = &pictures[..] else {
        panic!("four layers");
    };
    assert_eq!(largest.integers(), ids.plane_bits(0));
    for pixel in 0..61 * 37 {
        let weights: Vec<f32> = (0..4).map(|rank| weights.plane(rank)[pixel]).collect();
        let ids: Vec<u32> = (0..4).map(|rank| ids.plane_bits(rank)[pixel]).collect();
        assert!(weights.is_sorted_by(|a, b| a >= b), "{weights:?}");
        assert!(weights.iter().sum::<f32>() <= alpha.plane(0)[pixel] + 1e-5);
        for (rank, (id, weight)) in ids.iter().zip(&weights).enumerate() {
            assert_eq!(*id == u32::MAX, *weight == 0.0);
            assert!(*id == u32::MAX || !ids[..rank].contains(id));
        }
    }
}

#[test]
fn empty_pixels_have_no_identifier() {
    let camera = scenes::camera(&mut Random::new(1), 5, 5);
    let empty = Splats::from_splats(0, []);
    let settings = RenderSettings::default();
    let (_, pictures) = rendered(&empty, &camera, &settings, &all_layers(false));
    for picture in pictures {
        match picture.layer {
            Layer::Id | Layer::TopId(_) => {
                let ids = values(&picture);
                assert!(ids.iter().all(|id| *id == f64::from(u32::MAX)));
            }
            Layer::Count => assert!(picture.integers().iter().all(|count| *count == 0)),
            _ => assert!(values(&picture).iter().all(|v| *v == 0.0)),
        }
    }
}
