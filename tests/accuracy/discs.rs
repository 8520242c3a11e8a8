//! Profiles of discs (2D Gaussian splatting): the scalar renderer against rays that meet planes in the world, and its limits.
//! Other tests compare the fast renderer with the scalar one, under these profiles as under all.

use std::f64::consts::TAU;

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector2, Vector3};
use quadrille::{
    Camera, Config, Error, Frame, Intrinsics, Layer, LayerSettings, Method, Profile, Projection,
    RenderSettings, Renderer, SimdLevel, Simulation, Splat, Splats, Task, render_reference,
    render_reference_layers,
};

use crate::support::pictures::Differences;
use crate::support::scenes::{self, Random};

/// Points on the outline of a disc whose box gives the centre of the low-pass filter.
const OUTLINE: u32 = 20_000;

fn settings(name: &str) -> RenderSettings {
    RenderSettings { profile: Profile::named(name).unwrap(), level: SimdLevel::best() }
}

/// A disc in the world: centre, axes of one standard deviation, and their unit normal.
struct Disc {
    centre: Vector3<f64>,
    axes: [Vector3<f64>; 2],
    normal: Vector3<f64>,
}

impl Disc {
    fn of(splat: &Splat) -> Self {
        let [w, x, y, z] = splat.rotation.map(f64::from);
        let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
        let axis = |i: usize| turn * Vector3::ith(i, f64::from(splat.scale[i]));
        let centre = Vector3::from(splat.mean.map(f64::from));
        Self { centre, axes: [axis(0), axis(1)], normal: turn * Vector3::z() }
    }

    /// Where the line from `eye` along `way` meets the plane: its parameter, and the offsets in standard deviations.
    fn met(&self, eye: Vector3<f64>, way: Vector3<f64>) -> (f64, Vector2<f64>) {
        let along = (self.centre - eye).dot(&self.normal) / way.dot(&self.normal);
        let offset = eye + way * along - self.centre;
        let of_axis = |axis: &Vector3<f64>| offset.dot(axis) / axis.norm_squared();
        (along, Vector2::new(of_axis(&self.axes[0]), of_axis(&self.axes[1])))
    }

    /// Middle of the box around the picture of the outline at one standard deviation.
    fn filter_centre(&self, camera: &Camera) -> Vector2<f64> {
        let points = (0..OUTLINE).map(|i| {
            let (sin, cos) = (TAU * f64::from(i) / f64::from(OUTLINE)).sin_cos();
            pixel(camera, self.centre + self.axes[0] * cos + self.axes[1] * sin)
        });
        let ends = points.fold([[f64::INFINITY, f64::NEG_INFINITY]; 2], |ends, p| {
            [0, 1].map(|i| [ends[i][0].min(p[i]), ends[i][1].max(p[i])])
        });
        Vector2::new((ends[0][0] + ends[0][1]) / 2.0, (ends[1][0] + ends[1][1]) / 2.0)
    }
}

fn in_view(camera: &Camera, point: Vector3<f64>) -> Vector3<f64> {
    camera.view_from_world * point + camera.translation_in_view
}

fn pixel(camera: &Camera, point: Vector3<f64>) -> Vector2<f64> {
    let p = in_view(camera, point);
    let side = |i: usize| camera.focal_px[i] * p[i] / p.z + camera.principal_px[i];
    Vector2::new(side(0), side(1))
}

/// A picture by rays and planes in the world, with depth in place of blue.
fn plain(splats: &Splats, camera: &Camera, profile: &Profile) -> Frame {
    let mut discs: Vec<_> = splats
        .iter()
        .map(|splat| {
            let disc = Disc::of(&splat);
            let depth = in_view(camera, disc.centre).z;
            let filter = disc.filter_centre(camera);
            (depth, disc, filter, splat)
        })
        .filter(|(depth, ..)| *depth > profile.near)
        .collect();
    discs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let to_world = camera.view_from_world.transpose();
    let of_pixel = |column: u32, row: u32| {
        let at = Vector2::new(f64::from(column) + 0.5, f64::from(row) + 0.5);
        let slope = |i: usize| (at[i] - camera.principal_px[i]) / camera.focal_px[i];
        // The parameter of a ray whose z is 1 is a depth.
        let way = to_world * Vector3::new(slope(0), slope(1), 1.0);
        let (mut sums, mut left) = ([0.0; 3], 1.0);
        for (centre_depth, disc, filter, splat) in &discs {
            let (along, offset) = disc.met(camera.eye(), way);
            let (on_disc, low_pass) = (offset.norm_squared() / 2.0, (at - filter).norm_squared());
            let (exponent, depth) =
                if on_disc <= low_pass { (on_disc, along) } else { (low_pass, *centre_depth) };
            let alpha = f64::from(splat.opacity) * (-exponent).exp();
            if alpha < 1.0 / 255.0 || depth <= 0.0 {
                continue;
            }
            let alpha = alpha.min(profile.alpha_cap);
            if profile.stop.is_reached(left * (1.0 - alpha)) {
                break;
            }
            let red_green = [0, 1].map(|c| f64::from(splat.sh[0][c]) * 0.282_094_791_773_878_14);
            for (sum, value) in sums.iter_mut().zip([
                (red_green[0] + 0.5).max(0.0),
                (red_green[1] + 0.5).max(0.0),
                depth,
            ]) {
                *sum += left * alpha * value;
            }
            left *= 1.0 - alpha;
        }
        [sums[0], sums[1], sums[2], 1.0 - left].map(|v| v as f32)
    };
    let rows = (0..camera.height).flat_map(|row| (0..camera.width).map(move |c| (c, row)));
    let pixels = rows.map(|(column, row)| of_pixel(column, row)).collect();
    Frame::from_pixels(camera.width, camera.height, pixels)
}

#[test]
fn discs_are_drawn_where_rays_meet_them() {
    let mut random = Random::new(71);
    for name in ["2dgs", "gsplat-2dgs"] {
        for (width, height, len) in [(48, 37, 200), (33, 61, 80)] {
            let camera = scenes::camera(&mut random, width, height);
            // The plane of the camera cuts none of them: their boxes would have no outline.
            let splats: Vec<_> = scenes::splats(&mut random, &camera, len, 0).iter().collect();
            let whole = splats.into_iter().filter(|splat| {
                let disc = Disc::of(splat);
                let reach = disc.axes[0].norm().hypot(disc.axes[1].norm());
                in_view(&camera, disc.centre).z > 1.1 * reach
            });
            let splats = Splats::from_splats(0, whole.collect::<Vec<_>>());
            assert!(splats.len() > len / 2, "{} of {len}", splats.len());
            let settings = settings(name);
            let layers =
                LayerSettings { layers: vec![Layer::DepthSum], ..LayerSettings::default() };
            let (mut found, depths, counts) =
                render_reference_layers(&splats, &camera, &settings, &layers);
            assert!(counts.fragments_blended > 1000);
            let depths = depths[0].plane(0);
            for (pixel, depth) in found.pixels_mut().iter_mut().zip(depths) {
                pixel[2] = *depth;
            }
            let expected = plain(&splats, &camera, &settings.profile);
            let differences = Differences::between(&found, &expected);
            let (max, strays) = (differences.max(), differences.strays(1e-5));
            println!("{name}: largest difference {max:.1e}, {strays} strays");
            // A fragment at the alpha cut may fall on its other side.
            assert!(strays * 500 <= differences.len() && max < 0.01, "{name}: {strays}, {max:e}");
        }
    }
}

/// A disc of 0.5 units, 2 units before a camera of 64 pixels per unit of slope, turned about y by 60 degrees.
fn tilted() -> (Splats, Camera) {
    let lens = Intrinsics { width: 33, height: 33, focal_px: [64.0; 2], principal_px: [16.5; 2] };
    let camera = Camera::new("plain", lens, Matrix3::identity(), Vector3::zeros()).unwrap();
    let (sin, cos) = 30_f32.to_radians().sin_cos();
    let splat = Splat {
        mean: [0.0, 0.0, 2.0],
        // The third scale of a disc has no effect.
        scale: [0.5, 0.25, 7.0],
        rotation: [cos, 0.0, sin, 0.0],
        opacity: 0.8,
        sh: [[0.0; 3]; 25],
    };
    (Splats::from_splats(0, [splat]), camera)
}

/// The plane of the disc has the normal (sin 60, 0, cos 60): a ray of slope t across meets it at depth 2 / (1 + t tan 60),
/// at 2 t / (cos 60 + t sin 60) along its first axis.
#[test]
fn depth_normal_and_alpha_of_a_tilted_disc() {
    let (splats, camera) = tilted();
    let layers = LayerSettings {
        layers: vec![Layer::Depth, Layer::Normal, Layer::DepthMedian],
        ..LayerSettings::default()
    };
    let (sin, cos) = 60_f64.to_radians().sin_cos();
    for level in SimdLevel::all() {
        let settings = RenderSettings { level, ..settings("2dgs") };
        let mut frame = Frame::new(1, 1);
        let drawn = Renderer::default().render_layers(
            &mut frame,
            &splats,
            &camera,
            &settings,
            &layers,
            &Task::NEVER,
        );
        let (pictures, ..) = drawn.unwrap();
        for column in [8, 12, 16, 20] {
            let at = 16 * 33 + column;
            let slope = (column as f64 + 0.5 - 16.5) / 64.0;
            let depth = 2.0 / (1.0 + slope * sin / cos);
            let along = 2.0 * slope / (cos + slope * sin) / 0.5;
            let alpha = 0.8 * (-along * along / 2.0).exp();
            let [found, median] =
                [0, 2].map(|layer: usize| f64::from(pictures[layer].plane(0)[at]));
            assert!((found - depth).abs() < 1e-5, "{column}: {found}, {depth}");
            assert!((median - depth).abs() < 1e-5, "{column}: {median}");
            let found = f64::from(frame.pixels()[at][3]);
            assert!((found - alpha).abs() < 1e-5, "{column}: {found}, {alpha}");
            let normal = [0, 1, 2].map(|i| f64::from(pictures[1].plane(i)[at]) / found);
            for (a, b) in normal.into_iter().zip([-sin, 0.0, -cos]) {
                assert!((a - b).abs() < 1e-5, "{normal:?}");
            }
        }
    }
}

/// Seen from the side, a disc is a line as thick as the low-pass filter, whose variance is half a square pixel.
#[test]
fn a_disc_seen_from_the_side_is_as_thick_as_the_filter() {
    let (splats, camera) = tilted();
    let quarter = std::f32::consts::FRAC_1_SQRT_2;
    let edge_on =
        splats.iter().map(|splat| Splat { rotation: [quarter, 0.0, quarter, 0.0], ..splat });
    let splats = Splats::from_splats(0, edge_on.collect::<Vec<_>>());
    for level in SimdLevel::all() {
        let settings = RenderSettings { level, ..settings("2dgs") };
        let frame = Renderer::default().render(&splats, &camera, &settings).0;
        for (column, distance) in [(16, 0.0), (17, 1.0), (18, 2.0)] {
            let alpha = 0.8 * f64::exp(-distance * distance);
            let found = f64::from(frame.pixels()[16 * 33 + column][3]);
            assert!((found - alpha).abs() < 1e-5, "{column}: {found}, {alpha}");
        }
    }
}

#[test]
fn discs_need_a_pinhole_and_a_renderer() {
    let (splats, camera) = tilted();
    let settings = settings("2dgs");
    let panorama = camera.clone().with_projection(Projection::Equirectangular);
    let mut frame = Frame::new(1, 1);
    let drawn =
        Renderer::default().render_into(&mut frame, &splats, &panorama, &settings, &Task::NEVER);
    let error = drawn.unwrap_err().to_string();
    assert!(error.contains("a pinhole camera, for profile 2dgs"), "{error}");
    let methods = [Method::parse("compute").unwrap()];
    let simulation = Simulation::new(Config::default(), methods).with_profile(settings.profile);
    let error = quadrille::simulate(&splats, &camera, &simulation).unwrap_err();
    assert!(matches!(error, Error::Argument { .. }), "{error}");
    assert!(error.to_string().contains("a profile of ellipsoids"), "{error}");
    // The pictures of ellipsoids are others.
    let discs = render_reference(&splats, &camera, &settings).0;
    let ellipsoids = render_reference(&splats, &camera, &RenderSettings::default()).0;
    assert!(Differences::between(&discs, &ellipsoids).max() > 0.1);
}
