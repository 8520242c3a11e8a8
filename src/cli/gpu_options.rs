//! The configuration of the emulated GPU, as flags.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::gpu::config::{Config, PRESETS};

/// The longest configuration file, in bytes: a whole one is some 10 KB.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

/// Which GPU is emulated.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Emulated GPU")]
pub(super) struct GpuFlags {
    /// The configuration to begin with: vr-pipe (the paper's simulated GPU), orin (Jetson AGX Orin)
    /// or ampere-gpc (a cluster of a GA102)
    #[arg(long, value_name = "NAME", default_value = PRESETS[0].name)]
    pub(super) preset: String,
    /// What to change in the preset: TOML, as --config-dump prints it or any part of that; "-" for
    /// standard input
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,
    /// What to change after that; may be repeated
    #[arg(long = "set", value_name = "unit.field=value")]
    assignments: Vec<String>,
}

impl GpuFlags {
    /// The configuration: preset, then file, then assignments.
    ///
    /// # Errors
    /// [`Error::Read`] when the file cannot be read; [`Error::Caller`] naming a preset, line, field
    /// or value that does not fit.
    pub(super) fn config(&self) -> Result<Config> {
        let mut config = Config::preset(&self.preset)?;
        if let Some(path) = &self.config {
            let text = read(path)?;
            config = config.overlaid(&text, &path.display().to_string())?;
        }
        for assignment in &self.assignments {
            config = config.with(assignment)?;
        }
        Ok(config)
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
