//! Configurations: presets, assignments, bounds.

use quadrille::gpu::config::{Config, PRESETS};

#[test]
fn presets_and_dumps_read_back() {
    for preset in PRESETS {
        let config = Config::preset(preset.name).unwrap();
        config.validate().unwrap();
        let text = toml::to_string(&config).unwrap();
        assert_eq!(Config::default().overlaid(&text, "dump").unwrap(), config);
    }
    assert_eq!(Config::preset("vr-pipe").unwrap(), Config::default());
}

#[test]
fn assignments_change_one_field_and_are_checked() {
    let config = Config::default();
    assert_eq!(config.with("tc.bins=4").unwrap().tc.bins, 4);
    assert_eq!(config.with("l2.bytes=1e6").unwrap().l2.bytes, 1_000_000);
    assert!((config.with("gpu.clock_mhz=1000").unwrap().gpu.clock_mhz - 1000.0).abs() < 1e-9);
    for (wrong, said) in [
        ("tc.bins", "unit.field=value"),
        ("bins=3", "unit.field=value"),
        ("tc.bin=3", "bin_size"),
        ("td.bins=3", "a unit"),
        ("tc.bins=0", "from 1 to"),
        ("tc.bins=many", "tc.bins: expected a value of type integer"),
        ("tc.bins=-1", "integer from 0"),
        (
            "gpu.clock_mhz=-1",
            "gpu.clock_mhz: expected a value from 1.0",
        ),
        (
            "zrop.feedback=slow",
            "zrop.feedback: expected timed or ideal",
        ),
        (
            "crop.format=foo",
            "crop.format: expected one of rgba8, rgba16f",
        ),
        ("dram.gb_per_s=0", "dram.gb_per_s: expected"),
    ] {
        let error = config.with(wrong).unwrap_err().to_string();
        assert!(error.contains(said), "{wrong}: {error}");
    }
}

#[test]
fn sizes_are_bounded_together() {
    let bins = Config::default().with("tc.bins=65536").unwrap();
    let error = bins.with("tc.bin_size=65536").unwrap_err().to_string();
    assert!(
        error.contains("tc.bins * tc.bin_size: expected a product"),
        "{error}"
    );
    let many = Config::default().with("gpu.gpcs=64").unwrap();
    let error = many
        .with("crop.cache_bytes=268435456")
        .unwrap_err()
        .to_string();
    assert!(error.contains("gpu.gpcs * crop.cache_bytes"), "{error}");
}
