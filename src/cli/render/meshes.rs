//! Flags for meshes among the splats of a scene.

use std::path::Path;
use std::sync::Arc;

use crate::cli::placed_meshes::PlacedMeshFlags;
use crate::cli::session::Session;
use quadrille_base::error::{Error, Result};
use quadrille_suite::mesh_input::{LookSettings, PlacedMeshes};

/// Samples per pixel of meshes by default, as of `mesh`.
const SAMPLES: u32 = 4;

/// Flags for meshes among the splats.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Meshes")]
pub(super) struct MeshFlags {
    #[command(flatten)]
    placed: PlacedMeshFlags,
    /// Samples per pixel of meshes: 1, 2, 4 or 8 [default: 4]
    #[arg(long, value_name = "N", requires = "meshes")]
    msaa: Option<u32>,
    #[command(flatten)]
    look: LookSettings,
}

impl MeshFlags {
    pub(super) fn is_given(&self) -> bool {
        self.placed.is_given()
    }

    pub(super) fn check(&self) -> Result<()> {
        let is_idle = !self.is_given() && self.look != LookSettings::default();
        if is_idle {
            return Err(Error::needs("--light, --exposure or --checker", "--mesh"));
        }
        self.look.check()
    }

    pub(super) fn load(&self, session: &Session) -> Result<Option<Arc<PlacedMeshes>>> {
        let meshes = self.placed.load(self.msaa.unwrap_or(SAMPLES), &self.look, session)?;
        Ok(meshes.map(Arc::new))
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        self.placed.files()
    }
}
