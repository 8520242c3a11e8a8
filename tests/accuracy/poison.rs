//! Invalid values, which readers drop but the library accepts: the fast renderer does not panic, and
//! agrees with the oracle wherever the oracle's picture is finite.
use nalgebra::{Matrix3, Vector3};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use quadrille::Camera;
use quadrille::Counts;
use quadrille::Frame;
use quadrille::Intrinsics;
use quadrille::Profile;
use quadrille::RenderSettings;
use quadrille::Renderer;
use quadrille::SimdLevel;
use quadrille::Splat;
use quadrille::Splats;
use quadrille::Task;
use quadrille::render_reference;

use crate::support::pictures::Differences;
use crate::support::scenes::{self, Random};
use crate::support::tolerances::bound;

/// Values for every field.
const POISON: [f32; 13] = [
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::MAX,
    f32::MIN,
    f32::MIN_POSITIVE,
    1e-40,
    -1e-40,
    0.0,
    -0.0,
    1.0,
    -1.0,
    1e20,
];

/// Number of fields of a splat of degree 1.
const FIELDS: usize = 3 + 3 + 4 + 1 + 12;

/// Field `field` of a splat with its name.
fn field(splat: &mut Splat, field: usize) -> (&'static str, &mut f32) {
    match field {
        0..3 => ("mean", &mut splat.mean[field]),
        3..6 => ("scale", &mut splat.scale[field - 3]),
        6..10 => ("rotation", &mut splat.rotation[field - 6]),
        10 => ("opacity", &mut splat.opacity),
        _ => ("sh", &mut splat.sh[(field - 11) / 3][(field - 11) % 3]),
    }
}

/// A camera at the origin that looks along z.
fn plain_camera(width: u32, height: u32) -> Camera {
    let lens = Intrinsics::from_vertical_fov(width, height, 1.0);
    Camera::new("plain", lens, Matrix3::identity(), Vector3::zeros()).unwrap()
}

/// A round splat at `mean`, whose standard deviation is 1/20 of its distance.
fn plain_splat(mean: [f32; 3], opacity: f32, red: f32) -> Splat {
    let mut sh = [[0.0; 3]; 25];
    sh[0] = [red, 0.3, -0.5];
    Splat { mean, scale: [mean[2] * 0.05; 3], rotation: [1.0, 0.0, 0.0, 0.0], opacity, sh }
}

fn render_all_levels(splats: &Splats, camera: &Camera, profile: Profile) -> Vec<Rendered> {
    let mut renderer = Renderer::default();
    let render = |level: SimdLevel| {
        let settings = RenderSettings { profile, level };
        let (frame, counts) = renderer.render(splats, camera, &settings);
        Rendered { level: level.name(), frame, counts }
    };
    SimdLevel::all().into_iter().map(render).collect()
}

#[test]
fn memory_of_the_caller_is_written_whole() {
    let splats = Splats::from_splats(1, [plain_splat([0.1, 0.0, 2.0], 0.9, 1.0)]);
    let camera = plain_camera(75, 43);
    let settings = RenderSettings::default();
    let mut renderer = Renderer::default();
    let (frame, counts) = renderer.render(&splats, &camera, &settings);
    let mut pixels = vec![[f32::NAN; 4]; 75 * 43];
    let drawn = renderer.render_pixels(&mut pixels, &splats, &camera, &settings, &Task::NEVER);
    assert_eq!(drawn.unwrap().0, counts);
    assert!(counts.fragments_blended > 0 && pixels == frame.pixels());
    pixels.pop();
    let refused = renderer.render_pixels(&mut pixels, &splats, &camera, &settings, &Task::NEVER);
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("3225") && message.contains("3224"), "{message}");
}

struct Rendered {
    level: &'static str,
    frame: Frame,
    counts: Counts,
}

/// Differences of the fast renderer from the oracle beyond the bounds, one line per level.
fn complaints(splats: &Splats, camera: &Camera, profile: Profile) -> Vec<String> {
    let settings = RenderSettings { profile, ..RenderSettings::default() };
    let (expected, _) = render_reference(splats, camera, &settings);
    let complaint = |found: &Rendered| {
        let differences = Differences::between(&found.frame, &expected);
        let (max, strays) = (differences.max(), differences.strays(bound("stray")));
        let bad = strays as f64 > bound("poison strays") * differences.len() as f64 + 1.0
            || differences.strays(bound("max")) as f64 > bound("poison far off");
        bad.then(|| {
            format!(
                "{}, {}: {strays} of {} pixels, largest {max:e}",
                profile.name,
                found.level,
                differences.len()
            )
        })
    };
    let found = render_all_levels(splats, camera, profile);
    found.iter().filter_map(complaint).collect()
}

fn assert_agreement(splats: &Splats, camera: &Camera) {
    for profile in Profile::ALL {
        let complaints = complaints(splats, camera, profile);
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    }
}

#[test]
fn one_poisoned_field_at_a_time() {
    let mut random = Random::new(7);
    let cameras = [plain_camera(33, 31), scenes::camera(&mut random, 33, 31)];
    let mut all = Vec::new();
    for camera in &cameras {
        let mut healthy: Vec<Splat> = scenes::splats(&mut random, camera, 33, 1).iter().collect();
        let towards = camera.view_from_world.transpose()
            * (Vector3::new(0.1, 0.1, 2.0) - camera.translation_in_view);
        healthy[5] = plain_splat([0.0, 0.0, 2.0], 0.8, 1.0);
        healthy[5].mean = std::array::from_fn(|i| towards[i] as f32);
        for index in 0..FIELDS {
            for value in POISON {
                let mut splats = healthy.clone();
                let (name, target) = field(&mut splats[5], index);
                *target = value;
                let splats = Splats::from_splats(1, splats);
                for profile in [Profile::ALL[0], Profile::ALL[3]] {
                    let complaints = complaints(&splats, camera, profile);
                    let view = &camera.name;
                    all.extend(
                        complaints
                            .iter()
                            .map(|c| format!("{view}: {name} ({index}) = {value:e}: {c}")),
                    );
                }
            }
        }
    }
    assert!(all.is_empty(), "{} complaints:\n{}", all.len(), all.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        // The same cases on every run, so that a bound that holds once always holds.
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::with_cases(2000)
    })]

    #[test]
    fn many_poisoned_fields_at_once(
        seed in 0_u64..1 << 32,
        poisons in prop::collection::vec((0..40_usize, 0..FIELDS, 0..POISON.len()), 1..60),
    ) {
        let mut random = Random::new(seed);
        let camera = scenes::camera(&mut random, 40, 25);
        let mut splats: Vec<Splat> = scenes::splats(&mut random, &camera, 40, 1).iter().collect();
        for (index, which, value) in poisons {
            *field(&mut splats[index], which).1 = POISON[value];
        }
        let splats = Splats::from_splats(1, splats);
        let complaints = complaints(&splats, &camera, Profile::default());
        prop_assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    }
}

#[test]
fn an_empty_scene_is_a_transparent_picture() {
    for found in
        render_all_levels(&Splats::from_splats(3, []), &plain_camera(33, 7), Profile::default())
    {
        assert_eq!(found.frame, Frame::new(33, 7));
        assert_eq!(found.counts, Counts::default());
    }
}

/// The splat's centre is a pixel centre, where alpha equals the opacity.
#[test]
fn opacities_at_their_thresholds() {
    let cut = 1.0_f32 / 255.0;
    for opacity in [0.0, cut.next_down(), cut, cut.next_up(), 1.0, 1.0_f32.next_down()] {
        let splats = Splats::from_splats(0, [plain_splat([0.0, 0.0, 2.0], opacity, 1.0)]);
        assert_agreement(&splats, &plain_camera(33, 31));
    }
}

/// Two fragments at the alpha cap of 0.99 leave a transmittance of 1e-4, which is the threshold.
#[test]
fn two_capped_fragments_leave_the_threshold_and_both_count() {
    let opaque = |depth, red| plain_splat([0.0, 0.0, depth], 1.0, red);
    let splats = [opaque(2.0, -1.0), opaque(2.1, 3.0), opaque(2.2, 3.0)];
    assert_agreement(&Splats::from_splats(0, splats), &plain_camera(33, 31));
}

#[test]
fn depth_at_the_near_plane_is_culled_and_beyond_it_is_not() {
    let near = 0.25_f32;
    let profile = Profile { near: f64::from(near), ..Profile::default() };
    for (depth, seen) in [(near.next_down(), 0), (near, 0), (near.next_up(), 1)] {
        let splats = Splats::from_splats(0, [plain_splat([0.0, 0.0, depth], 0.9, 1.0)]);
        assert!(complaints(&splats, &plain_camera(33, 31), profile).is_empty());
        for found in render_all_levels(&splats, &plain_camera(33, 31), profile) {
            assert_eq!(found.counts.splats_in_frustum, seen, "depth {depth} on {}", found.level);
        }
    }
}

/// Splats of equal depth keep the scene's order, also across blocks of 16 and chunks of 4096.
#[test]
fn ties_in_depth_keep_the_scenes_order() {
    for len in [2, 40, 5000] {
        let red = |i: usize| (i * 7919 % 13) as f32 / 4.0 - 1.0;
        let one = |i: usize| plain_splat([0.0, 0.0, 2.0], 0.02, red(i));
        let splats = Splats::from_splats(0, (0..len).map(one));
        assert_agreement(&splats, &plain_camera(9, 9));
    }
}

/// Splats with zero scales still cover a pixel because of the low-pass filter.
#[test]
fn zero_scales_leave_the_low_pass_filter() {
    let mut splat = plain_splat([0.01, 0.02, 2.0], 0.9, 1.0);
    for scale in [[0.0; 3], [0.1, 0.0, 0.0], [0.1, 0.1, 0.0], [1e-40; 3]] {
        splat.scale = scale;
        assert_agreement(&Splats::from_splats(0, [splat]), &plain_camera(33, 31));
    }
}
