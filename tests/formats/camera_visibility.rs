//! Cameras that do not see the scene.

use nalgebra::Vector3;
use quadrille::{Camera, Intrinsics, Profile, Sight, Splat, Splats, Visibility};

fn scene(means: &[[f32; 3]]) -> Splats {
    Splats::from_splats(
        0,
        means.iter().map(|&mean| Splat {
            mean,
            scale: [0.1; 3],
            rotation: [1.0, 0.0, 0.0, 0.0],
            opacity: 0.5,
            sh: [[0.0; 3]; 25],
        }),
    )
}

fn camera(target: [f64; 3]) -> Camera {
    let lens = Intrinsics::from_vertical_fov(100, 100, 1.0);
    let up = Vector3::new(0.0, -1.0, 0.0);
    Camera::look_at("v", lens, Vector3::zeros(), Vector3::from(target), up).unwrap()
}

#[test]
fn shares_are_told_apart() {
    let splats = scene(&[[0.0, 0.0, 5.0], [0.0, 0.0, -5.0], [9.0, 0.0, 1.0], [0.0, 0.0, 0.1]]);
    let found = Visibility::of(&splats, &camera([0.0, 0.0, 1.0]), &Profile::default());
    assert_eq!(found.behind, 0.5);
    assert_eq!(found.off_screen, 0.25);
    assert_eq!(found.in_view, 0.25);
    assert_eq!(found.in_view_if_flipped, 0.25);
    assert_eq!(found.cut_by_near, 0.25);
    assert_eq!(found.warning("v"), None);
}

#[test]
fn a_camera_the_wrong_way_round_is_named() {
    let splats = scene(&[[0.0, 0.0, 5.0]; 100]);
    let back = Visibility::of(&splats, &camera([0.0, 0.0, -1.0]), &Profile::default());
    let text = back.warning("v").unwrap();
    assert!(text.contains("100.0 %") && text.contains("OpenGL"), "{text}");
    let side = Visibility::of(&splats, &camera([1.0, 0.0, 0.01]), &Profile::default());
    let text = side.warning("v").unwrap();
    assert!(text.contains("belong together"), "{text}");
    let none = Visibility::of(&scene(&[]), &camera([0.0, 0.0, 1.0]), &Profile::default());
    assert!(none.warning("v").unwrap().contains("no visible splat"));
}

/// A count of splats in view decides, and the positions explain.
#[test]
fn a_view_shows_enough_little_or_nothing() {
    let splats = scene(&[[0.0, 0.0, 5.0]; 1000]);
    let profile = Profile::default();
    let [there, away] = [1.0, -1.0].map(|z| camera([0.0, 0.0, z]));
    let of = |in_view, camera| Sight::of(in_view, &splats, camera, &profile);
    assert_eq!(of(1000, &there), Sight::Enough);
    assert!(matches!(of(1, &away), Sight::Little(text) if text.contains("100.0 %")));
    assert!(matches!(of(0, &away), Sight::Nothing(text) if text.contains("OpenGL")));
    // Their centres are in the picture, but the renderer draws none of them.
    assert!(matches!(of(0, &there), Sight::Nothing(text) if text.contains("no visible splat")));
}

#[test]
fn a_scene_within_the_near_plane_leads_to_the_flag() {
    let splats = scene(&[[0.0, 0.0, 0.05]; 100]);
    let camera = camera([0.0, 0.0, 1.0]);
    let text = Visibility::of(&splats, &camera, &Profile::default()).warning("v").unwrap();
    assert!(text.contains("near plane") && text.contains("--near"), "{text}");
    for profile in [Profile::default().with_near(0.01), Profile::named("gsplat").unwrap()] {
        assert_eq!(Visibility::of(&splats, &camera, &profile).warning("v"), None);
    }
}

/// A limit of a camera lowers the near plane of a profile, but not one that the user names.
#[test]
fn a_near_plane_is_limited_by_its_view() {
    let near = |limit: f64, profile: Profile| {
        Camera { near_limit: Some(limit), ..camera([0.0, 0.0, 1.0]) }.near(&profile)
    };
    assert_eq!(near(0.004, Profile::default()), 0.004);
    assert_eq!(near(7.0, Profile::default()), 0.2);
    assert_eq!(near(0.004, Profile::default().with_near(3.0)), 3.0);
}
