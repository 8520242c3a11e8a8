//! Draws whose rates are measured.

use anyhow::{Result, bail};
use ash::vk;

use crate::gpu::Gpu;
use crate::target::{Draw, Stencil, Target};

/// Side in pixels of the tiles in which a sparse stencil keeps one pixel.
const TILE_PX: u32 = 16;
/// Largest number of rectangles of a draw.
const MAX_RECTANGLES: u32 = 1 << 19;
/// Masks of the pixels that a stencil keeps in the quads of three columns, as in the emulator's microbenchmark.
const MASKS: [(&str, u32); 3] = [
    ("blend-rgba16f-2-quads", 0b0011_0011_0011),
    ("blend-rgba16f-3-quads", 0b0001_0001_0011),
    ("blend-rgba16f-4-quads", 0b0001_0001_0001),
];
/// Stencil tests that kill all pixels, or all but one per tile.
const KILLS: [(&str, Stencil); 2] =
    [("stencil-kill", Stencil::Kill), ("stencil-sparse", Stencil::Sparse)];
/// Sides of small rectangles, in pixels.
const SIDES_PX: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// Sides in pixels of rectangles that lie on top of each other. In the three small ones, few quads lie between a quad and
/// the next one at the same position, so that their rates show the latency of a blend.
const STACKED_PX: [u32; 5] = [2, 4, 8, 32, 96];

/// Numbers of screen tiles on which rectangles of a quad lie in turn, and rectangles per tile (VR-Pipe, section VII-A).
const TILES: [u32; 8] = [8, 16, 24, 32, 33, 48, 64, 128];
const RECTANGLES_PER_TILE: u32 = 10;
/// Rectangles in rows whose subgroups are counted.
const COUNTED_RECTANGLES: u32 = 1024;
/// Lanes of the emulator's warps.
const WARP_LANES: u32 = 32;

/// Quantity that a rate counts.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Work {
    /// Pixels of the rectangles, in billions per second.
    Pixels {
        /// Share of the pixels that pass the stencil test.
        share: f64,
    },
    /// Rectangles, in millions per second.
    Rectangles,
    /// Subgroups that shade each rectangle on average or, of rectangles on tiles, all of them.
    Warps,
}

/// Places of the rectangles that do not cover the picture.
#[derive(Clone, Copy, PartialEq)]
enum Places {
    /// One after the other along rows, from the top again when the picture is full.
    Rows,
    /// On top of each other, at the corner of the picture.
    Stacked,
    /// At the corners of this number of screen tiles in turn.
    Tiles(u32),
}

impl Work {
    /// Unit of the rate in the output.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Pixels { .. } => "Gpixel/s",
            Self::Rectangles => "Mrectangle/s",
            Self::Warps => "count",
        }
    }
}

/// A draw whose rate is measured.
pub(crate) struct Case {
    /// Name of the case.
    pub(crate) item: String,
    /// Quantity whose rate is measured.
    pub(crate) work: Work,
    draw: Draw,
    /// Side of the rectangles in pixels; `None` if each covers the picture.
    side_px: Option<u32>,
    places: Places,
}

impl Case {
    /// All cases, in the order of the output.
    pub(crate) fn all() -> Vec<Self> {
        let whole = |item: &str, draw: Draw| Self {
            item: item.to_owned(),
            work: Work::Pixels { share: 1.0 },
            draw,
            side_px: None,
            places: Places::Rows,
        };
        let blends =
            Draw { format: Some(vk::Format::R16G16B16A16_SFLOAT), blends: true, ..Draw::default() };
        let formats = [
            ("rgba8", vk::Format::R8G8B8A8_UNORM),
            ("rgba16f", vk::Format::R16G16B16A16_SFLOAT),
            ("rgba32f", vk::Format::R32G32B32A32_SFLOAT),
        ];
        let mut cases = Vec::new();
        for (verb, blends) in [("write", false), ("blend", true)] {
            for (name, format) in formats {
                let format = Some(format);
                let draw = Draw { format, blends, ..Draw::default() };
                cases.push(whole(&format!("{verb}-{name}"), draw));
            }
        }
        for (item, kept) in MASKS {
            let draw = Draw { stencil: Stencil::Keep(kept), ..blends };
            let share = f64::from(kept.count_ones()) / 12.0;
            cases.push(Self { work: Work::Pixels { share }, ..whole(item, draw) });
        }
        let stencil = |stencil| Draw { stencil, ..Draw::default() };
        cases.push(whole("stencil-write", stencil(Stencil::Count)));
        let under = |stencil| Draw { stencil, ..blends };
        for (name, stencil) in KILLS {
            cases.push(whole(name, under(stencil)));
        }
        let [all, sparse] = KILLS;
        for (name, stencil) in [("", Stencil::Off), all, sparse] {
            for side in SIDES_PX {
                let item = format!("{name}-rectangles-{side}");
                cases.push(Self {
                    work: Work::Rectangles,
                    side_px: Some(side),
                    ..whole(item.trim_start_matches('-'), under(stencil))
                });
            }
        }
        let in_shader = |is_ordered| Draw { in_shader: Some(is_ordered), ..Draw::default() };
        for (name, draw) in [
            ("blend-rgba16f", blends),
            ("shader-blend", in_shader(false)),
            ("interlock", in_shader(true)),
        ] {
            for side in STACKED_PX {
                cases.push(Self {
                    side_px: Some(side),
                    places: Places::Stacked,
                    ..whole(&format!("{name}-stacked-{side}"), draw)
                });
            }
        }
        cases.push(whole("shader-blend", in_shader(false)));
        cases.push(whole("interlock", in_shader(true)));
        let counts = Draw { counts_warps: true, ..blends };
        for side in SIDES_PX {
            cases.push(Self {
                work: Work::Warps,
                side_px: Some(side),
                ..whole(&format!("warps-rectangles-{side}"), counts)
            });
        }
        for tiles in TILES {
            cases.push(Self {
                work: Work::Warps,
                // Both triangles of a larger rectangle cover the quad.
                side_px: Some(1),
                places: Places::Tiles(tiles),
                ..whole(&format!("warps-tiles-{tiles}"), counts)
            });
        }
        cases
    }

    /// Name of the case in the output. Subgroups that are no warps of the emulator have no counterpart there.
    pub(crate) fn item_on(&self, gpu: &Gpu) -> String {
        match (self.work, gpu.subgroup_lanes) {
            (Work::Warps, Some(lanes)) if lanes != WARP_LANES => {
                format!("other-{}-of-{lanes}-lanes", self.item)
            }
            _ => self.item.clone(),
        }
    }

    /// Returns `count` rectangles: each the whole picture, or squares in their places.
    fn rectangles(&self, size_px: u32, count: u32) -> Vec<[f32; 4]> {
        let Some(side) = self.side_px else {
            let size = size_px as f32;
            return vec![[0.0, 0.0, size, size]; count as usize];
        };
        let (step, places) = match self.places {
            Places::Rows => (side, (size_px / side).pow(2)),
            Places::Stacked => (side, 1),
            Places::Tiles(tiles) => (TILE_PX, tiles),
        };
        let across = size_px / step;
        let place = |n: u32| n % places;
        let at = |n: u32| [place(n) % across * step, place(n) / across * step, side, side];
        (0..count).map(|n| at(n).map(|px| px as f32)).collect()
    }

    /// Checks that the device draws the pixels that the rate counts.
    fn check(&self, target: &Target<'_>, size_px: u32, count: u32) -> Result<()> {
        let rectangles = self.rectangles(size_px, count);
        let tile = f64::from(TILE_PX);
        // Tiles whose first pixels lie in the range.
        let firsts = |from: f32, length: f32| {
            let [from, to] = [from, from + length].map(|at| (f64::from(at) / tile).ceil());
            to - from
        };
        let passing = |&[x, y, width, height]: &[f32; 4]| match (self.draw.stencil, self.work) {
            (Stencil::Kill, _) => 0.0,
            (Stencil::Sparse, _) => firsts(x, width) * firsts(y, height),
            (_, Work::Pixels { share }) => f64::from(width * height) * share,
            (_, Work::Rectangles | Work::Warps) => f64::from(width * height),
        };
        let expected: f64 = rectangles.iter().map(passing).sum();
        let found = target.passing(&rectangles)? as f64;
        if (found - expected).abs() > 0.5 {
            bail!("expected {expected} pixels that pass the stencil test, found {found}");
        }
        Ok(())
    }

    /// Number of subgroups of the draw, for all rectangles or for each.
    fn warps(&self, target: &Target<'_>, size_px: u32) -> Result<f64> {
        let (count, counted) = match self.places {
            Places::Tiles(tiles) => (tiles * RECTANGLES_PER_TILE, 1),
            _ => (COUNTED_RECTANGLES, COUNTED_RECTANGLES),
        };
        self.check(target, size_px, count)?;
        Ok(f64::from(target.warps(&self.rectangles(size_px, count))?) / f64::from(counted))
    }

    /// Measures the rate of the draw, in the unit of its work.
    pub(crate) fn measure(
        &self,
        gpu: &Gpu,
        size_px: u32,
        least_ms: f64,
        repeats: usize,
    ) -> Result<f64> {
        let target = Target::new(gpu, &self.draw, size_px)?;
        if self.work == Work::Warps {
            return self.warps(&target, size_px);
        }
        let least = if self.side_px.is_some() { 64 } else { 2 };
        self.check(&target, size_px, least)?;
        let mut count = least;
        let seconds = loop {
            let times = |count| {
                let times = target.times_ms(&self.rectangles(size_px, count), repeats);
                times.map(median)
            };
            let first = times(count)?;
            let is_last = count * 4 > MAX_RECTANGLES;
            if first >= least_ms || is_last {
                let second = times(2 * count)?;
                if second > first {
                    break (second - first) / 1e3;
                }
                if is_last {
                    bail!("{count} more rectangles took no time: {first} ms and {second} ms");
                }
            }
            count *= 2;
        };
        Ok(match self.work {
            Work::Pixels { share } => {
                let side = f64::from(self.side_px.unwrap_or(size_px));
                let pixels = side.powi(2) * f64::from(count) * share;
                pixels / seconds / 1e9
            }
            Work::Rectangles | Work::Warps => f64::from(count) / seconds / 1e6,
        })
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
