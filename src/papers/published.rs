//! Numbers that the VR-Pipe paper states in its text, each once and with its place, and the few constants of its
//! Figure 1. Bars without a number in the text are not among them.

use serde::Serialize;

/// How a published number relates to the quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Statistic {
    /// Mean over scenes.
    Mean,
    /// Largest value of any scene.
    Maximum,
    /// Every scene lies below.
    Below,
    /// Every scene lies above.
    Above,
    /// A single value.
    Value,
}

impl Statistic {
    /// Name of the statistic in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Maximum => "maximum",
            Self::Below => "all below",
            Self::Above => "all above",
            Self::Value => "value",
        }
    }
}

/// A published number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Published {
    /// Figure or table, such as `fig16`.
    #[serde(skip)]
    pub(crate) figure: &'static str,
    /// Quantity, unique with the statistic within the figure.
    pub(crate) quantity: &'static str,
    /// Relation of the number to the quantity.
    pub(crate) statistic: Statistic,
    /// Published value.
    pub(crate) value: f64,
    /// Unit of the number.
    pub(crate) unit: &'static str,
    /// Section that states it.
    pub(crate) place: &'static str,
}

/// Creates a published number.
pub(crate) const fn published(
    figure: &'static str,
    quantity: &'static str,
    statistic: Statistic,
    value: f64,
    unit: &'static str,
    place: &'static str,
) -> Published {
    Published {
        figure,
        quantity,
        statistic,
        value,
        unit,
        place,
    }
}

use Statistic::{Above, Below, Maximum, Mean, Value};

/// All published numbers, by figure.
pub(crate) const PUBLISHED: [Published; 43] = [
    published(
        "fig5",
        "frames per second of hardware, Orin, real scenes",
        Below,
        25.0,
        "1/s",
        "III-A",
    ),
    published(
        "fig9",
        "lanes of a warp that blend",
        Below,
        0.4,
        "share",
        "III-B",
    ),
    published(
        "fig11",
        "alpha at which a pixel terminates",
        Value,
        0.996,
        "alpha",
        "IV-B",
    ),
    published(
        "fig14",
        "quads that the reorder unit examines",
        Value,
        128.0,
        "quads",
        "V-C",
    ),
    published(
        "fig14",
        "registers of relative quad locations",
        Value,
        64.0,
        "registers",
        "V-C",
    ),
    published("table1", "GPCs", Value, 1.0, "", "Table I"),
    published("table1", "SIMT cores", Value, 16.0, "", "Table I"),
    published("table1", "lanes per SIMT core", Value, 64.0, "", "Table I"),
    published(
        "table1",
        "warp schedulers per SIMT core",
        Value,
        4.0,
        "",
        "Table I",
    ),
    published("table1", "clock", Value, 612.0, "MHz", "Table I"),
    published("table1", "first-level cache", Value, 48.0, "KB", "Table I"),
    published("table1", "L2", Value, 4096.0, "KB", "Table I"),
    published("table1", "CROP cache", Value, 16.0, "KB", "Table I"),
    published(
        "table1",
        "side of a tile grid",
        Value,
        64.0,
        "px",
        "Table I",
    ),
    published("table1", "TGC bins", Value, 128.0, "", "Table I"),
    published(
        "table1",
        "TGC bin size",
        Value,
        16.0,
        "primitives",
        "Table I",
    ),
    published("table1", "TC bins", Value, 32.0, "", "Table I"),
    published("table1", "TC bin size", Value, 128.0, "quads", "Table I"),
    published(
        "table1",
        "quads that CROP blends per cycle",
        Value,
        2.0,
        "1/cycle",
        "Table I",
    ),
    published(
        "table1",
        "DRAM bandwidth, 16 channels of LPDDR3-1600",
        Value,
        102.4,
        "GB/s",
        "Table I",
    ),
    published(
        "table2",
        "splats in view",
        Below,
        900_000.0,
        "splats",
        "VI-A",
    ),
    published("fig16", "speedup of QM", Maximum, 1.49, "times", "VI-B"),
    published("fig16", "speedup of HET", Mean, 1.80, "times", "VI-B"),
    published("fig16", "speedup of HET+QM", Mean, 2.07, "times", "VI-B"),
    published(
        "fig16",
        "speedup of HET+QM",
        Maximum,
        2.78,
        "times",
        "abstract",
    ),
    published("fig18", "fragments, HET", Mean, 2.52, "times", "VI-C"),
    published(
        "fig18",
        "fragments, QM on top of HET",
        Mean,
        1.30,
        "times",
        "VI-C",
    ),
    published("fig18", "quads, HET", Mean, 1.90, "times", "VI-C"),
    published(
        "fig18",
        "quads, QM on top of HET",
        Mean,
        1.32,
        "times",
        "VI-C",
    ),
    published(
        "fig17",
        "VR-Pipe over software",
        Mean,
        2.05,
        "times",
        "VI-B",
    ),
    published(
        "fig17",
        "VR-Pipe over hardware",
        Mean,
        1.60,
        "times",
        "VI-B",
    ),
    published("fig17", "share of the raster", Above, 0.7, "share", "VI-B"),
    published("fig19", "energy efficiency", Mean, 1.65, "times", "VI-D"),
    published("fig19", "energy efficiency", Maximum, 2.15, "times", "VI-D"),
    published(
        "table3",
        "tile-grid coalescing",
        Value,
        24.25,
        "KB",
        "Table III",
    ),
    published("table3", "quad reordering", Value, 688.0, "B", "Table III"),
    published("table3", "total", Value, 24.92, "KB", "Table III"),
    published(
        "fig20",
        "capacity of the CROP cache",
        Value,
        16.0,
        "KB",
        "VII-A",
    ),
    published(
        "fig20",
        "pixels per cycle, RGBA8",
        Value,
        16.0,
        "px/cycle",
        "VII-A",
    ),
    published(
        "fig20",
        "pixels per cycle, RGBA16F",
        Value,
        8.0,
        "px/cycle",
        "VII-A",
    ),
    published("fig20", "tile bins", Value, 32.0, "bins", "VII-A"),
    published(
        "fig21",
        "early termination ratio, mean of a scene",
        Above,
        1.5,
        "times",
        "VII-B",
    ),
    published(
        "fig21",
        "early termination ratio, any view",
        Maximum,
        4.4,
        "times",
        "VII-B",
    ),
];

/// A number of the paper that its means imply.
pub(crate) struct Derived {
    /// Share of the hardware frame that is not raster.
    pub(crate) not_raster: f64,
    /// Software frames per hardware frame.
    pub(crate) software_over_hardware: f64,
}

/// Numbers that follow from the published speedups of draws and frames: with a share r of raster, a speedup s
/// of the draw makes the frame 1 / (1 - r + r / s) times as fast.
pub(crate) fn derived() -> Derived {
    let of = |figure, quantity| mean(figure, quantity).unwrap_or(f64::NAN);
    let draw = of("fig16", "speedup of HET+QM");
    let hardware = of("fig17", "VR-Pipe over hardware");
    let raster = (1.0 - 1.0 / hardware) / (1.0 - 1.0 / draw);
    Derived {
        not_raster: 1.0 - raster,
        software_over_hardware: of("fig17", "VR-Pipe over software") / hardware,
    }
}

/// The published numbers of a figure.
pub(crate) fn of_figure(figure: &str) -> impl Iterator<Item = &'static Published> {
    let figure = figure.to_owned();
    PUBLISHED.iter().filter(move |p| p.figure == figure)
}

/// A published number of a figure.
pub(crate) fn number(figure: &str, quantity: &str, statistic: Statistic) -> Option<f64> {
    let mut all = of_figure(figure);
    let found = all.find(|p| p.quantity == quantity && p.statistic == statistic);
    found.map(|p| p.value)
}

/// A published mean of a figure.
pub(crate) fn mean(figure: &str, quantity: &str) -> Option<f64> {
    number(figure, quantity, Mean)
}

/// A desktop GPU of Figure 1.
pub(crate) struct DesktopGpu {
    /// Name of the product.
    pub(crate) name: &'static str,
    /// Year of its release.
    pub(crate) year: u32,
    /// Shader cores (lanes of 32 bits).
    pub(crate) cores: u32,
    /// Render output units.
    pub(crate) rops: u32,
}

/// The largest GeForce of each generation. The paper draws such a series without numbers in its text; these are
/// NVIDIA's specifications.
pub(crate) const DESKTOP_GPUS: [DesktopGpu; 5] = [
    DesktopGpu {
        name: "GTX 980 Ti",
        year: 2015,
        cores: 2816,
        rops: 96,
    },
    DesktopGpu {
        name: "GTX 1080 Ti",
        year: 2017,
        cores: 3584,
        rops: 88,
    },
    DesktopGpu {
        name: "RTX 2080 Ti",
        year: 2018,
        cores: 4352,
        rops: 88,
    },
    DesktopGpu {
        name: "RTX 3090",
        year: 2020,
        cores: 10_496,
        rops: 112,
    },
    DesktopGpu {
        name: "RTX 4090",
        year: 2022,
        cores: 16_384,
        rops: 176,
    },
];

/// A scene of Table II.
pub(crate) struct PaperScene {
    /// Name of the scene.
    pub(crate) name: &'static str,
    /// Width and height of its pictures in pixels.
    pub(crate) size: [u32; 2],
    /// Splats in thousands.
    pub(crate) thousands: u32,
    /// Kind of scene.
    pub(crate) kind: &'static str,
}

/// Table II of the paper.
pub(crate) const PAPER_SCENES: [PaperScene; 6] = [
    PaperScene {
        name: "Kitchen",
        size: [1552, 1040],
        thousands: 1850,
        kind: "indoor",
    },
    PaperScene {
        name: "Bonsai",
        size: [1552, 1040],
        thousands: 1240,
        kind: "indoor",
    },
    PaperScene {
        name: "Train",
        size: [980, 545],
        thousands: 1030,
        kind: "outdoor",
    },
    PaperScene {
        name: "Truck",
        size: [979, 546],
        thousands: 2540,
        kind: "outdoor",
    },
    PaperScene {
        name: "Lego",
        size: [800, 800],
        thousands: 358,
        kind: "synthetic",
    },
    PaperScene {
        name: "Palace",
        size: [800, 800],
        thousands: 327,
        kind: "synthetic",
    },
];

/// The large scenes of Figure 23: name, and splats in thousands (VII-C).
pub(crate) const LARGE_SCENES: [(&str, u32); 2] = [("Building", 9060), ("Rubble", 5210)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_name_of_its_own() {
        for (at, one) in PUBLISHED.iter().enumerate() {
            let same = |p: &&Published| {
                (p.figure, p.quantity, p.statistic) == (one.figure, one.quantity, one.statistic)
            };
            assert!(PUBLISHED[..at].iter().find(same).is_none(), "{one:?}");
        }
    }

    /// 1 / (0.275 + 0.725 / 2.07) = 1.60; 2.05 / 1.60 = 1.28.
    #[test]
    fn derived_numbers_follow_from_the_means() {
        let derived = derived();
        assert!(
            (derived.not_raster - 0.275).abs() < 5e-4,
            "{}",
            derived.not_raster
        );
        assert!((derived.software_over_hardware - 1.28).abs() < 5e-3);
    }

    /// Table III: (4 B * 3 * 16 + 2 B) * 128 = 24.25 KB, and (4 B + 6 bits) * 128 + 64 B + 16 B = 688 B.
    #[test]
    fn storage_adds_up() {
        let of = |quantity| number("table3", quantity, Value).unwrap();
        assert_eq!(
            of("tile-grid coalescing") * 1024.0,
            f64::from((4 * 3 * 16 + 2) * 128)
        );
        assert_eq!(
            of("quad reordering"),
            f64::from(4 * 128 + 6 * 128 / 8 + 64 + 16)
        );
        let total = of("tile-grid coalescing") + of("quad reordering") / 1024.0;
        assert!((total - of("total")).abs() < 0.005);
    }
}
