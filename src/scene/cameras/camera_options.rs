//! Values for fields that a camera file lacks.

use std::path::PathBuf;

use super::world_transform::CameraTransform;

/// Values that a camera file does not contain.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CameraOptions {
    /// Width and height in pixels for files without a picture size: a `transforms.json` with only an angle of view, as
    /// of Blender's scenes (default 800 x 800, with a warning), exported poses and camera tracks (default 1280 x 720).
    pub fallback_size_px: Option<[u32; 2]>,
    /// Vertical field of view in degrees for files without intrinsics.
    pub fallback_fov_degrees: Option<f64>,
    /// Transform from the world of the file to the world of the scene.
    pub transform: CameraTransform,
    /// The scene that the cameras are for, beside which a transform may lie.
    pub scene: Option<PathBuf>,
}
