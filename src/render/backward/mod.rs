//! Gradients of a loss by the attributes of splats, the camera and the background, for pictures of pinholes, orthographic
//! cameras and fisheyes.
//!
//! [`ScalarPicture`] is the definition: it draws a [picture of channels](crate::cpu::channels) in f64, and differentiates it
//! in two phases. [`SavedPicture`] does the same with the pixels of the fast renderer, in vectors of f32 and on all threads.
//!
//! ```text
//! derivatives of the loss by the values and alphas of the picture
//!   -> raster_gradients: by each drawn splat's mean in the picture, shape, opacity and channels; by the background
//!   -> project_gradients: by means, shapes, opacities and values, added over pictures; by the pose of the camera
//! ```
//!
//! ```
//! use quadrille_base::Task;
//! use quadrille_render::backward::{GradientRows, PictureCotangents};
//! use quadrille_render::cpu::channels::{ChannelPicture, ChannelSettings, ChannelValues};
//! use quadrille_render::cpu::{RenderSettings, Renderer};
//! use quadrille_render::preprocess::SplatRows;
//! use quadrille_render::synth::{Recipe, Synthetic};
//!
//! let scene = Synthetic::new(Recipe::Object, 1, 200, 0)?;
//! let (arrays, camera) = (scene.splats().to_arrays(), scene.cameras()[0].resized(64, 36)?);
//! let splats = SplatRows::new(arrays.as_slices(), 0)?;
//! let values = ChannelValues::Colours;
//! let channels = ChannelSettings { values, depth: None, background: None, has_spread: false };
//! let (mut values, mut alphas) = (vec![0.0; 64 * 36 * 3], vec![0.0; 64 * 36]);
//! let mut picture = ChannelPicture { values: &mut values, alphas: &mut alphas };
//! let (settings, task) = (RenderSettings::default(), Task::NEVER);
//! let (mut saved, _) = Renderer::default()
//!     .render_saved(&splats, &camera, &settings, &channels, &mut picture, &task)?;
//! // The loss is half the sum of the squared values.
//! let by_picture = PictureCotangents { values: &values, alphas: &vec![0.0; 64 * 36] };
//! let plane = saved.raster_gradients(&channels, &by_picture, false, &task)?;
//! let mut means = vec![[0.0; 3]; 200];
//! let mut gradients = GradientRows { means: &mut means, ..Default::default() };
//! let pose = saved.project_gradients(&splats, &channels, &plane, &mut gradients, &task)?;
//! assert!(means.iter().any(|mean| mean[0] != 0.0));
//! assert_eq!(pose.view_from_world[3], [0.0; 4]);
//! // The next frame uses the memory again.
//! let renderer: Renderer = saved.into_renderer();
//! # Ok::<(), quadrille_base::Error>(())
//! ```
//!
//! Between the phases, a caller may read and change the gradients in the picture plane.
//!
//! A picture is differentiable where no splat or fragment is at the edge of a rule: the culls, the order of depths, the
//! alpha cut and cap, the stop rule, the limits of the slopes, the floor of the opacity factor, and the lower bound 0 of
//! colours. Gradients treat all these decisions as constant: capped and limited quantities pass no gradient.

mod colour;
mod fragments;
mod gradient_rows;
mod gradients;
mod outlier;
mod picture;
mod plane_splat;
mod rows;
mod scene;

pub use crate::cpu::{PictureCotangents, RasterSums, SavedPicture};
pub use gradient_rows::GradientRows;
pub use gradients::{CameraGradients, Gradients, PlaneGradient, RasterGradients};
pub use picture::ScalarPicture;
pub use scene::{ScalarScene, ScalarShapes, ScalarValues};

#[cfg(test)]
#[path = "../tests/units/backward_cases.rs"]
mod cases;
#[cfg(test)]
#[path = "../tests/units/backward_rows.rs"]
mod rows_tests;
#[cfg(test)]
#[path = "../tests/units/backward.rs"]
mod tests;
