//! Files of layers: one `.exr` with the picture, or `.npy` or `.png` files beside it.

use std::path::PathBuf;

use super::outputs::{AOV, METHOD, Output, Outputs, Template, VIEW};
use quadrille_base::error::{Error, Result};
use quadrille_base::image::files::{self, PictureFormat};
use quadrille_base::image::{Frame, LayerPicture};
use quadrille_base::parse::numbers;
use quadrille_scene::Camera;
use quadrille_suite::each_once;
use quadrille_suite::report::layer_colours::{LayerColours, layer_colours};

/// Value of "{aov}" for the picture itself.
pub(super) const COLOURS: &str = "rgba";

/// Flags for layers in PNG files.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(super) struct LayerPngFlags {
    /// Depths of the brightest and the darkest grey of a layer in a .png, for the same greys in all views [default: the
    /// nearest and the farthest depth of each view]
    #[arg(long, value_name = "NEAR,FAR", requires = "layers", value_parser = parse_range)]
    depth_range: Option<[f32; 2]>,
    /// Write layers in a .png in the false colours of `view`, instead of greys of 16 bits: depths, normals, alpha and counts
    #[arg(long, requires = "layers", conflicts_with = "depth_range")]
    aov_colours: bool,
}

impl LayerPngFlags {
    /// Refuses false colours for a format or a layer that has none.
    pub(super) fn check(self, format: Option<PictureFormat>, names: &[&str]) -> Result<()> {
        if !self.aov_colours {
            return Ok(());
        }
        let of = |expected, found: &str| Error::argument("--aov-colours", expected, found);
        if format != Some(PictureFormat::Png) {
            return Err(of("a name that ends in .png", "another name"));
        }
        let expected = "layers of depths, normals, alpha or counts";
        match names.iter().find(|name| **name == "id" || name.starts_with("top-")) {
            Some(name) => Err(of(expected, name)),
            None => Ok(()),
        }
    }
}

fn parse_range(text: &str) -> std::result::Result<[f32; 2], String> {
    let is_range = |[near, far]: &[f32; 2]| *near > 0.0 && far > near && far.is_finite();
    let expected = "expected two distances above 0, the nearer first, such as 0.5,20";
    numbers(text).filter(is_range).ok_or_else(|| expected.to_owned())
}

/// Refuses layers in a format that cannot hold them.
pub(super) fn require_layer_format(format: Option<PictureFormat>) -> Result<()> {
    match format {
        Some(PictureFormat::Png) => Ok(()),
        other => require_float_format("--aov", other).map_err(|_| {
            let expected = "a name that ends in .exr or .npy, or in .png for greys of 16 bits";
            Error::argument("--aov", expected, "another name")
        }),
    }
}

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

/// Layers beside the pictures of `mesh` and `deferred`, by the names that `--aov` gives them.
pub(super) struct NamedLayers {
    pub(super) names: Vec<&'static str>,
    pub(super) png: LayerPngFlags,
}

impl NamedLayers {
    pub(super) fn placeholders(&self) -> &'static [&'static str] {
        if self.names.is_empty() { &[VIEW, METHOD] } else { &[VIEW, METHOD, AOV] }
    }

    /// Whether a picture and its layers are one file.
    fn is_one_file(&self, output: &Output) -> bool {
        self.names.is_empty() || output.format == Some(PictureFormat::Exr)
    }

    pub(super) fn check(&self, output: Option<&Output>) -> Result<()> {
        let Some(output) = output.filter(|_| !self.names.is_empty()) else { return Ok(()) };
        each_once("aov", &self.names)?;
        require_layer_format(output.format)?;
        self.png.check(output.format, &self.names)?;
        match self.is_one_file(output) {
            true => Ok(()),
            false => output.template.require(AOV, 2, "files of each picture"),
        }
    }

    pub(super) fn prepare(
        &self,
        output: &Output,
        outputs: &mut Outputs<'_>,
        cameras: &[Camera],
    ) -> Result<()> {
        if self.is_one_file(output) {
            // The row that names a combination of settings does not exist yet: check the placeholder itself.
            return output.template.prepare(outputs, cameras, &[METHOD.to_owned()]);
        }
        prepare_layers(&output.template, &[&[COLOURS], &self.names[..]].concat(), outputs, cameras)
    }

    /// Writes a picture and its `layers`, in the order of the names.
    pub(super) fn save(
        &self,
        output: &Output,
        picture: &Frame,
        layers: &[LayerPicture],
        [view, variant]: [&str; 2],
        tell: &dyn Fn(&str),
    ) -> Result<()> {
        let path =
            |name: &str| output.template.filled(&[(AOV, name), (METHOD, variant), (VIEW, view)]);
        let (names, png) = (self.names.iter().copied(), self.png);
        write_with_layers(output.format, picture, layers, names, path, png, tell).map(drop)
    }
}

/// Writes a picture and its layers. `path` maps the name of a layer, or [`COLOURS`], to a file name; returns
/// the path of the picture. `tell` takes the range of the greys of each PNG.
pub(super) fn write_with_layers<'a>(
    format: Option<PictureFormat>,
    picture: &Frame,
    layers: &[LayerPicture],
    names: impl Iterator<Item = &'a str>,
    path: impl Fn(&str) -> PathBuf,
    png: LayerPngFlags,
    tell: &dyn Fn(&str),
) -> Result<PathBuf> {
    let main = path(COLOURS);
    if format == Some(PictureFormat::Exr) {
        files::write_exr_layers(&main, picture, layers)?;
        return Ok(main);
    }
    files::write(&main, picture)?;
    for (name, layer) in names.zip(layers) {
        let path = path(name);
        let colours = layer_colours(layer).filter(|_| png.aov_colours);
        if let Some(LayerColours { frame, low, high, .. }) = colours {
            files::write(&path, &frame)?;
            tell(&format!("{}: {name} from {low} to {high}", path.display()));
        } else if format == Some(PictureFormat::Png) {
            let range = files::write_layer_png(&path, layer, png.depth_range)?;
            tell(&format!("{}: {}", path.display(), range.text()));
        } else {
            files::write_npy_layer(path, layer)?;
        }
    }
    Ok(main)
}
