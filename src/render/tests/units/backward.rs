//! Gradients against central differences, and the scalar picture against the fast renderer.

use rand::SeedableRng;
use rand_pcg::Pcg32;

use super::cases::{Case, Random, with_covariances};
use super::*;
use crate::cpu::channels::{ChannelDepth, ChannelPicture};
use crate::cpu::{RenderSettings, Renderer};
use crate::preprocess::SplatRows;
use quadrille_base::shading::StopRule;
use quadrille_base::{Error, Task};
use quadrille_scene::{Camera, Projection};

const SCENES: u64 = 200;

/// Numbers of the shapes and of the values, by class.
fn numbers<'a>(
    shapes: &'a mut ScalarShapes,
    values: &'a mut ScalarValues,
) -> Vec<(&'static str, &'a mut [f64])> {
    let mut classes = match shapes {
        ScalarShapes::Axes { scales, rotations } => {
            vec![("scales", scales.as_flattened_mut()), ("rotations", rotations.as_flattened_mut())]
        }
        ScalarShapes::Covariances(all) => vec![("covariances", all.as_flattened_mut())],
    };
    match values {
        ScalarValues::None => {}
        ScalarValues::Colours { sh, .. } => classes.push(("sh", sh.as_flattened_mut())),
        ScalarValues::Rows { values, .. } => classes.push(("values", values)),
    }
    classes
}

/// Attributes of a scene, by class.
fn attributes(scene: &mut ScalarScene) -> Vec<(&'static str, &mut [f64])> {
    let mut classes = numbers(&mut scene.shapes, &mut scene.values);
    classes.push(("means", scene.means.as_flattened_mut()));
    classes.push(("opacities", &mut scene.opacities));
    classes.push(("background", &mut scene.background));
    classes
}

struct Differentiated {
    raster: RasterGradients,
    gradients: Gradients,
    pose: CameraGradients,
}

impl Differentiated {
    fn new(picture: &ScalarPicture<'_>, scene: &ScalarScene, loss: &Loss) -> Self {
        let cotangents = PictureCotangents { values: &loss.values, alphas: &loss.alphas };
        let raster = picture.raster_gradients(&cotangents, &Task::NEVER).unwrap();
        let mut gradients = Gradients::zeros(scene);
        let pose = picture.project_gradients(&raster, &mut gradients, &Task::NEVER).unwrap();
        Self { raster, gradients, pose }
    }

    /// In the order of [`attributes`].
    fn classes(&mut self) -> Vec<(&'static str, &mut [f64])> {
        let Self { raster, gradients, .. } = self;
        let mut classes = numbers(&mut gradients.shapes, &mut gradients.values);
        classes.push(("means", gradients.means.as_flattened_mut()));
        classes.push(("opacities", &mut gradients.opacities));
        classes.push(("background", &mut raster.background));
        classes
    }

    fn all(&mut self) -> Vec<f64> {
        let pose = self.pose.view_from_world.as_flattened().to_vec();
        let plane = self
            .raster
            .splats
            .iter()
            .flat_map(|s| [&s.mean2d[..], &s.absolute_mean2d, &s.conic, &[s.opacity]].concat());
        let plane: Vec<f64> = plane.collect();
        let classes = self.classes().into_iter().flat_map(|(_, numbers)| numbers.to_vec());
        classes.chain(pose).chain(plane).collect()
    }
}

/// A loss that is linear in the picture.
struct Loss {
    values: Vec<f64>,
    alphas: Vec<f64>,
}

impl Loss {
    fn new(seed: u64, picture: &ScalarPicture<'_>) -> Self {
        let mut random = Random(Pcg32::seed_from_u64(seed + 1000));
        Self {
            values: random.numbers(picture.values().len(), 1.0),
            alphas: random.numbers(picture.alphas().len(), 1.0),
        }
    }

    fn of(&self, picture: &ScalarPicture<'_>) -> f64 {
        let products = picture.values().iter().zip(&self.values);
        let products = products.chain(picture.alphas().iter().zip(&self.alphas));
        products.map(|(value, by)| value * by).sum()
    }
}

/// Derivative by central differences of fourth order.
fn difference(step: f64, mut loss: impl FnMut(f64) -> f64) -> f64 {
    let mut pair = |step: f64| loss(step) - loss(-step);
    (8.0 * pair(step) - pair(2.0 * step)) / (12.0 * step)
}

/// Largest error of a class, relative to its largest derivative.
fn check_class(what: &str, seed: u64, found: &[f64], expected: &[f64]) {
    let largest = expected.iter().fold(0.0, |most: f64, e| most.max(e.abs()));
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let bound = 1e-6 * largest + 1e-9;
        let error = (found - expected).abs();
        assert!(error <= bound, "scene {seed}, {what} {at}: {found}, expected {expected}");
    }
}

fn check_against_differences(seed: u64, case: &Case, scene: &ScalarScene) {
    let picture = case.draw(scene);
    let loss = Loss::new(seed, &picture);
    let mut found = Differentiated::new(&picture, scene, &loss);
    let of = |scene: &ScalarScene, camera: &Camera| {
        loss.of(&picture.redraw(scene, camera, &case.settings).unwrap())
    };
    let mut changed = scene.clone();
    for (class, (what, gradients)) in found.classes().into_iter().enumerate() {
        let expected = (0..gradients.len()).map(|at| {
            let value = attributes(&mut changed)[class].1[at];
            let step = match what {
                "scales" | "rotations" => 1e-3 * value.abs().min(0.1),
                "covariances" => {
                    let least = case.scales[at / 6].iter().copied().fold(f32::MAX, f32::min);
                    1e-2 * f64::from(least).powi(2)
                }
                _ => 1e-4,
            };
            let expected = difference(step, |by| {
                attributes(&mut changed)[class].1[at] = value + by;
                of(&changed, &case.camera)
            });
            attributes(&mut changed)[class].1[at] = value;
            expected
        });
        let expected: Vec<f64> = expected.collect();
        check_class(what, seed, gradients, &expected);
    }
    let pose = (0..12).map(|at| {
        difference(2e-5, |by| {
            let mut camera = case.camera.clone();
            match at % 4 {
                3 => camera.translation_in_view[at / 4] += by,
                c => camera.view_from_world[(at / 4, c)] += by,
            }
            of(scene, &camera)
        })
    });
    let pose: Vec<f64> = pose.collect();
    check_class("pose", seed, &found.pose.view_from_world.as_flattened()[..12], &pose);
    assert_eq!(found.pose.view_from_world[3], [0.0; 4]);
    // The principal point moves all centres by the same number of pixels.
    let moved = [0, 1].map(|axis| {
        difference(1e-3, |by| {
            let mut camera = case.camera.clone();
            camera.principal_px[axis] += by;
            of(scene, &camera)
        })
    });
    let sum = [0, 1].map(|axis| found.raster.splats.iter().map(|s| s.mean2d[axis]).sum::<f64>());
    check_class("mean2d", seed, &sum, &moved);
}

#[test]
fn gradients_are_central_differences() {
    let mut limited = [0; 5];
    for seed in 0..SCENES {
        let case = Case::new(seed);
        let scene = case.scene();
        check_against_differences(seed, &case, &scene);
        let picture = case.draw(&scene);
        let limits = picture.splats.iter().map(|splat| splat.limits);
        for limits in limits {
            limited[0] += limits.slopes.iter().flatten().count();
            limited[1] += usize::from(limits.is_floored);
            limited[2] += limits.is_black.iter().filter(|is_black| **is_black).count();
        }
        let fragments = |picture: &ScalarPicture<'_>| picture.fragments.concat();
        limited[3] += fragments(&picture).iter().filter(|f| f.is_capped).count();
        let mut open = Case::new(seed);
        open.settings.profile.stop = StopRule::Never;
        limited[4] += fragments(&open.draw(&scene)).len() - fragments(&picture).len();
    }
    // Slopes, floors, negative colours, caps, and fragments behind the stop rule are among the scenes.
    assert!(limited.iter().all(|count| *count >= 5), "{limited:?}");
}

#[test]
fn gradients_by_covariances_are_central_differences() {
    for seed in 0..SCENES / 4 {
        let case = Case::new(seed);
        let scene = case.scene();
        let of_covariances = with_covariances(&scene);
        let pictures = [case.draw(&scene), case.draw(&of_covariances)];
        let [expected, found] = pictures.map(|picture| picture.values().to_vec());
        check_class("values", seed, &found, &expected);
        check_against_differences(seed, &case, &of_covariances);
    }
}

#[test]
fn the_scalar_picture_is_the_picture_of_the_renderer() {
    for seed in 0..SCENES {
        let case = Case::new(seed);
        let scene = case.scene();
        let picture = case.draw(&scene);
        let rows = SplatRows::new(case.slices(), case.sh_degree).unwrap();
        let mut values = vec![0.0; picture.values().len()];
        let mut alphas = vec![0.0; picture.alphas().len()];
        let mut output = ChannelPicture { values: &mut values, alphas: &mut alphas };
        let (settings, channels) = (&case.settings, case.channel_settings());
        Renderer::default()
            .render_channels(&rows, &case.camera, settings, &channels, &mut output, &Task::NEVER)
            .unwrap();
        let found = picture.values().iter().chain(picture.alphas());
        for (at, (found, expected)) in found.zip(values.iter().chain(&alphas)).enumerate() {
            let error = (found - f64::from(*expected)).abs();
            assert!(error <= 1e-5 * (1.0 + found.abs()), "scene {seed}, {at}: {found}, {expected}");
        }
    }
}

/// The picture is a sum over pixels for a linear loss, so each pixel's part of a gradient is the gradient of its part.
#[test]
fn absolute_gradients_are_sums_over_pixels() {
    for seed in 0..10 {
        let case = Case::new(seed);
        let scene = case.scene();
        let picture = case.draw(&scene);
        let loss = Loss::new(seed, &picture);
        let raster = Differentiated::new(&picture, &scene, &loss).raster;
        let mut sums = vec![[0.0; 2]; raster.splats.len()];
        let channels = scene.channels();
        for pixel in 0..picture.alphas().len() {
            let mut part =
                Loss { values: vec![0.0; loss.values.len()], alphas: vec![0.0; loss.alphas.len()] };
            let range = pixel * channels..(pixel + 1) * channels;
            part.values[range.clone()].copy_from_slice(&loss.values[range]);
            part.alphas[pixel] = loss.alphas[pixel];
            let part = Differentiated::new(&picture, &scene, &part).raster;
            for (sum, splat) in sums.iter_mut().zip(part.splats) {
                assert_eq!(splat.mean2d.map(f64::abs), splat.absolute_mean2d);
                *sum = [0, 1].map(|axis| sum[axis] + splat.absolute_mean2d[axis]);
            }
        }
        let found: Vec<_> = raster.splats.iter().map(|splat| splat.absolute_mean2d).collect();
        check_class("absolute", seed, found.as_flattened(), sums.as_flattened());
    }
}

#[test]
fn gradients_of_pictures_are_added() {
    let case = Case::new(3);
    let scene = case.scene();
    let picture = case.draw(&scene);
    let mut once = Differentiated::new(&picture, &scene, &Loss::new(3, &picture));
    let mut twice = once.gradients.clone();
    picture.project_gradients(&once.raster, &mut twice, &Task::NEVER).unwrap();
    for (found, expected) in twice.means.iter().zip(&once.gradients.means) {
        assert_eq!(*found, expected.map(|by| 2.0 * by));
    }
    assert!(once.all().iter().any(|by| *by != 0.0));
}

#[test]
fn extreme_splats_have_finite_gradients() {
    for seed in 0..60 {
        let mut case = Case::new(seed);
        case.make_extreme(seed);
        let scene = case.scene();
        let picture = case.draw(&scene);
        assert!(picture.values().iter().chain(picture.alphas()).all(|v| v.is_finite()));
        let mut found = Differentiated::new(&picture, &scene, &Loss::new(seed, &picture));
        assert!(found.all().iter().all(|by| by.is_finite()), "scene {seed}");
    }
}

#[test]
fn a_scene_without_splats_has_the_gradient_of_its_background() {
    let camera = Case::new(1).camera;
    let scene = ScalarScene {
        means: Vec::new(),
        shapes: ScalarShapes::Axes { scales: Vec::new(), rotations: Vec::new() },
        opacities: Vec::new(),
        values: ScalarValues::Colours { sh_degree: 3, stored: 0, sh: Vec::new() },
        depth: Some(ChannelDepth::Mean),
        background: vec![0.5; 3],
    };
    let settings = RenderSettings::default();
    let picture = ScalarPicture::draw(&scene, &camera, &settings, &Task::NEVER).unwrap();
    let loss = Loss::new(0, &picture);
    let found = Differentiated::new(&picture, &scene, &loss);
    let red: f64 = loss.values.iter().step_by(4).sum();
    assert_eq!(found.raster.background[0], red);
    assert_eq!(found.pose, CameraGradients::default());
}

#[test]
fn arguments_that_do_not_fit_are_errors() {
    let case = Case::new(0);
    let scene = case.scene();
    let task = Task::NEVER;
    let mut short = scene.clone();
    short.opacities.pop();
    assert!(ScalarPicture::draw(&short, &case.camera, &case.settings, &task).is_err());
    let panorama = case.camera.clone().with_projection(Projection::Equirectangular);
    assert!(ScalarPicture::draw(&scene, &panorama, &case.settings, &task).is_err());
    let picture = case.draw(&scene);
    let cotangents = PictureCotangents { values: picture.values(), alphas: &[] };
    assert!(picture.raster_gradients(&cotangents, &task).is_err());
    let cotangents = PictureCotangents { values: picture.values(), alphas: picture.alphas() };
    let raster = picture.raster_gradients(&cotangents, &task).unwrap();
    let mut others = Gradients::zeros(&with_covariances(&scene));
    assert!(picture.project_gradients(&raster, &mut others, &task).is_err());
    let (mut fewer, mut gradients) = (raster.clone(), Gradients::zeros(&scene));
    fewer.splats.pop();
    assert!(picture.project_gradients(&fewer, &mut gradients, &task).is_err());
    let cancelled = Task::new();
    cancelled.cancel();
    let is_cancelled = |error: Option<Error>| matches!(error, Some(Error::Cancelled));
    let drawn = ScalarPicture::draw(&scene, &case.camera, &case.settings, &cancelled);
    assert!(is_cancelled(drawn.err()));
    assert!(is_cancelled(picture.raster_gradients(&cotangents, &cancelled).err()));
    assert!(is_cancelled(picture.project_gradients(&raster, &mut gradients, &cancelled).err()));
}
