//! The content of a scene file.

use super::dropped::Dropped;
use super::splats::Splats;

/// The content of a scene file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Scene {
    /// The valid splats, activated.
    pub splats: Splats,
    /// Numbers of invalid rows.
    pub dropped: Dropped,
    /// Name of the profile that the scene was trained for, if the file says so.
    pub profile_hint: Option<&'static str>,
    /// The file's format, by its content.
    pub format: SceneFormat,
    /// Comments of the file, in order.
    pub comments: Vec<String>,
    /// Size of the file in bytes.
    pub file_bytes: u64,
}

impl Scene {
    /// A scene without comments and profile, from a file of `file_bytes` bytes.
    pub(super) fn new(
        format: SceneFormat,
        file_bytes: usize,
        (splats, dropped): (Splats, Dropped),
    ) -> Self {
        Self {
            splats,
            dropped,
            profile_hint: None,
            format,
            comments: Vec::new(),
            file_bytes: file_bytes as u64,
        }
    }
}

/// A format of scene files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SceneFormat(pub(super) &'static str);

impl SceneFormat {
    /// The format's name, as outputs and errors give it: `PLY`, `.splat`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0
    }
}
