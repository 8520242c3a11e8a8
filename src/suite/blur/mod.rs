//! Blur of motion and defocus: settings of the camera's motion and of its lens, and pictures of splats as the mean of what the
//! camera sees while its shutter is open.

mod camera_motion;
mod lens_settings;
mod picture;
mod rolling_shutter;
mod settings;
mod view_blur;

pub use camera_motion::CameraMotionSettings;
pub use lens_settings::LensSettings;
pub use picture::{DrawSample, draw_blurred, median_depth};
pub use rolling_shutter::RollingShutterSettings;
pub use settings::{BlurSettings, Blurs};
pub use view_blur::{DEFAULT_SAMPLES, ViewBlur};
