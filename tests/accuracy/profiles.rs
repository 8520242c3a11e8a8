//! The constants in which renderers differ, by alphas worked out by hand, in both renderers.
use nalgebra::{Matrix3, Vector3};
use quadrille::{
    Camera, Intrinsics, Profile, RenderSettings, Renderer, SimdLevel, Splat, Splats,
    render_reference,
};

/// Focal length in pixels.
const FOCAL_PX: f64 = 64.0;

/// Alpha of the pixel in the middle of a picture of 33x33 pixels, on whose centre a round splat lies at the depth
/// `depth` with a standard deviation of `sigma_px` pixels; the same with every renderer and level.
fn alpha_at_centre(depth: f32, sigma_px: f32, opacity: f32, profile: Profile) -> f64 {
    let lens =
        Intrinsics { width: 33, height: 33, focal_px: [FOCAL_PX; 2], principal_px: [16.5; 2] };
    let camera = Camera::new("plain", lens, Matrix3::identity(), Vector3::zeros()).unwrap();
    let splat = Splat {
        mean: [0.0, 0.0, depth],
        scale: [sigma_px * depth / FOCAL_PX as f32; 3],
        rotation: [1.0, 0.0, 0.0, 0.0],
        opacity,
        sh: [[0.0; 3]; 25],
    };
    let splats = Splats::from_splats(0, [splat]);
    let settings = |level| RenderSettings { profile, level };
    let alpha = |frame: &quadrille::Frame| f64::from(frame.pixels()[16 * 33 + 16][3]);
    let exact = alpha(&render_reference(&splats, &camera, &settings(SimdLevel::best())).0);
    for level in SimdLevel::all() {
        let fast = Renderer::default().render(&splats, &camera, &settings(level));
        let fast = alpha(&fast.0);
        assert!((fast - exact).abs() < 1e-6, "{fast} and {exact}");
    }
    exact
}

fn named(name: &str) -> Profile {
    Profile::named(name).unwrap()
}

/// The main branch of gsplat caps alpha at 0.99 (`_constants.py`), its releases at 0.999 (`accumulate`).
#[test]
fn alpha_is_capped_as_the_version_of_gsplat_does() {
    for (name, cap) in [
        ("inria", 0.99),
        ("gsplat", 0.99),
        ("gsplat-aa", 0.99),
        ("gsplat-1.5", 0.999),
        ("gsplat-1.5-aa", 0.999),
        ("splatfacto", 0.999),
    ] {
        // Of 100 pixels, so that the factor of the opacity is 1 to 3e-5.
        let alpha = alpha_at_centre(2.0, 100.0, 0.9995, named(name));
        assert!((alpha - cap).abs() < 1e-7, "{name}: {alpha}");
    }
}

/// A splat of 0.01 pixels has determinants of 1e-8 and 0.3001^2 square pixels before and after the filter: its opacity is
/// multiplied by 0.01^2 / 0.3001 = 3.3e-4 and is below the cut, unless the factor is at least 0.005.
#[test]
fn tiny_splats_are_kept_by_the_floor_of_antialiasing() {
    for (name, expected) in [
        ("inria-aa", 0.005),
        ("gsplat-aa", 0.005),
        ("gsplat-1.5-aa", 0.0),
        ("mip-splatting", 0.0),
        ("gsplat-1.5", 0.999),
    ] {
        let alpha = alpha_at_centre(2.0, 0.01, 1.0, named(name));
        assert!((alpha - expected).abs() < 1e-7, "{name}: {alpha}");
    }
    // At 1 pixel, the factor is 1 / 1.3.
    for name in ["gsplat-aa", "gsplat-1.5-aa"] {
        let alpha = alpha_at_centre(2.0, 1.0, 0.5, named(name));
        assert!((alpha - 0.5 / 1.3).abs() < 1e-6, "{name}: {alpha}");
    }
}

/// The far plane itself is drawn, as in the kernel of gsplat.
#[test]
fn depth_beyond_the_far_plane_is_culled() {
    let far = 8.0_f32;
    let profile = Profile { far: far.into(), ..named("gsplat-1.5") };
    for (depth, expected) in [(far.next_down(), 0.5), (far, 0.5), (far.next_up(), 0.0)] {
        let alpha = alpha_at_centre(depth, 2.0, 0.5, profile);
        assert!((alpha - expected).abs() < 1e-6, "{depth}: {alpha}");
    }
    // Beyond the depths that lanes compute with.
    for (name, expected) in [("inria", 0.5), ("gsplat", 0.0)] {
        let alpha = alpha_at_centre(2e10, 2.0, 0.5, named(name));
        assert!((alpha - expected).abs() < 1e-6, "{name}: {alpha}");
    }
}

/// At opacity 0.5, the alpha cut is at sqrt(2 ln 127.5) = 3.114 standard deviations: a splat of 2 pixels, filtered to
/// sqrt(4.3), reaches 6.46 pixels, which are 7 whole ones.
#[test]
fn splats_of_at_most_the_least_radius_are_left_out() {
    for (least, expected) in [(0.0, 0.5), (6.0, 0.5), (6.9, 0.5), (7.0, 0.0), (8.0, 0.0)] {
        let profile = Profile { least_radius_px: least, ..named("gsplat-1.5") };
        let alpha = alpha_at_centre(2.0, 2.0, 0.5, profile);
        assert!((alpha - expected).abs() < 1e-6, "{least}: {alpha}");
    }
}
