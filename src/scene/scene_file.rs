//! What a scene file holds, whatever its format.

use super::dropped::Dropped;
use super::splats::Splats;

/// A scene as read from a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Scene {
    /// The splats, activated; bad rows are gone.
    pub splats: Splats,
    /// Rows of the file that held no splat.
    pub dropped: Dropped,
    /// Name of the profile that the file was trained for, where it says so.
    pub profile_hint: Option<&'static str>,
    /// The format that the file turned out to be.
    pub format: SceneFormat,
    /// Comments of the file, in order.
    pub comments: Vec<String>,
    /// Size of the file in bytes.
    pub file_bytes: u64,
}

impl Scene {
    /// The splats of a file of `file_bytes` bytes that says nothing beside them.
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
