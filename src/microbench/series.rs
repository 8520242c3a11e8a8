//! Series of measurements for VR-Pipe's Figure 20, and of the tile bins of its section VII-A.

use rayon::prelude::*;

use super::{crop_footprint, pixels_per_clock, quads_per_pixel, tile_bins};
use quadrille_base::shading::ColourFormat;
use quadrille_gpu::config::Config;

/// Width and height of the rectangles in pixels: 0.5 to 8 KB of RGBA16F.
const SIZES: [[u32; 2]; 5] = [[8, 8], [8, 16], [16, 16], [16, 32], [32, 32]];
const SEEDS: u64 = 12;
/// Side in pixels of a cache line of RGBA16F, which has 4x4 pixels.
const LINE_PX: u32 = 4;
const MOST_TILES: u32 = 48;

/// The measurements on one GPC.
#[derive(Debug, Clone, PartialEq)]
pub struct GpcSeries {
    /// Bytes of a rectangle, and bytes that are drawn at random positions without a read from the L2.
    pub footprints: Vec<[u64; 2]>,
    /// As `footprints`, at random multiples of the side of a cache line.
    pub line_footprints: Vec<[u64; 2]>,
    /// As `footprints`, at positions side by side.
    pub aligned_footprints: Vec<[u64; 2]>,
    /// Name of a colour format, and pixels blended per cycle.
    pub pixels_per_cycle: Vec<(&'static str, f64)>,
    /// Quads per pixel, and time relative to a quarter quad per pixel.
    pub times_by_quads: Vec<(&'static str, f64)>,
    /// Number of screen tiles, and number of warps when ten rectangles are drawn on each, round robin.
    pub warps_by_tiles: Vec<[u64; 2]>,
}

impl GpcSeries {
    /// Runs all series on one GPC of `config`, in parallel on rayon's current pool.
    pub fn measure(config: &Config) -> Self {
        let mut config = config.clone();
        config.gpu.gpcs = 1;
        let [footprints, line_footprints] = [1, LINE_PX].map(|step| {
            let footprints = SIZES.into_par_iter().flat_map_iter(|size| {
                let config = &config;
                (0..SEEDS).map(move |seed| {
                    let drawn = crop_footprint::random_footprint(config, seed, size, step);
                    [crop_footprint::bytes(size), drawn]
                })
            });
            footprints.collect()
        });
        let aligned = SIZES.map(|size| {
            [crop_footprint::bytes(size), crop_footprint::aligned_footprint(&config, size)]
        });
        let formats = [ColourFormat::Rgba8, ColourFormat::Rgba16F, ColourFormat::Rgba32F];
        let rate = |format| pixels_per_clock::pixels_per_cycle(&config, format);
        let tiles = (1..=MOST_TILES).into_par_iter();
        let warps =
            tiles.map(|tiles| [u64::from(tiles), tile_bins::warps_on(&config, tiles, None)]);
        let quarter = [("1/4", 1.0)].into_iter();
        Self {
            footprints,
            line_footprints,
            aligned_footprints: aligned.to_vec(),
            pixels_per_cycle: formats.map(|f| (f.name(), rate(f))).to_vec(),
            times_by_quads: quarter.chain(quads_per_pixel::times(&config)).collect(),
            warps_by_tiles: warps.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The measured GPU: 16 KB, 16 and 8 pixels per cycle, time by quads, 32 bins.
    #[test]
    fn series_agree_with_the_paper() {
        let series = GpcSeries::measure(&Config::default());
        let held = series.footprints.iter().map(|[_, held]| *held);
        assert!(held.clone().max() <= Some(16_384) && held.min() > Some(0));
        // A rectangle of 8x16 pixels covers 8 lines at multiples of 4 pixels, and up to 15 elsewhere.
        let held_of_1_kb = |footprints: &[[u64; 2]]| {
            footprints.iter().filter(|[size, _]| *size == 1024).map(|[_, held]| *held).max()
        };
        assert_eq!(held_of_1_kb(&series.line_footprints), Some(16_384));
        assert!(held_of_1_kb(&series.footprints) < Some(12_288));
        let aligned = series.aligned_footprints.iter().map(|[_, held]| *held);
        assert_eq!(aligned.max(), Some(16_384));
        let rates: Vec<f64> = series.pixels_per_cycle.iter().map(|(_, r)| r.round()).collect();
        assert_eq!(rates, [16.0, 8.0, 4.0]);
        let times: Vec<f64> = series.times_by_quads.iter().map(|(_, t)| t.round()).collect();
        assert_eq!(times, [1.0, 2.0, 3.0, 4.0]);
        let warps = |tiles: usize| series.warps_by_tiles[tiles - 1][1];
        assert_eq!((warps(32), warps(33)), (64, 330));
    }
}
