//! Configurations as TOML, with the meaning and source of each field.

use std::fmt::Write;

use crate::gpu::config::{Config, PRESETS};
#[cfg(feature = "cli")]
use crate::mesh::pipeline::MeshConfig;
use crate::pipeline::spec::{Field, Source};

/// Formats a configuration that is based on `preset` as TOML with the meaning, default value and source
/// of each field. [`Config::overlaid`] reads it.
#[must_use]
pub fn toml(config: &Config, preset: &str) -> String {
    text(&config.fields(), &Config::default().fields(), preset, "sim")
}

/// Formats the configuration of the mesh path, its own units after those of the emulated GPU.
#[cfg(feature = "cli")]
pub(crate) fn mesh_toml(config: &MeshConfig, preset: &str) -> String {
    let default = MeshConfig::default().fields();
    text(&config.fields(), &default, preset, "mesh --cycles")
}

fn text(fields: &[Field], defaults: &[Field], preset: &str, command: &str) -> String {
    let mut text = format!(
        "# Configuration of the emulated graphics pipeline; `quadrille {command} --config FILE` reads it.\n\
         # \"source:\" names what states a default, \"assumption:\" why a value was chosen that nothing \
         states.\n",
    );
    for preset in PRESETS.iter().filter(|p| p.name == preset) {
        let _ = writeln!(text, "# Preset {}: {}.", preset.name, preset.about);
    }
    let mut table = "";
    for (field, default) in fields.iter().zip(defaults) {
        let Some((unit, name)) = field.name.split_once('.') else {
            continue;
        };
        if unit != table {
            let _ = write!(text, "\n[{unit}]\n");
            table = unit;
        }
        let source = match field.source {
            Source::Published(source) => format!("source: {source}"),
            Source::Assumed(reason) => format!("assumption: {reason}"),
        };
        let (meaning, default) = (field.meaning, &default.value);
        let _ = writeln!(text, "# {meaning} Default {default}; {source}.");
        let _ = writeln!(text, "{name} = {}", field.value);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_reads_back_and_dumps_the_same() {
        for preset in PRESETS {
            let config = Config::preset(preset.name).unwrap();
            let text = toml(&config, preset.name);
            let read = Config::default().overlaid(&text, "dump").unwrap();
            assert_eq!(read, config);
            assert_eq!(toml(&read, preset.name), text);
        }
    }

    #[test]
    fn a_dump_of_the_mesh_path_reads_back() {
        let config = MeshConfig::default();
        let config = config.with("qfm.quads_per_cycle=2").unwrap();
        let config = config.with("l2.bytes=1048576").unwrap();
        let text = mesh_toml(&config, "vr-pipe");
        assert_eq!(
            MeshConfig::default().overlaid(&text, "dump").unwrap(),
            config
        );
        assert!(text.contains("[qfm]") && text.contains("[l2]"));
    }

    #[test]
    fn every_field_is_explained() {
        let text = toml(&Config::preset("orin").unwrap(), "orin");
        let lines: Vec<_> = text.lines().collect();
        let mut fields = 0;
        for pair in lines.windows(2) {
            if !pair[1].starts_with('#') && pair[1].contains(" = ") {
                fields += 1;
                assert!(pair[0].starts_with("# "), "{pair:?}");
                assert!(
                    pair[0].contains("source: ") || pair[0].contains("assumption: "),
                    "{pair:?}"
                );
            }
        }
        assert_eq!(fields, Config::default().fields().len());
        assert!(text.contains("# Preset orin: Jetson AGX Orin"));
        assert!(text.contains("Default 612.0; source: VR-Pipe Table I.\nclock_mhz = 1300.0"));
    }
}
