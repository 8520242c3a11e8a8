//! Gradients of a loss by the attributes of splats, the camera and the background, for pictures of a pinhole camera.
//!
//! [`ScalarPicture`] is the definition: it draws a [picture of channels](crate::cpu::channels) in f64, and differentiates it
//! in two phases.
//!
//! ```text
//! PictureCotangents: derivatives of the loss by the values and alphas of the picture
//!   -> raster_gradients: by each drawn splat's mean in the picture, conic, opacity and channels; by the background
//!   -> project_gradients: by means, shapes, opacities and values, added over pictures; by the pose of the camera
//! ```
//!
//! Between the phases, a caller may read and change the gradients in the picture plane.
//!
//! A picture is differentiable where no splat or fragment is at the edge of a rule: the culls, the order of depths, the
//! alpha cut and cap, the stop rule, the limits of the slopes, the floor of the opacity factor, and the lower bound 0 of
//! colours. Gradients treat all these decisions as constant: capped and limited quantities pass no gradient.

mod colour;
mod fragments;
mod gradients;
mod picture;
mod plane_splat;
mod scene;

pub use gradients::{CameraGradients, Gradients, PlaneGradient, RasterGradients};
pub use picture::{PictureCotangents, ScalarPicture};
pub use scene::{ScalarScene, ScalarShapes, ScalarValues};

#[cfg(test)]
#[path = "../tests/units/backward_cases.rs"]
mod cases;
#[cfg(test)]
#[path = "../tests/units/backward.rs"]
mod tests;
