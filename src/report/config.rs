//! A configuration as TOML that reads back, each field with its meaning and source.

use std::fmt::Write;

use crate::gpu::config::{Config, PRESETS};
use crate::pipeline::spec::Source;

/// The whole configuration, which began as `preset`. The source that a field names is its default's,
/// so that stands there as well.
#[must_use]
pub fn toml(config: &Config, preset: &str) -> String {
    let mut text = String::from(
        "# Configuration of the emulated graphics pipeline; `quadrille sim --config FILE` reads it.\n\
         # \"source:\" names what states a default, \"assumption:\" why a value was chosen that nothing \
         states.\n",
    );
    for preset in PRESETS.iter().filter(|p| p.name == preset) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# Preset {}: {}.", preset.name, preset.about);
    }
    let mut table = "";
    let fields = config.fields();
    let defaults = Config::default().fields();
    for (field, default) in fields.iter().zip(&defaults) {
        let Some((unit, name)) = field.name.split_once('.') else {
            continue;
        };
        // Writing to a string cannot fail.
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

    /// Every field has a line with its source before it.
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
