//! The configuration of the emulated GPU, as flags. `sim` and `microbench` share them.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::gpu::config::{Config, PRESETS};
use crate::mesh::pipeline::MeshConfig;

/// The longest configuration file, in bytes: a whole one is some 10 KB.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

/// Which GPU is emulated.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Emulated GPU")]
pub(super) struct GpuArgs {
    /// The configuration to begin with: vr-pipe (the paper's simulated GPU), orin (Jetson AGX Orin)
    /// or ampere-gpc (a cluster of a GA102)
    #[arg(long, value_name = "NAME", default_value = PRESETS[0].name)]
    pub(super) preset: String,
    /// What to change in the preset: TOML, as `sim --config-dump` prints it or any part of that;
    /// "-" for standard input
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,
    /// One field more, after the preset and the file; may be repeated
    #[arg(long, value_name = "unit.field=value")]
    set: Vec<String>,
}

impl GpuArgs {
    /// The configuration of the mesh path: as [`Self::config`], with assignments to its own units
    /// as well.
    ///
    /// # Errors
    /// As [`Self::config`].
    pub(super) fn mesh_config(&self) -> Result<MeshConfig> {
        let mut config = MeshConfig {
            gpu: self.base()?,
            ..MeshConfig::default()
        };
        for assignment in &self.set {
            config = config.with(assignment)?;
        }
        Ok(config)
    }

    /// The configuration: preset, then file, then assignments.
    ///
    /// # Errors
    /// [`Error::Read`] when the file cannot be read; [`Error::Caller`] naming a preset, line, field
    /// or value that does not fit.
    pub(super) fn config(&self) -> Result<Config> {
        let mut config = self.base()?;
        for assignment in &self.set {
            config = config.with(assignment)?;
        }
        Ok(config)
    }

    /// Preset and file.
    fn base(&self) -> Result<Config> {
        let config = Config::preset(&self.preset)?;
        match &self.config {
            Some(path) => config.overlaid(&read(path)?, &path.display().to_string()),
            None => Ok(config),
        }
    }
}

fn read(path: &Path) -> Result<String> {
    let unread = |e| Error::read(path, e);
    let mut text = String::new();
    let mut source: Box<dyn Read> = if path == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        Box::new(std::fs::File::open(path).map_err(unread)?)
    };
    let limited = source.by_ref().take(MAX_CONFIG_BYTES + 1);
    let length = { limited }.read_to_string(&mut text).map_err(unread)?;
    if length as u64 > MAX_CONFIG_BYTES {
        return Err(Error::Limit {
            what: format!("{}: bytes of a configuration", path.display()),
            limit: MAX_CONFIG_BYTES,
            found: length as u64,
        });
    }
    Ok(text)
}
