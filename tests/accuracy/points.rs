//! Footprints from points of splats (profile `gsplat-ut`): the fast renderer, probes and layers against the scalar one, and
//! against the derivative for small splats.

use quadrille::deferred::camera::motion::CameraMotion;
use quadrille::{
    Camera, FisheyeLens, Profile, Projection, ReadoutDirection, Recipe, RenderSettings, Renderer,
    SimdLevel, Synthetic, render_reference,
};

use crate::support::pictures::Differences;

fn settings(profile: &str, level: SimdLevel) -> RenderSettings {
    RenderSettings { profile: Profile::named(profile).unwrap(), level }
}

#[test]
fn the_fast_renderer_draws_the_definition_at_every_level() {
    let scene = Synthetic::new(Recipe::Room, 3, 2000, 1).unwrap();
    let splats = scene.splats();
    let fisheye = Projection::Fisheye(FisheyeLens::new([0.02, 0.0, 0.0, 0.0]).unwrap());
    for projection in [Projection::Pinhole, fisheye, Projection::Orthographic] {
        let mut camera = scene.cameras()[0].resized(96, 54).unwrap().with_projection(projection);
        let is_linear = projection == Projection::Orthographic;
        if is_linear {
            // The whole room is in the picture, so that no splat is left out for its points.
            camera.focal_px = [3.0; 2];
        }
        for level in SimdLevel::all() {
            let points = settings("gsplat-ut", level);
            let reference = render_reference(&splats, &camera, &points).0;
            let drawn = Renderer::default().render(&splats, &camera, &points).0;
            let off = Differences::between(&drawn, &reference).max();
            assert!(off < 1e-5, "{projection:?}, {level:?}: {off}");
            let derivative = render_reference(&splats, &camera, &settings("gsplat", level)).0;
            let apart = Differences::between(&reference, &derivative).max();
            assert_eq!(apart < 1e-6, is_linear, "{projection:?}: {apart}");
        }
    }
}

/// The probe looks at the splats near one pixel, and still knows which splats the whole picture shows.
#[test]
fn a_probe_has_the_colour_of_its_pixel() {
    let scene = Synthetic::new(Recipe::Room, 3, 2000, 1).unwrap();
    let splats = scene.splats();
    let camera = scene.cameras()[1].resized(64, 36).unwrap();
    let points = settings("gsplat-ut", SimdLevel::best());
    let picture = Renderer::default().render(&splats, &camera, &points).0;
    for [x, y] in [[0, 0], [63, 35], [32, 18], [5, 30]] {
        let probe = Renderer::default().probe(&splats, &camera, &points, [x, y]).unwrap();
        let pixel = picture.pixels()[(y * 64 + x) as usize];
        for (found, expected) in probe.rgb.iter().zip(pixel) {
            assert!((found - f64::from(expected)).abs() < 1e-5, "{x},{y}: {found} {expected}");
        }
    }
}

#[test]
fn panoramas_are_refused() {
    let scene = Synthetic::new(Recipe::Room, 3, 100, 1).unwrap();
    let camera = scene.cameras()[0].clone().with_projection(Projection::Equirectangular);
    let points = settings("gsplat-ut", SimdLevel::best());
    let probed = Renderer::default().probe(&scene.splats(), &camera, &points, [1, 1]);
    assert!(probed.unwrap_err().to_string().contains("panorama"));
}

/// A camera that pans and climbs while its picture is read.
fn rolling(camera: &Camera, direction: ReadoutDirection) -> (Camera, CameraMotion) {
    let motion = CameraMotion::in_view(camera, [0.1, -0.1, 0.05], [6.0, 2.0, 1.0]);
    (camera.rolling_to(&motion.camera_at(camera, 1.0), direction), motion)
}

#[test]
fn rolling_shutters_are_drawn_by_the_definition_at_every_level() {
    let scene = Synthetic::new(Recipe::Room, 3, 2000, 1).unwrap();
    let splats = scene.splats();
    let camera = scene.cameras()[0].resized(64, 36).unwrap();
    let fisheye = Projection::Fisheye(FisheyeLens::new([0.02, 0.0, 0.0, 0.0]).unwrap());
    for camera in [camera.clone(), camera.with_projection(fisheye)] {
        for direction in ReadoutDirection::ALL {
            let (rolling, _) = rolling(&camera, direction);
            for level in SimdLevel::all() {
                let points = settings("gsplat-ut", level);
                let reference = render_reference(&splats, &rolling, &points).0;
                let drawn = Renderer::default().render(&splats, &rolling, &points).0;
                let off = Differences::between(&drawn, &reference);
                // Points that pass behind the camera give footprints as long as the picture, which f32 rounds more.
                let strays = (off.strays(1e-5), off.max());
                assert!(strays.0 <= 8 && strays.1 < 0.01, "{direction}, {level:?}: {strays:?}");
            }
        }
        let (rolling, _) = rolling(&camera, ReadoutDirection::BottomToTop);
        let points = settings("gsplat-ut", SimdLevel::best());
        let picture = Renderer::default().render(&splats, &rolling, &points).0;
        for [x, y] in [[0, 0], [63, 35], [32, 18], [5, 30]] {
            let probe = Renderer::default().probe(&splats, &rolling, &points, [x, y]).unwrap();
            let pixel = picture.pixels()[(y * 64 + x) as usize];
            for (found, expected) in probe.rgb.iter().zip(pixel) {
                assert!((found - f64::from(expected)).abs() < 1e-5, "{x},{y}: {found} {expected}");
            }
        }
    }
}

/// Each row or column is that of the picture of the camera where it is when it is read.
#[test]
fn rolling_shutters_read_the_picture_while_the_camera_moves() {
    let scene = Synthetic::new(Recipe::Room, 3, 20_000, 1).unwrap();
    let splats = scene.splats();
    let camera = scene.cameras()[0].resized(64, 36).unwrap();
    let points = settings("gsplat-ut", SimdLevel::best());
    for direction in ReadoutDirection::ALL {
        let (rolling, motion) = rolling(&camera, direction);
        let picture = Renderer::default().render(&splats, &rolling, &points).0;
        let (mut off, mut still) = (0.0, 0.0);
        let start = Renderer::default().render(&splats, &camera, &points).0;
        let by_row =
            matches!(direction, ReadoutDirection::TopToBottom | ReadoutDirection::BottomToTop);
        let lines = if by_row { 36 } else { 64 };
        for line in 0..lines {
            let read = match direction {
                ReadoutDirection::TopToBottom | ReadoutDirection::LeftToRight => line,
                _ => lines - 1 - line,
            };
            let then = motion.camera_at(&camera, f64::from(read) / f64::from(lines - 1));
            let then = Renderer::default().render(&splats, &then, &points).0;
            let of_line = |at: u32| if by_row { line * 64 + at } else { at * 64 + line } as usize;
            for at in (0..if by_row { 64 } else { 36 }).map(of_line) {
                let apart = |a: [f32; 4], b: [f32; 4]| f64::from((a[1] - b[1]).abs());
                off += apart(picture.pixels()[at], then.pixels()[at]);
                still += apart(picture.pixels()[at], start.pixels()[at]);
            }
        }
        assert!(off < 0.2 * still, "{direction}: {off} {still}");
    }
}

#[test]
fn rolling_shutters_need_points() {
    let scene = Synthetic::new(Recipe::Room, 3, 100, 1).unwrap();
    let (camera, _) = rolling(&scene.cameras()[0], ReadoutDirection::TopToBottom);
    let other = settings("gsplat", SimdLevel::best());
    let probed = Renderer::default().probe(&scene.splats(), &camera, &other, [1, 1]);
    assert!(probed.unwrap_err().to_string().contains("profile: expected gsplat-ut"));
    let unmoved = scene.cameras()[0].rolling_to(&scene.cameras()[0], ReadoutDirection::TopToBottom);
    let points = settings("gsplat-ut", SimdLevel::best());
    let [still, other] = [&scene.cameras()[0], &unmoved]
        .map(|camera| Renderer::default().render(&scene.splats(), camera, &points).0);
    assert!(Differences::between(&still, &other).max() < 1e-5);
}
