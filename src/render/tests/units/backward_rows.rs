//! Gradients of saved pictures against the definition.

use rand::SeedableRng;
use rand_pcg::Pcg32;
use rayon::ThreadPoolBuilder;

use super::cases::{Case, Random, SPLATS, with_covariances};
use super::*;
use crate::cpu::channels::{ChannelDepth, ChannelPicture, ChannelSettings, ChannelValues};
use crate::cpu::{RenderSettings, Renderer};
use crate::preprocess::SplatRows;
use crate::synth::{Recipe, Synthetic};
use quadrille_base::math::{SimdLevel, narrow};
use quadrille_base::shading::Profile;
use quadrille_base::{Error, Task};
use quadrille_scene::{Camera, Projection, SplatSlices};

/// Inputs of a picture.
struct Inputs<'a> {
    slices: SplatSlices<'a>,
    sh_degree: u8,
    channels: ChannelSettings<'a>,
    camera: &'a Camera,
    settings: RenderSettings,
}

impl<'a> Inputs<'a> {
    fn of_case(case: &'a Case) -> Self {
        Self {
            slices: case.slices(),
            sh_degree: case.sh_degree,
            channels: case.channel_settings(),
            camera: &case.camera,
            settings: case.settings,
        }
    }
}

/// Derivatives by every class, in f64.
#[derive(Debug, Clone, Default, PartialEq)]
struct Classes {
    indices: Vec<u32>,
    means2d: Vec<f64>,
    absolute: Vec<f64>,
    background: Vec<f64>,
    means: Vec<f64>,
    scales: Vec<f64>,
    rotations: Vec<f64>,
    opacities: Vec<f64>,
    values: Vec<f64>,
    pose: Vec<f64>,
}

impl Classes {
    fn named(&self) -> [(&'static str, &[f64]); 9] {
        [
            ("means2d", &self.means2d),
            ("absolute", &self.absolute),
            ("background", &self.background),
            ("means", &self.means),
            ("scales", &self.scales),
            ("rotations", &self.rotations),
            ("opacities", &self.opacities),
            ("values", &self.values),
            ("pose", &self.pose),
        ]
    }

    /// Compares each class; differences may have `bound` times the norm of the class.
    fn check(&self, expected: &Self, bound: f64, what: &str) {
        for ((name, found), (_, expected)) in self.named().into_iter().zip(expected.named()) {
            let bound = if name == "absolute" { 1e-3 } else { bound };
            check_class(&format!("{what}: {name}"), found, expected, bound);
        }
    }
}

/// Compares the norm of the differences with `bound` times the norm of the derivatives.
fn check_class(what: &str, found: &[f64], expected: &[f64], bound: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let norm = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>().sqrt();
    let size = norm(&mut expected.iter().copied());
    let error = norm(&mut found.iter().zip(expected).map(|(a, b)| a - b));
    assert!(error <= bound * size + 1e-7, "{what}: error {error} of {size}");
}

/// Bound of [`check_class`]: the transmittance of an f32 alpha near 1 has a relative error of up to 3e-7 / (1 - alpha). The
/// rotations of one fisheye are 2.5e-4 away; those of all others, at most 3e-5.
fn bound_of(case: &Case) -> f64 {
    if matches!(case.camera.projection, Projection::Fisheye(_)) {
        return 3e-4;
    }
    if case.opacities.iter().any(|opacity| *opacity > 0.99) { 2e-4 } else { 1e-4 }
}

fn cotangents(inputs: &Inputs<'_>, seed: u64) -> [Vec<f32>; 2] {
    let mut random = Random(Pcg32::seed_from_u64(seed + 1000));
    let pixels = inputs.camera.width as usize * inputs.camera.height as usize;
    [pixels * inputs.channels.channels(), pixels]
        .map(|count| random.numbers(count, 1.0).into_iter().map(narrow).collect())
}

fn wide(numbers: &[f32]) -> Vec<f64> {
    numbers.iter().copied().map(f64::from).collect()
}

fn by_definition(inputs: &Inputs<'_>, [by_values, by_alphas]: &[Vec<f32>; 2]) -> Classes {
    let task = Task::NEVER;
    let scene = ScalarScene::new(inputs.slices, inputs.sh_degree, &inputs.channels).unwrap();
    let picture = ScalarPicture::draw(&scene, inputs.camera, &inputs.settings, &task).unwrap();
    let cotangents = PictureCotangents { values: &wide(by_values), alphas: &wide(by_alphas) };
    let raster = picture.raster_gradients(&cotangents, &task).unwrap();
    let mut gradients = Gradients::zeros(&scene);
    let pose = picture.project_gradients(&raster, &mut gradients, &task).unwrap();
    let mut splats = raster.splats.clone();
    splats.sort_by_key(|splat| splat.index);
    let ScalarShapes::Axes { scales, rotations } = gradients.shapes else { panic!("no axes") };
    Classes {
        indices: splats.iter().map(|splat| u32::try_from(splat.index).unwrap()).collect(),
        means2d: splats.iter().flat_map(|splat| splat.mean2d).collect(),
        absolute: splats.iter().flat_map(|splat| splat.absolute_mean2d).collect(),
        background: raster.background,
        means: gradients.means.into_flattened(),
        scales: scales.into_flattened(),
        rotations: rotations.into_flattened(),
        opacities: gradients.opacities,
        values: match gradients.values {
            ScalarValues::None => Vec::new(),
            ScalarValues::Colours { sh, .. } => sh.into_flattened(),
            ScalarValues::Rows { values, .. } => values,
        },
        pose: pose.view_from_world.as_flattened().to_vec(),
    }
}

fn saved(inputs: &Inputs<'_>, rows: &SplatRows<'_>) -> SavedPicture {
    let pixels = inputs.camera.width as usize * inputs.camera.height as usize;
    let (mut values, mut alphas) =
        (vec![0.0; pixels * inputs.channels.channels()], vec![0.0; pixels]);
    let mut picture = ChannelPicture { values: &mut values, alphas: &mut alphas };
    let (settings, task) = (&inputs.settings, Task::NEVER);
    let (saved, _) = Renderer::default()
        .render_saved(rows, inputs.camera, settings, &inputs.channels, &mut picture, &task)
        .unwrap();
    saved
}

fn fast(inputs: &Inputs<'_>, [by_values, by_alphas]: &[Vec<f32>; 2]) -> Classes {
    let task = Task::NEVER;
    let rows = SplatRows::new(inputs.slices, inputs.sh_degree).unwrap();
    let mut saved = saved(inputs, &rows);
    let derivatives = PictureCotangents { values: by_values, alphas: by_alphas };
    let sums = saved.raster_gradients(&inputs.channels, &derivatives, true, &task).unwrap();
    let plain = saved.raster_gradients(&inputs.channels, &derivatives, false, &task).unwrap();
    assert!(plain.absolute_means2d.is_empty());
    assert_eq!(plain, RasterSums { absolute_means2d: Vec::new(), ..sums.clone() });
    let count = rows.slices().means.len();
    // The content of the arrays, which are cleared, has no effect.
    let any = f32::NAN;
    let (mut means, mut scales, mut rotations, mut opacities) =
        (vec![[any; 3]; count], vec![[any; 3]; count], vec![[any; 4]; count], vec![any; count]);
    let is_coloured = inputs.channels.values == ChannelValues::Colours;
    let mut sh = vec![[any; 3]; if is_coloured { inputs.slices.sh.len() } else { 0 }];
    let mut values = match inputs.channels.values {
        ChannelValues::Rows { values, .. } => vec![any; values.len()],
        _ => Vec::new(),
    };
    let mut gradients = GradientRows {
        means: &mut means,
        scales: &mut scales,
        rotations: &mut rotations,
        covariances: &mut [],
        opacities: &mut opacities,
        sh: &mut sh,
        values: &mut values,
        clears: true,
    };
    let pose =
        saved.project_gradients(&rows, &inputs.channels, &sums, &mut gradients, &task).unwrap();
    Classes {
        indices: sums.indices,
        means2d: wide(sums.means2d.as_flattened()),
        absolute: wide(sums.absolute_means2d.as_flattened()),
        background: wide(&sums.background),
        means: wide(means.as_flattened()),
        scales: wide(scales.as_flattened()),
        rotations: wide(rotations.as_flattened()),
        opacities: wide(&opacities),
        values: wide(if is_coloured { sh.as_flattened() } else { &values }),
        pose: pose.view_from_world.as_flattened().to_vec(),
    }
}

#[test]
fn saved_pictures_have_the_gradients_of_the_definition() {
    for seed in 0..200 {
        let case = Case::new(seed);
        let inputs = Inputs::of_case(&case);
        let cotangents = cotangents(&inputs, seed);
        let expected = by_definition(&inputs, &cotangents);
        let bound = bound_of(&case);
        for level in SimdLevel::all() {
            let settings = RenderSettings { level, ..inputs.settings };
            let found = fast(&Inputs { settings, ..Inputs::of_case(&case) }, &cotangents);
            assert_eq!(found.indices, expected.indices);
            found.check(&expected, bound, &format!("scene {seed}, {}", level.name()));
        }
    }
}

#[test]
fn covariances_have_the_gradients_of_the_definition() {
    for seed in 0..60 {
        let case = Case::new(seed);
        let inputs = Inputs::of_case(&case);
        let [by_values, by_alphas] = cotangents(&inputs, seed);
        let task = Task::NEVER;
        let scene = with_covariances(&case.scene());
        let picture = case.draw(&scene);
        let cotangents = PictureCotangents { values: &wide(&by_values), alphas: &wide(&by_alphas) };
        let raster = picture.raster_gradients(&cotangents, &task).unwrap();
        let mut expected = Gradients::zeros(&scene);
        picture.project_gradients(&raster, &mut expected, &task).unwrap();
        let ScalarShapes::Covariances(expected) = expected.shapes else { panic!("axes") };
        let rows = SplatRows::new(inputs.slices, inputs.sh_degree).unwrap();
        let mut saved = saved(&inputs, &rows);
        let derivatives = PictureCotangents { values: &by_values, alphas: &by_alphas };
        let channels = &inputs.channels;
        let sums = saved.raster_gradients(channels, &derivatives, false, &task).unwrap();
        let mut found = [[0.0; 6]; SPLATS];
        let mut gradients = GradientRows { covariances: &mut found, ..Default::default() };
        saved.project_gradients(&rows, channels, &sums, &mut gradients, &task).unwrap();
        let bound = bound_of(&case);
        check_class("covariances", &wide(found.as_flattened()), expected.as_flattened(), bound);
    }
}

/// Pictures of many tiles: colours with and without depth, and rows whose records take two lines.
#[test]
fn gradients_of_large_pictures_are_the_same_bytes_on_any_number_of_threads() {
    let scene = Synthetic::new(Recipe::Room, 3, 9001, 3).unwrap();
    let arrays = scene.splats().to_arrays();
    let mut random = Random(Pcg32::seed_from_u64(5));
    let values: Vec<f32> = random.numbers(9001 * 11, 1.0).into_iter().map(narrow).collect();
    let rows = ChannelValues::Rows { values: &values, channels: 11 };
    let camera = scene.cameras()[0].resized(203, 139).unwrap();
    let cases = [
        (ChannelValues::Colours, None, "gsplat-1.5"),
        (ChannelValues::Colours, Some(ChannelDepth::Mean), "gsplat-aa"),
        (rows, Some(ChannelDepth::Sum), "inria"),
        (ChannelValues::None, Some(ChannelDepth::Mean), "gsplat"),
    ];
    for (turn, (values, depth, profile)) in (0..).zip(cases) {
        let background = &[0.3, 0.5, 0.1][..];
        let background = (values == ChannelValues::Colours).then_some(background);
        let profile = Profile::named(profile).unwrap();
        let inputs = Inputs {
            slices: arrays.as_slices(),
            sh_degree: 3,
            channels: ChannelSettings { values, depth, background, has_spread: false },
            camera: &camera,
            settings: RenderSettings { profile, level: SimdLevel::best() },
        };
        let cotangents = cotangents(&inputs, turn);
        let found = fast(&inputs, &cotangents);
        found.check(&by_definition(&inputs, &cotangents), 1e-4, profile.name);
        for threads in [1, 2, 7] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(|| fast(&inputs, &cotangents)) == found, "{threads} threads");
        }
    }
}

#[test]
fn a_saved_picture_holds_its_pixels_beside_what_every_frame_holds() {
    let scene = Synthetic::new(Recipe::Room, 3, 20_000, 1).unwrap();
    let arrays = scene.splats().to_arrays();
    let camera = scene.cameras()[0].resized(196, 109).unwrap();
    let values = ChannelValues::Colours;
    let inputs = Inputs {
        slices: arrays.as_slices(),
        sh_degree: 1,
        channels: ChannelSettings { values, depth: None, background: None, has_spread: false },
        camera: &camera,
        settings: RenderSettings::default(),
    };
    let rows = SplatRows::new(inputs.slices, 1).unwrap();
    let mut saved = saved(&inputs, &rows);
    let frame = saved.renderer().used_bytes();
    assert_eq!(saved.used_bytes() - frame, 4 * 4 * 196 * 109);
    let [values, alphas] = cotangents(&inputs, 0);
    let derivatives = PictureCotangents { values: &values, alphas: &alphas };
    saved.raster_gradients(&inputs.channels, &derivatives, false, &Task::NEVER).unwrap();
    // 64 bytes per entry of a list, and 8 per pair of a splat and a tile, which are as many.
    let entries = (saved.used_bytes() - frame - 4 * 4 * 196 * 109) / 72;
    assert!((20_000..60_000).contains(&entries), "{entries}");
}

#[test]
fn extreme_splats_have_finite_gradients_in_lanes() {
    for seed in 0..60 {
        let mut case = Case::new(seed);
        case.make_extreme(seed);
        let inputs = Inputs::of_case(&case);
        let found = fast(&inputs, &cotangents(&inputs, seed));
        for (name, numbers) in found.named() {
            assert!(numbers.iter().all(|by| by.is_finite()), "scene {seed}: {name}");
        }
    }
}

#[test]
fn arguments_of_other_pictures_are_errors() {
    let case = Case::new(0);
    let inputs = Inputs::of_case(&case);
    let rows = SplatRows::new(inputs.slices, inputs.sh_degree).unwrap();
    let mut saved = saved(&inputs, &rows);
    let [values, alphas] = cotangents(&inputs, 0);
    let task = Task::NEVER;
    let short = PictureCotangents { values: &values, alphas: &alphas[1..] };
    assert!(saved.raster_gradients(&inputs.channels, &short, false, &task).is_err());
    let whole = PictureCotangents { values: &values, alphas: &alphas };
    let sums = saved.raster_gradients(&inputs.channels, &whole, false, &task).unwrap();
    let mut means = [[0.0; 3]; SPLATS - 1];
    let mut gradients = GradientRows { means: &mut means, ..Default::default() };
    let channels = &inputs.channels;
    assert!(saved.project_gradients(&rows, channels, &sums, &mut gradients, &task).is_err());
    let mut others = sums.clone();
    others.indices.reverse();
    let mut gradients = GradientRows::default();
    assert!(saved.project_gradients(&rows, channels, &others, &mut gradients, &task).is_err());
    let cancelled = Task::new();
    cancelled.cancel();
    let is_cancelled = |error: Option<Error>| matches!(error, Some(Error::Cancelled));
    let raster = saved.raster_gradients(channels, &whole, false, &cancelled);
    assert!(is_cancelled(raster.err()));
    let projected = saved.project_gradients(&rows, channels, &sums, &mut gradients, &cancelled);
    assert!(is_cancelled(projected.err()));
}

#[test]
fn no_splats_have_the_gradient_of_the_background() {
    let mut case = Case::new(2);
    for mean in &mut case.means {
        *mean = [0.0; 3];
    }
    case.opacities.fill(0.0);
    case.background = Some(vec![0.25; case.channels.unwrap_or(3)]);
    let inputs = Inputs::of_case(&case);
    let cotangents = cotangents(&inputs, 2);
    let found = fast(&inputs, &cotangents);
    found.check(&by_definition(&inputs, &cotangents), 1e-6, "nothing in view");
    assert!(found.background.iter().any(|by| *by != 0.0) && found.indices.is_empty());
}
