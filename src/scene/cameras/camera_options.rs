//! Options for reading a camera file.

use std::path::PathBuf;

use super::world_transform::CameraTransform;

/// Fallbacks for values that a camera file lacks, and the transform of its world.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CameraOptions {
    /// Width and height in pixels for files without a picture size: a `transforms.json` with only an angle of view, as in
    /// Blender's scenes (default 800 x 800, with a warning), exported poses and camera tracks (default 1280 x 720).
    pub fallback_size_px: Option<[u32; 2]>,
    /// Vertical field of view in degrees for files without intrinsics.
    pub fallback_fov_degrees: Option<f64>,
    /// Transform from the world of the file to the world of the scene.
    pub transform: CameraTransform,
    /// Path of the scene, beside which a file with a world transform may lie.
    pub scene: Option<PathBuf>,
}
