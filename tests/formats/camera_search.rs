//! The view that is chosen for a scene without cameras.

use nalgebra::Vector3;
use quadrille::nalgebra;
use quadrille::{
    Camera, Frame, Intrinsics, Recipe, RenderSettings, Splat, Splats, Synthetic, default_camera,
    render,
};
use quadrille_scene::cameras::FramingTarget;

use crate::support::{shared, skipped};

const PICTURE: [u32; 2] = [192, 108];

/// Measures of the content of a picture, independent of the search's own score.
struct Seen {
    /// Mean difference of luminance between neighbouring pixels.
    detail: f64,
    /// Mean alpha, of the whole picture and of its border.
    coverage: f64,
    border: f64,
}

fn seen(splats: &Splats, camera: &Camera) -> Seen {
    let camera = camera.resized(PICTURE[0], PICTURE[1]).unwrap();
    let (frame, _) = render(splats, &camera, &RenderSettings::default());
    Seen::of(&frame)
}

impl Seen {
    fn of(frame: &Frame) -> Self {
        let [width, height] = PICTURE.map(|side| side as usize);
        let pixel = |x: usize, y: usize| frame.pixels()[y * width + x];
        let luminance = |x, y| {
            let [r, g, b, _] = pixel(x, y);
            f64::from(0.2126 * r + 0.7152 * g + 0.0722 * b)
        };
        let mut found = Self { detail: 0.0, coverage: 0.0, border: 0.0 };
        let mut border = 0.0;
        for y in 0..height - 1 {
            for x in 0..width - 1 {
                let here = luminance(x, y);
                found.detail += (here - luminance(x + 1, y)).abs();
                found.detail += (here - luminance(x, y + 1)).abs();
                let alpha = f64::from(pixel(x, y)[3]);
                found.coverage += alpha;
                if x == 0 || y == 0 || x == width - 2 || y == height - 2 {
                    found.border += alpha;
                    border += 1.0;
                }
            }
        }
        let pixels = ((width - 1) * (height - 1)) as f64;
        found.detail /= pixels;
        found.coverage /= pixels;
        found.border /= border;
        found
    }
}

/// The view from outside, at the distance that shows the whole content, that was taken before there was
/// a search.
fn view_from_outside(splats: &Splats) -> Camera {
    let lens = Intrinsics::from_vertical_fov(1280, 720, 50_f64.to_radians());
    let (subject, up) = (FramingTarget::of(splats), Vector3::new(0.0, -1.0, 0.0));
    let eye = subject.default_eye(&lens, up);
    Camera::look_at("outside", lens, eye, subject.centre, up).unwrap()
}

fn up_of(camera: &Camera) -> Vector3<f64> {
    -camera.view_from_world.row(1).transpose()
}

fn room(seed: u64) -> Splats {
    Synthetic::new(Recipe::Room, seed, 60_000, 0).unwrap().splats()
}

/// The scene with z up instead of -y: turned by 90 degrees around x.
fn standing_along_z(splats: &Splats) -> Splats {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let turn =
        nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(half, -half, 0.0, 0.0));
    let turned = splats.iter().map(|s| {
        let mean = turn * Vector3::from(s.mean.map(f64::from));
        let [w, x, y, z] = s.rotation.map(f64::from);
        let rotation =
            turn * nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(w, x, y, z));
        Splat {
            mean: [mean.x as f32, mean.y as f32, mean.z as f32],
            rotation: [rotation.w, rotation.i, rotation.j, rotation.k].map(|v| v as f32),
            ..s
        }
    });
    Splats::from_splats(0, turned)
}

#[test]
fn a_room_is_seen_from_inside_and_upright() {
    for seed in [1, 2] {
        let splats = room(seed);
        let camera = default_camera(&splats, &quadrille::Task::NEVER).unwrap();
        let inside = seen(&splats, &camera);
        assert!(inside.coverage > 0.98, "coverage {}", inside.coverage);
        let outside = seen(&splats, &view_from_outside(&splats));
        assert!(outside.coverage < 0.9, "the old view is outside: {}", outside.coverage);
        assert!(inside.detail > 1.5 * outside.detail, "{} {}", inside.detail, outside.detail);
        assert!(up_of(&camera).y < -0.85, "{:?}", up_of(&camera));
    }
}

#[test]
fn a_room_that_stands_along_z_is_upright_too() {
    let splats = standing_along_z(&room(1));
    let camera = default_camera(&splats, &quadrille::Task::NEVER).unwrap();
    assert!(up_of(&camera).z > 0.85, "{:?}", up_of(&camera));
    assert!(seen(&splats, &camera).coverage > 0.98);
}

#[test]
fn an_object_is_seen_whole() {
    let all = Synthetic::new(Recipe::Object, 1, 40_000, 0).unwrap().splats();
    // The vase and its flowers, without the table top below them.
    let splats = all.iter().filter(|s| s.mean[1] < -0.1);
    let splats = Splats::from_splats(0, splats);
    let seen = seen(&splats, &default_camera(&splats, &quadrille::Task::NEVER).unwrap());
    assert!(seen.border < 0.05, "border {}", seen.border);
    assert!(seen.coverage > 0.1, "coverage {}", seen.coverage);
}

#[test]
fn the_view_does_not_depend_on_the_number_of_threads() {
    let splats = room(3);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        pool.install(|| default_camera(&splats, &quadrille::Task::NEVER).unwrap())
    };
    let first = on(1);
    for threads in [2, 5] {
        assert_eq!(on(threads), first, "on {threads} threads");
    }
}

#[test]
fn odd_scenes_have_a_view() {
    let splat = |mean: [f32; 3], scale, opacity| Splat {
        mean,
        scale: [scale; 3],
        rotation: [1.0, 0.0, 0.0, 0.0],
        opacity,
        sh: [[0.0; 3]; 25],
    };
    for splats in [
        vec![],
        vec![splat([5.0; 3], 0.5, 0.9)],
        vec![splat([5.0; 3], 0.0, 0.9); 40],
        vec![splat([5.0; 3], 0.5, 0.0)],
        vec![splat([1e9, -1e9, 1e9], 1e6, 1.0), splat([0.0; 3], 1e-9, 1.0)],
    ] {
        default_camera(&Splats::from_splats(0, splats), &quadrille::Task::NEVER).unwrap();
    }
}

/// Minimum detail of the chosen view over the detail of the view from outside, for trained scenes. The view
/// from outside shows fog or the outer side of walls in the first two.
const TRAINED: [(&str, f64); 7] = [
    ("graffiti", 1.5),
    ("showroom", 1.5),
    ("flowers", 1.0),
    ("truck", 0.8),
    ("statue", 0.8),
    ("robot", 0.8),
    ("udon", 0.8),
];

#[test]
fn trained_scenes_show_more_detail_than_from_outside() {
    if skipped::is_slow() {
        return;
    }
    for (name, factor) in TRAINED {
        let Some(splats) = shared::scene(name) else {
            continue;
        };
        let chosen = seen(&splats, &default_camera(&splats, &quadrille::Task::NEVER).unwrap());
        let outside = seen(&splats, &view_from_outside(&splats));
        assert!(
            chosen.detail > factor * outside.detail,
            "{name}: {} against {}",
            chosen.detail,
            outside.detail
        );
        if ["graffiti", "showroom", "flowers"].contains(&name) {
            assert!(chosen.coverage > 0.9, "{name}: coverage {}", chosen.coverage);
        }
    }
}
