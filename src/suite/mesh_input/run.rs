//! Runs over a mesh: its input, light and views beside the settings of its frames.

use std::path::{Path, PathBuf};

use super::input::MeshInput;
use super::look::{Look, LookSettings};
use super::settings::MeshSettings;
use super::views::{up_of, views_of_mesh};
use crate::messages::Messages;
use quadrille_base::error::{Error, Result};
use quadrille_scene::cameras::{ViewSpec, Views};

/// Settings of the frames of a mesh. Several values of a setting give a row for each combination.
pub trait Frames {
    /// Checks all values, without reading a file.
    fn check(&self) -> Result<()>;

    /// All files that are named.
    fn files(&self) -> impl Iterator<Item = &Path> {
        std::iter::empty()
    }
}

/// A mesh, its light and views, and its frames.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MeshRunSettings<F> {
    /// Mesh file, or name of a procedural mesh.
    pub mesh: PathBuf,
    /// The mesh.
    pub input: MeshSettings,
    /// Light and colours.
    pub look: LookSettings,
    /// The frames of each view.
    pub frames: F,
    /// The views.
    pub views: ViewSpec,
}

impl<F: Frames> MeshRunSettings<F> {
    /// Checks all values, without reading a file.
    pub fn check(&self) -> Result<()> {
        self.input.check()?;
        self.look.check()?;
        self.frames.check()?;
        if self.views.propose_views.is_some() {
            return Err(Error::needs("propose_views", "a scene of splats, not a mesh"));
        }
        self.views.check()
    }

    /// All files that are named.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let files = self.input.files().chain(self.views.files());
        files.chain(self.frames.files()).chain([self.mesh.as_path()])
    }

    /// Loads the mesh and finds the views.
    pub fn prepare(&self, messages: &dyn Messages) -> Result<PreparedMesh<'_, F>> {
        self.check()?;
        let input = self.input.load(&self.mesh, messages)?;
        let views = views_of_mesh(&self.views, &input, messages)?;
        Ok(PreparedMesh { settings: self, input, views })
    }
}

/// A run whose mesh is loaded and whose views are known.
#[derive(Debug)]
pub struct PreparedMesh<'a, F> {
    pub(crate) settings: &'a MeshRunSettings<F>,
    /// The mesh.
    pub input: MeshInput,
    /// The views.
    pub views: Views,
}

impl<F: Frames> PreparedMesh<'_, F> {
    /// All files that the settings and the mesh file name.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.settings.files().chain(self.input.files.iter().map(PathBuf::as_path))
    }

    /// The light and colours of the mesh.
    pub fn look(&self, messages: &dyn Messages) -> Result<Look<'_>> {
        self.settings.look.of(&self.input, up_of(&self.settings.views), messages)
    }
}
