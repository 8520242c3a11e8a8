//! Cameras from files, and cameras chosen for a scene.
//!
//! | file | module | pose | intrinsics |
//! |---|---|---|---|
//! | `cameras.json` of the 3DGS trainer | `inria_json` | camera-to-world, right-down-forward | `fx`, `fy`, centred |
//! | `transforms.json` of nerfstudio, instant-ngp, Blender | `transforms` | camera-to-world, OpenGL axes | `fl_x` or `camera_angle_x` |
//! | COLMAP sparse model, binary or text | `colmap` | world-to-camera quaternion | by camera model |
//!
//! Readers check counts against the size of the file before they allocate memory.

mod camera_file;
mod colmap;
mod described;
mod framing;
mod inria_json;
mod json;
mod load;
mod names;
mod selection;
mod transforms;

pub use camera_file::CameraFile;
pub(crate) use described::{DescribedViews, EyeRule, Framing};
#[cfg(feature = "cli")]
pub(crate) use framing::{DEFAULT_FOV_DEGREES, DEFAULT_SIDE_PX};
pub use framing::{FramingTarget, default_camera, fitting_eye, orbit};
pub use inria_json::write as write_inria_json;
pub use load::{CameraOptions, load, load_with};
pub use selection::{PictureSize, load_views, select};
