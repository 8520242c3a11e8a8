//! Input from which a scene is loaded.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::encoding::LoadOptions;
use crate::scene_file::SceneFormat;
use quadrille_base::task::Task;

/// Name in errors for bytes that come from no file.
pub(crate) const BYTES: &str = "<bytes>";

/// A scene to load: a file or bytes, with options. A path alone is an input with the default options.
///
/// ```no_run
/// use quadrille_base::Task;
/// use quadrille_scene::{SceneInput, load};
///
/// let task = Task::new();
/// let scene = load(SceneInput::file("truck.ply").task(&task))?;
/// # Ok::<(), quadrille_base::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SceneInput<'a> {
    /// Content to read; `None` to read the file at `path`.
    pub(super) bytes: Option<&'a [u8]>,
    pub(super) path: Cow<'a, Path>,
    /// `None` if content and extension determine the format.
    pub(super) format: Option<SceneFormat>,
    pub(super) options: LoadOptions,
    pub(super) task: &'a Task,
}

impl<'a> SceneInput<'a> {
    /// Input from a scene file. `-` is standard input; a folder is a SOG or the output of a trainer
    /// ([`scene_file`](crate::formats::scene_file)).
    pub fn file<P: AsRef<Path> + ?Sized>(path: &'a P) -> Self {
        Self::new(None, Cow::Borrowed(path.as_ref()))
    }

    /// Input from the content of a file, which errors call `<bytes>`. A SOG must be a zip.
    pub fn bytes(bytes: &'a [u8]) -> Self {
        Self::new(Some(bytes), Cow::Borrowed(Path::new(BYTES)))
    }

    fn new(bytes: Option<&'a [u8]>, path: Cow<'a, Path>) -> Self {
        Self { bytes, path, format: None, options: LoadOptions::default(), task: &Task::NEVER }
    }

    /// Sets the path that bytes have in errors, and whose extension may decide the format.
    #[must_use]
    pub fn named(self, path: &'a Path) -> Self {
        Self { path: Cow::Borrowed(path), ..self }
    }

    /// Sets the format, for content without a mark of its own, such as a `.splat`.
    #[must_use]
    pub fn format(self, format: SceneFormat) -> Self {
        Self { format: Some(format), ..self }
    }

    /// Sets the options: axes and level of detail.
    #[must_use]
    pub fn options(self, options: LoadOptions) -> Self {
        Self { options, ..self }
    }

    /// Sets the task, which by default is never cancelled.
    #[must_use]
    pub fn task(self, task: &'a Task) -> Self {
        Self { task, ..self }
    }
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for SceneInput<'a> {
    fn from(path: &'a P) -> Self {
        Self::file(path)
    }
}

impl From<PathBuf> for SceneInput<'_> {
    fn from(path: PathBuf) -> Self {
        Self::new(None, Cow::Owned(path))
    }
}
