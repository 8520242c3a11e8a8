//! Flags for meshes among the splats of a scene, which `render` and `sim` share.

use std::path::{Path, PathBuf};

use super::session::Session;
use quadrille_base::error::Result;
use quadrille_suite::mesh_input::{LookSettings, MeshPlacement, PlacedMeshes};

/// Flags for meshes and their places.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Meshes")]
pub(super) struct PlacedMeshFlags {
    /// Meshes to draw among the splats, separated by commas, each a file or a name as for `mesh`: an opaque surface hides
    /// the splats whose centres are behind it. Only pinholes draw meshes
    #[arg(long = "mesh", value_name = "MESH", value_delimiter = ',')]
    meshes: Vec<PathBuf>,
    /// Moves of a mesh in the world of the scene, in order and with the values that `convert` takes, as in "scale 2 rotate
    /// 0,90,0 translate 0,1,0". The first flag moves the first mesh, and so on
    #[arg(long = "mesh-move", value_name = "MOVES", requires = "meshes", allow_hyphen_values = true, value_parser = moves)]
    moves: Vec<String>,
}

/// The text of moves, once it is known to be right.
fn moves(text: &str) -> Result<String> {
    MeshPlacement::parse(text).map(|_| text.to_owned())
}

impl PlacedMeshFlags {
    #[cfg(feature = "view")]
    pub(super) fn words(&self) -> Vec<String> {
        let meshes = self.meshes.iter().map(|mesh| format!("--mesh={}", mesh.display()));
        meshes.chain(self.moves.iter().map(|moves| format!("--mesh-move={moves}"))).collect()
    }

    pub(super) fn is_given(&self) -> bool {
        !self.meshes.is_empty()
    }

    pub(super) fn load(
        &self,
        samples: u32,
        look: &LookSettings,
        session: &Session,
    ) -> Result<Option<PlacedMeshes>> {
        if !self.is_given() {
            return Ok(None);
        }
        let moves = self.moves.iter().map(|moves| MeshPlacement::parse(moves));
        let moves: Vec<_> = moves.collect::<Result<_>>()?;
        let load = || PlacedMeshes::load(&self.meshes, &moves, samples, look, session);
        session.install(load).map(Some)
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        self.meshes.iter().map(PathBuf::as_path)
    }
}
