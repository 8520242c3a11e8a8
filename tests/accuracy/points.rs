//! Footprints from points of splats (profile `gsplat-ut`): the fast renderer, probes and layers against the scalar one, and
//! against the derivative for small splats.

use quadrille::{
    FisheyeLens, Profile, Projection, Recipe, RenderSettings, Renderer, SimdLevel, Synthetic,
    render_reference,
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
