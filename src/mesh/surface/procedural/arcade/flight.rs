//! A flight through ARCADE, as cameras.

use nalgebra::Vector3;

use super::HALL_LENGTH;
use quadrille_base::error::Result;
use quadrille_scene::{Camera, Intrinsics};

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
///
/// # Errors
/// [`Error::Argument`](quadrille_base::error::Error::Argument) when the size is out of range.
pub fn arcade_flight(views: u32, width: u32, height: u32) -> Result<Vec<Camera>> {
    let last = f64::from(views.saturating_sub(1).max(1));
    let camera = |number: u32| {
        let at = f64::from(number) / last;
        let turns = |count: f64| (std::f64::consts::TAU * count * at).sin();
        let y = ENDS[0] + (f64::from(HALL_LENGTH) - ENDS[0] - ENDS[1]) * at;
        let eye = Vector3::new(SWAY * turns(SWAYS), y, HEIGHT[0] + HEIGHT[1] * turns(1.0));
        let (sin, cos) = (TURN_DEGREES * turns(TURNS)).to_radians().sin_cos();
        let target = eye + Vector3::new(sin, cos, 0.06 * turns(SWAYS));
        let lens = Intrinsics::from_vertical_fov(width, height, FOV_DEGREES.to_radians());
        Camera::look_at(format!("{number:03}"), lens, eye, target, Vector3::z())
    };
    (0..views).map(camera).collect()
}
