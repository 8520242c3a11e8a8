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
        ("bins=3", "as in tgc.bins=3 or tc.bins=3"),
        ("tc.bin=3", "bin_size"),
        ("td.bins=3", "as in binning.bins or tc.bins or tgc.bins"),
        ("tc.bins=0", "from 1 to"),
        ("tc.bins=many", "tc.bins: expected a value of type integer"),
        ("tc.bins=-1", "integer from 0"),
        ("gpu.clock_mhz=-1", "gpu.clock_mhz: expected a value from 1.0"),
        ("zrop.feedback=slow", "zrop.feedback: expected timed or ideal"),
        ("crop.format=foo", "crop.format: expected one of rgba8, rgba16f"),
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
    assert!(error.contains("tc.bins * tc.bin_size: expected a product"), "{error}");
    let many = Config::default().with("gpu.gpcs=64").unwrap();
    let error = many.with("crop.cache_bytes=268435456").unwrap_err().to_string();
    assert!(error.contains("gpu.gpcs * crop.cache_bytes"), "{error}");
}

/// The rates are ratios, of at least a byte in 1024 cycles of the units.
#[test]
fn memories_move_a_byte_in_1024_cycles() {
    for (slow, fields) in [
        ("l2.clock_mhz=0.5", "l2.clock_mhz: expected"),
        (
            "l2.slice_bytes_per_cycle=1",
            "l2.slices * l2.slice_bytes_per_cycle * l2.clock_mhz / gpu.clock_mhz: expected at least 1/1024 byte",
        ),
        ("dram.gb_per_s=0.001", "dram.gb_per_s / gpu.clock_mhz"),
    ] {
        let config = ["l2.slices=1", "l2.clock_mhz=1", "gpu.clock_mhz=2000"];
        let with = |config: Config, assignment| config.with(assignment).unwrap();
        let config = config.into_iter().fold(Config::default(), with);
        let error = config.with(slow).unwrap_err().to_string();
        assert!(error.contains(fields), "{slow}: {error}");
    }
    for gb_per_s in [0.6, 0.9, 1.2] {
        let dram = Config::default().with(&format!("dram.gb_per_s={gb_per_s}"));
        assert!(dram.is_ok(), "{gb_per_s}");
    }
}

/// Peaks of a GPU that follow from its preset.
struct Peaks {
    preset: &'static str,
    gigapixels_per_s: f64,
    gb_per_s: f64,
    tflops: f64,
}

/// Pixels that the ROPs blend, bytes of DRAM, and multiply-adds of FP32, each within half a percent of
/// the published numbers: 32 ROPs at 1.3 GHz and 5.32 TFLOPS of the Jetson AGX Orin; 112 ROPs at 1.8 GHz,
/// 768 GB/s and 38.7 TFLOPS of the RTX A6000; a seventh of the 112 ROPs at 1.695 GHz and of the 936 GB/s of
/// the RTX 3090, and 12 of its 82 SMs of 35.6 TFLOPS; VR-Pipe's Table I.
#[test]
fn presets_have_the_published_peaks() {
    let peaks = [
        Peaks {
            preset: "vr-pipe",
            gigapixels_per_s: 16.0 * 0.612,
            gb_per_s: 102.4,
            tflops: 2.0 * 16.0 * 64.0 * 0.612e-3,
        },
        Peaks { preset: "orin", gigapixels_per_s: 32.0 * 1.3, gb_per_s: 204.8, tflops: 5.32 },
        Peaks {
            preset: "orin-30w",
            gigapixels_per_s: 32.0 * 0.612,
            gb_per_s: 102.4,
            tflops: 5.32 * 0.612 / 1.3,
        },
        Peaks {
            preset: "ampere-gpc",
            gigapixels_per_s: 112.0 * 1.695 / 7.0,
            gb_per_s: 936.0 / 7.0,
            tflops: 35.6 * 12.0 / 82.0,
        },
        Peaks { preset: "rtx-a6000", gigapixels_per_s: 112.0 * 1.8, gb_per_s: 768.0, tflops: 38.7 },
    ];
    for peak in peaks {
        let config = Config::preset(peak.preset).unwrap();
        let (gpu, cores) = (&config.gpu, &config.cores);
        let ghz = gpu.clock_mhz / 1e3;
        let pixels_per_cycle = 4.0 * config.crop.quads_per_cycle.in_cycles(1);
        let lanes = 32 / cores.issue_cycles * cores.schedulers * cores.cores;
        let near = |found: f64, published: f64| {
            let what = format!("{}: {found} instead of {published}", peak.preset);
            assert!((found / published - 1.0).abs() < 0.005, "{what}");
        };
        let gpcs = gpu.gpcs as f64;
        near(gpcs * pixels_per_cycle * ghz, peak.gigapixels_per_s);
        near(config.dram.gb_per_s, peak.gb_per_s);
        near(gpcs * lanes as f64 * 2.0 * ghz / 1e3, peak.tflops);
    }
}
