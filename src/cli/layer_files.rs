//! Files of layers: one `.exr` with the picture, or `.npy` files beside it.

use std::path::PathBuf;

use super::outputs::{AOV, Outputs, Template, VIEW};
use quadrille_base::error::{Error, Result};
use quadrille_base::image::files::{self, PictureFormat};
use quadrille_base::image::{Frame, LayerPicture};
use quadrille_scene::Camera;

/// Value of "{aov}" for the picture itself.
pub(super) const COLOURS: &str = "rgba";

pub(super) fn require_float_format(flag: &str, format: Option<PictureFormat>) -> Result<()> {
    match format {
        Some(PictureFormat::Exr | PictureFormat::Npy) => Ok(()),
        _ => Err(Error::argument(flag, "a name that ends in .exr or .npy", "another name")),
    }
}

/// Checks the file names of all layers of all views; no two may be equal.
pub(super) fn prepare_layers(
    template: &Template,
    names: &[&str],
    outputs: &mut Outputs<'_>,
    cameras: &[Camera],
) -> Result<()> {
    template.require(VIEW, cameras.len(), "views (or choose one with --view)")?;
    for camera in cameras {
        for name in names {
            outputs.add("-o", &template.filled(&[(AOV, name), (VIEW, &camera.name)]))?;
        }
    }
    Ok(())
}

/// Writes a picture and its layers. `path` maps the name of a layer, or [`COLOURS`], to a file name; returns
/// the path of the picture.
pub(super) fn write_with_layers<'a>(
    format: Option<PictureFormat>,
    picture: &Frame,
    layers: &[LayerPicture],
    names: impl Iterator<Item = &'a str>,
    path: impl Fn(&str) -> PathBuf,
) -> Result<PathBuf> {
    let main = path(COLOURS);
    if format == Some(PictureFormat::Exr) {
        files::write_exr_layers(&main, picture, layers)?;
        return Ok(main);
    }
    files::write(&main, picture)?;
    for (name, layer) in names.zip(layers) {
        files::write_npy_layer(path(name), layer)?;
    }
    Ok(main)
}
