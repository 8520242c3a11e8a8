//! Cameras from files, and cameras chosen for a scene.
//!
//! | file | module | pose | intrinsics |
//! |---|---|---|---|
//! | `cameras.json` of the 3DGS trainer | `inria_json` | camera-to-world, right-down-forward | `fx`, `fy`, centred |
//! | `transforms.json` of nerfstudio, instant-ngp, Blender | `transforms` | camera-to-world, OpenGL axes | `fl_x` or `camera_angle_x` |
//! | `camera_path.json` of nerfstudio's viewer | `camera_path` | camera-to-world, OpenGL axes | vertical `fov` |
//! | poses of `ns-export cameras` | `exported_poses` | camera-to-world, OpenGL axes | none |
//! | camera tracks of splat-transform and `SuperSplat` | `playcanvas` | position and target, y up | `fov` |
//! | COLMAP sparse model, binary or text | `colmap` | world-to-camera quaternion | by camera model |
//!
//! Readers check counts against the size of the file before they allocate memory.

mod beside;
mod camera_file;
mod camera_model;
mod camera_options;
mod camera_path;
mod colmap;
mod exported_poses;
mod exposures;
mod flight;
mod foreign;
mod foreign_json;
mod framing;
mod hermite;
mod inria_json;
mod json;
mod load;
mod names;
mod picture_size;
mod playcanvas;
mod selection;
mod transforms;
mod view_list;
mod view_spec;
mod world_transform;

pub use beside::find as find_camera_file;
pub use camera_file::{CameraFile, RefusedCamera, ViewSplit};
pub use camera_model::CameraModel;
pub use camera_options::CameraOptions;
pub use exposures::Exposures;
pub use flight::{Flight, fly, fly_keys};
pub use framing::{DEFAULT_FOV_DEGREES, DEFAULT_SIDE_PX, LEAST_EXTENT};
pub use framing::{EyeRule, Framing, FramingTarget, common_up, fitting_eye, orbit};
pub use framing::{weighted_quantiles, weighted_samples};
pub use inria_json::write as write_inria_json;
pub use load::{load, load_bytes, load_with};
pub use names::{is_picture_name, last_component_of_picture, view_of_picture};
pub use picture_size::{PictureScale, PictureSize};
pub use selection::{load_views, select};
pub use view_spec::{ViewSpec, Views};
pub use world_transform::CameraTransform;
