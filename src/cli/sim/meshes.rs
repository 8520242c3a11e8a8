//! `sim --mesh`: meshes in the depth buffer before the splats are drawn.

use crate::cli::outputs::refuse_given;
use crate::cli::placed_meshes::PlacedMeshFlags;
use crate::cli::session::Session;
use quadrille_base::{Error, Result};
use quadrille_gpu::method::Method;
use quadrille_scene::Camera;
use quadrille_suite::mesh_input::{LookSettings, PlacedMeshes};

/// Refuses meshes for methods without a depth test, and beside the flags `others`, whose runs leave meshes out.
pub(super) fn check(
    flags: &PlacedMeshFlags,
    methods: &[Method],
    others: [(&str, bool); 3],
) -> Result<()> {
    if !flags.is_given() {
        return Ok(());
    }
    if let Some(other) = methods.iter().find(|method| !method.has_tests()) {
        let other = format!("--method {other}, which makes no use of a depth buffer");
        return Err(Error::conflict("--mesh", other));
    }
    refuse_given(others, |flag| Error::conflict("--mesh", flag))
}

/// Reads the meshes.
pub(super) fn load(
    flags: &PlacedMeshFlags,
    cameras: &[Camera],
    session: &Session,
) -> Result<Option<PlacedMeshes>> {
    // One sample, since the depth buffer has one depth per pixel.
    let meshes = flags.load(1, &LookSettings::default(), session)?;
    if meshes.is_some() {
        cameras.iter().try_for_each(PlacedMeshes::check)?;
    }
    Ok(meshes)
}
