//! Channels: any number of values per splat, including negative ones, blended with the weights of the colours.
//!
//! Splats are projected and listed once. Tiles are drawn in passes of four channels: three colours and a layer.

use fearless_simd::{Simd, f32x16, prelude::*};
use rayon::prelude::*;

use super::bin::TileGrid;
use super::channel_spread::{ChannelSpread, SPREAD_CHANNELS};
use super::clock::Clock;
use super::layer_sink::{BlendedLanes, LayerSink};
use super::layers::LEAST_ALPHA;
use super::renderer::Renderer;
use super::runs::BATCH;
use super::tile::{BLOCK_PX, TILE_BLOCKS, TILE_PX, Tile, TileArea};
use super::tile_layers::{BLOCKS, FloatLanes, accumulate};
use super::tile_rows::{area_of_tile, rows_by_tile, strips};
use super::{Counts, RenderSettings, RenderTimes, raster};
use crate::preprocess::{ProjectedSplat, SplatSource};
use quadrille_base::{Error, Result, Task};
use quadrille_scene::Camera;

/// Channels per pass: three in place of the colours, and one layer.
const PASS: usize = 4;

/// Values per splat that are blended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ChannelValues<'a> {
    /// No values, for a picture of the depth alone.
    None,
    /// Colours of the splats as seen from the camera: red, green, blue.
    Colours,
    /// Arbitrary finite values, one row per splat.
    Rows {
        /// Values of all splats, row by row.
        values: &'a [f32],
        /// Values per splat, at least 1.
        channels: usize,
    },
}

/// Depth of a pixel, in world units along the line of sight; 0 where nothing is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelDepth {
    /// Sum of the splats' depths times their weights.
    Sum,
    /// The sum divided by alpha, with alpha at least 1e-10.
    Mean,
}

/// Channels of a picture: the values, the depth, and the spread of the last of these.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChannelSettings<'a> {
    /// Values of the first channels.
    pub values: ChannelValues<'a>,
    /// Kind of depth in the last channel; `None` for no depth.
    pub depth: Option<ChannelDepth>,
    /// Background of each channel of the values, weighted by 1 minus alpha; `None` for zeros.
    pub background: Option<&'a [f32]>,
    /// Whether two channels follow, as in gsplat's 2D Gaussians: the value of the last channel at the last fragment with more
    /// than half of the light in front of it, 0 without fragments; and the sum over all pairs of fragments of twice the
    /// product of their weights and of how much larger the value of the farther one is.
    pub has_spread: bool,
}

/// Number per pixel beside the channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PixelLight {
    Alpha,
    /// 1 minus alpha, before it is rounded.
    Transmittance,
}

/// Output buffers for a picture of channels.
#[derive(Debug)]
pub struct ChannelPicture<'a> {
    /// Channels of every pixel, row by row.
    pub values: &'a mut [f32],
    /// Alpha of every pixel, row by row.
    pub alphas: &'a mut [f32],
}

/// Counters and times of a rendered picture of channels.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct ChannelCounts {
    /// Counters of the frame; fragments are counted once for all channels.
    pub counts: Counts,
    /// Splats in view that were left out because a value of their row is not finite.
    pub invalid_rows: u64,
    /// Wall-clock times of the stages.
    pub times: RenderTimes,
}

/// Checks the length of an array of numbers.
pub(crate) fn check_length(what: &str, expected: usize, found: usize) -> Result<()> {
    Error::refuse_if(expected != found, what, format_args!("{expected} numbers"), found)
}

impl ChannelSettings<'_> {
    /// Number of channels without depth.
    pub(crate) fn value_channels(&self) -> usize {
        match self.values {
            ChannelValues::None => 0,
            ChannelValues::Colours => 3,
            ChannelValues::Rows { channels, .. } => channels,
        }
    }

    /// Number of channels that are blended: the values and the depth.
    pub(super) fn blended_channels(&self) -> usize {
        self.value_channels() + usize::from(self.depth.is_some())
    }

    /// Number of channels of the picture.
    pub fn channels(&self) -> usize {
        self.blended_channels() + if self.has_spread { SPREAD_CHANNELS } else { 0 }
    }

    /// Checks the lengths of the values and of the background.
    pub(crate) fn check_inputs(&self, splats: usize) -> Result<()> {
        if self.blended_channels() == 0
            || matches!(self.values, ChannelValues::Rows { channels: 0, .. })
        {
            return Err(Error::argument("channels", "at least 1", "0"));
        }
        if let ChannelValues::Rows { values, channels } = self.values {
            check_length("values", splats.saturating_mul(channels), values.len())?;
        }
        match self.background {
            Some(background) => check_length("background", self.value_channels(), background.len()),
            None => Ok(()),
        }
    }

    fn check(&self, splats: usize, camera: &Camera, picture: &ChannelPicture<'_>) -> Result<()> {
        self.check_inputs(splats)?;
        let pixels = camera.width as usize * camera.height as usize;
        check_length("alphas", pixels, picture.alphas.len())?;
        check_length("picture", pixels.saturating_mul(self.channels()), picture.values.len())
    }

    /// Channel `channel` of a splat; 0 beyond the last.
    #[inline(always)]
    pub(super) fn value(&self, splat: &ProjectedSplat, channel: usize) -> f32 {
        let values = match &self.values {
            ChannelValues::None => &[],
            ChannelValues::Colours => &splat.colour[..],
            ChannelValues::Rows { values, channels } => {
                &values[splat.index as usize * channels..][..*channels]
            }
        };
        match values.get(channel) {
            Some(value) => *value,
            None if channel == values.len() && self.depth.is_some() => splat.depth,
            None => 0.0,
        }
    }
}

impl Renderer {
    /// Renders channels into `picture`. Colours without other channels give the numbers of [`Self::render_into`].
    ///
    /// ```
    /// use quadrille_base::Task;
    /// use quadrille_render::cpu::channels::{ChannelDepth, ChannelPicture, ChannelSettings, ChannelValues};
    /// use quadrille_render::cpu::{RenderSettings, Renderer};
    /// use quadrille_render::preprocess::SplatRows;
    /// use quadrille_render::synth::{Recipe, Synthetic};
    ///
    /// let scene = Synthetic::new(Recipe::Object, 1, 1000, 0)?;
    /// let (arrays, camera) = (scene.splats().to_arrays(), scene.cameras()[0].resized(64, 36)?);
    /// let rows = SplatRows::new(arrays.as_slices(), 0)?;
    /// let values = ChannelValues::Rows { values: &[0.5; 8000], channels: 8 };
    /// let depth = Some(ChannelDepth::Mean);
    /// let channels = ChannelSettings { values, depth, background: None, has_spread: false };
    /// let (mut values, mut alphas) = (vec![0.0; 64 * 36 * 9], vec![0.0; 64 * 36]);
    /// let mut picture = ChannelPicture { values: &mut values, alphas: &mut alphas };
    /// let (settings, mut renderer) = (RenderSettings::default(), Renderer::default());
    /// renderer.render_channels(&rows, &camera, &settings, &channels, &mut picture, &Task::NEVER)?;
    /// assert!(renderer.drawn().all(|(splat, bounds)| splat.opacity() > 0.0 && bounds.x0 <= bounds.x1));
    /// # Ok::<(), quadrille_base::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] if the length of an array is wrong; [`Error::Cancelled`], with an unspecified picture.
    pub fn render_channels<S: SplatSource + ?Sized>(
        &mut self,
        splats: &S,
        camera: &Camera,
        settings: &RenderSettings,
        channels: &ChannelSettings<'_>,
        picture: &mut ChannelPicture<'_>,
        task: &Task,
    ) -> Result<ChannelCounts> {
        self.render_light(splats, camera, settings, channels, picture, PixelLight::Alpha, task)
    }

    /// Renders as [`Self::render_channels`], with `light` in place of the alphas.
    #[allow(
        clippy::too_many_arguments,
        reason = "the arguments of the public function, and one more"
    )]
    pub(super) fn render_light<S: SplatSource + ?Sized>(
        &mut self,
        splats: &S,
        camera: &Camera,
        settings: &RenderSettings,
        channels: &ChannelSettings<'_>,
        picture: &mut ChannelPicture<'_>,
        light: PixelLight,
        task: &Task,
    ) -> Result<ChannelCounts> {
        channels.check(splats.len(), camera, picture)?;
        settings.check(camera)?;
        let mut clock = Clock::start();
        let (profile, level) = (&settings.profile, Some(settings.level));
        self.projected.run(splats, camera, profile, level, task);
        task.check()?;
        let mut invalid_rows = 0;
        if let ChannelValues::Rows { values, channels } = channels.values {
            let row = |index: u32| &values[index as usize * channels..][..channels];
            let is_valid = |index| row(index).iter().all(|value| value.is_finite());
            invalid_rows = self.projected.retain(is_valid);
        }
        clock.lap(|times| &mut times.preprocess);
        let fragments_blended =
            self.raster_channels(camera, settings, (channels, light), picture, &mut clock, task);
        task.check()?;
        Ok(ChannelCounts {
            counts: self.counts(fragments_blended),
            invalid_rows,
            times: clock.stop(),
        })
    }

    fn raster_channels(
        &mut self,
        camera: &Camera,
        settings: &RenderSettings,
        (channels, light): (&ChannelSettings<'_>, PixelLight),
        picture: &mut ChannelPicture<'_>,
        clock: &mut Clock,
        task: &Task,
    ) -> u64 {
        let size = [camera.width, camera.height];
        let grid = TileGrid::new(size[0], size[1]);
        let (width, count) = (size[0], channels.channels());
        let mut values = strips(picture.values, width, count);
        let mut alphas = strips(picture.alphas, width, 1);
        self.each_band(grid, settings, clock, task, |listed, band| {
            let rows = band.rows_in(grid);
            let strips = values[rows.clone()].par_iter_mut().zip(&mut alphas[rows]);
            let drawn = strips.with_max_len(1).enumerate().map(|(row, (values, alphas))| {
                let mut values = rows_by_tile(values, width, count, band.row());
                let mut alphas = rows_by_tile(alphas, width, 1, band.row());
                let tiles = values.par_chunks_mut(TILE_PX);
                let tiles = tiles.zip(alphas.par_chunks_mut(TILE_PX)).with_max_len(1);
                let drawn = tiles.enumerate().map(|(column, (values, alphas))| {
                    if task.is_cancelled() {
                        return 0;
                    }
                    let index = row * band.columns + column;
                    let tile = ListedTile {
                        area: area_of_tile(index, band, size),
                        splats: listed.projected.slots(),
                        list: listed.bins.tile(index),
                    };
                    tile.draw(settings, (channels, light), values, alphas)
                });
                drawn.sum::<u64>()
            });
            drawn.sum()
        })
    }
}

#[derive(Debug, Clone, Copy)]
struct ListedTile<'a> {
    area: TileArea,
    splats: &'a [ProjectedSplat],
    list: &'a [u64],
}

impl ListedTile<'_> {
    /// Draws the passes of a tile into its rows of values and alphas; returns the number of blended fragments.
    fn draw(
        self,
        settings: &RenderSettings,
        (channels, light): (&ChannelSettings<'_>, PixelLight),
        values: &mut [&mut [f32]],
        alphas: &mut [&mut [f32]],
    ) -> u64 {
        let Self { area, splats, list } = self;
        let mut fragments_blended = 0;
        for first in (0..channels.blended_channels()).step_by(PASS) {
            let mut pass = Pass { channels, first, light };
            let mut tile = Tile::new(area);
            let fourth = if first + PASS > channels.blended_channels() {
                match channels.values {
                    // The projected splats already have these colours.
                    ChannelValues::Colours if first == 0 => {
                        raster::draw(&mut tile, splats, list, settings, &mut [], &mut ());
                    }
                    _ => raster::draw(&mut tile, splats, list, settings, &mut [], &mut pass),
                }
                None
            } else {
                let mut sink = WithFourth::new(pass);
                raster::draw(&mut tile, splats, list, settings, &mut [], &mut sink);
                Some(sink.sums)
            };
            pass.store(&tile, fourth.as_ref(), values, alphas);
            fragments_blended = tile.fragments_blended;
        }
        if channels.has_spread {
            let last = channels.blended_channels() - 1;
            let mut spread = ChannelSpread::new(|splat: &_| channels.value(splat, last));
            raster::draw(&mut Tile::new(area), splats, list, settings, &mut [], &mut spread);
            spread.store(channels.channels(), values);
        }
        fragments_blended
    }
}

/// Channels `first` to `first + 2` of a tile.
#[derive(Debug, Clone, Copy)]
struct Pass<'a> {
    channels: &'a ChannelSettings<'a>,
    first: usize,
    light: PixelLight,
}

impl Pass<'_> {
    fn store(
        self,
        tile: &Tile,
        fourth: Option<&[FloatLanes; BLOCKS]>,
        values: &mut [&mut [f32]],
        alphas: &mut [&mut [f32]],
    ) {
        let settings = self.channels;
        let count = settings.channels();
        let depth = settings.depth.map(|depth| (settings.value_channels(), depth));
        let end = settings.blended_channels().min(self.first + PASS);
        for (y, (values, alphas)) in values.iter_mut().zip(alphas).enumerate() {
            let blocks = &tile.blocks[y / BLOCK_PX * TILE_BLOCKS..][..TILE_BLOCKS];
            let fourth = fourth.map(|sums| &sums[y / BLOCK_PX * TILE_BLOCKS..][..TILE_BLOCKS]);
            let pixels = values.chunks_exact_mut(count).zip(alphas.iter_mut());
            for (x, (pixel, stored)) in pixels.enumerate() {
                let (block, lane) = (x / BLOCK_PX, y % BLOCK_PX * BLOCK_PX + x % BLOCK_PX);
                let sums = &blocks[block];
                let transmittance = sums.transmittance[lane].abs();
                let alpha = 1.0 - transmittance;
                *stored = match self.light {
                    PixelLight::Alpha => alpha,
                    PixelLight::Transmittance => transmittance,
                };
                let outputs = &mut pixel[self.first..end];
                for (out, sums) in outputs.iter_mut().zip(&sums.colour) {
                    *out = sums[lane];
                }
                if let (Some(out), Some(fourth)) = (outputs.get_mut(PASS - 1), fourth) {
                    *out = fourth[block].0[lane];
                }
                if let Some(background) = settings.background {
                    let background = background.get(self.first..).unwrap_or_default();
                    for (out, background) in outputs.iter_mut().zip(background) {
                        *out += transmittance * background;
                    }
                }
                if let Some((last, ChannelDepth::Mean)) = depth
                    && last < end
                {
                    pixel[last] /= alpha.max(LEAST_ALPHA);
                }
            }
        }
    }
}

impl LayerSink for Pass<'_> {
    #[inline(always)]
    fn load(&mut self, _: usize, _: usize, splat: &mut ProjectedSplat) {
        let value = |channel| self.channels.value(splat, self.first + channel);
        splat.colour = std::array::from_fn(value);
    }

    #[inline(always)]
    fn add<S: Simd>(&mut self, _: S, _: usize, _: &ProjectedSplat, _: usize, _: &BlendedLanes<S>) {}
}

struct WithFourth<'a> {
    pass: Pass<'a>,
    values: [f32; BATCH],
    sums: [FloatLanes; BLOCKS],
}

impl<'a> WithFourth<'a> {
    fn new(pass: Pass<'a>) -> Self {
        Self { pass, values: [0.0; BATCH], sums: [FloatLanes::ZERO; BLOCKS] }
    }
}

impl LayerSink for WithFourth<'_> {
    #[inline(always)]
    fn load(&mut self, at: usize, slot: usize, splat: &mut ProjectedSplat) {
        let pass = self.pass;
        self.values[at] = pass.channels.value(splat, pass.first + PASS - 1);
        self.pass.load(at, slot, splat);
    }

    #[inline(always)]
    fn add<S: Simd>(
        &mut self,
        simd: S,
        at: usize,
        _: &ProjectedSplat,
        block: usize,
        blended: &BlendedLanes<S>,
    ) {
        let value = f32x16::splat(simd, self.values[at]);
        accumulate(simd, blended.weight, value, &mut self.sums[block]);
    }
}
