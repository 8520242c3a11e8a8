//! Order of splats by distance: the scalar definition by hand, the fast renderer and the pipeline against it, and scenes whose
//! files state the order.

use quadrille::nalgebra::{Matrix3, Vector3};
use quadrille::{
    Camera, Config, Frame, Intrinsics, Method, Profile, Projection, Recipe, RenderSettings,
    Renderer, SimdLevel, Simulation, Splat, SplatOrder, Splats, Synthetic, render_reference,
    simulate,
};

use crate::support::pictures::Differences;

fn settings(order: Option<SplatOrder>, level: SimdLevel) -> RenderSettings {
    RenderSettings { profile: Profile { order, ..Profile::default() }, level }
}

fn camera(size: u32, focal_px: f64) -> Camera {
    let lens = Intrinsics {
        width: size,
        height: size,
        focal_px: [focal_px; 2],
        principal_px: [f64::from(size) / 2.0; 2],
    };
    Camera::new("test", lens, Matrix3::identity(), Vector3::zeros()).unwrap()
}

fn ball(mean: [f32; 3], colour: [f32; 3]) -> Splat {
    let mut sh = [[0.0; 3]; 25];
    sh[0] = colour.map(|c| (c - 0.5) / 0.282_094_8);
    Splat { mean, scale: [0.8; 3], rotation: [1.0, 0.0, 0.0, 0.0], opacity: 0.99, sh }
}

/// A red ball at (2.4, 0, 2), which has the lesser depth, and a blue one at (0.4, 0, 2.4), which is nearer.
fn balls() -> Splats {
    Splats::from_splats(
        0,
        [ball([2.4, 0.0, 2.0], [1.0, 0.0, 0.0]), ball([0.4, 0.0, 2.4], [0.0, 0.0, 1.0])],
    )
}

fn drawn(splats: &Splats, camera: &Camera, settings: &RenderSettings) -> Frame {
    Renderer::default().render(splats, camera, settings).0
}

/// Where the balls overlap, the picture has more of the one in front, by the flag or by the file.
#[test]
fn the_nearer_ball_is_in_front_by_distance() {
    let (camera, best) = (camera(32, 12.0), SimdLevel::best());
    // Halfway between the centres.
    let middle = |frame: &Frame| frame.pixels()[16 * 32 + 23];
    for (of_file, flag, is_red) in [
        (None, None, true),
        (None, Some(SplatOrder::Depth), true),
        (None, Some(SplatOrder::Distance), false),
        (Some(SplatOrder::Distance), None, false),
        (Some(SplatOrder::Distance), Some(SplatOrder::Depth), true),
        (Some(SplatOrder::Depth), None, true),
    ] {
        let (splats, settings) = (balls().with_order(of_file), settings(flag, best));
        let reference = render_reference(&splats, &camera, &settings).0;
        let [red, _, blue, _] = middle(&reference);
        assert!(red.min(blue) > 0.02, "they overlap: {red} {blue}");
        assert_eq!(red > blue, is_red, "{of_file:?} {flag:?}: {red} {blue}");
        assert!(Differences::between(&drawn(&splats, &camera, &settings), &reference).max() < 1e-6);
        let simulation = Simulation::new(Config::default(), [Method::parse("baseline").unwrap()])
            .with_profile(settings.profile);
        let pictures = simulate(&splats, &camera, &simulation).unwrap();
        let [red, _, blue, _] = middle(&pictures[0].frame());
        assert_eq!(red > blue, is_red, "pipeline, {of_file:?} {flag:?}: {red} {blue}");
    }
}

/// The fast renderer agrees with the scalar one at every level, with wide lenses, by which the orders differ most.
#[test]
fn the_fast_renderer_has_the_same_order() {
    let scene = Synthetic::new(Recipe::Room, 3, 3000, 1).unwrap();
    let splats = scene.splats();
    let mut own = scene.cameras()[0].clone();
    let mut others = 0;
    for projection in [Projection::Pinhole, Projection::Orthographic] {
        own = Camera { projection, ..own.resized(96, 64).unwrap() };
        own.focal_px = if projection == Projection::Pinhole { [30.0; 2] } else { [12.0; 2] };
        let by_depth = render_reference(&splats, &own, &settings(None, SimdLevel::best())).0;
        for level in SimdLevel::all() {
            let settings = settings(Some(SplatOrder::Distance), level);
            let reference = render_reference(&splats, &own, &settings).0;
            let found = drawn(&splats, &own, &settings);
            let apart = Differences::between(&found, &reference).max();
            assert!(apart < 1e-5, "{projection:?}, {level:?}: {apart}");
            others += usize::from(Differences::between(&by_depth, &reference).max() > 0.01);
        }
    }
    assert_eq!(others, 2 * SimdLevel::all().len());
}

/// Panoramas are drawn by distance whatever the order is.
#[test]
fn panoramas_have_their_own_order() {
    let panorama = camera(64, 10.0).with_projection(Projection::Equirectangular);
    let of = |order| drawn(&balls(), &panorama, &settings(order, SimdLevel::best()));
    let all = [None, Some(SplatOrder::Depth), Some(SplatOrder::Distance)].map(of);
    assert!(all[0] == all[1] && all[1] == all[2]);
}
