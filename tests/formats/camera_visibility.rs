//! Cameras that do not see the scene.

use nalgebra::Vector3;
use quadrille::{Camera, Intrinsics, Splat, Splats, Visibility};

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
    let found = Visibility::of(&splats, &camera([0.0, 0.0, 1.0]), 0.2);
    assert_eq!(found.behind, 0.5);
    assert_eq!(found.off_screen, 0.25);
    assert_eq!(found.in_view, 0.25);
    assert_eq!(found.in_view_if_flipped, 0.25);
    assert_eq!(found.warning("v"), None);
}

#[test]
fn a_camera_the_wrong_way_round_is_named() {
    let splats = scene(&[[0.0, 0.0, 5.0]; 100]);
    let back = Visibility::of(&splats, &camera([0.0, 0.0, -1.0]), 0.2);
    let text = back.warning("v").unwrap();
    assert!(text.contains("100.0 %") && text.contains("OpenGL"), "{text}");
    let side = Visibility::of(&splats, &camera([1.0, 0.0, 0.01]), 0.2);
    let text = side.warning("v").unwrap();
    assert!(text.contains("belong together"), "{text}");
    let none = Visibility::of(&scene(&[]), &camera([0.0, 0.0, 1.0]), 0.2);
    assert!(none.warning("v").unwrap().contains("no visible splat"));
}
