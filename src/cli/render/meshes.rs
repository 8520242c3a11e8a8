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
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Meshes")]
pub(in crate::cli) struct MeshFlags {
    #[command(flatten)]
    pub(in crate::cli) placed: PlacedMeshFlags,
    /// Samples per pixel of meshes: 1, 2, 4 or 8 [default: 4]
    #[arg(long, value_name = "N", requires = "meshes")]
    msaa: Option<u32>,
    #[command(flatten)]
    look: LookSettings,
}

impl MeshFlags {
    pub(in crate::cli) fn is_given(&self) -> bool {
        self.placed.is_given()
    }

    pub(in crate::cli) fn check(&self) -> Result<()> {
        let is_idle = !self.is_given() && self.look != LookSettings::default();
        if is_idle {
            return Err(Error::needs("--light, --exposure or --checker", "--mesh"));
        }
        self.look.check()
    }

    pub(in crate::cli) fn load(&self, session: &Session) -> Result<Option<Arc<PlacedMeshes>>> {
        let meshes = self.placed.load(self.msaa.unwrap_or(SAMPLES), &self.look, session)?;
        Ok(meshes.map(Arc::new))
    }

    /// Flags of `render` that describe the meshes.
    #[cfg(feature = "view")]
    pub(in crate::cli) fn words(&self) -> Vec<String> {
        let LookSettings { light, exposure, checker } = &self.look;
        let usual = LookSettings::default();
        let look = [
            self.msaa.map(|samples| format!("--msaa={samples}")),
            (*light != usual.light).then(|| format!("--light={light}")),
            exposure.map(|stops| format!("--exposure={stops}")),
            checker.map(|checks| format!("--checker={checks}")),
        ];
        self.placed.words().into_iter().chain(look.into_iter().flatten()).collect()
    }

    pub(in crate::cli) fn files(&self) -> impl Iterator<Item = &Path> {
        self.placed.files()
    }
}
