//! Configurations as TOML, with the meaning and source of each field.

use std::fmt::Write;

use quadrille_gpu::config::{Config, PRESETS};
use quadrille_machine::{Field, Source};
use quadrille_mesh_pipeline::MeshConfig;

/// Formats a configuration that is based on `preset` as TOML with the meaning, default value and source
/// of each field. [`Config::overlaid`] reads it.
pub fn toml(config: &Config, preset: &str) -> String {
    let defaults = config.extended(PRESETS[0].name).unwrap_or_default();
    text(&config.fields(), &defaults.fields(), preset, "sim")
}

/// Formats the configuration of the mesh path, its own units after the units of the emulated GPU.
pub fn mesh_toml(config: &MeshConfig, preset: &str) -> String {
    text(&config.fields(), &MeshConfig::default().fields(), preset, "mesh --cycles")
}

fn text(fields: &[Field], defaults: &[Field], preset: &str, command: &str) -> String {
    let mut text = format!(
        "# Configuration of the emulated graphics pipeline; `quadrille {command} --config FILE` reads it.\n\
         # \"source:\" cites the publication of a default, \"assumption:\" gives the reason for an unpublished \
         value,\n# \"calibrated against:\" names the published result that the value makes possible.\n",
    );
    for preset in PRESETS.iter().filter(|p| p.name == preset) {
        let _ = writeln!(text, "# Preset {}: {}.", preset.name, preset.about);
    }
    let mut table = "";
    for (field, default) in fields.iter().zip(defaults) {
        let Some((unit, name)) = field.name.split_once('.') else { continue };
        if unit != table {
            let _ = write!(text, "\n[{unit}]\n");
            table = unit;
        }
        let source = match field.source {
            Source::Published(source) => format!("source: {source}"),
            Source::Assumed(reason) => format!("assumption: {reason}"),
            Source::Calibrated(result) => format!("calibrated against: {result}"),
        };
        let (meaning, default) = (field.meaning, &default.value);
        let _ = writeln!(text, "# {meaning} Default {default}; {source}.");
        let _ = writeln!(text, "{name} = {}", field.value);
    }
    text
}
