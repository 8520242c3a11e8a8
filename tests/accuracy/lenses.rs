//! Lenses with distortion, fisheyes, panoramas and orthographic cameras: the scalar renderer against a plain one with gradients by differences, the fast
//! renderer against the scalar one, and both against pinholes.

use std::f64::consts::{PI, TAU};

use nalgebra::{Matrix2, Matrix2x3, Matrix3, Quaternion, UnitQuaternion, Vector2, Vector3};
use quadrille::{
    Camera, DistortedLens, DistortionModel, FisheyeLens, Frame, Intrinsics, Profile, Projection,
    RenderSettings, Renderer, SimdLevel, Splat, SplatOrder, Splats, StopRule, render_reference,
};

use crate::support::pictures::Differences;
use crate::support::scenes::{self, Random};
use crate::support::tolerances::{bound, hold};

/// Coefficients of a lens whose distance grows up to 170 degrees.
const COEFFICIENTS: [f64; 4] = [-0.02, 0.004, -5e-4, 3e-5];
/// Largest angle of a fisheye that is drawn.
const MAX_ANGLE: f64 = 170.0 * PI / 180.0;

fn pinhole(width: u32, height: u32, fov_degrees: f64) -> Camera {
    let lens = Intrinsics::from_vertical_fov(width, height, fov_degrees.to_radians());
    let eye = Vector3::new(0.3, -0.2, 0.1);
    let up = Vector3::new(0.1, -1.0, 0.2);
    Camera::look_at("lens", lens, eye, Vector3::new(1.0, 0.4, 2.0), up).unwrap()
}

/// Coefficients k1, k2, p1, p2, k3 to k6, and s1 to s4 of a perspective lens.
const OPENCV: [f64; 12] =
    [-0.2, 0.06, 0.004, -0.003, -0.01, 0.02, -0.01, 0.003, 0.002, -0.001, -0.003, 0.001];
/// Coefficients k1, k2, p1, p2, k3, k4, sx1 and sy1 of a fisheye.
const THIN_PRISM: [f64; 8] = [-0.02, 0.004, 0.002, -0.001, -5e-4, 3e-5, 0.003, -0.002];
/// Distance at which the orthographic camera shows as much as the pinhole.
const PARALLEL_DISTANCE: f64 = 3.0;

fn distorted(model: DistortionModel, coefficients: &[f64]) -> Projection {
    Projection::Distorted(DistortedLens::new(model, coefficients).unwrap())
}

fn opencv() -> Projection {
    distorted(DistortionModel::OpenCv, &OPENCV)
}

fn thin_prism() -> Projection {
    distorted(DistortionModel::ThinPrismFisheye, &THIN_PRISM)
}

/// The lenses of the tests on one pose: an orthographic camera, a perspective lens with distortion, 200 degrees with and
/// without distortion, and a panorama.
fn lenses(width: u32, height: u32) -> [Camera; 6] {
    let camera = pinhole(width, height, 60.0);
    let target = camera.view_from_world.row(2).transpose() * PARALLEL_DISTANCE;
    let parallel = camera.clone().through_parallel_rays(camera.eye() + target).unwrap();
    let perspective = camera.clone().with_projection(opencv());
    let fisheye = camera.clone().through_fisheye(200_f64.to_radians());
    let distorted = FisheyeLens::new(COEFFICIENTS).unwrap();
    let distorted = fisheye.clone().with_projection(Projection::Fisheye(distorted));
    let prism = fisheye.clone().with_projection(thin_prism());
    let panorama = camera.with_projection(Projection::Equirectangular);
    [parallel, perspective, prism, fisheye, distorted, panorama]
}

/// `len` splats on all sides of the camera, some of them large, near or at the poles.
fn around(random: &mut Random, camera: &Camera, len: usize, sh_degree: u8) -> Splats {
    let eye = camera.eye();
    let splats = scenes::splats(random, &camera.as_pinhole(), len, sh_degree);
    let placed = splats.iter().map(|splat| {
        let distance = 0.4 * 20_f64.powf(random.between(0.0, 1.0));
        let way = Vector3::from_fn(|_, _| random.normal());
        let mean = eye + way.normalize() * distance;
        let size = distance * 0.03 * (random.normal() * 0.7).exp();
        Splat {
            mean: mean.map(|v| v as f32).into(),
            scale: [0, 1, 2].map(|_| (size * (random.normal() * 0.7).exp()) as f32),
            ..splat
        }
    });
    Splats::from_splats(sh_degree, placed.collect::<Vec<_>>())
}

/// Where the textbooks put a point in view space, in pixels; `None` beyond the lens.
fn textbook(camera: &Camera, p: Vector3<f64>) -> Option<Vector2<f64>> {
    let size = [f64::from(camera.width), f64::from(camera.height)];
    match camera.projection {
        Projection::Pinhole => unreachable!("drawn by other tests"),
        Projection::Orthographic => {
            let [fx, fy] = camera.focal_px;
            let [cx, cy] = camera.principal_px;
            Some(Vector2::new(fx * p.x + cx, fy * p.y + cy))
        }
        Projection::Distorted(lens) => {
            let (x, y, factor, [p1, p2], [s1, s2, s3, s4]);
            if lens.model().is_perspective() {
                let [k1, k2, t1, t2, k3, k4, k5, k6, prism @ ..] = OPENCV;
                (x, y, [p1, p2], [s1, s2, s3, s4]) = (p.x / p.z, p.y / p.z, [t1, t2], prism);
                let r2: f64 = x * x + y * y;
                factor = (1.0 + k1 * r2 + k2 * r2.powi(2) + k3 * r2.powi(3))
                    / (1.0 + k4 * r2 + k5 * r2.powi(2) + k6 * r2.powi(3));
            } else {
                let [k1, k2, t1, t2, k3, k4, sx1, sy1] = THIN_PRISM;
                let radius = p.x.hypot(p.y);
                let angle = f64::atan2(radius, p.z);
                (x, y) = (angle * p.x / radius, angle * p.y / radius);
                ([p1, p2], [s1, s2, s3, s4]) = ([t1, t2], [sx1, 0.0, sy1, 0.0]);
                let powers = [k1, k2, k3, k4].into_iter().zip([2, 4, 6, 8]);
                factor = 1.0 + powers.map(|(k, n)| k * angle.powi(n)).sum::<f64>();
            }
            let (r2, xy) = (x * x + y * y, x * y);
            let across = 2.0 * p1 * xy + p2 * (r2 + 2.0 * x * x) + s1 * r2 + s2 * r2 * r2;
            let down = 2.0 * p2 * xy + p1 * (r2 + 2.0 * y * y) + s3 * r2 + s4 * r2 * r2;
            let [fx, fy] = camera.focal_px;
            let [cx, cy] = camera.principal_px;
            let at = Vector2::new(fx * (x * factor + across) + cx, fy * (y * factor + down) + cy);
            // Whether the lens shows the direction is tested beside it.
            camera.projection.point(p.into()).map(|_| at)
        }
        Projection::Fisheye(lens) => {
            let radius = (p.x * p.x + p.y * p.y).sqrt();
            let angle = f64::atan2(radius, p.z);
            let powers = lens.coefficients().into_iter().zip([3, 5, 7, 9]);
            let distance = angle + powers.map(|(k, n)| k * angle.powi(n)).sum::<f64>();
            let [fx, fy] = camera.focal_px;
            let [cx, cy] = camera.principal_px;
            let at =
                Vector2::new(fx * distance * p.x / radius + cx, fy * distance * p.y / radius + cy);
            (angle < MAX_ANGLE).then_some(at)
        }
        Projection::Equirectangular => {
            let longitude = f64::atan2(p.x, p.z);
            let latitude = (p.y / p.norm()).asin();
            Some(Vector2::new(size[0] * (longitude / TAU + 0.5), size[1] * (latitude / PI + 0.5)))
        }
    }
}

/// Difference across the seam of a panorama, the shorter way.
fn wrapped(camera: &Camera, x: f64) -> f64 {
    let width = f64::from(camera.width);
    match camera.projection {
        Projection::Equirectangular => x - width * (x / width).round(),
        _ => x,
    }
}

/// A footprint of the plain renderer.
struct Footprint {
    distance: f32,
    centre: Vector2<f64>,
    inverse: Matrix2<f64>,
    opacity: f64,
    colour: [f64; 3],
}

fn footprint(camera: &Camera, splat: &Splat, near: f64) -> Option<Footprint> {
    let mean = Vector3::from(splat.mean.map(f64::from));
    let p = camera.view_from_world * mean + camera.translation_in_view;
    let distance = if camera.projection.has_axial_depth() { p.z } else { p.norm() };
    let opacity = f64::from(splat.opacity);
    if distance <= near || opacity < 1.0 / 255.0 {
        return None;
    }
    let centre = textbook(camera, p)?;
    // The slopes of a perspective lens have the limits of a pinhole.
    let p = match camera.projection {
        Projection::Distorted(lens) if lens.model().is_perspective() => {
            let most = camera.half_fov_tangents().map(|tangent| 1.3 * tangent * p.z);
            Vector3::new(p.x.clamp(-most[0], most[0]), p.y.clamp(-most[1], most[1]), p.z)
        }
        _ => p,
    };
    let step = 1e-5 * distance;
    let mut jacobian = Matrix2x3::zeros();
    for column in 0..3 {
        let moved = Vector3::ith(column, step);
        let change = textbook(camera, p + moved)? - textbook(camera, p - moved)?;
        jacobian[(0, column)] = wrapped(camera, change.x) / (2.0 * step);
        jacobian[(1, column)] = change.y / (2.0 * step);
    }
    let [w, x, y, z] = splat.rotation.map(f64::from);
    let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
    let scale = Matrix3::from_diagonal(&Vector3::from(splat.scale.map(f64::from)));
    let factor = turn.to_rotation_matrix().matrix() * scale;
    let in_view = camera.view_from_world * factor;
    let mut covariance = jacobian * in_view * in_view.transpose() * jacobian.transpose();
    if camera.projection == Projection::Equirectangular {
        // At most as wide as the circle, at the alpha cut.
        let radius_squared = 2.0 * (opacity * 255.0).ln();
        let most = (f64::from(camera.width) / 2.0).powi(2) / radius_squared - 0.3;
        if covariance[(0, 0)] > most.max(0.0) {
            let factor = Matrix2::new((most.max(0.0) / covariance[(0, 0)]).sqrt(), 0.0, 0.0, 1.0);
            covariance = factor * covariance * factor;
        }
    }
    covariance += Matrix2::identity() * 0.3;
    let colour = splat.sh[0].map(|c| (f64::from(c) * 0.282_094_791_773_878_14 + 0.5).max(0.0));
    Some(Footprint {
        distance: distance as f32,
        centre,
        inverse: covariance.try_inverse()?,
        opacity,
        colour,
    })
}

/// Every splat in every pixel.
fn plain(splats: &Splats, camera: &Camera) -> Frame {
    let profile = Profile::default();
    let mut footprints: Vec<_> =
        splats.iter().filter_map(|splat| footprint(camera, &splat, profile.near)).collect();
    footprints.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    let pixel = |column: u32, row: u32| {
        let at = Vector2::new(f64::from(column) + 0.5, f64::from(row) + 0.5);
        let (mut colour, mut left) = ([0.0; 3], 1.0);
        for splat in &footprints {
            let mut d = at - splat.centre;
            d.x = wrapped(camera, d.x);
            let exponent = -0.5 * d.dot(&(splat.inverse * d));
            let alpha = splat.opacity * exponent.exp();
            if alpha < 1.0 / 255.0 {
                continue;
            }
            let alpha = alpha.min(0.99);
            if left * (1.0 - alpha) < 1e-4 {
                break;
            }
            for (sum, c) in colour.iter_mut().zip(splat.colour) {
                *sum += left * alpha * c;
            }
            left *= 1.0 - alpha;
        }
        [colour[0], colour[1], colour[2], 1.0 - left].map(|v| v as f32)
    };
    let rows = (0..camera.height).flat_map(|row| (0..camera.width).map(move |c| (c, row)));
    let pixels = rows.map(|(column, row)| pixel(column, row)).collect();
    Frame::from_pixels(camera.width, camera.height, pixels)
}

fn reference(splats: &Splats, camera: &Camera) -> Frame {
    render_reference(splats, camera, &RenderSettings::default()).0
}

fn psnr(a: &Frame, b: &Frame) -> f64 {
    let pairs = a.pixels().as_flattened().iter().zip(b.pixels().as_flattened());
    let squares = pairs.map(|(a, b)| f64::from(a - b).powi(2));
    let mean = squares.sum::<f64>() / (a.pixels().len() * 4) as f64;
    -10.0 * mean.log10()
}

#[test]
fn the_oracle_draws_as_a_plain_renderer_with_numeric_gradients() {
    let mut random = Random::new(41);
    for (width, height, len) in [(64, 40, 600), (47, 61, 300)] {
        for camera in lenses(width, height) {
            let splats = around(&mut random, &camera, len, 0);
            let (found, expected) = (reference(&splats, &camera), plain(&splats, &camera));
            let differences = Differences::between(&found, &expected);
            let place = format!("{:?}, {width} x {height}", camera.projection);
            let covered = expected.pixels().iter().filter(|p| p[3] > 0.5).count();
            assert!(covered * 25 > expected.pixels().len(), "{place}: {covered}");
            // Gradients by differences are off by 1e-9 of the largest, so a fragment may fall on the other
            // side of the cut.
            let strays = differences.strays(1e-5) as f64 / differences.len() as f64;
            assert!(strays <= 2e-3, "{place}: {strays}");
            hold("max", differences.max(), &place);
        }
    }
}

#[test]
fn every_level_draws_as_the_oracle() {
    let mut random = Random::new(42);
    let mut renderer = Renderer::default();
    let sizes = [(97, 49, 3000, 1), (33, 70, 800, 3), (3, 2, 50, 0), (1, 24, 300, 0)];
    for (width, height, len, sh_degree) in sizes {
        for camera in lenses(width, height) {
            let splats = around(&mut random, &camera, len, sh_degree);
            for profile in [Profile::default(), Profile::named("gsplat-aa").unwrap()] {
                let settings = RenderSettings { profile, ..RenderSettings::default() };
                let (expected, counts) = render_reference(&splats, &camera, &settings);
                for level in SimdLevel::all() {
                    let settings = RenderSettings { profile, level };
                    let (found, fast) = renderer.render(&splats, &camera, &settings);
                    let place = format!("{:?} on {}", camera.projection, level.name());
                    let differences = Differences::between(&found, &expected);
                    hold("max", differences.max(), &place);
                    let strays = differences.strays(bound("stray")) as f64;
                    assert!(strays <= 2e-4 * differences.len() as f64, "{place}: {strays}");
                    assert_eq!(fast.splats_in_frustum, counts.splats_in_frustum, "{place}");
                }
            }
        }
    }
}

/// A lens without distortion draws the picture of the pinhole.
#[test]
fn a_lens_without_distortion_is_a_pinhole() {
    let camera = pinhole(80, 60, 70.0);
    let lens = camera.clone().with_projection(distorted(DistortionModel::OpenCv, &[]));
    let splats = around(&mut Random::new(47), &camera, 2000, 2);
    let (found, expected) = (reference(&splats, &lens), reference(&splats, &camera));
    hold("max", Differences::between(&found, &expected).max(), "no distortion");
}

/// PSNR in the middle half of the picture of a distorted lens against a pinhole's picture of `finer` times as many pixels per
/// side, taken where the lens shows each direction: `[bilinear, cubic]` (Catmull and Rom). The standard deviations of all
/// splats are 0.75 to 1 times `angle`, in radians as seen by the camera.
fn resampled_psnr(angle: f32, finer: u32) -> [f64; 2] {
    let (width, height) = (80, 60);
    let camera = pinhole(width, height, 50.0);
    // Without the low-pass filter, which belongs to the pixels of each picture.
    let profile = Profile { low_pass_px2: 0.0, ..Profile::default() };
    let settings = RenderSettings { profile, ..RenderSettings::default() };
    let splats = around(&mut Random::new(48), &camera, 4000, 0);
    let sized = splats.iter().map(|splat| {
        let mean = Vector3::from(splat.mean.map(f64::from));
        let size = angle * (mean - camera.eye()).norm() as f32;
        Splat { scale: splat.scale.map(|s| s.clamp(0.75 * size, size)), ..splat }
    });
    let splats = Splats::from_splats(0, sized.collect::<Vec<_>>());
    let lens = camera.clone().with_projection(opencv());
    let draw = |camera: &Camera| Renderer::default().render(&splats, camera, &settings).0;
    let found = draw(&lens);
    // A margin, since the lens shows more than the pinhole.
    let mut fine = camera.resized(width * finer, height * finer).unwrap();
    let margin = [fine.width / 2, fine.height / 2];
    (fine.width, fine.height) = (2 * fine.width, 2 * fine.height);
    fine.principal_px = [0, 1].map(|axis| fine.principal_px[axis] + f64::from(margin[axis]));
    let fine_frame = draw(&fine);
    let bilinear = |t: f64| [0.0, 1.0 - t, t, 0.0];
    let cubic = |t: f64| {
        let (square, cube) = (t * t, t * t * t);
        [
            -0.5 * t + square - 0.5 * cube,
            1.0 - 2.5 * square + 1.5 * cube,
            0.5 * t + 2.0 * square - 1.5 * cube,
            -0.5 * square + 0.5 * cube,
        ]
    };
    let filters: [&dyn Fn(f64) -> [f64; 4]; 2] = [&bilinear, &cubic];
    filters.map(|filter| {
        let pixel = |column: u32, row: u32| {
            let wanted = Vector2::new(f64::from(column) + 0.5, f64::from(row) + 0.5);
            // Slopes that the lens draws at the pixel, by Newton's method.
            let mut slope = [0, 1]
                .map(|axis| (wanted[axis] - camera.principal_px[axis]) / camera.focal_px[axis]);
            for _ in 0..20 {
                let off = textbook(&lens, Vector3::new(slope[0], slope[1], 1.0)).unwrap() - wanted;
                slope = [0, 1].map(|axis| slope[axis] - off[axis] / camera.focal_px[axis]);
            }
            let at = [0, 1]
                .map(|axis| slope[axis] * fine.focal_px[axis] + fine.principal_px[axis] - 0.5);
            let [columns, rows] = at.map(|at| filter(at - at.floor()));
            let first = at.map(|at| at.floor() as usize - 1);
            let mut sum = [0.0; 4];
            for (row, of_row) in rows.iter().enumerate() {
                for (column, of_column) in columns.iter().enumerate() {
                    let place = (first[1] + row) * fine.width as usize + first[0] + column;
                    for (sum, value) in sum.iter_mut().zip(fine_frame.pixels()[place]) {
                        *sum += of_row * of_column * f64::from(value);
                    }
                }
            }
            sum.map(|value| value as f32)
        };
        let rows = (15..45).flat_map(|row| (20..60).map(move |column| (column, row)));
        let window = |of: &dyn Fn(u32, u32) -> [f32; 4]| {
            Frame::from_pixels(40, 30, rows.clone().map(|(c, r)| of(c, r)).collect())
        };
        let drawn = window(&|c, r| found.pixels()[(r * width + c) as usize]);
        psnr(&drawn, &window(&pixel))
    })
}

/// The picture of a lens is the picture of a pinhole, taken where the lens shows each direction: with splats of 0.01 radians
/// and a cubic filter, by 63.5 dB at four times the pixels.
#[test]
fn a_distorted_picture_is_a_resampled_pinhole() {
    let [bilinear, cubic] = resampled_psnr(0.01, 4);
    assert!(cubic > 63.0, "{cubic}");
    // A linear filter alone loses as much as the pictures of splats of four times this size, where the filter hardly matters.
    assert!(bilinear < 51.0, "{bilinear}");
    let large = resampled_psnr(0.04, 4);
    assert!(large.iter().all(|psnr| (50.0..52.0).contains(psnr)), "{large:?}");
}

/// The footprint of a splat is an ellipse by the derivative at its centre, in both pictures. This is what is left at 16 times the
/// pixels: 51.1, 58.8, 67.1 and 75.5 dB for splats of 0.04, 0.02, 0.01 and 0.005 radians, which is 8 dB per half of the size.
#[test]
fn pictures_of_lenses_differ_by_the_derivative() {
    let found = [0.04, 0.02, 0.01, 0.005].map(|angle| resampled_psnr(angle, 16)[1]);
    let gains: Vec<f64> = found.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gains.iter().all(|gain| *gain > 7.5), "{found:?}");
    assert!(found[0] > 50.5 && found[3] > 75.0, "{found:?}");
}

/// In order by depth, a fisheye measures, culls and sorts by z as gsplat does: a splat that is nearer and has a larger z is drawn
/// behind, and splats beside the camera are left out.
#[test]
fn fisheyes_in_order_of_depth_measure_along_the_axis() {
    let camera = pinhole(80, 60, 60.0).through_fisheye(200_f64.to_radians());
    let at = |angle: f64, distance: f64, colour: [f32; 3]| {
        let in_view = Vector3::new(angle.sin(), 0.0, angle.cos()) * distance;
        let mean = camera.view_from_world.transpose() * (in_view - camera.translation_in_view);
        let mut sh = [[0.0; 3]; 25];
        sh[0] = colour.map(|c| (c - 0.5) / 0.282_094_8);
        let scale = [0.5; 3];
        Splat {
            mean: mean.map(|v| v as f32).into(),
            scale,
            rotation: [1.0, 0.0, 0.0, 0.0],
            opacity: 0.9,
            sh,
        }
    };
    let (red, green, blue) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]);
    // z is 1.96 and 1.5; the last one is behind the plane of the camera.
    let all = [at(0.2, 2.0, red), at(60_f64.to_radians(), 3.0, green), at(1.7, 2.0, blue)];
    let splats = Splats::from_splats(0, all);
    let draw = |order| {
        let profile = Profile { order, stop: StopRule::Never, ..Profile::default() };
        let settings = RenderSettings { profile, ..RenderSettings::default() };
        let expected = render_reference(&splats, &camera, &settings).0;
        let found = Renderer::default().render(&splats, &camera, &settings).0;
        hold("max", Differences::between(&found, &expected).max(), "a fisheye by depth");
        expected
    };
    let (by_distance, by_depth) = (draw(None), draw(Some(SplatOrder::Depth)));
    assert_eq!(by_distance, draw(Some(SplatOrder::Distance)));
    let most = |frame: &Frame, channel: usize| {
        frame.pixels().iter().map(|pixel| pixel[channel]).fold(0.0, f32::max)
    };
    assert!(most(&by_distance, 2) > 0.5 && most(&by_depth, 2) < 1e-6);
    // Where the green splat is, the red one lies before it by distance, and behind it by z.
    let middle = [at(0.75, 1.0, red).mean].map(|mean| {
        let p = camera.view_from_world * Vector3::from(mean.map(f64::from))
            + camera.translation_in_view;
        textbook(&camera, p).unwrap()
    })[0];
    let place = middle.y as usize * 80 + middle.x as usize;
    let [distance, depth] = [&by_distance, &by_depth].map(|frame| frame.pixels()[place]);
    assert!(depth[1] > distance[1] && depth[0] < distance[0], "{distance:?} {depth:?}");
}

/// The limit of a small angle: both lenses agree to a part in 10^5.
#[test]
fn a_narrow_fisheye_is_a_pinhole() {
    let camera = pinhole(80, 60, 0.6);
    let fisheye = camera.clone().through_fisheye(0.6_f64.to_radians());
    let splats = scenes::splats(&mut Random::new(43), &camera, 2000, 1);
    let psnr = psnr(&reference(&splats, &fisheye), &reference(&splats, &camera));
    // Splats of the same depth may change places, since a fisheye draws them by distance.
    assert!(psnr > 50.0, "{psnr}");
}

/// A circular fisheye, whose distance stops growing inside the picture: the inside is drawn, and the corners
/// stay empty.
#[test]
fn the_corners_beyond_a_lens_stay_empty() {
    let lens = FisheyeLens::new([-0.1, 0.0, 0.0, 0.0]).unwrap();
    let mut camera = pinhole(120, 100, 60.0).with_projection(Projection::Fisheye(lens));
    // The circle has a radius of 40 pixels: two thirds of the angle at which the slope is zero.
    camera.focal_px = [40.0 / (lens.max_angle() * 2.0 / 3.0); 2];
    let splats = around(&mut Random::new(46), &camera, 1500, 1);
    let frame = reference(&splats, &camera);
    let radius = |at: usize| {
        let (x, y) = (at % 120, at / 120);
        (x as f64 + 0.5 - 60.0).hypot(y as f64 + 0.5 - 50.0)
    };
    let covered = |least: f64, most: f64| {
        let pixels = frame.pixels().iter().enumerate();
        let inside: Vec<_> =
            pixels.filter(|(at, _)| (least..most).contains(&radius(*at))).collect();
        let drawn = inside.iter().filter(|(_, pixel)| pixel[3] > 0.0).count();
        drawn as f64 / inside.len() as f64
    };
    assert!(covered(0.0, 38.0) > 0.9, "{}", covered(0.0, 38.0));
    // Large splats inside reach over the edge.
    assert!(covered(60.0, 99.0) < 0.01, "{}", covered(60.0, 99.0));
    let fast = Renderer::default().render(&splats, &camera, &RenderSettings::default()).0;
    hold("max", Differences::between(&fast, &frame).max(), "a circular fisheye");
}

/// A camera that turns by half a circle shifts its panorama by half of the width, so that every splat at the
/// seam comes to the middle.
#[test]
fn the_seam_of_a_panorama_does_not_show() {
    let lens = Intrinsics::from_vertical_fov(96, 48, 1.0);
    let (eye, up) = (Vector3::zeros(), Vector3::new(0.0, -1.0, 0.0));
    let towards = |z: f64| {
        let camera = Camera::look_at("a", lens, eye, Vector3::new(0.0, 0.0, z), up).unwrap();
        camera.with_projection(Projection::Equirectangular)
    };
    let (front, back) = (towards(1.0), towards(-1.0));
    let splats = around(&mut Random::new(44), &front, 1500, 2);
    let draw =
        |camera: &Camera| Renderer::default().render(&splats, camera, &RenderSettings::default());
    // A splat at the seam has two footprints, and is one splat in view: as many as after the turn.
    let defined = render_reference(&splats, &front, &RenderSettings::default()).1;
    let ((front, counts), (back, turned_counts)) = (draw(&front), draw(&back));
    assert_eq!(counts.splats_in_frustum, turned_counts.splats_in_frustum);
    assert_eq!(counts.splats_in_frustum, defined.splats_in_frustum);
    assert!(counts.splats_in_frustum <= splats.len() as u64);
    let turned = back.pixels().chunks(96).flat_map(|row| [&row[48..], &row[..48]].concat());
    let turned = Frame::from_pixels(96, 48, turned.collect());
    let differences = Differences::between(&turned, &front);
    hold("max", differences.max(), "the seam");
    assert!(differences.strays(1e-3) <= 3, "{}", differences.strays(1e-3));
}

/// The middle of a panorama, taken at the pixels of a pinhole: low-pass filter and linearisation differ, so
/// the pictures are close, not equal.
#[test]
fn a_window_of_a_panorama_is_what_a_pinhole_sees() {
    let camera = pinhole(64, 48, 30.0);
    let mut random = Random::new(45);
    let spread = around(&mut random, &camera, 6000, 0);
    // Far above the low-pass filter of the pinhole, and small enough for both linearisations.
    let smooth = spread.iter().map(|splat| {
        let mean = Vector3::from(splat.mean.map(f64::from));
        let distance = (mean - camera.eye()).norm() as f32;
        let scale = splat.scale;
        Splat { scale: scale.map(|s| s.clamp(0.02 * distance, 0.03 * distance)), ..splat }
    });
    let splats = Splats::from_splats(0, smooth.collect::<Vec<_>>());
    let expected = reference(&splats, &camera);
    let settings = RenderSettings::default();
    let panorama = camera.resized(2048, 1024).unwrap();
    let panorama = panorama.with_projection(Projection::Equirectangular);
    let sphere = Renderer::default().render(&splats, &panorama, &settings).0;
    let at = |column: i64, row: i64| {
        let column = column.rem_euclid(2048) as usize;
        sphere.pixels()[row.clamp(0, 1023) as usize * 2048 + column]
    };
    let pixel = |column: u32, row: u32| {
        let x = (f64::from(column) + 0.5 - camera.principal_px[0]) / camera.focal_px[0];
        let y = (f64::from(row) + 0.5 - camera.principal_px[1]) / camera.focal_px[1];
        let centre = textbook(&panorama, Vector3::new(x, y, 1.0)).unwrap();
        let corner = centre.map(|v| (v - 0.5).floor());
        let [right, down] = [0, 1].map(|axis| (centre[axis] - 0.5 - corner[axis]) as f32);
        let [c, r] = [corner.x as i64, corner.y as i64];
        let mix = |channel: usize| {
            let row = |r: i64| at(c, r)[channel] * (1.0 - right) + at(c + 1, r)[channel] * right;
            row(r) * (1.0 - down) + row(r + 1) * down
        };
        [0, 1, 2, 3].map(mix)
    };
    let rows = (0..48).flat_map(|row| (0..64).map(move |column| (column, row)));
    let window = Frame::from_pixels(64, 48, rows.map(|(c, r)| pixel(c, r)).collect());
    let psnr = psnr(&window, &expected);
    assert!(psnr > 30.0, "{psnr}");
}

#[test]
fn hostile_lenses_and_scenes_do_no_harm() {
    let camera = pinhole(40, 30, 60.0).through_fisheye(3.0);
    for bad in [f64::NAN, f64::INFINITY, 1e9] {
        assert!(FisheyeLens::new([0.0, bad, 0.0, 0.0]).is_err());
    }
    let huge = FisheyeLens::new([1e4; 4]).unwrap();
    let turning = FisheyeLens::new([-0.5, 0.0, 0.0, 0.0]).unwrap();
    for bad in [&[f64::NAN; 12][..], &[1e7], &[0.0; 13]] {
        assert!(DistortedLens::new(DistortionModel::OpenCv, bad).is_err());
    }
    let folding = distorted(DistortionModel::OpenCv, &[1e6; 12]);
    let cameras = [
        Projection::Fisheye(huge),
        Projection::Fisheye(turning),
        folding,
        opencv(),
        thin_prism(),
        Projection::Equirectangular,
        Projection::Orthographic,
    ]
    .map(|projection| camera.clone().with_projection(projection));
    let mut random = Random::new(46);
    for camera in cameras {
        let mut splats: Vec<Splat> = around(&mut random, &camera, 200, 0).iter().collect();
        // On the axis through the poles, at the eye, and out of bounds.
        let eye = camera.eye();
        let down = camera.view_from_world.row(1).transpose();
        for (mean, scale) in [
            (eye + down, 0.1),
            (eye - down * 1e-3, 1.0),
            (eye, 1.0),
            (eye + down * 1e18, 1e18),
            (Vector3::repeat(3e38), 1e30),
        ] {
            splats[0].mean = mean.map(|v| v as f32).into();
            splats[0].scale = [scale; 3];
            let scene = Splats::from_splats(0, splats.iter().copied());
            let frame = Renderer::default().render(&scene, &camera, &RenderSettings::default()).0;
            let is_finite = |p: &[f32; 4]| p.iter().all(|v| v.is_finite());
            assert!(frame.pixels().iter().all(is_finite), "{mean}");
        }
    }
}
