//! The configuration of the emulated GPU, as flags.

use std::fs;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::gpu::config::Config;

/// Which GPU is emulated.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Emulated GPU")]
pub(super) struct GpuArgs {
    /// A named configuration: vr-pipe, orin, ampere-gpc
    #[arg(long, value_name = "NAME", default_value = "vr-pipe")]
    preset: String,
    /// A TOML file whose fields take the place of the preset's
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,
    /// One field more, after the preset and the file; may be repeated
    #[arg(long, value_name = "UNIT.FIELD=VALUE")]
    set: Vec<String>,
}

impl GpuArgs {
    /// The configuration.
    ///
    /// # Errors
    /// [`Error::Read`] when the file cannot be read, [`Error::Caller`] naming what does not fit.
    pub(super) fn config(&self) -> Result<Config> {
        let mut config = Config::preset(&self.preset)?;
        if let Some(path) = &self.config {
            let text = fs::read_to_string(path).map_err(|e| Error::read(path, e))?;
            config = config.overlaid(&text, &path.display().to_string())?;
        }
        for assignment in &self.set {
            config = config.with(assignment)?;
        }
        Ok(config)
    }
}
