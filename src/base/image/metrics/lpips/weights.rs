//! The weights of a network, and the path of their file.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::network::Network;
use super::safetensors::{self, Expected};
use crate::choice;
use crate::error::{Error, Result};

choice! {
    /// Network whose features are compared.
    #[derive(Hash, Default)]
    pub enum LpipsNet {
        /// VGG-16, the network of the authors of 3D Gaussian splatting (`metrics.py`).
        #[default]
        Vgg = "vgg" | "vgg16",
        /// AlexNet, the default of LPIPS's authors, gsplat and nerfstudio.
        Alex = "alex" | "alexnet",
    }
}

impl LpipsNet {
    /// Default name of the file with the network's weights.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Vgg => "lpips-vgg.safetensors",
            Self::Alex => "lpips-alex.safetensors",
        }
    }

    pub(super) fn network(self) -> Network {
        match self {
            Self::Vgg => Network::vgg([64, 128, 256, 512, 512]),
            Self::Alex => Network::alex([64, 192, 384, 256, 256]),
        }
    }
}

const VARIABLE: &str = "QUADRILLE_LPIPS_WEIGHTS";

const CACHE_FOLDER: &str = "quadrille";

/// The file of weights of `net`: `explicit`, else the value of the environment variable `QUADRILLE_LPIPS_WEIGHTS`,
/// each a file or a folder that holds [`LpipsNet::file_name`]; else that name in `$XDG_CACHE_HOME/quadrille` or
/// `~/.cache/quadrille`.
///
/// # Errors
/// [`Error::Read`] for a missing named file; [`Error::Argument`] without any, with the command that makes the files.
pub fn find_weights(explicit: Option<&Path>, net: LpipsNet) -> Result<PathBuf> {
    find_in(explicit, net, &|name| env::var_os(name))
}

/// As [`find_weights`], with the look-up of environment variables as an argument.
pub(super) fn find_in(
    explicit: Option<&Path>,
    net: LpipsNet,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Result<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let named = explicit.map(Path::to_path_buf);
    if let Some(path) = named.or_else(|| set(VARIABLE).map(PathBuf::from)) {
        let file = if path.is_dir() { path.join(net.file_name()) } else { path };
        return match file.is_file() {
            true => Ok(file),
            false => Err(Error::read(&file, io::ErrorKind::NotFound.into())),
        };
    }
    let home = || Some(PathBuf::from(set("HOME")?).join(".cache"));
    let cache = set("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    let file = cache.map(|cache| cache.join(CACHE_FOLDER).join(net.file_name()));
    let place = match file {
        Some(file) if file.is_file() => return Ok(file),
        Some(file) => crate::error::shown(&file),
        None => net.file_name().to_owned(),
    };
    let expected = format!(
        "{place}, or the path of this file in {VARIABLE} (`python lpips_weights.py`, a script in python/tools of the repository, writes it)"
    );
    Err(Error::argument("LPIPS weights", expected, "none"))
}

/// Weights of a network: its convolutions, trained on `ImageNet`, and a weight per channel of the compared maps.
pub struct LpipsWeights {
    pub(super) network: Network,
    /// By convolution: weights by output channel, input channel, row and column; and bias by output channel.
    pub(super) convolutions: Vec<[Vec<f32>; 2]>,
    pub(super) linear: Vec<Vec<f32>>,
}

impl LpipsWeights {
    /// Reads the file that `python/tools/lpips_weights.py` writes: safetensors with the arrays `conv1.weight`
    /// (output channel, input channel, row, column), `conv1.bias` and so on, and `linear1.weight` (channel) and so
    /// on, all of 32-bit floats.
    ///
    /// # Errors
    /// [`Error::Read`], and [`Error::Malformed`] when an array is missing, of another shape, or not finite.
    pub fn read(path: &Path, net: LpipsNet) -> Result<Self> {
        Self::read_network(path, net.network())
    }

    pub(super) fn read_network(path: &Path, network: Network) -> Result<Self> {
        let mut arrays = safetensors::read(path, &arrays(&network))?.into_iter();
        let mut next = || arrays.next().unwrap_or_default();
        let convolutions = network.shapes().map(|_| [next(), next()]).collect();
        let linear = network.compared().map(|_| next()).collect();
        Ok(Self { network, convolutions, linear })
    }
}

fn arrays(network: &Network) -> Vec<Expected> {
    let convolutions = network.shapes().zip(1..).flat_map(|(shape, i)| {
        let weights = vec![shape.outputs, shape.inputs, shape.kernel, shape.kernel];
        [(format!("conv{i}.weight"), weights), (format!("conv{i}.bias"), vec![shape.outputs])]
    });
    let compared = network.compared().zip(1..);
    let linear = compared.map(|(channels, i)| (format!("linear{i}.weight"), vec![channels]));
    convolutions.chain(linear).map(|(name, shape)| Expected { name, shape }).collect()
}
