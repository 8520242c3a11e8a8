//! The flight through ARCADE, whose cameras lie in `scenes/arcade.cameras.json`.

use std::path::Path;

use nalgebra::Vector3;
use quadrille::{Camera, Intrinsics};

/// Length of the hall along y in metres.
const HALL_LENGTH: f64 = 48.0;

/// Distances from the end walls at which the flight begins and ends, in metres.
const ENDS: [f64; 2] = [1.5, 12.0];
/// Height of the eye in metres, and how far it moves up and down.
const HEIGHT: [f64; 2] = [1.8, 0.35];
/// Amplitude of the movement to the sides in metres, within the nave.
const SWAY: f64 = 1.5;
/// Amplitude of the turns to the sides in degrees.
const TURN_DEGREES: f64 = 28.0;
/// Vertical field of view in degrees.
const FOV_DEGREES: f64 = 55.0;
/// Number of sways and of turns.
const SWAYS: f64 = 2.0;
const TURNS: f64 = 3.0;

/// Cameras of a flight of `views` views through ARCADE, named by their number. Where the viewer turns,
/// neighbouring views differ by up to 5 degrees for 150 views; between the turns the flight is nearly
/// straight.
fn flight(views: u32, width: u32, height: u32) -> Vec<Camera> {
    let last = f64::from(views.saturating_sub(1).max(1));
    let camera = |number: u32| {
        let at = f64::from(number) / last;
        let turns = |count: f64| (std::f64::consts::TAU * count * at).sin();
        let y = ENDS[0] + (HALL_LENGTH - ENDS[0] - ENDS[1]) * at;
        let eye = Vector3::new(SWAY * turns(SWAYS), y, HEIGHT[0] + HEIGHT[1] * turns(1.0));
        let (sin, cos) = (TURN_DEGREES * turns(TURNS)).to_radians().sin_cos();
        let target = eye + Vector3::new(sin, cos, 0.06 * turns(SWAYS));
        let lens = Intrinsics::from_vertical_fov(width, height, FOV_DEGREES.to_radians());
        Camera::look_at(format!("{number:03}"), lens, eye, target, Vector3::z()).unwrap()
    };
    (0..views).map(camera).collect()
}

/// Environment variable that rewrites the file.
const WRITE_VARIABLE: &str = "QUADRILLE_WRITE_GOLDENS";

#[test]
fn the_flight_is_in_the_file_of_cameras() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/arcade.cameras.json");
    let cameras = flight(150, 1280, 720);
    if std::env::var_os(WRITE_VARIABLE).is_some_and(|v| v == "1") {
        std::fs::write(&path, quadrille::write_inria_json(&cameras)).unwrap();
    }
    let read = quadrille::load_cameras(&path).unwrap().cameras;
    assert_eq!(read.len(), cameras.len());
    for (read, camera) in read.iter().zip(&cameras) {
        assert_eq!(read.name, camera.name);
        let turn = (read.view_from_world - camera.view_from_world).amax();
        let way = (read.translation_in_view - camera.translation_in_view).amax();
        assert!(turn < 1e-9 && way < 1e-9, "{}", read.name);
    }
}

#[test]
fn the_flight_stays_in_the_nave() {
    let cameras = flight(150, 1280, 720);
    assert_eq!(cameras.len(), 150);
    for pair in cameras.windows(2) {
        let [eye, next] =
            [&pair[0], &pair[1]].map(|c| -(c.view_from_world.transpose() * c.translation_in_view));
        assert!(eye.x.abs() < 1.6 && (0.5..3.0).contains(&eye.z) && next.y > eye.y);
        let turn = pair[1].view_from_world * pair[0].view_from_world.transpose();
        let degrees = ((turn.trace() - 1.0) / 2.0).clamp(-1.0, 1.0).acos().to_degrees();
        assert!(degrees < 5.0, "{degrees}");
    }
}
